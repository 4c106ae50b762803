//! The reversal of a race: the continuation v = notdep(i, E)·x of pre(i).
//!
//! v is not built as a sequence of actions, but as a list of positions: those of the events of E
//! after i that v keeps, and the position after the end of E, which stands for x.

use super::Execution;
use super::continuation::Continuation;
use super::initials::Signature;
use super::race::Race;
use crate::model::{Action, Effect, Locals, State, System};

/// A race together with its execution.
pub(crate) struct Reversal<'e, 's, S: System> {
    execution: &'e mut Execution<'s, S>,
    race: &'e Race,
    /// The signature of x.
    signature: Signature,
}

impl<'e, 's, S: System> Reversal<'e, 's, S> {
    /// The reversal of this race.
    pub(crate) fn new(execution: &'e mut Execution<'s, S>, race: &'e Race) -> Self {
        let signature = Signature::of(race.action.process, &race.effect);
        Reversal { execution, race, signature }
    }

    /// Writes v to `positions`.
    pub(crate) fn list(&self, positions: &mut Vec<usize>) {
        let (execution, race) = (&*self.execution, self.race);
        let conflicting = race.conflicting(execution);
        let behind = execution.order().not_after(race.first);
        positions.clear();
        match conflicting.is_empty() {
            true => positions.extend(behind),
            false => positions.extend(behind.filter(|&at| race.keeps(execution, &conflicting, at))),
        }
        positions.push(execution.len());
    }
}

impl<S: System> Continuation<S> for Reversal<'_, '_, S> {
    fn looking_back<T>(&mut self, look: impl FnOnce(&mut Locals<'_, S>, &mut State) -> T) -> T {
        let start = self.start();
        self.execution.looking_back(start, look)
    }

    fn start(&self) -> usize {
        self.race.first
    }

    #[inline]
    fn event(&self, position: usize) -> (Action, &Effect) {
        match position == self.execution.len() {
            true => (self.race.action, &self.race.effect),
            false => (self.execution.action(position), self.execution.order().effect(position)),
        }
    }

    #[inline]
    fn signature(&self, position: usize) -> Signature {
        match position == self.execution.len() {
            true => self.signature,
            false => self.execution.order().signature(position),
        }
    }
}
