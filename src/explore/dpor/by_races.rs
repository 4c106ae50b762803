//! The common part of DPOR and its variants: backtrack sets that grow by races between enabled and
//! executed actions.
//!
//! ```text
//! Explore(S):
//!   handle the races of the strands enabled after S             see Races
//!   if something is enabled after S:
//!     backtrack(S) := the first of it
//!     for each m in backtrack(S) that is not done:  Explore(S.m)
//! ```
//!
//! **Executions that are cut.** DPOR is defined for executions that end. If the depth bound cuts an
//! execution, an action may be missing only because others came first, without any race: up to
//! causal depth 1, a read never races with a write that would come second; up to length 1, of two
//! messages to two actors the second does not appear at all. So when an execution is cut, every
//! enabled strand is added to the backtrack sets of all its states. That is enough. Let v be a
//! class of executions from a state s, complete or as deep as the bound allows. If some execution
//! through s was cut, the first action of v was explored from s (or sleeps there). If none was cut,
//! the search explored from s exactly what it would have explored without a bound. So it covers v
//! or, if v is cut, a continuation of v, which would have been cut as well. The price: while
//! executions are cut, only sleep sets reduce the search.
//!
//! An execution counts as cut wherever an action is beyond the bound, even if the exploration is
//! blocked there, or continues with another choice of the same process.

use crate::explore::walk::{Reached, Rule, Walk};
use crate::model::{Action, System};
use crate::trace::{BacktrackSets, Candidate};

/// The part in which DPOR and its variants differ: how races extend backtrack sets.
pub(crate) trait Races<S: System> {
    /// Called after each new action: extends the backtrack sets of earlier states for its races.
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets);

    /// When the depth bound cuts an execution, must every enabled strand be added along it?
    fn covers_cuts(&self) -> bool {
        true
    }
}

/// The rule of DPOR and its variants.
#[derive(Default)]
pub(crate) struct ByRaces<R> {
    races: R,
    backtrack: BacktrackSets,
    /// The actions that the execution should follow next, in reverse order.
    wanted: Vec<Action>,
}

impl<R> ByRaces<R> {
    /// The rule with this treatment of races.
    pub(crate) fn new(races: R) -> Self {
        ByRaces { races, backtrack: BacktrackSets::default(), wanted: Vec::new() }
    }

    /// The action of the wanted order, if it is enabled and awake; else the first candidate that is
    /// awake.
    fn first(&mut self, here: usize) -> Option<Candidate> {
        let candidates = self.backtrack.candidates(here);
        let mut awake = candidates.iter().filter(|candidate| !candidate.is_asleep);
        if let Some(wanted) = self.wanted.pop() {
            if let Some(&found) = awake.clone().find(|candidate| candidate.action == wanted) {
                return Some(found);
            }
            self.wanted.clear();
        }
        awake.next().copied()
    }
}

impl<S: System, R: Races<S>> Rule<S> for ByRaces<R> {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let reached = walk.look();
        self.backtrack.push(walk.candidates());
        if reached == Reached::Stop {
            return;
        }
        let here = walk.execution.len();
        let is_cut = reached == Reached::TooLong || !walk.execution.cut().is_empty();
        if is_cut && self.races.covers_cuts() {
            self.backtrack.cut();
        }
        if reached == Reached::Open {
            match self.first(here) {
                Some(first) => self.backtrack.add(here, first.strand),
                None => walk.blocked(),
            }
        }
        if here > 0 && !walk.driver.is_stopped() {
            self.races.reverse(walk, &mut self.backtrack);
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        let action = self.backtrack.take()?;
        if let Some(order) = self.backtrack.wanted() {
            self.wanted = order;
        }
        Some(action)
    }

    #[inline]
    fn leave(&mut self, _: &mut Walk<'_, '_, '_, S>) {
        self.backtrack.pop();
        self.wanted.clear();
    }
}
