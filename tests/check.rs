//! `mazurka::check`, and systems built in Rust: that they equal the same programs in the language,
//! and what reports say about them. Their type is forgotten, since each type of system costs time to
//! compile ([`Erased`]).

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{StopReason, Verdict};
use mazurka::lang;
use mazurka::model::{FailureKind, Schedule};
use mazurka::systems::{
    Builder, Variables, assert_that, branch, choose, fetch_add, lock, read, recv, repeat_while,
    send, set, unlock, write,
};

use crate::random_models::Erased;

/// Everybody takes the left fork first.
fn philosophers(count: usize) -> Erased<'static> {
    let mut system = Builder::new();
    let fork = system.mutexes("fork", count);
    for i in 0..count {
        let (left, right) = (fork[i], fork[(i + 1) % count]);
        let steps = [lock(left), lock(right), unlock(right), unlock(left)];
        system.process(format!("Philosopher[{i}]"), steps);
    }
    Erased::new(system.build())
}

/// A server that hears of every client once.
fn rmq(ranks: i64) -> Erased<'static> {
    let mut system = Builder::new();
    let (server, heard) = (system.mailbox("server"), system.variable("heard"));
    let sum = system.variable("sum");
    let hear = |_| [recv(server).into(heard), set(sum, move |v: Variables<'_>| v[sum] + v[heard])];
    let expected = ranks * (ranks - 1) / 2;
    let end = assert_that("every client is heard once", move |v| v[sum] == expected);
    system.process("Server", (1..ranks).flat_map(hear).chain([end]));
    for i in 1..ranks {
        system.process(format!("Client[{i}]"), [send(server, i)]);
    }
    Erased::new(system.build())
}

fn read_file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn systems_made_in_rust_are_what_their_programs_are() {
    let spec = |path: &str, name: &str, n: usize| {
        let defines = [(name.to_owned(), n.to_string())];
        lang::compile(path, &read_file(path), &defines).expect("a spec")
    };
    for explorer in ["udpor", "optimal", "dpor", "exhaustive"] {
        for n in 2..4 {
            let setting = || explorer.parse().unwrap();
            let stats = |built: &Erased<'_>, path| {
                let program = spec(path, "N", n);
                let built = mazurka::check(built).explorer(setting()).all().run();
                let written = mazurka::check(&program).explorer(setting()).all().run();
                assert_eq!(built.verdict(), written.verdict(), "{explorer} on {path}");
                let figures = |checked: mazurka::check::Checked| {
                    let stats = checked.outcome.stats;
                    (stats.traces, stats.transitions, stats.deadlocked_traces, stats.events)
                };
                assert_eq!(figures(built), figures(written), "{explorer} on {path}");
            };
            stats(&philosophers(n), "specs/mutex/philosophers.maz");
            stats(&rmq(n as i64), "specs/mailbox/rmq-receiving.maz");
        }
    }
}

/// Shows a counterexample and figures.
const CHAPTER: &str = "docs/src/rust.md";

#[test]
fn a_counterexample_is_explained_as_the_book_shows() {
    let checked = mazurka::check(&philosophers(3)).run();
    assert_eq!(checked.verdict(), Verdict::Deadlock);
    let told = checked.to_string();
    let panic = catch_unwind(AssertUnwindSafe(|| checked.assert_ok())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>(), Some(&told), "it panics with what it shows");
    // How long it took and where the lines of this file are differs.
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("Took")).collect();
    let without_numbers = |line: &str| {
        let words = line.split_whitespace().filter(|word| word.parse::<u32>().is_err());
        words.collect::<Vec<_>>().join(" ")
    };
    let book: Vec<String> = read_file(CHAPTER).lines().map(without_numbers).collect();
    for line in told.into_iter().map(without_numbers) {
        assert!(book.contains(&line), "not in {CHAPTER}: {line}");
    }
}

#[test]
fn figures_are_those_that_the_book_shows() {
    let result = mazurka::check(&philosophers(3)).all().run();
    let (traces, deadlocked) = (result.stats().traces, result.stats().deadlocked_traces);
    let line = format!(
        "assert_eq!((result.stats().traces, result.stats().deadlocked_traces), ({traces}, {deadlocked}));"
    );
    assert!(read_file(CHAPTER).contains(&line), "not in {CHAPTER}: {line}");
}

#[test]
fn a_failed_assertion_names_its_line_and_its_variables() {
    let mut system = Builder::new();
    let (counter, seen) = (system.cell("counter", 0), system.variable("seen"));
    for name in ["A", "B"] {
        let steps = [read(counter).into(seen), write(counter, move |v: Variables<'_>| v[seen] + 1)];
        system.process(name, steps);
    }
    system.finally("counter == 2", move |cells| cells(counter) == 2);
    let lost = Erased::new(system.build());
    let checked = mazurka::check(&lost).all().run();
    assert_eq!((checked.verdict(), checked.violations().len()), (Verdict::Assertion, 1));
    assert!(checked.to_string().contains("final: counter == 2"), "{checked}");

    let mut system = Builder::new();
    let drawn = system.variable("drawn");
    let line = line!() + 1;
    let steps = [choose(0..3).into(drawn), assert_that("not 2", move |v| v[drawn] != 2)];
    system.process("P", steps);
    let checked = mazurka::check(&Erased::new(system.build())).run();
    let told = checked.to_string();
    assert!(told.contains(&format!("(P, line {line})")), "{told}");
    assert!(told.contains("not 2") && told.contains("drawn = 2"), "{told}");
}

#[test]
fn misuse_is_an_error_of_the_process() {
    let mut system = Builder::new();
    let mutex = system.mutex("m");
    system.process("P", [lock(mutex), lock(mutex)]);
    system.process("Q", [unlock(mutex)]);
    let checked = mazurka::check(&Erased::new(system.build())).all().run();
    let kinds = checked.violations().iter().map(|v| v.failure.as_ref().map(|f| f.kind));
    assert_eq!(kinds.collect::<Vec<_>>(), [Some(FailureKind::Error); 2]);
    let told = checked.to_string();
    assert!(told.contains("requests the mutex `m`, which it has requested already"), "{told}");
    assert!(told.contains("unlocks the mutex `m`, which it has not requested"), "{told}");
}

#[test]
fn branches_and_loops_go_where_they_say() {
    let mut system = Builder::new();
    let (total, sum) = (system.cell("total", 0), system.variable("sum"));
    let n = system.variable("n");
    let steps = [
        set(n, 4),
        repeat_while(
            move |v| v[n] > 0,
            [
                branch(
                    move |v| v[n] % 2 == 0,
                    [fetch_add(total, n)],
                    [set(sum, move |v: Variables<'_>| v[sum] + v[n])],
                ),
                set(n, move |v: Variables<'_>| v[n] - 1),
            ],
        ),
        assert_that("1 + 3", move |v| v[sum] == 4),
    ];
    system.process("P", steps);
    system.finally("4 + 2", move |cells| cells(total) == 6);
    mazurka::check(&Erased::new(system.build())).assert_ok();
}

#[test]
fn a_loop_that_waits_ends_where_somebody_ends_it() {
    let spinner = |somebody: bool| {
        let mut system = Builder::new();
        let (flag, seen) = (system.cell("flag", 0), system.variable("seen"));
        system.process("P", [repeat_while(move |v| v[seen] == 0, [read(flag).into(seen)])]);
        if somebody {
            system.process("Q", [write(flag, 1)]);
        }
        Erased::new(system.build())
    };
    mazurka::check(&spinner(true)).assert_ok();
    assert_eq!(mazurka::check(&spinner(false)).run().verdict(), Verdict::Livelock);
}

#[test]
fn what_was_not_explored_is_not_ok() {
    let checked = mazurka::check(&rmq(3)).max_traces(2).run();
    assert_eq!(checked.outcome.stopped_by, Some(StopReason::MaxTraces));
    assert!(!checked.is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| checked.assert_ok())).is_err());
}

/// The reader of a test's report knows the options of `check`, not those of the command line.
#[test]
fn reports_of_a_test_name_its_own_options() {
    let philosophers = philosophers(4);
    let told = |check: mazurka::check::Check<'_, Erased<'_>>| {
        let told = check.run().to_string();
        assert!(!told.contains("--"), "{told}");
        told
    };
    let by = |explorer: &str| mazurka::check(&philosophers).explorer(explorer.parse().unwrap());
    let has = |told: String, expected| assert!(told.contains(expected), "{expected}: {told}");
    has(told(by("udpor")), "stopped at the first violation (`all()` goes on)");
    has(told(by("dpor").all().max_traces(1)), "stopped after 1 execution (`max_traces()`)");
    has(told(by("exhaustive").depth(2)), " 2 (`depth()`)");
    has(told(by("stateful").depth(3)), "at step 3 (`depth()`)");
    has(told(by("exhaustive").all().timeout(Duration::ZERO)), "stopped after 0s (`timeout()`)");
    has(told(by("stateful:hash-compaction").all()), "(`hash-compaction`)");
    let mut system = Builder::new();
    let (flag, seen) = (system.cell("flag", 0), system.variable("seen"));
    let turn = [read(flag).into(seen), write(flag, move |v: Variables<'_>| v[seen] + 1)];
    system.process("P", [repeat_while(|_| true, turn)]);
    let endless = Erased::new(system.build());
    let endless = told(mazurka::check(&endless));
    has(endless.clone(), "the explorer `stateful` explores all of it");
    has(endless, "`depth(n)` explores up to n");
}

#[test]
fn the_schedule_of_a_violation_is_a_text_that_replays() {
    let system = philosophers(3);
    let checked = mazurka::check(&system).shortest().run();
    let schedule = &checked.violations()[0].schedule;
    let text = schedule.to_string();
    assert!(checked.to_string().contains(&text));
    let again: Schedule = text.parse().unwrap();
    let mut locals = mazurka::model::Locals::new(&system);
    let state = again.replay(&mut locals).unwrap();
    assert!(state.is_terminal(&locals) && state.unfinished(&locals).count() == 3);
    let refusal = "0,7".parse::<Schedule>().unwrap().replay(&mut locals).unwrap_err();
    assert_eq!(refusal.to_string(), "step 2 of the schedule: 7 is not enabled");
}
