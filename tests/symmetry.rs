//! Symmetric processes: is one state kept of those that are equal up to a permutation, and nothing
//! missed?
//!
//! The judge follows the definition. It visits all states without symmetry. Whether two states are
//! equal up to a permutation it does not read from the states: it takes the execution that leads
//! to one of them, lets the other processes act in place of those, and looks where that leads. If
//! that is no execution, or ends elsewhere, the program is not symmetric at all, and the analysis
//! that says so is wrong. The orbits that the judge finds are counted, and compared with what the
//! explorer keeps.

mod details;
mod judge;
pub mod programs;
mod rules;
mod values;

use std::collections::BTreeSet;

use mazurka::explore::{Budget, EveryState, Fused, NoObserver, Outcome, Stateful, Switch, explore};
use mazurka::lang::{Program, compile};
use mazurka::model::System;

use crate::random_models::rng::Rng;

/// The number of programs: `MAZURKA_PROGRAMS`, or as many as an ordinary run has time for.
fn count() -> u64 {
    std::env::var("MAZURKA_PROGRAMS").map_or(150, |count| count.parse().expect("a number"))
}

pub fn read(text: &str) -> Program {
    let program = compile("program.maz", text, &[]);
    program.unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.render(false)))
}

/// Explores all, with or without symmetry.
pub fn search(program: &Program, with_symmetry: bool) -> Outcome {
    search_some(program, with_symmetry, None)
}

/// The same; stops after that many complete executions.
fn search_some(program: &Program, with_symmetry: bool, max_traces: Option<u64>) -> Outcome {
    let budget = Budget { all: true, max_traces, ..Budget::default() };
    // Also where it does not pay.
    let every = EveryState { least_permutations: 2, ..EveryState::of(settings(with_symmetry)) };
    explore(program, every, budget, &mut NoObserver)
}

fn settings(with_symmetry: bool) -> Stateful {
    let mut how = Stateful::default();
    if !with_symmetry {
        how.without = how.without.and(Switch::Symmetry);
    }
    how
}

/// Asserts that fused steps come to the same ends: with symmetry to one of each orbit.
fn assert_fused_ends_alike(program: &Program, whole: &Outcome, with_symmetry: bool, text: &str) {
    let fused = Fused { how: settings(with_symmetry) };
    let budget = Budget { all: true, ..Budget::default() };
    let found = explore(program, fused, budget, &mut NoObserver);
    assert_eq!(violations(&found), violations(whole), "{text}");
    assert_eq!(found.stopped_by, whole.stopped_by, "{text}");
    assert_eq!(found.stats.traces, whole.stats.traces, "{text}");
    assert_eq!(found.stats.deadlocked_traces, whole.stats.deadlocked_traces, "{text}");
    assert!(found.stats.states <= whole.stats.states, "{text}");
    assert_eq!(found.stats.symmetry.is_some(), whole.stats.symmetry.is_some(), "{text}");
}

/// The violations without the numbers in them: those may differ by a permutation.
fn violations(outcome: &Outcome) -> BTreeSet<String> {
    let of = |violation| {
        let text = format!("{violation:?}");
        let kind: String = text.chars().take_while(|c| c.is_alphabetic()).collect();
        kind
    };
    outcome.violations.iter().map(|violation| of(&violation.kind)).collect()
}

/// Compares a search with symmetry with the judge. Returns the sizes of the groups.
pub fn compare(text: &str) -> Vec<u32> {
    let program = read(text);
    let [merged, whole] = [true, false].map(|on| search(&program, on));
    assert!(whole.symmetry_is_off(), "{text}");
    assert_eq!(violations(&merged), violations(&whole), "{text}");
    assert_eq!(merged.verdict(), whole.verdict(), "{text}");
    assert_eq!(merged.stopped_by, whole.stopped_by, "{text}");
    assert_fused_ends_alike(&program, &whole, false, text);
    let Some(figures) = &merged.stats.symmetry else { return Vec::new() };
    assert_fused_ends_alike(&program, &merged, true, text);
    let found = judge::orbits(&program, text);
    assert_eq!(Some(found.states), whole.stats.states, "{text}");
    let kept = merged.stats.states.expect("states");
    assert!(found.orbits.contains(&kept), "{kept} of {:?}: {figures:?}\n{text}", found.orbits);
    assert_eq!(figures.stands_for, Some(found.states), "{figures:?}\n{text}");
    figures.indices.clone()
}

trait HasSymmetry {
    fn symmetry_is_off(&self) -> bool;
}

impl HasSymmetry for Outcome {
    fn symmetry_is_off(&self) -> bool {
        self.stats.symmetry.is_none()
    }
}

/// Indices within tuples, lists, sets and maps.
#[test]
fn one_state_of_each_orbit_is_kept_with_values() {
    let (mut symmetric, mut not) = (0, 0);
    for seed in 0..6 * count() {
        let text = values::random(&mut Rng::new(seed));
        // A map may have a key twice. The judge tries all ways to rename what is chosen.
        let Ok(program) = compile("program.maz", &text, &[]) else { continue };
        let whole = search_some(&program, false, Some(60));
        if text.matches("choose(").count() > 1
            || whole.stopped_by.is_some()
            || whole.stats.states.is_none_or(|states| states > 120)
        {
            continue;
        }
        // States after a failure are not renamed, so of these more than one in each orbit is kept.
        if violations(&whole).contains("Error") {
            assert_eq!(violations(&search(&program, true)), violations(&whole), "{text}");
            continue;
        }
        match compare(&text).is_empty() {
            true => not += 1,
            false => symmetric += 1,
        }
    }
    println!("{symmetric} symmetric, {not} not");
    assert!(symmetric > count() && 2 * not > count(), "{symmetric} symmetric, {not} not");
}

/// Polls, timeouts and faults.
#[test]
fn one_state_of_each_orbit_is_kept_with_a_network() {
    let (mut symmetric, mut polls, mut shared) = (0, 0, 0);
    let count = count() / 2;
    for seed in 0..count {
        let text = programs::random_network(&mut Rng::new(seed));
        let program = read(&text);
        let few = search_some(&program, false, Some(40));
        if few.stopped_by.is_some() || few.stats.states > Some(400) {
            continue;
        }
        let is_symmetric = u64::from(!compare(&text).is_empty());
        symmetric += is_symmetric;
        polls += is_symmetric * u64::from(text.contains("timeout") || text.contains("probe"));
        shared += is_symmetric * u64::from(text.contains("crashes up to 1 in all"));
    }
    assert!(symmetric * 4 > count, "only {symmetric} programs of {count} are symmetric");
    assert!(polls > 0 && shared > 0, "{polls} poll, {shared} have a budget in all");
}

#[test]
fn one_state_of_each_orbit_is_kept() {
    let (mut symmetric, mut several, mut rings) = (0, 0, 0);
    for seed in 0..count() {
        let text = programs::random(&mut Rng::new(seed));
        let program = read(&text);
        if search(&program, false).stats.states.is_none_or(|states| states > 3_000) {
            continue;
        }
        let sizes = compare(&text);
        symmetric += u64::from(!sizes.is_empty());
        several += u64::from(sizes.len() > 1);
        let groups = program.foresight().symmetry().map_or(&[][..], |of| of.groups());
        rings += u64::from(groups.iter().any(|group| group.is_ring));
    }
    assert!(symmetric * 4 > count(), "only {symmetric} programs of {} are symmetric", count());
    assert!(rings > 0 && several > 0, "{rings} rings, {several} with several groups");
}
