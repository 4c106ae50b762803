//! What DPOR and its variants share: backtrack sets that grow by races between enabled and executed
//! actions.
//!
//! ```text
//! Explore(S):
//!   what the races of what is enabled after S ask for           see Races
//!   if something is enabled after S:
//!     backtrack(S) := the first of it
//!     for each m in backtrack(S) that is not done:  Explore(S.m)
//! ```
//!
//! **Executions that are cut.** DPOR is about executions that end. If the depth bound cuts one, an
//! action may be missing only because others came first, and no race tells of it: up to causal
//! depth 1, a read is never seen to race with a write that would come second; of two messages to
//! two actors, one action deep, the second would not be seen at all. So when an execution is cut,
//! everything enabled is added in all the states that it passed through. That is enough. Let v be a
//! class of executions from a state s, as deep as the bound allows, or complete. If some execution
//! through s was cut, v's first action was explored from s (or sleeps there). If none was cut,
//! exactly what the search without a bound would have explored was explored from s. So it covers v
//! or, if v is cut, a continuation of v, which would have been cut as well. It has a price: while
//! executions are cut, only sleep sets reduce the search.
//!
//! An execution is cut wherever an action is left out for being too high, even if the exploration
//! is blocked there, or goes on with another choice of the same process.

use crate::explore::walk::{Reached, Rule, Sleepers, Walk};
use crate::model::{Action, System};
use crate::trace::{BacktrackSets, Candidate};

/// What DPOR and its variants differ in.
pub trait Races<S: System> {
    /// The last action of the execution is new: adds to the backtrack sets of earlier states what
    /// its races ask for.
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets);

    /// Where an execution is cut by the depth bound, are all others of that length to be covered,
    /// too?
    fn covers_cuts(&self) -> bool {
        true
    }
}

/// The rule that all of them have.
#[derive(Default)]
pub struct ByRaces<R> {
    races: R,
    backtrack: BacktrackSets,
    /// What is to be tried next, the first of it last.
    wanted: Vec<Action>,
}

impl<R> ByRaces<R> {
    /// With these races.
    pub fn new(races: R) -> Self {
        ByRaces { races, backtrack: BacktrackSets::default(), wanted: Vec::new() }
    }

    /// The first candidate that is awake, or the one that is wanted.
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
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        let action = self.backtrack.take(walk.manner.sleep == Sleepers::All)?;
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
