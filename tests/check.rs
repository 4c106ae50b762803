//! `mazurka::check`, and systems built in Rust: that they equal the same programs in the language,
//! and what reports say about them. Their type is forgotten, since each type of system costs time to
//! compile ([`Erased`]).

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{Setting, StopReason, Verdict};
use mazurka::lang;
use mazurka::model::{Call, CollectiveKind, Completion, Envelope, FailureKind, Schedule};
use mazurka::systems::{
    Builder, Step, Variables, acquire_wait, assert_that, barrier_wait, branch, cancel, choose,
    cond_wait, enter, fetch_add, irecv, isend, join, lock, mutex_wait_any, probe, read, recv,
    repeat_while, send, set, spawn, test, test_any, unlock, value_of, wait, wait_any, write,
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

fn setting(explorer: &str) -> Setting {
    explorer.parse().expect("an explorer")
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
            let setting = || setting(explorer);
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

/// What is known of processes before they run is known of steps, too. (A closure may read any
/// variable, so with variables there can be more states.)
#[test]
fn states_of_systems_made_in_rust_are_those_of_their_programs() {
    let path = "specs/mutex/philosophers.maz";
    let program = lang::compile(path, &read_file(path), &[("N".into(), "4".into())]).unwrap();
    for explorer in ["stateful", "s-por"] {
        let setting = || setting(explorer);
        let written = mazurka::check(&program).explorer(setting()).all().run();
        let built = mazurka::check(&philosophers(4)).explorer(setting()).all().run();
        let figures = |checked: &mazurka::check::Checked| {
            let stats = checked.stats();
            (stats.states, stats.transitions, stats.deadlocked_traces)
        };
        assert_eq!(figures(&built), figures(&written), "{explorer}");
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

/// What no type excludes.
#[test]
fn a_step_that_makes_no_sense_is_an_error_of_the_process() {
    let declare = || {
        let mut system = Builder::new();
        let mailboxes = (system.mailbox("ordered"), system.bag_mailbox("bag"));
        let names = (system.communication(), system.communication(), system.child());
        let counted = (system.semaphore("units", 1), system.barrier("meeting", 1));
        let locks = (system.mutex("mutex"), system.condvar("woken"));
        (system, mailboxes, names, counted, locks)
    };
    let (_, (ordered, bag), (one, two, child), (units, meeting), (mutex, woken)) = declare();
    let cases: [(&[Step], &str); 14] = [
        (&[wait(one)], "no communication was begun that could be waited for"),
        (&[test(one)], "no communication was begun that could be tested"),
        (&[isend(one, bag, 1), wait_any(&[one, two])], "one of these communications was not begun"),
        (&[wait_any(&[])], "waits for one of no communications"),
        (
            &[isend(one, bag, 1), irecv(two, ordered), test_any(&[one, two])],
            "a test of mailboxes with different delivery",
        ),
        (&[irecv(one, ordered), value_of(one)], "communication that was not seen complete"),
        (&[isend(one, bag, 1), cancel(one)], "only a receive at a p2p or bag mailbox is cancelled"),
        (&[irecv(one, bag), cancel(one), wait(one)], "waits for a receive that it has cancelled"),
        (&[probe(ordered, Envelope::default())], "only p2p and bag mailboxes can be probed"),
        (&[mutex_wait_any(&[])], "waits for one of no mutexes"),
        (&[join(child)], "nothing was spawned"),
        (&[acquire_wait(units)], "waits for the semaphore `units`, which it has not requested"),
        (&[barrier_wait(meeting)], "waits at the barrier `meeting`, where it has not arrived"),
        (&[cond_wait(woken, mutex)], "waits at `woken` without having locked the mutex `mutex`"),
    ];
    for (steps, expected) in cases {
        let (mut system, ..) = declare();
        system.process("P", steps.iter().cloned());
        let told = mazurka::check(&system.build()).run().to_string();
        assert!(told.starts_with("Error") && told.contains(expected), "{expected}: {told}");
    }
}

#[test]
fn who_is_spawned_has_a_name_and_an_argument_but_no_rank() {
    let mut system = Builder::new();
    let (given, worker) = (system.variable("given"), system.child());
    let (all, entered) = (system.collective("all", 1), system.communication());
    let call = Call { kind: CollectiveKind::Barrier, root: None, operator: None };
    let steps = [
        assert_that("the first variable", move |v| v[given] == 7),
        enter(entered, all, call, 0, Completion::Early, None),
    ];
    let template = system.template("Worker", steps);
    system.process("Main", [spawn(worker, template, 7), join(worker)]);
    let told = mazurka::check(&system.build()).run().to_string();
    let expected = "only processes that exist from the start have a rank in a collective";
    assert!(told.contains("Worker#1") && told.contains(expected), "{told}");
    assert!(told.contains("given = 7"), "{told}");
}

#[test]
fn a_loop_without_an_operation_is_an_error() {
    let mut system = Builder::new();
    system.process("P", [repeat_while(|_| true, [])]);
    let told = mazurka::check(&system.build()).run().to_string();
    assert!(told.contains("endless local computation"), "{told}");
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
    let by = |explorer: &str| mazurka::check(&philosophers).explorer(setting(explorer));
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
