//! Looks whether anything is left to do where a branch could be cut off.
//!
//! A search cuts off what is left to do where it began ([`crate::explore::tree`]). Often that is
//! nothing: only one action was enabled there, or all others sleep. A scout goes along the
//! execution of the search, behind it, in a state of its own. So no piece is given away that is
//! empty, which costs one step for each place.

use crate::explore::tree::Branch;
use crate::model::{Action, Locals, Schedule, State, StopSignal, System};

/// The prefix from which a search goes on to something else. What is left to do from shorter
/// prefixes belongs to others.
pub struct Start<'s, S: System> {
    /// Its length.
    pub length: usize,
    /// Looks whether anything is left to do from it.
    scout: Option<Scout<'s, S>>,
}

impl<'s, S: System> Start<'s, S> {
    /// Where a branch with a prefix of this length begins.
    pub fn at(length: usize) -> Self {
        Start { length, scout: None }
    }

    /// What is left to do from the prefix where the search began; if nothing is, what is left to do
    /// from the next one. It belongs to others from now on. `elsewhere` says of such a length which
    /// actions others explore, in portable names; the last is the one with which the search goes
    /// on.
    pub fn next_branch(
        &mut self,
        (system, state): (&'s S, &State),
        elsewhere: impl Fn(usize) -> Vec<Action>,
    ) -> Option<Branch> {
        while self.length < state.depth() {
            let mut prefix = Schedule::of(state);
            prefix.truncate(self.length);
            let elsewhere = elsewhere(self.length);
            self.length += 1;
            let scout = self.scout.get_or_insert_with(|| Scout::at(system, &prefix));
            let is_exhausted = scout.left(&elsewhere) == 0;
            scout.go_on(*elsewhere.last().expect("the next action"));
            if !is_exhausted {
                return Some(Branch { prefix, elsewhere, wanted: Vec::new() });
            }
        }
        None
    }
}

/// A prefix of the execution of a search.
pub struct Scout<'s, S: System> {
    locals: Locals<'s, S>,
    state: State,
}

impl<'s, S: System> Scout<'s, S> {
    /// At the end of this execution, in portable names.
    pub fn at(system: &'s S, prefix: &[Action]) -> Self {
        StopSignal::disregarded(|| {
            let mut locals = Locals::new(system);
            let state = State::initial(&mut locals);
            let mut scout = Scout { locals, state };
            prefix.iter().for_each(|&action| scout.go_on(action));
            scout
        })
    }

    /// How much of what is enabled here is not among these.
    pub fn left(&self, elsewhere: &[Action]) -> usize {
        let named = |&portable: &Action| self.state.action_named(&self.locals, portable);
        let elsewhere: Vec<_> = elsewhere.iter().filter_map(named).collect();
        let mut enabled = Vec::new();
        self.state.enabled(&self.locals, &mut enabled);
        enabled.iter().filter(|action| !elsewhere.contains(action)).count()
    }

    /// Goes on by an action, in portable names.
    ///
    /// # Panics
    /// If it is not enabled: the execution is one of this system.
    pub fn go_on(&mut self, portable: Action) {
        let action = self.state.action_named(&self.locals, portable);
        let action = action.unwrap_or_else(|| panic!("{portable:?} is not enabled"));
        StopSignal::disregarded(|| self.state.step(&mut self.locals, action));
    }
}
