//! Looks whether anything is left to do where a branch could be cut off.
//!
//! A search cuts off what is left to do where it began ([`super::tree`]). Often that is nothing: only one action was
//! enabled there, or all others sleep. A scout goes along the execution of the search, behind it, in a state of its own. So
//! no piece is given away that is empty, which costs one step for each place.

use crate::model::{Action, Locals, State, StopSignal, System};

/// A prefix of the execution of a search.
pub(super) struct Scout<'s, S: System> {
    locals: Locals<'s, S>,
    state: State,
}

impl<'s, S: System> Scout<'s, S> {
    /// At the end of this execution, in portable names.
    pub(super) fn at(system: &'s S, prefix: &[Action]) -> Self {
        StopSignal::disregarded(|| {
            let mut locals = Locals::new(system);
            let state = State::initial(&mut locals);
            let mut scout = Scout { locals, state };
            prefix.iter().for_each(|&action| scout.go_on(action));
            scout
        })
    }

    /// Is everything that is enabled here among these?
    pub(super) fn is_exhausted(&self, elsewhere: &[Action]) -> bool {
        self.left(elsewhere) == 0
    }

    /// How much of what is enabled here is not among these.
    pub(super) fn left(&self, elsewhere: &[Action]) -> usize {
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
    pub(super) fn go_on(&mut self, portable: Action) {
        let action = self.state.action_named(&self.locals, portable);
        let action = action.unwrap_or_else(|| panic!("{portable:?} is not enabled"));
        StopSignal::disregarded(|| self.state.step(&mut self.locals, action));
    }
}
