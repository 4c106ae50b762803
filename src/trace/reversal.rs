//! The reversal of a race: the continuation v = notdep(i, E)·x of pre(i).
//!
//! v is not built as a sequence of actions, but as a list of positions: those of the events of E
//! after i that v keeps, and the position after the end of E, which stands for x. Events that a
//! wakeup tree has consumed are removed from the list.

use super::Execution;
use super::initials::{Signature, is_weak_initial, is_weak_initial_in};
use super::race::Race;
use crate::model::{Action, Effect, ProcessId, System};

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

    /// The event at a position of v.
    pub(crate) fn event(&self, position: usize) -> (Action, &Effect) {
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

    /// Is this action, which is enabled after pre(i)·path, a weak initial of v, the rest of the
    /// reversal?
    pub(crate) fn has_weak_initial(
        &mut self,
        path: &[Action],
        (action, effect): (Action, &Effect),
        v: &[usize],
    ) -> bool {
        let own = Signature::of(action.process, effect);
        let met = v.iter().filter(|&&position| own.meets(self.signature(position)));
        let events = met.map(|&position| self.event(position));
        is_weak_initial((action, effect), events)
            .unwrap_or_else(|| self.has_weak_initial_there(path, action, v))
    }

    /// Does v have an event of this process?
    pub(crate) fn has_process(&self, process: ProcessId, v: &[usize]) -> bool {
        v.iter().any(|&position| self.event(position).0.process == process)
    }

    #[cold]
    fn has_weak_initial_there(&mut self, path: &[Action], action: Action, v: &[usize]) -> bool {
        let v: Vec<Action> = v.iter().map(|&position| self.event(position).0).collect();
        self.execution.looking_back(self.race.first, |locals, state| {
            path.iter().for_each(|&action| state.step(locals, action));
            is_weak_initial_in(locals, state, action, v.into_iter())
        })
    }
}
