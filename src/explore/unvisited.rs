//! Invariants: in the states that a search visits, and in those that it skips.
//!
//! An explorer that visits classes runs one execution of each class, so it skips states. The value
//! of an invariant depends only on the parts of a state that it reads
//! ([`Invariants`](crate::model::Invariants)): some cells, variables and lengths. Every reachable
//! state is a cut of the class of some execution that ends or is cut by a bound. So for each class
//! visited it is enough to judge those cuts that differ in what the invariant reads ([`Cuts`]). The
//! *relevant* actions of a class are the actions that may change what the invariant reads.
//!
//! - If an invariant reads only one cell, or only one process, then the relevant actions of every
//!   class are totally ordered: two changes of a cell depend on one another, and so do two steps of
//!   a process. Every execution of the class goes through all values that the invariant can have.
//!   The search judges the invariant after each step, and that is enough.
//! - If the relevant actions of one class happen to be totally ordered, the same argument holds for
//!   this class.
//! - Otherwise the cuts are enumerated, up to [`MOST_CUTS`]. If there are more, the search does not
//!   count as complete.
//!
//! The length of a mailbox changes with sends and receives, which are independent. So an invariant
//! that reads a length never falls under the first case.
//!
//! A loop that waits may be given up after a spin iteration ([`crate::trace::spin`]), which changes
//! nothing that outlasts it. The states in the middle of the iteration are cuts of the
//! execution that was given up, and that execution is judged here as well.

use crate::model::{Failure, Locals, Schedule, State, StopSignal, System};
use crate::property::{Invariants, Properties, broken_invariant, broken_invariants, is_seen};
use crate::trace::Cuts;

/// The most cuts of a class that an invariant is judged in.
const MOST_CUTS: usize = 100_000;

/// The invariants that a search has to judge.
pub(super) struct InvariantCheck {
    /// Must invariants be judged at all?
    pub(crate) are_judged: bool,
    /// Indices of the invariants that must also be judged in states that the search skips.
    unvisited: Vec<usize>,
    /// Was there a class with more than [`MOST_CUTS`] such states?
    pub(crate) is_open: bool,
}

impl InvariantCheck {
    /// The invariants of `system`, if they are among the properties.
    pub(crate) fn of<S: System>(system: &S, properties: &Properties) -> InvariantCheck {
        let invariants = system.invariants().filter(|_| properties.contain::<Invariants>());
        let unvisited = invariants.map_or(Vec::new(), |invariants| {
            (0..invariants.count()).filter(|&one| !invariants.sees_one_thing(one)).collect()
        });
        InvariantCheck { are_judged: invariants.is_some(), unvisited, is_open: false }
    }
}

impl InvariantCheck {
    /// Notes that the search visits every reachable state.
    pub(crate) fn go_through_all_states(&mut self) {
        self.unvisited.clear();
    }

    /// The invariants that fail in `state`. None if invariants are not judged.
    pub(crate) fn broken<S: System>(&self, locals: &Locals<'_, S>, state: &State) -> Vec<Broken> {
        if !self.are_judged {
            return Vec::new();
        }
        let all = broken_invariants(locals, state).into_iter();
        all.map(|(invariant, failure)| Broken { invariant, failure, schedule: None }).collect()
    }

    /// The invariants that fail in skipped states of the class of the execution to `state`.
    pub(crate) fn broken_elsewhere<S: System>(
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

    /// May an invariant fail in a state that the search skips?
    #[inline]
    pub(crate) fn miss_states(&self) -> bool {
        !self.unvisited.is_empty()
    }
}

/// An invariant that fails.
pub(super) struct Broken {
    invariant: usize,
    /// How it fails.
    pub(crate) failure: Failure,
    /// An execution to the state where it fails; `None` if that is the current state.
    schedule: Option<Schedule>,
}

impl Broken {
    /// The shortest known execution to the state where it fails. `state` is the state in which the
    /// search found the failure.
    pub(crate) fn way<S: System>(self, locals: &Locals<'_, S>, state: &State) -> Schedule {
        self.schedule.unwrap_or_else(|| cuts(locals, state, self.invariant).smallest())
    }
}

/// The failures in the states of a class.
struct Found {
    /// Each failure, with the shortest execution to it among those judged.
    broken: Vec<(Failure, Schedule)>,
    /// Were all states judged?
    is_complete: bool,
}

/// The failures of this invariant in the states of the class of the execution to `state`. There are
/// none to look for if this execution itself goes through every value that the invariant can have
/// in the class.
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
