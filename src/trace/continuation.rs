//! A continuation of a prefix of an execution, which a race asks for: v in the papers.
//!
//! It is given as a list v of positions. What a position means is known to who made the list: for
//! [`Reversal`](super::Reversal) it is a place in the execution, for a continuation that another
//! search has sent it is the number of an event. Events that a wakeup tree has consumed are removed
//! from the list.

use super::Execution;
use super::initials::{Signature, is_weak_initial, is_weak_initial_in};
use crate::model::{Action, Effect, Locals, ProcessId, State, System};

/// The events of continuations, by their positions.
pub(crate) trait Continuation<S: System> {
    /// Calls `look` in the state after the prefix. What it executes is undone.
    fn looking_back<T>(&mut self, look: impl FnOnce(&mut Locals<'_, S>, &mut State) -> T) -> T;

    /// The length of the prefix that it continues.
    fn start(&self) -> usize;

    /// The event at a position.
    fn event(&self, position: usize) -> (Action, &Effect);

    /// Its signature.
    fn signature(&self, position: usize) -> Signature;

    /// Is this action, which is enabled after the prefix and `path`, a weak initial of v, the rest
    /// of the continuation?
    fn has_weak_initial(
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
    fn has_process(&self, process: ProcessId, v: &[usize]) -> bool {
        v.iter().any(|&position| self.event(position).0.process == process)
    }

    /// Decides by execution.
    #[cold]
    fn has_weak_initial_there(&mut self, path: &[Action], action: Action, v: &[usize]) -> bool {
        let v: Vec<Action> = v.iter().map(|&position| self.event(position).0).collect();
        self.looking_back(|locals, state| {
            path.iter().for_each(|&action| state.step(locals, action));
            is_weak_initial_in(locals, state, action, v.into_iter())
        })
    }

    /// The actions of v, in portable names.
    #[cold]
    fn names(&mut self, v: &[usize]) -> Vec<Action> {
        let v: Vec<Action> = v.iter().map(|&position| self.event(position).0).collect();
        self.looking_back(|locals, state| {
            let mut name = |action: Action| {
                let name = state.name(locals, action);
                state.step(locals, action);
                name
            };
            v.into_iter().map(&mut name).collect()
        })
    }
}

/// An event that another search has sent.
#[derive(Debug)]
pub(crate) struct Known {
    action: Action,
    effect: Effect,
    signature: Signature,
}

impl Known {
    /// An action with its effect.
    pub(crate) fn new(action: Action, effect: Effect) -> Known {
        Known { action, signature: Signature::of(action.process, &effect), effect }
    }
}

/// A continuation that another search has sent. Positions are indices into `events`.
pub(crate) struct Received<'e, 's, S: System> {
    /// An execution with the prefix that it continues.
    pub(crate) execution: &'e mut Execution<'s, S>,
    /// The length of that prefix.
    pub(crate) start: usize,
    /// The events.
    pub(crate) events: &'e [Known],
}

impl<S: System> Continuation<S> for Received<'_, '_, S> {
    fn looking_back<T>(&mut self, look: impl FnOnce(&mut Locals<'_, S>, &mut State) -> T) -> T {
        let start = self.start();
        self.execution.looking_back(start, look)
    }

    fn start(&self) -> usize {
        self.start
    }

    fn event(&self, position: usize) -> (Action, &Effect) {
        let Known { action, effect, .. } = &self.events[position];
        (*action, effect)
    }

    fn signature(&self, position: usize) -> Signature {
        self.events[position].signature
    }
}
