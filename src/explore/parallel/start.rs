//! Where a search began, and which open work it can give away from there.
//!
//! A search gives away the open work of the state where it began ([`crate::explore::tree`]). Often
//! there is none: only one action was enabled there, or all others are asleep. An
//! [`EmptinessProbe`] follows the execution of the search in a state of its own, and checks this.
//! So no empty branch is given away, at the cost of one more step for each action of the execution.

use crate::explore::tree::Branch;
use crate::model::{Action, Locals, Schedule, State, StopSignal, System};

/// The shortest prefix of the current execution from which a search still tries other actions. The
/// open work of shorter prefixes belongs to other searches.
pub(crate) struct Start<'s, S: System> {
    pub(crate) length: usize,
    /// The probe at this prefix, created when the first branch is asked for.
    probe: Option<EmptinessProbe<'s, S>>,
}

impl<'s, S: System> Start<'s, S> {
    /// Where a branch with a prefix of this length begins.
    pub(crate) fn at(length: usize) -> Self {
        Start { length, probe: None }
    }

    /// The open work of the shortest prefix that has any, as a branch, which then belongs to
    /// another search. `elsewhere` returns, for a prefix of a certain length, the actions that are
    /// explored elsewhere, in portable names. The last of them is the action with which the search
    /// itself continues.
    pub(crate) fn next_branch(
        &mut self,
        (system, state): (&'s S, &State),
        elsewhere: impl Fn(usize) -> Vec<Action>,
    ) -> Option<Branch> {
        while self.length < state.depth() {
            let mut prefix = Schedule::of(state);
            prefix.truncate(self.length);
            let elsewhere = elsewhere(self.length);
            self.length += 1;
            let probe = self.probe.get_or_insert_with(|| EmptinessProbe::at(system, &prefix));
            let is_exhausted = probe.left(&elsewhere) == 0;
            probe.go_on(*elsewhere.last().expect("the next action"));
            if !is_exhausted {
                return Some(Branch { prefix, elsewhere, wanted: Vec::new() });
            }
        }
        None
    }
}

/// Follows the execution of a search, and checks which prefixes have open work.
pub(crate) struct EmptinessProbe<'s, S: System> {
    locals: Locals<'s, S>,
    state: State,
}

impl<'s, S: System> EmptinessProbe<'s, S> {
    /// A probe after this execution, in portable names.
    pub(crate) fn at(system: &'s S, prefix: &[Action]) -> Self {
        StopSignal::disregarded(|| {
            let mut locals = Locals::new(system);
            let state = State::initial(&mut locals);
            let mut probe = EmptinessProbe { locals, state };
            prefix.iter().for_each(|&action| probe.go_on(action));
            probe
        })
    }

    /// The number of actions that are enabled here and not in `elsewhere`.
    pub(crate) fn left(&self, elsewhere: &[Action]) -> usize {
        let named = |&portable: &Action| self.state.action_named(&self.locals, portable);
        let elsewhere: Vec<_> = elsewhere.iter().filter_map(named).collect();
        let mut enabled = Vec::new();
        self.state.enabled(&self.locals, &mut enabled);
        enabled.iter().filter(|action| !elsewhere.contains(action)).count()
    }

    /// Executes an action, in portable names.
    ///
    /// # Panics
    /// If the action is not enabled.
    pub(crate) fn go_on(&mut self, portable: Action) {
        let action = self.state.action_named(&self.locals, portable);
        let action = action.unwrap_or_else(|| panic!("{portable:?} is not enabled"));
        StopSignal::disregarded(|| self.state.step(&mut self.locals, action));
    }
}
