//! Searches cut into branches at random, which are then explored one by one, in any order, by the
//! same explorer or by any: together they are the search.

use std::collections::BTreeSet;

use mazurka::explore::{
    AnyExplorer, Branch, Budget, Depth, Exhaustive, Explorer, Guarantee, Outcome, Splitter,
    StopReason, explore, explore_branch,
};

use crate::judge::{Counts, LONG, METHODS, Recorder, bound, has_ended, is_refused};
use crate::random_models::Rng;
use crate::random_models::{Sample, Subject, actors, processes};

/// Takes branches out of a search at random.
struct AtRandom {
    rng: Rng,
    /// Those not explored yet.
    branches: Vec<Branch>,
    /// The number of branches that may still be taken.
    left: usize,
}

impl Splitter for AtRandom {
    fn wants_branch(&mut self) -> bool {
        self.left > 0 && self.rng.chance(20)
    }

    fn take(&mut self, branch: Branch) {
        self.left -= 1;
        // A branch is sent to another search as text.
        self.branches.push(branch.to_string().parse().expect("a branch"));
    }
}

/// Explores the whole in pieces, each by one of `explorers`. Returns how often each class was
/// found, and the kinds of violations.
fn in_pieces<S: Subject, E: Explorer>(
    sample: &Sample<S>,
    explorers: &[E],
    depth: u32,
    recorder: &mut Recorder<'_, S>,
) -> (Counts, Vec<Outcome>) {
    let branches = vec![Branch::default()];
    let mut splitter = AtRandom { rng: Rng::new(sample.seed), branches, left: 12 };
    let mut outcomes = Vec::new();
    while !splitter.branches.is_empty() {
        let index = splitter.rng.below(splitter.branches.len());
        let branch = splitter.branches.swap_remove(index);
        let explorer = *splitter.rng.pick(explorers);
        // UDPOR forgets whenever it can.
        let budget = Budget {
            all: true,
            keep_events: 0,
            depth: bound(&explorer, depth),
            ..Budget::default()
        };
        let script = &sample.script;
        let outcome = explore_branch(script, explorer, &branch, &mut splitter, budget, recorder);
        let is_cut = depth < LONG && outcome.stopped_by == Some(StopReason::Depth);
        assert!(is_cut || has_ended(&outcome), "{explorer:?}, {branch} on {}", sample.describe());
        outcomes.push(outcome);
    }
    (recorder.take(), outcomes)
}

fn kinds<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> BTreeSet<String> {
    let violations = outcomes.into_iter().flat_map(|outcome| &outcome.violations);
    violations.map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

/// The whole, and the prefix of the unfolding up to a small height.
fn check<S: Subject>(sample: &Sample<S>) {
    check_to(sample, LONG);
    check_to(sample, 4);
}

fn check_to<S: Subject>(sample: &Sample<S>, depth: u32) {
    let mut recorder = Recorder::new(&sample.script);
    let budget = Budget { all: true, depth: Some(depth), ..Budget::default() };
    let whole = explore(&sample.script, Exhaustive, budget, &mut recorder);
    let classes = recorder.take();
    let (found, pieces) = in_pieces(sample, &[Exhaustive], depth, &mut recorder);
    let executions = |counts: &Counts| -> Vec<_> {
        counts.iter().map(|(class, visits)| (class.clone(), visits.times)).collect()
    };
    assert_eq!(executions(&found), executions(&classes), "exhaustive on {}", sample.describe());
    assert_eq!(kinds(&pieces), kinds([&whole]), "exhaustive on {}", sample.describe());

    let able = METHODS.iter().map(|&(_, method, _)| method);
    let able =
        able.filter(|m| m.profile().can_split(bound(m, depth)) && !is_refused(&sample.script, *m));
    let able = able.filter(|m| depth == LONG || m.profile().depth == Depth::Causal);
    let able: Vec<_> = able.collect();
    let once = able.iter().copied().filter(|m| m.profile().guarantee == Guarantee::EveryClassOnce);
    // Branches of this explorer can be explored only by itself.
    let once = once.filter(|m| !matches!(m, AnyExplorer::Parsimonious(_)));
    let mixed: Vec<_> = once.collect();
    for explorers in able.iter().map(std::slice::from_ref).chain([&mixed[..]]) {
        let (found, pieces) = in_pieces(sample, explorers, depth, &mut recorder);
        let what = || format!("{explorers:?} to {depth} on {}", sample.describe());
        assert!(
            found.keys().eq(classes.keys()),
            "{} of {}: {}",
            found.len(),
            classes.len(),
            what()
        );
        let is_once = explorers.iter().all(|e| e.profile().guarantee == Guarantee::EveryClassOnce);
        assert!(!is_once || found.values().all(|class| class.times == 1), "twice: {}", what());
        assert_eq!(kinds(&pieces), kinds([&whole]), "{}", what());
    }
}

#[test]
fn the_pieces_are_the_whole_on_random_programs_of_processes() {
    processes().iter().step_by(4).for_each(check);
}

#[test]
fn the_pieces_are_the_whole_on_random_programs_of_actors() {
    actors().iter().step_by(2).for_each(check);
}

#[test]
#[ignore = "slow"]
fn the_pieces_are_the_whole_at_length() {
    processes().iter().for_each(check);
    actors().iter().for_each(check);
}
