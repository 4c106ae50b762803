//! Data that closures share without the program's knowledge: debug builds notice what changes from
//! run to run.
#![cfg(debug_assertions)]

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use mazurka::check::Checked;
use mazurka::explore::Verdict;
use mazurka::program::{Program, choose, spawn};

fn reported(program: Program) -> String {
    let checked: Checked = mazurka::check(&program.build()).all().run();
    assert_eq!(checked.verdict(), Verdict::Error, "{checked}");
    checked.to_string()
}

#[test]
fn a_judgement_of_what_all_runs_have_counted() {
    let (mut program, total) = (Program::new(), Arc::new(Mutex::new(0)));
    for name in ["A", "B"] {
        let total = total.clone();
        program.process(name, async move || {
            choose(0..1).await;
            *total.lock().unwrap() += 1;
        });
    }
    let line = line!() + 1;
    program.finally(move |_| assert_eq!(*total.lock().unwrap(), 2));
    let told = reported(program);
    // Two processes end, and each is run once more. When the second ends, the first is run again.
    let expected = "Error: nondeterminism: for the same contents, the check at the end says \"assertion failed: \
                    left == right (left: 5, right: 2)\" the first time, and ";
    assert!(told.starts_with(expected), "{told}");
    let place = format!("(at the end, tests/program/unseen.rs:{line}).");
    assert!(told.lines().next().is_some_and(|first| first.ends_with(&place)), "{told}");
}

#[test]
fn a_judgement_that_only_happens_to_find_nothing() {
    let (mut program, seen) = (Program::new(), Arc::new(Mutex::new(0)));
    let counted = seen.clone();
    program.process("A", async move || {
        choose(0..1).await;
        *counted.lock().unwrap() += 1;
    });
    program.finally(move |_| assert!(*seen.lock().unwrap() <= 2, "at most two"));
    let told = reported(program);
    let expected =
        "the check at the end says \"nothing is wrong\" the first time, and \"at most two\"";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_process_that_acts_on_what_another_passed_it_outside_the_model() {
    let (mut program, flag) = (Program::new(), Arc::new(AtomicBool::new(false)));
    let cell = program.cell("cell", 0);
    let seen = flag.clone();
    let line = line!() + 3;
    program.process("reader", async move || {
        if seen.load(Ordering::Relaxed) {
            cell.write(1).await;
        }
        cell.write(2).await;
    });
    program.process("writer", async move || {
        choose(0..1).await;
        flag.store(true, Ordering::Relaxed);
    });
    let told = reported(program);
    let place = |line| format!("(tests/program/unseen.rs:{line})");
    let asked = format!(
        "reader asked for `cell.write()` with 2 {} the first time, and asked for `cell.write()` with \
         1 {} the second time",
        place(line + 2),
        place(line)
    );
    assert!(
        told.contains(&asked) || told.contains(&asked.replace("reader", "the process")),
        "{told}"
    );
}

#[test]
fn a_process_that_changes_what_an_earlier_one_has_seen() {
    let (mut program, log) = (Program::new(), Arc::new(Mutex::new(Vec::new())));
    for i in 0..2 {
        let log = log.clone();
        program.process(format!("P{i}"), async move || {
            let drawn = choose(0..3).await;
            log.lock().unwrap().push(drawn);
            assert!(log.lock().unwrap().len() < 5, "the log is short");
        });
    }
    let told = reported(program);
    assert!(
        told.contains("the process ended the first time, and failed (the log is short)"),
        "{told}"
    );
}

#[test]
fn programs_that_share_nothing_behind_its_back_are_fine() {
    let mut program = Program::new();
    let count = program.cell("count", 0);
    let known = Arc::new(vec![1_i64, 2]);
    for i in 0..2 {
        let known = known.clone();
        program.process(format!("P{i}"), async move || {
            count.fetch_add(known[i]).await;
        });
    }
    program.finally(move |end| assert_eq!(end.read(count), known.iter().sum::<i64>()));
    let checked = mazurka::check(&program.build()).all().run();
    assert_eq!((checked.verdict(), checked.stats().traces), (Verdict::Ok, 2), "{checked}");
}

#[test]
fn a_process_that_is_started_with_something_else_each_time() {
    static RUNS: AtomicI64 = AtomicI64::new(0);
    let mut program = Program::new();
    let cell = program.cell("cell", 0);
    program.process("main", async move || {
        let captured = RUNS.fetch_add(1, Ordering::Relaxed);
        let child = spawn("child", async move || cell.write(captured).await).await;
        child.join().await;
    });
    let told = reported(program);
    let expected =
        "nondeterminism: after the same outcomes, the process child asked for `cell.write()` with ";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_process_that_is_started_with_something_else_that_it_asks_for_later() {
    static RUNS: AtomicI64 = AtomicI64::new(0);
    let mut program = Program::new();
    let cell = program.cell("cell", 0);
    program.process("main", async move || {
        let captured = RUNS.fetch_add(1, Ordering::Relaxed);
        let child = spawn("child", async move || {
            if cell.read().await == 0 {
                cell.write(captured).await;
            }
        });
        child.await.join().await;
    });
    let told = reported(program);
    assert!(told.contains("nondeterminism: after the same outcomes, the process child"), "{told}");
}
