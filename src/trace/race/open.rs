//! The open choices of an execution: actions that might have had another result if an event on
//! which they do not depend had come first.

use super::network::is_poll;
use crate::model::{Action, Choice, Op, Posted, System};
use crate::trace::Execution;

/// The positions of the open choices of an execution, each with a note of type N.
#[derive(Clone, Debug)]
pub struct OpenChoices<N = ()>(Vec<(usize, N)>);

impl<N> Default for OpenChoices<N> {
    fn default() -> Self {
        OpenChoices(Vec::new())
    }
}

impl OpenChoices {
    /// The open choices of a whole execution.
    pub(crate) fn of<S: System>(execution: &Execution<'_, S>) -> Self {
        let open = (0..execution.len()).filter(|&at| is_open(execution, at));
        OpenChoices(open.map(|at| (at, ())).collect())
    }
}

impl<N> OpenChoices<N> {
    /// Called after an action was added to the execution. If the action is an open choice, it is
    /// stored with the result of `note`.
    pub fn push<S: System>(
        &mut self,
        execution: &Execution<'_, S>,
        note: impl FnOnce(&Execution<'_, S>, usize) -> N,
    ) {
        let last = execution.len() - 1;
        if is_open(execution, last) {
            self.0.push((last, note(execution, last)));
        }
    }

    /// Called before the last action of the execution is removed.
    pub(crate) fn leave<S: System>(&mut self, execution: &Execution<'_, S>) {
        if let Some(last) = execution.len().checked_sub(1) {
            self.truncate(last);
        }
    }

    /// Drops the open choices after the first `length` actions of the execution.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.0.pop_if(|(position, _)| *position >= length).is_some() {}
    }

    /// All open choices, oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &N)> {
        self.0.iter().map(|(position, note)| (*position, note))
    }
}

/// Might the action at `position` have had another result if an event on which it does not depend
/// had come first?
fn is_open<S: System>(execution: &Execution<'_, S>, position: usize) -> bool {
    match execution.op(position) {
        Op::Deliver => matches!(execution.state().carried_at(position), Posted::Receive(_)),
        Op::Probe { .. } => true,
        op => {
            let Action { process, choice } = execution.action(position);
            match choice {
                Choice::NOTHING => is_poll(execution, position),
                _ => execution.state().is_open_choice(op, process),
            }
        }
    }
}
