//! The actions still to try from each state of an execution, for rules that know them on arrival.

use crate::model::Action;

/// A stack of actions, grouped by the prefix of the execution after which they are to be tried.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    actions: Vec<Action>,
    /// The start of the actions of each prefix.
    levels: Vec<usize>,
}

impl Pending {
    /// Begins the group of a new state. Its actions are tried from the last to the first.
    pub(crate) fn descend(&mut self, actions: impl Iterator<Item = Action>) {
        self.levels.push(self.actions.len());
        self.actions.extend(actions);
    }

    /// Is the group of the last state empty?
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|&mark| self.actions.len() == mark)
    }

    /// The next action from the last state.
    pub(crate) fn pop(&mut self) -> Option<Action> {
        if self.is_empty() { None } else { self.actions.pop() }
    }

    /// Drops the group of the last state.
    pub(crate) fn ascend(&mut self) {
        self.actions.truncate(self.levels.pop().expect("a level to leave"));
    }
}
