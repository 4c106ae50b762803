//! What processes return, mutexes that are tried, and what is printed.

use mazurka::explore::Verdict;
use mazurka::program::{Program, choose, print, spawn};

use super::{EXPLORERS, all, ends};

#[test]
fn who_joins_a_process_has_what_it_returned() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let seen = program.cell("seen", Vec::new());
        program.process("main", async move || {
            let mut children = Vec::new();
            for i in 0..2 {
                let child = async move || format!("{i}:{}", choose(0..2).await);
                children.push(spawn(format!("child {i}"), child).await);
            }
            let mut all = Vec::new();
            for child in children {
                all.push(child.join().await);
            }
            seen.write(all).await;
        });
        program.finally(move |end| {
            let seen = end.read(seen);
            assert!(seen[0].starts_with("0:") && seen[1].starts_with("1:"), "{seen:?}");
            assert_ne!(seen, ["0:1", "1:0"], "one of four");
        });
        let checked = all(&program.build(), explorer);
        assert_eq!(ends(&checked.outcome), (4, 0, 1), "{explorer}: {checked}");
        let told = checked.to_string();
        assert!(told.starts_with("Assertion failed: left != right: one of four"), "{told}");
        assert!(told.contains(r#"child 1 has ended with "1:0""#), "{told}");
    }
}

/// Several processes may join a process, including those that did not start it.
#[test]
fn all_who_join_a_process_have_the_same() {
    let mut program = Program::new();
    let handles = program.mailbox("handles");
    for name in ["A", "B"] {
        program.process(name, async move || {
            let child: mazurka::program::Child<i64> = handles.recv().await;
            assert!(child.join().await < 3);
        });
    }
    program.process("main", async move || {
        let child = spawn("child", async || choose(0..3).await).await;
        handles.send(child).await;
        handles.send(child).await;
    });
    let checked = all(&program.build(), "udpor");
    // Two results: which of the two is first, and what the child returns.
    assert_eq!((checked.verdict(), ends(&checked.outcome)), (Verdict::Ok, (6, 0, 0)), "{checked}");
}

#[test]
fn who_joins_a_process_that_has_failed_fails_unless_it_wants_nothing() {
    let joining = |wants: bool| {
        let mut program = Program::new();
        program.process("main", async move || {
            if wants {
                let child = async || match choose(0..2).await {
                    0 => panic!("it has failed"),
                    drawn => drawn,
                };
                assert_eq!(spawn("child", child).await.join().await, 1);
            } else {
                let child = async || assert!(choose(0..2).await == 1, "it has failed");
                spawn("child", child).await.join().await;
            }
        });
        let checked = all(&program.build(), "udpor");
        assert_eq!(ends(&checked.outcome), (2, 0, 1), "{checked}");
        checked.to_string()
    };
    let fails = "Error: the process that is joined has failed and returns nothing (main, ";
    let told = joining(true);
    assert!(told.contains("Assertion failed: it has failed (child, "), "{told}");
    assert!(told.contains(fails), "{told}");
    let told = joining(false);
    assert!(told.starts_with("Assertion failed: it has failed (child, "), "{told}");
    assert!(!told.contains(fails), "{told}");
}

#[test]
fn a_mutex_that_is_tried_is_got_or_not() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let (slot, missed) = (program.tried_mutex("slot", 0), program.cell("missed", 0));
        for name in ["A", "B"] {
            program.process(name, async move || match slot.try_lock().await {
                Some(mut got) => *got += 1,
                None => drop(missed.fetch_add(1).await),
            });
        }
        program.finally(move |end| {
            assert_eq!(i64::from(end.inside(slot)) + end.read(missed), 2, "nobody is lost");
        });
        let checked = all(&program.build(), explorer);
        // Each may come first, and the other may find it taken or given back.
        assert_eq!(
            (checked.verdict(), ends(&checked.outcome)),
            (Verdict::Ok, (4, 0, 0)),
            "{checked}"
        );
    }
}

#[test]
fn trying_is_for_mutexes_that_are_made_for_it_and_are_not_held() {
    let mut program = Program::new();
    let mutex = program.mutex("m", ());
    program.process("P", async move || drop(mutex.try_lock().await));
    let told = mazurka::check(&program.build()).run().to_string();
    let expected =
        "only a mutex made by `tried_mutex` can be tried (P, tests/program/operations.rs";
    assert!(told.contains(expected), "{told}");
    let mut program = Program::new();
    let mutex = program.tried_mutex("m", ());
    let line = line!() + 3;
    program.process("P", async move || {
        let _got = mutex.lock().await;
        let _again = mutex.try_lock().await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let place = format!("(P, tests/program/operations.rs:{line})");
    assert!(told.contains(&format!("locks a mutex that it has already {place}")), "{told}");
}

#[test]
fn a_counterexample_shows_what_its_processes_have_printed() {
    let mut program = Program::new();
    let inbox = program.mailbox("inbox");
    for i in 0..2 {
        program.process(format!("sender {i}"), async move || {
            print(format!("I send {i}"));
            inbox.send(i).await;
        });
    }
    program.process("receiver", async move || {
        for _ in 0..2 {
            let got = inbox.recv().await;
            print(format!("got {got}"));
        }
        print("now\nfor the end");
        assert_eq!(choose(0..2).await, 0);
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let printed = |who: &str| {
        let lines = told.lines().skip_while(|line| *line != format!("{who} has printed:")).skip(1);
        lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect::<Vec<_>>()
    };
    assert_eq!(printed("sender 1"), ["I send 1"], "{told}");
    let mut lines = printed("receiver");
    lines[..2].sort();
    assert_eq!(lines, ["got 0", "got 1", "now", "for the end"], "{told}");
}

/// A verified program has no counterexample, so its first execution is shown.
#[test]
fn what_a_verified_program_prints_is_shown() {
    let mut program = Program::new();
    let inbox = program.mailbox("inbox");
    program.process("sender", async move || inbox.send(1).await);
    program.process("receiver", async move || print(format!("got {}", inbox.recv().await)));
    let checked = mazurka::check(&program.build()).run();
    assert!(checked.is_ok(), "{checked}");
    assert!(checked.to_string().contains("\nreceiver has printed:\n  got 1\n"), "{checked}");
    let mut silent = Program::new();
    silent.process("nobody", async move || ());
    let checked = mazurka::check(&silent.build()).run().to_string();
    assert!(!checked.contains("rinted"), "{checked}");
}

#[test]
fn a_choice_is_among_as_many_values_as_can_be_numbered() {
    for range in [0..(1 << 32) + 2, 0..i64::MAX, i64::MIN..i64::MAX] {
        let mut program = Program::new();
        program.process("main", async move || assert!(choose(range.clone()).await < 2));
        let checked = all(&program.build(), "udpor");
        assert_eq!(checked.verdict(), Verdict::Error, "{checked}");
        let expected = "a choice among more than 2147483647 values";
        assert!(checked.to_string().contains(expected), "{checked}");
    }
}
