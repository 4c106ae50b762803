//! The default explorer: whoever answers, the answer is right, and it is the same for any number of
//! jobs.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use mazurka::explore::{
    Auto, Budget, Exhaustive, Explorer, NoObserver, Outcome, Setting, StopReason, Verdict,
    ViolationKind, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::System;
use mazurka::property::{Objection, Position, Properties, Property, When};

use crate::cli::{code, json, run_with, stdout};
use crate::random_models::{Sample, Subject, actors, p2p, processes};
use crate::tidy::specs_without_demands;

/// Specs with more executions are left out where all are tried.
const MOST_EXECUTIONS: u64 = 500;

fn auto(first: u64, jobs: u32) -> Auto {
    Auto { first, jobs: NonZeroU32::new(jobs).expect("some") }
}

fn program(text: &str) -> Program {
    compile("auto.maz", text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn spec(name: &str, constants: &[(&str, u32)]) -> Program {
    let text = fs::read_to_string(format!("{}/specs/{name}.maz", env!("CARGO_MANIFEST_DIR")));
    let constants: Vec<_> =
        constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    compile(name, &text.expect("a spec"), &constants).expect("a valid spec")
}

fn search(system: &impl System, explorer: Auto, budget: Budget) -> Outcome {
    explore(system, explorer, budget, &mut NoObserver)
}

/// All that is told but the time, and who answered.
fn reported(outcome: &Outcome) -> String {
    let Outcome { stats, violations, leaks, stopped_by, .. } = outcome;
    format!("{stopped_by:?} {stats:?} {violations:?} {leaks:?}")
}

/// The kinds of violations.
fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

/// Searches whose first shares are tiny: the result is that of the winner when it is alone, and the
/// same for any number of jobs; and what is wrong is what the exhaustive search finds. Returns the
/// winners.
fn answers(system: &impl System, judge: &Outcome, context: &dyn Fn() -> String) -> Vec<String> {
    let mut winners = Vec::new();
    for first in [1, 7, 40] {
        for all in [true, false] {
            let budget = || Budget { all, ..Budget::default() };
            let one = search(system, auto(first, 1), budget());
            let winner = one.answered_by.clone().expect("a winner");
            let alone: Setting = winner.parse().expect("an explorer");
            let alone = explore(system, alone, budget(), &mut NoObserver);
            assert_eq!(reported(&one), reported(&alone), "{winner}, first {first}: {}", context());
            for jobs in if all { &[2, 4][..] } else { &[] } {
                let more = search(system, auto(first, *jobs), budget());
                assert_eq!(more.answered_by.as_ref(), Some(&winner), "{jobs}: {}", context());
                assert_eq!(
                    reported(&more),
                    reported(&one),
                    "{jobs} jobs, first {first}: {}",
                    context()
                );
            }
            match all {
                true => assert_eq!(kinds(&one), kinds(judge), "{winner}: {}", context()),
                false => assert!(kinds(&one).is_subset(&kinds(judge)), "{winner}: {}", context()),
            }
            let (some, any) = (one.violations.len(), judge.violations.len());
            assert_eq!(some > 0, any > 0, "{winner}: {}", context());
            winners.push(winner);
        }
    }
    winners
}

/// An exhaustive search; `None` if there are more than [`MOST_EXECUTIONS`], or if the program has
/// demands, which that search does not judge.
fn judge(system: &impl System) -> Option<Outcome> {
    let budget = Budget { all: true, max_traces: Some(MOST_EXECUTIONS), ..Budget::default() };
    if Exhaustive.refusal(system, &budget).is_some() {
        return None;
    }
    let outcome = explore(system, Exhaustive, budget, &mut NoObserver);
    outcome.is_complete().then_some(outcome)
}

fn assert_each_wins(winners: &[String], names: &[&str]) {
    for name in names {
        let times = winners.iter().filter(|winner| winner == name).count();
        println!("{name} answers {times} times of {}", winners.len());
        assert!(times > 0, "{name}");
    }
}

#[test]
fn every_spec_is_answered_as_by_a_search_of_everything() {
    let (mut winners, mut compared) = (Vec::new(), 0);
    for path in specs_without_demands() {
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).expect("a spec"));
        let Ok(program) = compile(&name, &text, &[]) else { continue };
        let Some(judge) = judge(&program) else { continue };
        winners.extend(answers(&program, &judge, &|| name.clone()));
        compared += 1;
    }
    assert!(compared > 150, "{compared} specs");
    assert_each_wins(&winners, &["prefix", "udpor"]);
}

fn random_programs_are_answered<S: Subject>(samples: &[Sample<S>]) -> Vec<String> {
    let answered = samples.iter().filter_map(|sample| {
        let judge = judge(&sample.script)?;
        Some(answers(&sample.script, &judge, &|| sample.describe().to_string()))
    });
    answered.flatten().collect()
}

#[test]
fn random_programs_are_answered_as_by_a_search_of_everything() {
    random_programs_are_answered(processes());
    random_programs_are_answered(actors());
    random_programs_are_answered(p2p());
}

/// Many executions meet in few states: UDPOR would take a hundred times as long.
#[test]
fn where_executions_meet_others_than_udpor_answer() {
    for (name, constants) in [
        ("memory/writers", &[("N", 9)][..]),
        ("mutex/mutex", &[("N", 9)]),
        ("mutex/dispatcher", &[("S", 5), ("R", 5)]),
    ] {
        let program = spec(name, constants);
        let outcomes = [1, 2].map(|jobs| search(&program, auto(2_000, jobs), Budget::default()));
        let [one, two] = &outcomes;
        assert_eq!(one.verdict(), Verdict::Ok, "{name}");
        assert_ne!(one.answered_by.as_deref(), Some("udpor"), "{name}");
        assert_eq!(reported(one), reported(two), "{name}");
        assert_eq!(one.answered_by, two.answered_by, "{name}");
    }
}

/// Where there are few events, the prefix answers.
#[test]
fn where_choices_are_independent_the_prefix_answers() {
    let outcome = search(&spec("mutex/poke", &[("N", 7)]), auto(200, 1), Budget::default());
    assert_eq!((outcome.verdict(), outcome.answered_by.as_deref()), (Verdict::Ok, Some("prefix")));
}

/// UDPOR takes a program for endless, and is out. Its states are few.
#[test]
fn a_search_that_is_cut_is_no_answer() {
    let turns = program("shared x: int = 0; process P { while true { x = 1 - x; } }");
    for (first, jobs) in [(1, 1), (100_000, 1), (100_000, 2)] {
        let budget = Budget { endless: Some(1_000), ..Budget::default() };
        let outcome = search(&turns, auto(first, jobs), budget);
        assert_eq!(outcome.verdict(), Verdict::Ok, "{outcome:?}");
        assert_ne!(outcome.answered_by.as_deref(), Some("udpor"));
    }
    let grows = program("shared x: int = 0; process P { while true { x = x + 1; } }");
    let budget = Budget { endless: Some(1_000), ..Budget::default() };
    let outcome = search(&grows, auto(1, 1), budget);
    assert_eq!(outcome.stopped_by, Some(StopReason::Endless));
    assert_eq!(outcome.verdict(), Verdict::Incomplete);
}

const DEADLOCK: &str = "
    mutex m[2];
    process P[i in 0..2] { lock(m[i]); lock(m[1 - i]); unlock(m[0]); unlock(m[1]); }
    process Q[i in 0..9] { local(\"a\"); local(\"b\"); }";

#[test]
fn a_violation_by_anybody_is_the_verdict() {
    let program = program(DEADLOCK);
    for all in [true, false] {
        for first in [1, 3, 50, 1 << 20] {
            let outcome = search(&program, auto(first, 1), Budget { all, ..Budget::default() });
            assert_eq!(outcome.verdict(), Verdict::Deadlock, "first {first}");
            assert_eq!(outcome.is_complete(), all);
            assert!(outcome.violations.iter().all(|v| v.kind == ViolationKind::Deadlock));
        }
    }
}

/// A search that takes days, whoever does it.
const LONG: &str = "
    shared x: [int; 12] = [0; 12];
    process P[i in 0..12] { for j in 0..12 { x[(i + j) % 12] = x[(i + j) % 12] * 2 + i; } }";

#[test]
fn a_limit_leaves_a_report() {
    let program = program(LONG);
    for (first, jobs) in [(1 << 30, 1), (1, 1), (100, 2), (1, 4)] {
        let timeout = Some(Duration::from_millis(300));
        let start = Instant::now();
        let outcome = search(&program, auto(first, jobs), Budget { timeout, ..Budget::default() });
        assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
        assert_eq!(outcome.stopped_by, Some(StopReason::Timeout), "{first} {jobs}");
        assert_eq!(outcome.verdict(), Verdict::Incomplete);
        assert!(outcome.stats.transitions > 0);
    }
}

#[test]
fn an_interrupt_leaves_a_report() {
    let program = program(LONG);
    for (first, jobs) in [(1 << 30, 1), (1, 1), (100, 2), (1, 4)] {
        let budget = Budget::default();
        let cancel = budget.cancel.clone();
        let outcome = thread::scope(|scope| {
            let found = scope.spawn(|| search(&program, auto(first, jobs), budget));
            thread::sleep(Duration::from_millis(200));
            cancel.store(true, Ordering::Relaxed);
            found.join().expect("a result")
        });
        assert_eq!(outcome.stopped_by, Some(StopReason::Interrupted), "{first} {jobs}");
        assert!(outcome.stats.transitions > 0);
    }
}

/// What ends searches that are not needed is not the flag of the user.
#[test]
fn an_answer_interrupts_nobody_else() {
    let budget = Budget::default();
    let cancel = budget.cancel.clone();
    let outcome = search(&spec("memory/writers", &[("N", 6)]), auto(20, 2), budget);
    assert_eq!(outcome.verdict(), Verdict::Ok);
    assert!(!cancel.load(Ordering::Relaxed));
}

/// Panics in every thread but that of the test, or only there.
#[derive(Debug)]
struct Panics {
    here: thread::ThreadId,
    here_only: bool,
}

impl Property for Panics {
    fn when(&self) -> When {
        When::End
    }

    fn objection(&self, _: Position<'_>) -> Option<Objection> {
        let is_here = thread::current().id() == self.here;
        assert_ne!(is_here, self.here_only, "a mistake in a property");
        None
    }
}

#[test]
fn a_panic_of_one_search_ends_all() {
    let program = spec("memory/writers", &[("N", 6)]);
    for (here_only, jobs) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let panics = Panics { here: thread::current().id(), here_only };
        let properties = Properties::default().with(panics);
        let budget = Budget { properties, ..Budget::default() };
        let run = || search(&program, auto(10, jobs), budget);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{here_only} {jobs}");
    }
}

/// With a depth, and with invariants, only those take part who can do it.
#[test]
fn who_cannot_do_it_takes_no_part() {
    let steps = program("shared x: int = 0; process P[i in 0..3] { x = i; x = i; }");
    let within = Budget { depth: Some(4), ..Budget::default() };
    let outcome = search(&steps, auto(1, 1), within);
    assert_eq!(outcome.answered_by.as_deref(), Some("udpor"));
    let counted = Budget { max_traces: Some(3), ..Budget::default() };
    let outcome = search(&steps, auto(1, 1), counted);
    assert_eq!(outcome.stopped_by, Some(StopReason::MaxTraces));
    let judged = program(
        "shared x: int = 0; process P[i in 0..3] { x = i; x = i; } invariant { assert(x < 3); }",
    );
    for first in [1, 5, 10] {
        let outcome = search(&judged, auto(first, 1), Budget::default());
        assert_eq!(outcome.verdict(), Verdict::Ok);
        assert_ne!(outcome.answered_by.as_deref(), Some("dl-s-por"));
    }
    assert_eq!(auto(1, 1).refusal(&judged, &Budget::default()), None);
}

/// Reports name `auto` and who answered. What needs a certain explorer gets it.
#[test]
fn reports_say_who_answered() {
    let text = "shared x: int = 0; process P[i in 0..3] { x = i; }";
    let explorer = |args: &[&str]| {
        let output = run_with(&[&["check", "-", "--format", "json"], args].concat(), text);
        assert_eq!(code(&output), 0, "{args:?}: {}", stdout(&output));
        let report = json(&output);
        (report["explorer"].clone(), report["answered_by"].clone())
    };
    assert_eq!(explorer(&[]), ("auto".into(), "udpor".into()));
    assert_eq!(explorer(&["--jobs", "2"]), ("auto".into(), "udpor".into()));
    for args in [&["-k", "1"][..], &["--order", "lca"], &["--keep-events"], &["--warn", "lines"]] {
        assert_eq!(explorer(args), ("udpor".into(), serde_json::Value::Null), "{args:?}");
    }
    let shown = stdout(&run_with(&["check", "-"], text));
    assert!(shown.contains("Search    auto, answered by udpor, k = optimal;"), "{shown}");
}
