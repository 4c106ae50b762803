//! Programs in Rust: that they equal the same models, and what reports say if they are wrong.

mod bank;
#[path = "../examples/programs/bounded_buffer.rs"]
mod bounded_buffer;
mod channels;
mod endless;
mod handles;
mod hangs;
mod interpreted;
mod invariants;
#[path = "../examples/programs/leader_election.rs"]
mod leader_election;
mod operations;
#[path = "../examples/programs/paxos.rs"]
mod paxos;
mod places;
#[path = "../examples/programs/two_phase_commit.rs"]
mod two_phase_commit;
mod unseen;
mod updates;
mod values;
mod waiting;
#[path = "../examples/programs/work_pool.rs"]
mod work_pool;

use std::collections::BTreeSet;
use std::future;
use std::panic::catch_unwind;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use mazurka::check::Checked;
use mazurka::explore::{Outcome, Setting, Verdict};
use mazurka::lang;
use mazurka::model::System;
use mazurka::program::{Closures, Program, choose, spawn};
use mazurka::systems::history::History;

use crate::random_models::{self, Sample};

/// Traces, those that deadlock, and those with a violation.
fn ends(outcome: &Outcome) -> (u64, u64, u64) {
    let stats = &outcome.stats;
    (stats.traces, stats.deadlocked_traces, stats.violating_traces)
}

fn all(system: &impl System, explorer: &str) -> Checked {
    mazurka::check(system).explorer(explorer.parse::<Setting>().expect("an explorer")).all().run()
}

fn spec(path: &str, defines: &[(&str, &str)]) -> impl System {
    let defines: Vec<_> = defines.iter().map(|&(n, v)| (n.to_string(), v.to_string())).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let source = std::fs::read_to_string(file).expect("a spec");
    lang::compile(path, &source, &defines).expect("a valid spec")
}

const EXPLORERS: [&str; 4] = ["udpor", "optimal", "source", "udpor:k=1"];

#[test]
fn examples_have_as_many_executions_as_their_specs() {
    for explorer in EXPLORERS {
        let same = |program: History<Closures>, path, defines: &[_]| {
            let (ours, theirs) = (all(&program, explorer), all(&spec(path, defines), explorer));
            assert_eq!(ends(&ours.outcome), ends(&theirs.outcome), "{explorer} on {path}: {ours}");
        };
        let buffer = "specs/condvar/bounded-buffer.maz";
        same(bounded_buffer::program(true), buffer, &[]);
        same(bounded_buffer::program(false), buffer, &[("WHILE", "0")]);
        use {leader_election as election, two_phase_commit as commit};
        for (right, value) in [(true, "true"), (false, "false")] {
            let (program, is_patient) = (commit::program(right), [("PATIENT", value)]);
            same(program, "specs/mpi/two-phase-commit.maz", &is_patient);
            let (program, is_durable) = (election::program(right), [("DURABLE", value)]);
            same(program, "specs/mpi/leader-election.maz", &is_durable);
            same(paxos::program(right), "specs/mpi/paxos.maz", &[("LISTENS", value)]);
        }
        for (n, tasks) in [("3", "1"), ("3", "2"), ("3", "3"), ("4", "2")] {
            let program = work_pool::program(n.parse().unwrap(), tasks.parse().unwrap(), true);
            same(program, "specs/mpi/work-pool.maz", &[("N", n), ("TASKS", tasks)]);
        }
    }
}

#[test]
fn right_examples_are_verified_and_wrong_ones_are_not() {
    let check = |right: History<Closures>, wrong: History<Closures>, says: &str| {
        for explorer in EXPLORERS {
            let right = all(&right, explorer);
            assert_eq!(right.verdict(), Verdict::Ok, "{explorer}: {right}");
            let exhaustive =
                [right.outcome.stats.traces, all(&wrong, explorer).outcome.stats.traces];
            assert!(exhaustive.iter().all(|&traces| traces > 1), "{exhaustive:?}");
        }
        let wrong = mazurka::check(&wrong).run();
        assert!(!wrong.is_ok());
        assert!(wrong.to_string().contains(says), "{wrong}");
    };
    use {leader_election as election, two_phase_commit as commit, work_pool as pool};
    check(bounded_buffer::program(true), bounded_buffer::program(false), "an item (consumer");
    check(election::program(true), election::program(false), "there is one leader");
    check(paxos::program(true), paxos::program(false), "one value is decided (at the end");
    check(commit::program(true), commit::program(false), "all do the same (at the end");
    check(
        pool::program(3, 2, true),
        pool::program(3, 2, false),
        "left == right (left: 0, right: 2)",
    );
}

#[test]
fn random_programs_as_closures_are_what_they_are_as_models() {
    let of = |samples: &'static [Sample], made: fn(u64) -> random_models::Program| {
        samples.iter().map(move |sample| (sample.describe(), made(sample.seed)))
    };
    let processes = of(random_models::processes(), random_models::generate);
    let later = of(random_models::later(), random_models::generate_later);
    let p2p = of(random_models::p2p(), random_models::ranks::generate);
    let mut seen = 0;
    for (index, (describe, program)) in processes.chain(later).chain(p2p).enumerate() {
        let program = interpreted::synchronous(&program);
        let Some(closures) = interpreted::program(&program) else { continue };
        let explorer = EXPLORERS[index % EXPLORERS.len()];
        let essence = |checked: Checked| {
            let stats = &checked.outcome.stats;
            let schedules = checked.violations().iter().map(|v| v.schedule.to_string());
            let schedules: BTreeSet<_> = schedules.collect();
            (ends(&checked.outcome), stats.transitions, stats.events, schedules)
        };
        let model = random_models::Erased::new(random_models::Script::new(program));
        assert_eq!(
            essence(all(&closures, explorer)),
            essence(all(&model, explorer)),
            "{describe}, with synchronous sends"
        );
        seen += 1;
    }
    assert!(seen > 150, "{seen}");
}

/// The violation of a program of one process, in a line.
fn wrong(closure: impl AsyncFn() + Send + Sync + 'static) -> String {
    let mut program = Program::new();
    program.process("P", closure);
    let checked = mazurka::check(&program.build()).run();
    assert!(!checked.is_ok());
    checked.to_string().lines().next().expect("a line").to_string()
}

#[test]
fn a_failure_names_its_message_and_its_place() {
    let drawn = line!() + 3;
    let told = wrong(async || {
        let drawn = choose(0..3).await;
        assert!(drawn < 2, "{drawn} is too much");
    });
    assert_eq!(told, format!("Assertion failed: 2 is too much (P, tests/program.rs:{drawn})."));
    let told = wrong(async || assert!([1, 2][choose(2..3).await as usize] > 0));
    assert!(told.starts_with("Error: index out of bounds: the len is 2 but the index is 2 (P, "));
}

#[test]
fn a_deadlock_names_the_lines_of_those_who_wait() {
    let mut program = Program::new();
    let (a, b) = (program.mutex("a", ()), program.mutex("b", 0));
    let first = line!() + 3;
    program.process("P", async move || {
        let _a = a.lock().await;
        *b.lock().await += 1;
    });
    program.process("Q", async move || {
        let mut b = b.lock().await;
        *b += 1;
        let _a = a.lock().await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    assert!(told.starts_with("Deadlock: P and Q wait for one another."), "{told}");
    assert!(told.contains("tests/program.rs, after 7 steps:"), "{told}");
    for (process, line, lock) in [("P", first, "b.lock()"), ("Q", first + 5, "a.lock()")] {
        let waits = format!("  {process}  line {line}  {lock}  waits for mutex");
        assert!(told.contains(&waits), "{waits} in {told}");
    }
}

#[test]
fn who_asks_something_else_the_second_time_is_found_out() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let mut program = Program::new();
    let (inbox, other) = (program.mailbox("inbox"), program.cell("other", 0));
    for i in 0..2 {
        program.process(format!("sender {i}"), async move || inbox.send(i).await);
    }
    program.process("receiver", async move || {
        if RUNS.fetch_add(1, Ordering::Relaxed) > 0 {
            other.write(1).await;
        }
        inbox.recv().await;
        inbox.recv().await;
    });
    let line = line!();
    let told = mazurka::check(&program.build().max_processes(1)).all().run().to_string();
    let asked = format!(
        "Error: nondeterminism: after the same outcomes, the process asked for `inbox.recv()` \
         (tests/program.rs:{}) the first time, and asked for `other.write()` with 1 \
         (tests/program.rs:{}) the second time",
        line - 3,
        line - 5
    );
    assert!(told.starts_with(&asked), "{told}");
}

/// Nondeterminism is detected even if there is only one execution, so that no outcome is delivered
/// again.
#[test]
fn who_does_something_else_in_each_run_is_found_out() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let mut program = Program::new();
    let runs = program.cell("runs", 0);
    let line = line!() + 2;
    program.process("P", async move || {
        runs.write(RUNS.fetch_add(1, Ordering::Relaxed)).await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let asked = |n: usize| format!("asked for `runs.write()` with {n} (tests/program.rs:{line})");
    let expected = format!(
        "Error: nondeterminism: after the same outcomes, the process {} the first time, and {} the second \
         time (P, tests/program.rs:{line}).",
        asked(0),
        asked(1)
    );
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn misuse_is_reported() {
    let told = wrong(async || future::pending().await);
    assert!(
        told.starts_with("Error: the process awaits something that is not an operation"),
        "{told}"
    );
    let told = wrong(async || {
        let (mut one, mut two) = (pin!(choose(0..2)), pin!(choose(0..2)));
        future::poll_fn(|context| {
            let _ = (one.as_mut().poll(context), two.as_mut().poll(context));
            Poll::<()>::Pending
        })
        .await;
    });
    assert!(told.starts_with("Error: the process awaits several operations at once"), "{told}");
    let told = wrong(async || {
        let mut asked = Box::pin(choose(0..2));
        future::poll_fn(|context| {
            let _ = asked.as_mut().poll(context);
            Poll::Ready(())
        })
        .await;
        drop(asked);
        assert_eq!(choose(5..6).await, 5, "what was given up was never asked for");
        panic!("as it should be");
    });
    assert!(told.starts_with("Assertion failed: as it should be"), "{told}");
    let told = wrong(async || {
        let (mut asked, mut polls) = (pin!(choose(0..2)), 0);
        future::poll_fn(|context| {
            polls += 1;
            let _ = (polls == 1).then(|| asked.as_mut().poll(context));
            Poll::<()>::Pending
        })
        .await;
    });
    assert!(told.starts_with("Error: the process gives up an operation that is"), "{told}");
    let mut program = Program::new();
    let mutex = program.mutex("m", ());
    let line = line!() + 3;
    program.process("P", async move || {
        let _guard = mutex.lock().await;
        mutex.lock().await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let expected = format!("locks a mutex that it has already (P, tests/program.rs:{line})");
    assert!(told.contains(&expected), "{told}");
    assert!(catch_unwind(|| drop(pin!(mutex.lock()).poll(&mut no_context()))).is_err());
}

fn no_context() -> std::task::Context<'static> {
    std::task::Context::from_waker(std::task::Waker::noop())
}

#[test]
fn processes_that_spawn_are_explored_by_threads_and_bounded() {
    let program = |most: usize| {
        let mut program = Program::new();
        let sum = program.cell("sum", 0);
        program.process("main", async move || {
            let mut children = Vec::new();
            for i in 1..4 {
                let child = spawn(format!("child {i}"), async move || {
                    sum.fetch_add(i).await;
                });
                children.push(child.await);
            }
            for child in children {
                child.join().await;
            }
            assert_eq!(sum.read().await, 6);
        });
        program.build().max_processes(most)
    };
    for most in [1, 2, 256] {
        for explorer in EXPLORERS {
            let checked = all(&program(most), explorer);
            assert_eq!((checked.verdict(), checked.outcome.stats.traces), (Verdict::Ok, 6));
        }
    }
}

/// What a page shows of the counterexample: all of it, or what stands above `..`.
fn documented(page: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    let text = text.expect("a text");
    let blocks = text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut shown = blocks.filter(|block| block.starts_with("Assertion failed: left == right"));
    shown.next().expect("a counterexample").into()
}

#[test]
fn a_counterexample_is_replayed_and_drawn_as_its_last_lines_say() {
    let picture = std::env::temp_dir().join(format!("mazurka-{}.svg", std::process::id()));
    let run = |variables: &[(&str, &str)]| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["program::bank::no_money_is_lost", "--exact", "--nocapture"]);
        command.env("MAZURKA_TEST_FAILS", "1").envs(variables.iter().copied());
        let output = command.output().expect("it runs");
        assert!(!output.status.success());
        let told = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        told.concat()
    };
    let told = run(&[]);
    for page in ["README.md", "docs/src/rust.md"] {
        let is_compared = |line: &&str| !line.starts_with("Took") && *line != "..";
        for line in documented(page).lines().filter(is_compared) {
            assert!(told.lines().any(|other| other == line), "{page}: {line}\n{told}");
        }
    }
    let replay = told.lines().find_map(|line| line.trim().strip_prefix("MAZURKA_REPLAY="));
    let (replay, rest) = replay.expect("a line that replays it").split_once(' ').unwrap();
    assert_eq!(rest, "cargo test program::bank::no_money_is_lost -- --exact --nocapture");
    assert!(
        told.contains("MAZURKA_DRAW=counterexample.svg cargo test program::bank::no_money_is_lost")
    );
    let told = run(&[("MAZURKA_REPLAY", replay), ("MAZURKA_DRAW", picture.to_str().unwrap())]);
    assert!(told.contains("balance: 100 -> 50"), "what each step changes: {told}");
    assert!(told.contains("Assertion failed: left == right (left: 50, right: 0)"), "{told}");
    assert!(!told.contains("Explored"), "nothing is searched: {told}");
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("<svg"), "{drawn}");
    std::fs::remove_file(&picture).expect("it is there");
    let elsewhere = run(&[("MAZURKA_REPLAY", "0,1@tests/other.rs:1")]);
    assert!(elsewhere.contains("Explored"), "another check searches: {elsewhere}");
    let nonsense = run(&[("MAZURKA_REPLAY", "a,b")]);
    assert!(nonsense.contains("MAZURKA_REPLAY=a,b: "), "{nonsense}");
}
