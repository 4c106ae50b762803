//! The complete finite prefix: its verdicts against searches that visit everything, and its events against their
//! definition.

mod definition;
mod graph;
mod mci;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use mazurka::explore::{
    AnyExplorer, Budget, EveryState, Exhaustive, Explorer, FinitePrefix, NoObserver, Outcome, SPor,
    StopReason, Udpor, Violation, ViolationKind, explore,
};
use mazurka::lang::compile;
use mazurka::model::System;
use mazurka::property::Properties;

use crate::agreement::expectations;
use crate::judge::{STATEFUL, check_counterexample};
use crate::random_models::{self, Sample, Subject, later, p2p, processes};
use crate::spin::{Kind, kinds, random_program};
use crate::tidy::{some_of, specs_without_demands};

/// What a search says, in comparable terms: the symptoms of violations, and the leaks. Where processes are started, they
/// have other names along each path, so symptoms of deadlocks are not compared if `starts`.
pub(crate) fn said(outcome: &Outcome, starts: bool) -> BTreeSet<String> {
    let violations = outcome.violations.iter().map(|v| match v.kind {
        ViolationKind::Deadlock if !starts => format!("{:?}", v.symptom),
        // Ranks that do not agree are named by what happened first.
        ViolationKind::Error if v.failure.as_ref().is_some_and(|f| f.site.is_none()) => {
            "Error in a round".into()
        }
        _ => format!("{:?} {:?}", v.kind, v.failure),
    });
    // What is left where `final` fails is not looked at.
    let are_complete = outcome.violations.iter().all(|v| v.kind != ViolationKind::Assertion);
    let leaks = outcome.leaks.iter().filter(|_| are_complete);
    let leaks = leaks.map(|leak| format!("{:?} {:?}", leak.kind, leak.site));
    violations.chain(leaks).collect()
}

fn everything() -> Budget {
    Budget { all: true, ..Budget::default() }
}

/// Prints where a test was when it panics.
struct Context<F: Fn() -> String>(F);

impl<F: Fn() -> String> Drop for Context<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0());
        }
    }
}

/// The prefix says the same as `judge`.
fn says_the_same<S: System>(
    (system, starts): (&S, bool),
    judge: impl Explorer,
    budget: &Budget,
    context: impl Fn() -> String,
) {
    let context = Context(context);
    let found = explore(system, FinitePrefix::default(), budget.clone(), &mut NoObserver);
    if found.stopped_by == Some(StopReason::Growing) {
        return;
    }
    let mut expected = explore(system, judge, budget.clone(), &mut NoObserver);
    if expected.stopped_by == Some(StopReason::NoGuarantee) {
        // It knows no sends that may be delayed for ever.
        expected = explore(system, Udpor::default(), budget.clone(), &mut NoObserver);
    }
    let is_given_up = |outcome: &Outcome| {
        matches!(outcome.stopped_by, Some(StopReason::Endless | StopReason::Timeout))
    };
    if is_given_up(&expected) || is_given_up(&found) {
        println!("{:?} {:?} {}", found.stopped_by, expected.stopped_by, context.0());
        return;
    }
    assert_eq!(found.stopped_by, expected.stopped_by, "{}", context.0());
    assert_eq!(said(&found, starts), said(&expected, starts), "{}", context.0());
    for violation in &found.violations {
        check_counterexample(system, violation)
            .unwrap_or_else(|how| panic!("{how}: {}", context.0()));
    }
    // Read arcs, if there is a read that others come after.
    if found.stats.prefix.is_some_and(|prefix| prefix.events > 2_000) {
        return;
    }
    let found = explore(system, FinitePrefix::with_most_copies(0), budget.clone(), &mut NoObserver);
    assert_eq!(found.stopped_by, expected.stopped_by, "read arcs: {}", context.0());
    assert_eq!(said(&found, starts), said(&expected, starts), "read arcs: {}", context.0());
    for violation in &found.violations {
        check_counterexample(system, violation)
            .unwrap_or_else(|how| panic!("{how} (read arcs): {}", context.0()));
    }
    if found.stats.prefix.is_some_and(|prefix| prefix.has_read_arcs) {
        WITH_READ_ARCS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of comparisons so far where read arcs were the answer.
static WITH_READ_ARCS: AtomicUsize = AtomicUsize::new(0);

/// A daemon may wait for ever with a mutex, but should not end with it. At both ends the mutex has the
/// same value, so a search that has seen one of them has to look for the other.
#[test]
fn what_is_left_is_told_apart_by_the_place_of_who_left_it() {
    for stays in [0, 1] {
        let text = format!(
            "mutex m; mailbox box;\n\
             daemon process D {{ let c = choose(0..2); lock(m); if c == {stays} {{ let _v = recv(box); }} }}\n"
        );
        let program = compile("spec.maz", &text, &[]).unwrap();
        let found = explore(&program, FinitePrefix::default(), everything(), &mut NoObserver);
        assert_eq!(found.leaks.len(), 1, "{text}");
        says_the_same((&program, false), EveryState::of(STATEFUL), &everything(), || text.clone());
    }
}

#[test]
fn specs_are_judged_as_by_states() {
    judges_specs_as_by_states(3);
}

#[test]
#[ignore = "slow"]
fn every_spec_is_judged_as_by_states_at_length() {
    judges_specs_as_by_states(1);
}

/// Judges about one of `step` specs.
fn judges_specs_as_by_states(step: usize) {
    let mut taken = 0;
    for path in some_of(specs_without_demands(), step) {
        let text = std::fs::read_to_string(&path).expect("a readable spec");
        for expected in expectations(&text).expect("expectations") {
            let is_large = expected.slow || expected.traces.is_some_and(|traces| traces > 1_000);
            if is_large || expected.depth.is_some() {
                continue;
            }
            let Ok(mut program) = compile("spec.maz", &text, &expected.with) else { continue };
            program.set_semantics(expected.semantics.unwrap_or_default());
            let properties = Properties::default().allow_pending(expected.allow_pending);
            let budget = Budget { properties, ..everything() };
            if FinitePrefix::default().refusal(&program, &budget).is_some() {
                continue;
            }
            taken += 1;
            let judge: AnyExplorer = match program.invariants() {
                Some(_) => EveryState::of(STATEFUL).into(),
                None => SPor::lazy(STATEFUL).into(),
            };
            let budget = Budget { timeout: Some(std::time::Duration::from_secs(5)), ..budget };
            says_the_same((&program, false), judge, &budget, || {
                format!("{} with {:?}", path.display(), expected.with)
            });
        }
    }
    let with_read_arcs = WITH_READ_ARCS.load(Ordering::Relaxed);
    assert!(
        taken > 200 / step && with_read_arcs > 10 / step,
        "{taken} specs, {with_read_arcs} with read arcs"
    );
}

fn programs_are_judged_as_by_all_executions<S: Subject>(samples: &[Sample<S>]) {
    let mut taken = 0;
    for sample in samples {
        if FinitePrefix::default().refusal(&sample.script, &everything()).is_some() {
            continue;
        }
        taken += 1;
        let context = || sample.describe().to_string();
        let starts = sample.script.features().spawns;
        says_the_same((&sample.script, starts), Exhaustive, &everything(), context);
    }
    let with_read_arcs = WITH_READ_ARCS.load(Ordering::Relaxed);
    println!("{taken} of {} programs; {with_read_arcs} with read arcs so far", samples.len());
}

#[test]
fn random_programs_are_judged_as_by_all_executions() {
    programs_are_judged_as_by_all_executions(processes());
    programs_are_judged_as_by_all_executions(later());
    programs_are_judged_as_by_all_executions(p2p());
    programs_are_judged_as_by_all_executions(random_models::actors());
}

#[test]
fn programs_that_wait_in_loops_are_judged_as_by_states() {
    let (mut livelocks, mut judged) = (0, 0);
    for seed in 0..400 {
        let kind = if seed % 2 == 0 { Kind::Plain } else { Kind::Later };
        // One more waits in a loop, and holds the mutex that another one needs to end that.
        let x = seed / 2 % 2;
        let text = format!(
            "mutex h;\n{}process H {{ lock(h); while x{x} == {x} {{ }} unlock(h); }}\n\
             process W {{ lock(h); x{x} = 1 - {x}; unlock(h); }}",
            random_program(seed, kind)
        );
        let program = compile("spin.maz", &text, &[]).expect("a valid program");
        let all = EveryState::of(STATEFUL);
        let states = explore(&program, all, everything(), &mut NoObserver);
        if states.stats.states.is_none_or(|states| states > 20_000) {
            continue;
        }
        judged += 1;
        let is_livelock = |v: &Violation| v.kind == ViolationKind::Livelock;
        livelocks += usize::from(states.violations.iter().any(is_livelock));
        let context = Context(|| text.clone());
        let found = explore(&program, FinitePrefix::default(), everything(), &mut NoObserver);
        assert_eq!(found.stopped_by, states.stopped_by, "{}", context.0());
        // Leaks are not compared: a lock may be left held by `try_lock`s at two places, of which a search names one.
        assert_eq!(kinds(&found), kinds(&states), "{}", context.0());
        for violation in &found.violations {
            check_counterexample(&program, violation).unwrap_or_else(|how| panic!("{how}"));
        }
    }
    println!("{judged} programs, {livelocks} with livelocks");
    assert!(judged > 200 && livelocks > 20, "{judged} {livelocks}");
}

/// The number of steps of each deadlock.
fn lengths_of_deadlocks(outcome: &Outcome) -> BTreeMap<String, usize> {
    let deadlocks = outcome.violations.iter().filter(|v| v.kind == ViolationKind::Deadlock);
    deadlocks.map(|v| (format!("{:?}", v.symptom), v.schedule.len())).collect()
}

#[test]
fn deadlocks_have_the_fewest_steps() {
    let (mut deadlocks, mut firsts) = (0, 0);
    for sample in processes().iter().chain(later()).filter(|s| !s.script.features().spawns) {
        let budget = Budget { shortest: true, ..everything() };
        let expected = explore(&sample.script, Exhaustive, budget.clone(), &mut NoObserver);
        let expected = lengths_of_deadlocks(&expected);
        if expected.is_empty() {
            continue;
        }
        let found = explore(&sample.script, FinitePrefix::default(), budget, &mut NoObserver);
        assert!(found.stats.prefix.is_some_and(|prefix| prefix.has_shortest_deadlock));
        assert_eq!(lengths_of_deadlocks(&found), expected, "{}", sample.describe());
        deadlocks += expected.len();
        let first =
            explore(&sample.script, FinitePrefix::default(), Budget::default(), &mut NoObserver);
        if let [Violation { kind: ViolationKind::Deadlock, schedule, .. }] = &first.violations[..] {
            assert_eq!(Some(&schedule.len()), expected.values().min(), "{}", sample.describe());
            firsts += 1;
        }
    }
    println!("{deadlocks} deadlocks, {firsts} first ones");
    assert!(deadlocks > 50 && firsts > 20);
}

/// Programs with a violation that looks like what is none, in all but one thing.
const ALIKE: &[&str] = &[
    // A variable is unknown if its process waits or has failed, and missing if it has ended.
    "mailbox m: int;
     daemon process P {
         if choose(0..2) == 1 { recv(m); } else { local(\"b\"); return; }
         let v = 1;
     }
     final { assert(P.v == 1); }",
    "process P {
         if choose(0..2) == 0 { assert(false); } else { local(\"x\"); return; }
         let v = 1;
     }
     final { assert(P.v == 1); }",
    // A process computes between the request of a mutex and the wait for it.
    "mutex m;
     process P { var v = 0; async_lock(m); v = 1; mutex_wait(m); v = 2; unlock(m); }
     process Q { lock(m); unlock(m); }
     invariant { assert(P.v != 1); }",
    "mutex m;
     process Q { lock(m); }
     daemon process D { var v = 0; let k = choose(0..2); async_lock(m); v = k; mutex_wait(m); v = 0; }
     final { assert(D.v != 1); }",
    // A process that has failed keeps values that did not matter before.
    "shared x: int = 0;
     process P { let c = choose(0..2); if c == 0 { x = 1; } local(\"x\"); loop {} }",
    // A daemon goes round a loop that does not look at what `final` reads.
    "shared y: int = 1;
     daemon process D { y = y; loop { local(\"t\"); } }
     process Q { y = 2; }
     final { assert(y == 2); }",
];

#[test]
fn what_looks_alike_is_told_apart() {
    for text in ALIKE {
        let program = compile("alike.maz", text, &[])
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let found = explore(&program, FinitePrefix::default(), everything(), &mut NoObserver);
        let expected = explore(&program, Udpor::default(), everything(), &mut NoObserver);
        assert!(!found.violations.is_empty(), "{text}");
        assert_eq!(said(&found, false), said(&expected, false), "{text}");
    }
}
