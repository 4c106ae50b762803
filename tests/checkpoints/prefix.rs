//! Searches by `prefix` are saved, in memory, stopped and resumed.

use mazurka::explore::{
    AnyExplorer, Budget, Explorer, FinitePrefix, NoObserver, Outcome, Verdict, explore,
};
use mazurka::lang::compile;
use mazurka::model::System;

use super::states::{assert_refuses_others, stopped};
use crate::prefix::said;
use crate::random_models::{Rng, Sample, Subject, actors, later, p2p, processes};

/// The explorer as it is, and as it tries read arcs from the first copy of an event on.
fn ways() -> [AnyExplorer; 2] {
    [FinitePrefix::default().into(), FinitePrefix::with_most_copies(0).into()]
}

/// Asserts that a search that is stopped at random says what one says that was not. Returns how
/// often it was stopped.
fn assert_same<S: System>(
    (system, starts): (&S, bool),
    explorer: AnyExplorer,
    rng: &mut Rng,
    text: &dyn Fn() -> String,
) -> u32 {
    let budget = Budget { all: rng.below(3) > 0, ..Budget::default() };
    if explorer.refusal(system, &budget).is_some() {
        return 0;
    }
    let whole = explore(system, explorer, budget.clone(), &mut NoObserver);
    let (resumed, stops) = stopped(system, explorer, &budget, rng);
    let what = || format!("{explorer:?}, all: {}, of {}", budget.all, text());
    assert_eq!(resumed.stats.prefix, whole.stats.prefix, "{}", what());
    assert_eq!(resumed.stats.transitions, whole.stats.transitions, "{}", what());
    assert_eq!(resumed.stats.max_depth, whole.stats.max_depth, "{}", what());
    assert_eq!(resumed.stopped_by, whole.stopped_by, "{}", what());
    assert_eq!(resumed.violations.is_empty(), whole.violations.is_empty(), "{}", what());
    if budget.all {
        assert_eq!(resumed.verdict(), whole.verdict(), "{}", what());
        assert_eq!(said(&resumed, starts), said(&whole, starts), "{}", what());
    }
    stops
}

fn check<S: Subject + 'static>(samples: impl Iterator<Item = &'static Sample<S>>) -> u32 {
    let each = samples.map(|sample| {
        let mut rng = Rng::new(sample.seed);
        let of = |way| assert_same((&sample.script, false), way, &mut rng, &|| sample.describe());
        ways().map(of).iter().sum::<u32>()
    });
    each.sum()
}

#[test]
fn a_prefix_is_gone_on_with() {
    let of_processes = check(processes().iter().step_by(60));
    let of_actors = check(actors().iter().step_by(120));
    assert!(of_processes > 20 && of_actors > 10, "{of_processes} {of_actors}");
}

#[test]
#[ignore = "slow"]
fn a_prefix_is_gone_on_with_at_length() {
    println!("{}", check(processes().iter()));
    println!("{}", check(actors().iter()));
    println!("{}", check(later().iter()));
    println!("{}", check(p2p().iter()));
}

#[test]
fn other_prefixes_are_refused() {
    assert_refuses_others(FinitePrefix::default().into());
}

/// What was found before a stop is found again: by events, and by answers of the solver.
#[test]
fn what_was_found_is_found_again() {
    let of = |text: &str| compile("program.maz", text, &[]).expect("a program");
    let fails = of("shared x: int = 0;
        process P[i in 0..3] { x = i; if x != i { assert(false); } local(\"\"); }");
    let blocks = of("mutex a, b; mutex c;
        process P { lock(a); lock(b); unlock(b); unlock(a); }
        process Q { lock(b); lock(a); unlock(a); unlock(b); }
        process R { lock(c); lock(a); unlock(a); unlock(c); }
        process S { lock(a); lock(c); unlock(c); unlock(a); }");
    let budget = Budget { all: true, ..Budget::default() };
    for (program, verdict) in [(fails, Verdict::Assertion), (blocks, Verdict::Deadlock)] {
        let mut stops = 0;
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            for explorer in ways() {
                let (found, count) = stopped(&program, explorer, &budget, &mut rng);
                assert_eq!(found.verdict(), verdict);
                assert_eq!(said(&found, false), said(&whole(&program, explorer), false));
                stops += count;
            }
        }
        assert!(stops > 40, "{stops}");
    }
}

fn whole<S: System>(program: &S, explorer: AnyExplorer) -> Outcome {
    explore(program, explorer, Budget { all: true, ..Budget::default() }, &mut NoObserver)
}
