//! Searches in pieces: the same for any number of threads, and the same classes as in one piece.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroU64};

use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, Explorer, Guarantee, InPieces, NoObserver, Order, Outcome,
    Setting, Sleep, explore,
};
use mazurka::lang::compile;

use crate::judge::{LONG, METHODS, bound, has_ended, is_refused};
use crate::random_models::{Features, Sample, Subject, actors, processes};

/// Searches that are cut so early that small programs have many pieces.
fn in_pieces<S: Subject>(
    sample: &Sample<S>,
    explorer: AnyExplorer,
    jobs: u32,
    budget: &Budget,
) -> Outcome {
    let jobs = NonZeroU32::new(jobs).expect("some");
    let many = |count| NonZeroU64::new(count).expect("some");
    let early = InPieces { first: many(20), grain: many(10), ..InPieces::new(explorer, jobs) };
    explore(&sample.script, early, budget.clone(), &mut NoObserver)
}

fn same(one: &Outcome, other: &Outcome, what: &str) {
    similar(one, other, what);
    assert_eq!(one.violations.len(), other.violations.len(), "{what}");
    for (number, pair) in one.violations.iter().zip(&other.violations).enumerate() {
        assert_eq!(pair.0, pair.1, "violation {number} of {what}");
    }
}

/// The same but for violations that are distinguished by local states.
fn similar(one: &Outcome, other: &Outcome, what: &str) {
    assert_eq!(one.stats, other.stats, "{what}");
    assert_eq!(kinds(one), kinds(other), "{what}");
    assert_eq!(one.leaks, other.leaks, "{what}");
    assert_eq!(one.stopped_by, other.stopped_by, "{what}");
}

fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

/// Explores with different numbers of threads, and in one piece: by one in `share` explorers, in
/// turn.
fn check<S: Subject>(sample: &Sample<S>, share: usize) {
    let able = METHODS.iter().map(|&(_, method, _)| method).chain([Exhaustive.into()]);
    let able =
        able.filter(|m| m.profile().can_split(bound(m, LONG)) && !is_refused(&sample.script, *m));
    let first = sample.seed as usize % share;
    for explorer in able.skip(first).step_by(share) {
        let what = format!("{explorer:?} on {}", sample.describe());
        for all in [true, false] {
            let budget = Budget { all, depth: bound(&explorer, LONG), ..Budget::default() };
            let whole = explore(&sample.script, explorer, budget.clone(), &mut NoObserver);
            let one = in_pieces(sample, explorer, 1, &budget);
            // These programs have no places. Where they create actors, local states have the numbers that these got
            // in a search, and local states distinguish deadlocks.
            let takes_help = explorer.profile().takes_help;
            let Features { actors, spawns, .. } = sample.script.features();
            let compare = if takes_help && (actors || spawns) { similar } else { same };
            for jobs in [2, 3] {
                compare(&one, &in_pieces(sample, explorer, jobs, &budget), &what);
            }
            if takes_help {
                compare(&one, &whole, &what);
            }
            assert_eq!(one.verdict() as u8 == 0, whole.verdict() as u8 == 0, "{what}");
            if all {
                assert!(has_ended(&one), "{what}");
                assert_eq!(one.stats.classes, whole.stats.classes, "{what}");
                assert_eq!(kinds(&one), kinds(&whole), "{what}");
                let is_exact = explorer.profile().guarantee >= Guarantee::EveryClassOnce;
                assert!(!is_exact || one.stats.traces == whole.stats.traces, "{what}");
            }
            // No piece's results make another piece look elsewhere, unless chance decides.
            let is_plain = match explorer {
                AnyExplorer::Exhaustive(_) => true,
                AnyExplorer::Sleep(Sleep { order }) => !matches!(order, Order::Random(_)),
                _ => false,
            };
            let first = |outcome: &Outcome| outcome.violations.first().cloned();
            assert!(!is_plain || first(&one) == first(&whole), "{what}");
        }
    }
}

#[test]
fn the_number_of_threads_makes_no_difference_to_processes() {
    processes().iter().for_each(|sample| check(sample, 4));
}

#[test]
fn the_number_of_threads_makes_no_difference_to_actors() {
    actors().iter().for_each(|sample| check(sample, 4));
}

#[test]
#[ignore = "slow"]
fn the_number_of_threads_makes_no_difference_at_length() {
    processes().iter().for_each(|sample| check(sample, 1));
    actors().iter().for_each(|sample| check(sample, 1));
}

/// Long enough to be cut as searches are on a command line.
#[test]
fn a_setting_says_how_many_threads() {
    let text = include_str!("../specs/memory/writers.maz");
    let program = compile("writers.maz", text, &[("N".into(), "9".into())]).expect("a spec");
    let run = |setting: &str| {
        let setting: Setting = setting.parse().expect("a setting");
        explore(&program, setting, Budget::default(), &mut NoObserver)
    };
    let (whole, pieces) = (run("sleep"), run("sleep:jobs=2"));
    assert!(whole.stats.transitions > 900_000, "{:?}", whole.stats);
    same(&whole, &pieces, "sleep");
}
