//! Searches up to a depth, 1 to 12, of every explorer, judged by a walk through all executions by
//! the definitions.
//!
//! A depth is causal or a length ([`Depth`]). Causal: the events up to that height form classes,
//! each a maximal set without conflicts. Length: executions of that length, and shorter complete
//! ones. The programs are random ones of processes and of actors, variants of these without an end,
//! programs known to be hard, and all specs.

mod judge;
mod programs;

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mazurka::explore::{
    AnyExplorer, Budget, Depth, End, Exhaustive, Explorer, Guarantee, Observer, Outcome,
    StopReason, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::System;
use mazurka::property::Position;

use crate::judge::{Counts, METHODS, Recorder, check_counterexample};
use crate::random_models::{Sample, Subject, actors, processes};
use crate::tidy::{some_of, specs_without_demands};
use judge::bounded_classes;

/// The depths.
const DEPTHS: std::ops::RangeInclusive<u32> = 1..=12;
/// Programs with more configurations are too large for the judge.
const MAX_CONFIGURATIONS: usize = 150;
/// In an ordinary run, one in `SHARE` variants of explorers is tried for each program and depth, in
/// turn.
const SHARE: usize = 5;
/// The explorer that judges others is judged as well.
const JUDGE: (&str, AnyExplorer, bool) = ("exhaustive", AnyExplorer::Exhaustive(Exhaustive), true);
/// The number of random programs of each kind in an ordinary run.
const PROGRAMS: usize = 20;
/// Explorers that visit classes more than once are stopped after this number of visits, including
/// those that are cut: there may be thousands for each class.
const MAX_VISITS: u64 = 500;
/// Explorers that visit every execution are stopped after this number: a single class may have
/// millions.
const MAX_EXECUTIONS: u64 = 100_000;

fn is_slow_run() -> bool {
    std::env::var_os("MAZURKA_SLOW").is_some()
}

/// A recorder that ends the search after a number of visits.
struct GivesUp<'r, 's, S: System> {
    recorder: &'r mut Recorder<'s, S>,
    left: u64,
    give_up: Arc<AtomicBool>,
}

impl<S: System> GivesUp<'_, '_, S> {
    fn note(&mut self, at: Position<'_>, is_complete: bool) {
        match self.left.checked_sub(1) {
            None => self.give_up.store(true, Ordering::Relaxed),
            Some(left) => {
                self.left = left;
                self.recorder.note(&at.schedule(), is_complete);
            }
        }
    }
}

impl<S: System> Observer for GivesUp<'_, '_, S> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.note(at, true);
    }

    fn truncated(&mut self, at: Position<'_>) {
        self.note(at, false);
    }
}

/// Compares all explorers at all depths, or up to a depth at which nothing is cut. Returns the
/// number of comparisons.
fn check<S: System>(
    system: &S,
    keep_events: usize,
    max_configurations: usize,
    name: &str,
) -> usize {
    let (mut compared, mut turn) = (0, name.len());
    for depth in DEPTHS {
        let mut recorder = Recorder::new(system);
        let mut expected = |measure| {
            let complete =
                bounded_classes(system, measure, depth, max_configurations, &mut recorder);
            Some(recorder.take()).filter(|_| complete)
        };
        let (causal, length) = (expected(Depth::Causal), expected(Depth::Length));
        let (mut violations, mut is_cut) = (None, false);
        let measures = [(Depth::Causal, &causal), (Depth::Length, &length)];
        let runs = METHODS.iter().chain(&[JUDGE]).flat_map(|run| measures.map(|of| (run, of)));
        for (&(_, method, never_blocked), (measure, expected)) in runs {
            if !method.profile().measures(measure) {
                continue;
            }
            let budget = Budget {
                all: true,
                keep_events,
                depth: Some(depth),
                measure: Some(measure),
                ..Budget::default()
            };
            turn += 1;
            let is_spared = !is_slow_run() && !turn.is_multiple_of(SHARE);
            let Some(expected) = expected.as_ref().filter(|_| !is_spared) else { continue };
            let guarantee = method.profile().guarantee;
            if guarantee == Guarantee::EveryEnd || method.refusal(system, &budget).is_some() {
                continue;
            }
            let context = || format!("{method:?} up to depth {depth} ({measure:?}) on {name}");
            let left = match guarantee {
                Guarantee::EveryExecution => MAX_EXECUTIONS,
                Guarantee::EveryClassOnce => u64::MAX,
                _ => MAX_VISITS,
            };
            let give_up = budget.cancel.clone();
            let mut watched = GivesUp { recorder: &mut recorder, left, give_up };
            let outcome = explore(system, method, budget, &mut watched);
            let found = recorder.take();
            match outcome.stopped_by {
                None | Some(StopReason::Depth | StopReason::NoGuarantee) => {}
                // Executions that are cut for a reason other than depth are not compared here.
                Some(StopReason::Interrupted | StopReason::Oversubscribed | StopReason::Polls) => {
                    continue;
                }
                Some(other) => panic!("{other:?}: {}", context()),
            }
            check_classes(expected, &found, guarantee)
                .unwrap_or_else(|how| panic!("{how}: {}", context()));
            if never_blocked {
                assert_eq!(outcome.stats.blocked, 0, "blocked: {}", context());
            }
            for violation in &outcome.violations {
                check_counterexample(system, violation)
                    .unwrap_or_else(|how| panic!("{how}: {}", context()));
            }
            if guarantee > Guarantee::SomeClasses && measure == Depth::Causal {
                let kinds = kinds(&outcome);
                let all = violations.get_or_insert_with(|| kinds.clone());
                assert_eq!(*all, kinds, "violations: {}", context());
            }
            is_cut |= outcome.stats.truncated > 0;
            compared += 1;
        }
        if !is_cut {
            break;
        }
    }
    compared
}

/// The violations without the processes, whose names differ between executions.
fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

fn check_classes(expected: &Counts, found: &Counts, guarantee: Guarantee) -> Result<(), String> {
    let missed = expected.keys().filter(|class| !found.contains_key(class)).count();
    let strange = found.keys().filter(|class| !expected.contains_key(class)).count();
    if strange > 0 || missed > 0 && guarantee > Guarantee::SomeClasses {
        return Err(format!("{missed} of {} classes missed, {strange} strange", expected.len()));
    }
    let most = found.values().map(|class| class.times).max();
    match guarantee {
        Guarantee::EveryClassOnce if most > Some(1) => Err("a class more than once".into()),
        _ => Ok(()),
    }
}

fn program(text: &str) -> Program {
    compile("depth.maz", text, &[])
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)))
}

/// For every other program, UDPOR forgets events whenever it can.
fn keep_events(number: usize) -> usize {
    if number.is_multiple_of(2) { 0 } else { usize::MAX }
}

fn check_text(number: usize, text: &str) -> usize {
    check(&program(text), keep_events(number), MAX_CONFIGURATIONS, text)
}

fn check_samples<S: Subject>(samples: &[Sample<S>]) {
    let number = if is_slow_run() { samples.len() } else { PROGRAMS.min(samples.len()) };
    let check = |(n, sample): (usize, &Sample<S>)| {
        check(&sample.script, keep_events(n), MAX_CONFIGURATIONS, &sample.describe())
    };
    let compared: usize = samples[..number].iter().enumerate().map(check).sum();
    println!("{compared} comparisons");
    assert!(compared > 5 * number, "most are small enough");
}

fn check_texts(texts: &[String]) {
    let compared: usize = texts.iter().enumerate().map(|(n, text)| check_text(n, text)).sum();
    println!("{compared} comparisons");
    assert!(compared > 5 * texts.len(), "most are small enough");
}

#[test]
fn random_processes_up_to_a_depth() {
    check_samples(processes());
}

#[test]
fn random_actors_up_to_a_depth() {
    check_samples(actors());
}

#[test]
#[ignore = "slow"]
fn random_processes_without_an_end_up_to_a_depth() {
    check_texts(&programs::endless_processes(PROGRAMS));
}

#[test]
fn random_actors_without_an_end_up_to_a_depth() {
    check_texts(&programs::endless_actors(PROGRAMS));
}

#[test]
fn known_programs_up_to_a_depth() {
    for (number, text) in programs::KNOWN.iter().enumerate() {
        assert!(check_text(number, text) > 0, "{text}");
    }
}

#[test]
#[ignore = "slow"]
fn specs_up_to_a_depth() {
    check_specs(3);
}

#[test]
#[ignore = "slow"]
fn every_spec_up_to_a_depth_at_length() {
    check_specs(1);
}

/// Checks about one of `step` specs.
fn check_specs(step: usize) {
    let mut compared = 0;
    for (number, path) in some_of(specs_without_demands(), step).enumerate() {
        let text = fs::read_to_string(&path).expect("a readable spec");
        let name = path.file_name().map_or("".into(), |name| name.to_string_lossy());
        let Ok(program) = compile(&name, &text, &[]) else { continue };
        compared += check(&program, keep_events(number), MAX_CONFIGURATIONS, &name);
    }
    println!("{compared} comparisons");
    assert!(compared > 1_000 / step, "most are small enough at some depth");
}

/// It has the initial state, and no step.
#[test]
fn a_program_that_fails_at_once_has_one_state() {
    let text = "process P { assert(false); }";
    for explorer in ["stateful", "dl-s-por"] {
        let args = ["check", "-", "--depth", "5", "--explorer", explorer];
        let told = crate::cli::stdout(&crate::cli::run_with(&args, text));
        assert!(told.contains("1 state first visited after 0 steps"), "{told}");
    }
}
