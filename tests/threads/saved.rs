//! Checks that are saved, stopped, and go on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mazurka::check::Checked;
use mazurka::explore::{Outcome, Setting, StopReason};
use mazurka::lang::Program;
use mazurka::sync::atomic::{AtomicU32, Ordering};
use mazurka::sync::{Arc, Mutex};
use mazurka::systems::{Builder as Systems, assert_that, fetch_add};
use mazurka::thread;
use mazurka::threads::Builder;

/// A file of this run of the tests, which does not exist yet.
fn file(name: &str) -> PathBuf {
    let name = format!("{}-check-{name}.json", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Threads that count the handles of something; and in the last executions only one of them tries a
/// mutex. So it turns out late in which way they have to be searched. Some executions fail.
fn program() {
    let (seen, mutex) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(0)));
    let step = |number: u32| {
        let (seen, mutex) = (seen.clone(), mutex.clone());
        move || {
            let before = seen.fetch_add(1 << (4 * number), Ordering::SeqCst);
            if number == 0 && before == 0x11_1110 {
                *mutex.try_lock().expect("nobody has it") += 1;
                assert!(seen.load(Ordering::Relaxed) != 0x11_1111, "the first one is the last");
            }
        }
    };
    let threads: Vec<_> = (0..6).map(step).map(thread::spawn).collect();
    threads.into_iter().for_each(|thread| _ = thread.join());
    assert!(Arc::strong_count(&mutex) > 0);
}

/// Searches by `search` again and again, until no limit ends it. Returns the result, how often it was
/// stopped, and how often it went on.
fn stopped(at: &Path, search: impl Fn(Duration) -> Checked) -> (Checked, u32, u32) {
    let (mut stops, mut resumed) = (0, 0);
    loop {
        let found = search(Duration::from_millis(5 + u64::from(stops)));
        resumed += u32::from(found.report.resumed_from.is_some());
        if found.outcome.stopped_by != Some(StopReason::Timeout) {
            assert!(!at.exists(), "it is over");
            return (found, stops, resumed);
        }
        stops += 1;
        assert!(at.exists() && stops < 10_000);
    }
}

/// The executions with the violations may be others.
fn assert_same(found: &Checked, whole: &Checked) {
    let [found, whole] = [found, whole].map(|checked| &checked.outcome);
    assert_eq!(found.stats, whole.stats);
    let failures = |outcome: &Outcome| -> Vec<_> {
        outcome.violations.iter().map(|found| found.failure.clone()).collect()
    };
    assert_eq!(failures(found), failures(whole));
    assert_eq!(found.stopped_by, whole.stopped_by);
}

fn parsimonious() -> Setting {
    "parsimonious".parse().expect("an explorer")
}

#[test]
fn threads_go_on() {
    let at = file("threads");
    let search = || Builder::new().all();
    let (found, stops, resumed) = stopped(&at, |time| {
        search().checkpoint(&at, Duration::from_secs(60)).timeout(time).run(program)
    });
    assert!(stops > 1 && resumed > 0, "{stops} {resumed} {found} {:?}", found.outcome);
    let whole = search().explorer(parsimonious()).run(program);
    assert_same(&found, &whole);
    assert!(whole.violations().len() == 1 && whole.stats().traces > 100, "{whole}");
}

/// This number of processes, each of which adds to a cell. Some executions fail: if the first process
/// is the last one.
fn adders(count: usize) -> Program {
    let mut system = Systems::new();
    let cell = system.cell("cell", 0);
    for i in 0..count {
        let before = system.variable(format!("before[{i}]"));
        let last = count as i64 - 1;
        let is_fine = assert_that("another one is the last", move |v| i > 0 || v[before] < last);
        system.process(format!("Adder[{i}]"), [fetch_add(cell, 1).into(before), is_fine]);
    }
    system.build()
}

#[test]
fn systems_go_on() {
    let (at, system) = (file("system"), adders(7));
    let (found, stops, _) = stopped(&at, |time| {
        let check = mazurka::check(&system).all().checkpoint(&at, Duration::from_secs(60));
        check.timeout(time).run()
    });
    assert!(stops > 0);
    assert_same(&found, &mazurka::check(&system).explorer(parsimonious()).all().run());
}

#[test]
fn other_checks_and_damaged_files_are_refused() {
    let (at, system) = (file("others"), adders(8));
    let every = Duration::from_secs(60);
    let refusal = |search: &dyn Fn() -> Checked| {
        let found = catch_unwind(AssertUnwindSafe(search));
        let said = found.expect_err("it is refused");
        said.downcast_ref::<String>().expect("a text").clone()
    };
    let first = |time| mazurka::check(&system).all().checkpoint(&at, every).timeout(time).run();
    first(Duration::from_millis(2));
    let other = || mazurka::check(&system).all().checkpoint(&at, every).run();
    let said = refusal(&other);
    assert!(said.contains("another place") && said.contains("remove it"), "{said}");
    let text = fs::read_to_string(&at).expect("a checkpoint");
    fs::write(&at, text.replacen("traces", "traces ", 1)).unwrap();
    assert!(refusal(&|| first(every)).contains("check-others"));
    fs::write(&at, &text[..text.len() / 2]).unwrap();
    assert!(refusal(&|| first(every)).contains("check-others"));
    let depth = || mazurka::check(&system).depth(3).checkpoint(&at, every).run();
    assert!(refusal(&depth).contains("parsimonious"));
    fs::remove_file(&at).unwrap();
}
