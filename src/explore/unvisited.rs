//! Invariants: in the states that a search goes through, and in those that it does not.
//!
//! An explorer that visits classes goes through one execution of each, so it misses states. What an
//! invariant says of a state depends only on what it sees of it
//! ([`Invariants`](crate::model::Invariants)): some cells, variables and lengths. Every state that
//! some execution goes through is a cut of the class of a longer one, up to where it ends or is
//! cut. So it is enough to judge, for each class visited, the cuts that differ in what the
//! invariant sees ([`Cuts`]): the *relevant* actions of a class are those that may change it.
//!
//! - If all that an invariant sees is one cell, or of one process, then what changes it is in one
//!   order in every class: two changes of a cell depend on one another, and so do two steps of a
//!   process. Every execution of the class goes through all of it. The search judges the invariant
//!   after each step, and that is enough.
//! - If the relevant actions of this class happen to be in one order, the same holds for this
//!   class.
//! - Otherwise the cuts are gone through, up to [`MOST_CUTS`]. If there are more, the search cannot
//!   be complete.
//!
//! The length of a mailbox changes with sends and receives, which are independent. So the two ends
//! are never one thing.
//!
//! A loop that waits may be given up after a fruitless round ([`crate::trace::spin`]). Such a round
//! changes nothing that outlasts it. The states in the middle of a round are those of executions in
//! which the round is not over, which are cuts of the execution that was given up, and that is
//! judged here as well.

use crate::model::{Failure, Locals, Schedule, State, StopSignal, System};
use crate::property::{Invariants, Properties, broken_invariant, broken_invariants, is_seen};
use crate::trace::Cuts;

/// The most cuts of a class that an invariant is judged in.
const MOST_CUTS: usize = 100_000;

/// What is to be judged.
pub(super) struct Asked {
    /// Are invariants to be judged?
    pub are_judged: bool,
    /// Those that have to be judged in states that the search does not go through.
    unvisited: Vec<usize>,
    /// Was there a class with too many such states?
    pub is_open: bool,
}

impl Asked {
    /// The invariants of `system`, if they are among the properties.
    pub fn of<S: System>(system: &S, properties: &Properties) -> Asked {
        let invariants = system.invariants().filter(|_| properties.contain::<Invariants>());
        let unvisited = invariants.map_or(Vec::new(), |invariants| {
            (0..invariants.count()).filter(|&one| !invariants.sees_one_thing(one)).collect()
        });
        Asked { are_judged: invariants.is_some(), unvisited, is_open: false }
    }
}

impl Asked {
    /// The search goes through all states.
    pub fn go_through_all_states(&mut self) {
        self.unvisited.clear();
    }

    /// What the invariants object to in `state`, if they are to be judged.
    pub fn broken<S: System>(&self, locals: &Locals<'_, S>, state: &State) -> Vec<Broken> {
        if !self.are_judged {
            return Vec::new();
        }
        let all = broken_invariants(locals, state).into_iter();
        all.map(|(invariant, failure)| Broken { invariant, failure, schedule: None }).collect()
    }

    /// What they object to in the states of the class of `state` that the search does not go
    /// through.
    pub fn broken_elsewhere<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        signal: &StopSignal,
    ) -> Vec<Broken> {
        let mut all = Vec::new();
        for &invariant in &self.unvisited {
            let found = judge_class(locals, state, invariant, signal);
            self.is_open |= !found.is_complete;
            all.extend(found.broken.into_iter().map(|(failure, schedule)| Broken {
                invariant,
                failure,
                schedule: Some(schedule),
            }));
        }
        all
    }

    /// Are there states that the search does not go through and that matter?
    #[inline]
    pub fn miss_states(&self) -> bool {
        !self.unvisited.is_empty()
    }
}

/// An invariant that fails.
pub(super) struct Broken {
    invariant: usize,
    /// How it fails.
    pub failure: Failure,
    /// An execution to there, if it is not the one at hand.
    schedule: Option<Schedule>,
}

impl Broken {
    /// The shortest execution to there that is known; `state` is where it was found.
    pub fn way<S: System>(self, locals: &Locals<'_, S>, state: &State) -> Schedule {
        self.schedule.unwrap_or_else(|| cuts(locals, state, self.invariant).smallest())
    }
}

/// What was found in the states of a class.
struct Found {
    /// Each failure, with the shortest execution to it that the class has.
    broken: Vec<(Failure, Schedule)>,
    /// Were all states judged?
    is_complete: bool,
}

/// What this invariant objects to in the states of the class of the execution to `state`. Nothing,
/// if that execution goes through all that the invariant can tell apart.
fn judge_class<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariant: usize,
    signal: &StopSignal,
) -> Found {
    let mut found = Found { broken: Vec::new(), is_complete: true };
    let mut cuts = cuts(locals, state, invariant);
    if cuts.are_in_one_order() {
        return found;
    }
    found.is_complete = cuts.each(MOST_CUTS, |locals, state| {
        if let Some(failure) = broken_invariant(locals, state, invariant) {
            note(&mut found.broken, failure, state);
        }
        !signal.is_raised()
    });
    found
}

/// Keeps the shortest execution to each failure.
fn note(broken: &mut Vec<(Failure, Schedule)>, failure: Failure, state: &State) {
    match broken.iter_mut().find(|(known, _)| *known == failure) {
        Some((_, shortest)) if shortest.len() <= state.depth() => {}
        Some((_, shortest)) => *shortest = Schedule::of(state),
        None => broken.push((failure, Schedule::of(state))),
    }
}

fn cuts<'s, S: System>(locals: &Locals<'s, S>, state: &State, invariant: usize) -> Cuts<'s, S> {
    let is_relevant = |locals: &Locals<'s, S>, state: &State| is_seen(locals, state, invariant);
    Cuts::new(locals.system(), Schedule::of(state), is_relevant)
}
