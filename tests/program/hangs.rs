//! Processes that compute for ever: this is a violation like others, and the search ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mazurka::explore::Verdict;
use mazurka::model::System;
use mazurka::program::{Program, choose};

/// Computes for ever, and lets others compute.
fn for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A program with a short time limit for its processes.
fn impatient() -> Program {
    let mut program = Program::new();
    program.step_timeout(Duration::from_millis(500));
    program
}

#[test]
fn a_process_that_computes_for_ever_is_reported_with_its_last_operation() {
    for explorer in super::EXPLORERS {
        let mut program = impatient();
        let inbox = program.mailbox("inbox");
        for i in 0..2 {
            program.process(format!("sender {i}"), async move || inbox.send(i).await);
        }
        let line = line!() + 2;
        program.process("receiver", async move || {
            if inbox.recv().await == 1 {
                for_ever();
            }
            inbox.recv().await;
        });
        let checked = super::all(&program.build(), explorer);
        let told = checked.to_string();
        let expected = format!(
            "Error: hang: after inbox.recv() the process makes no operation for 500ms \
             (receiver, tests/program/hangs.rs:{line})."
        );
        assert!(told.starts_with(&expected), "{explorer}: {told}");
        assert_eq!(super::ends(&checked.outcome), (2, 0, 1), "{explorer}: {told}");
        assert_eq!(checked.violations().len(), 1);
    }
}

#[test]
fn a_process_without_operations_is_reported_with_the_place_where_it_was_named() {
    let mut program = impatient();
    let line = line!() + 1;
    program.process("P", async || for_ever());
    let told = mazurka::check(&program.build()).run().to_string();
    let expected = "Error: hang: the process makes no operation for 500ms";
    let place = format!("(P, tests/program/hangs.rs:{line}).");
    assert!(told.starts_with(&format!("{expected} {place}")), "{told}");
}

#[test]
fn each_hang_is_reported() {
    let mut program = impatient();
    program.process("P", async || match choose(0..4).await {
        0 => {}
        1 => for_ever(),
        2 => {
            choose(0..1).await;
            for_ever()
        }
        _ => panic!("of another kind"),
    });
    let checked = mazurka::check(&program.build()).all().run();
    assert_eq!(super::ends(&checked.outcome), (4, 0, 3), "{checked}");
    let hangs = checked.violations().iter().filter_map(|violation| violation.failure.as_ref());
    let hangs = hangs.filter(|failure| failure.message.starts_with("hang: after choose() "));
    assert_eq!(hangs.count(), 2, "{checked}");
}

/// A process that is only slow is not reported, however long the search takes.
#[test]
fn who_answers_in_time_is_right() {
    let mut program = Program::new();
    program.step_timeout(Duration::from_secs(1));
    program.process("P", async || {
        for _ in 0..4 {
            thread::sleep(Duration::from_millis(300));
            choose(0..1).await;
        }
    });
    let begun = Instant::now();
    let checked = mazurka::check(&program.build()).run();
    assert_eq!(checked.verdict(), Verdict::Ok, "{checked}");
    assert!(begun.elapsed() > Duration::from_millis(2400), "two runs, longer than a step may take");
}

/// A process that comes back too late stops, since the search continues without it.
#[test]
fn who_comes_back_too_late_stays_a_hang() {
    static WAITS: AtomicBool = AtomicBool::new(true);
    static COMES_BACK: AtomicUsize = AtomicUsize::new(0);
    let mut program = impatient();
    program.process("P", async || {
        choose(0..2).await;
        while WAITS.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        COMES_BACK.fetch_add(1, Ordering::Relaxed);
        choose(0..2).await;
    });
    let system = program.build();
    let find = || mazurka::check(&system).run().to_string();
    let told = find();
    assert!(told.starts_with("Error: hang: after choose() "), "{told}");
    WAITS.store(false, Ordering::Relaxed);
    while COMES_BACK.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
    let first = |told: String| told.lines().next().expect("a line").to_string();
    assert_eq!(first(find()), first(told), "what was told once is told again");
}

/// A panic of a check is passed on to the caller, not to a thread that is never joined.
#[test]
#[should_panic(expected = "what is wrong with a check")]
fn a_panic_in_the_thread_of_a_search_is_passed_on() {
    let mut program = impatient();
    program.process("P", async || {});
    let system = program.build();
    system.attempt(|_| -> () { panic!("what is wrong with a check") });
}
