//! What is still to be tried from each state along an execution, for rules that know it on arrival.

use crate::model::Action;

/// Actions by the prefix of the execution after which they are enabled, in one list.
#[derive(Debug, Default)]
pub struct Pending {
    actions: Vec<Action>,
    /// The start of the actions of each prefix.
    levels: Vec<usize>,
}

impl Pending {
    /// Notes that the execution has gone on, and that these actions are to be tried, the last one
    /// first.
    pub fn descend(&mut self, actions: impl Iterator<Item = Action>) {
        self.levels.push(self.actions.len());
        self.actions.extend(actions);
    }

    /// Is nothing to be tried from the last state?
    pub fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|&mark| self.actions.len() == mark)
    }

    /// The next action from the last state.
    pub fn pop(&mut self) -> Option<Action> {
        if self.is_empty() { None } else { self.actions.pop() }
    }

    /// Notes that the execution goes back by an action.
    pub fn ascend(&mut self) {
        self.actions.truncate(self.levels.pop().expect("a level to leave"));
    }
}
