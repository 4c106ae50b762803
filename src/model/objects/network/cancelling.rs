//! Cancelling a receive: a wish, and the wait for its outcome.

use super::super::{NONE, Operation, Place, Posted, World};
use super::{Settlement, effect_here};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{
    Effect, Handle, May, Need, Needs, Part, PartSet, ProcessId, Response, System, Touch, ValueId,
};

/// The wish to cancel a receive. A second wish for the same receive changes nothing.
pub(in crate::model) struct Cancelling(pub(in crate::model) Handle);

impl Cancelling {
    fn receive(&self, state: &State, process: ProcessId) -> u32 {
        match state.posted(process, self.0) {
            Posted::Receive(receive) => receive,
            other => panic!("only a receive can be cancelled, not {other:?}"),
        }
    }
}

impl Operation for Cancelling {
    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let receive = self.receive(state, done.action.process);
        let cancelled_at = &mut state.network.receives[receive as usize].cancelled_at;
        if *cancelled_at == NONE {
            *cancelled_at = state.trail.len() as u32;
        }
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let receive = self.receive(state, done.action.process);
        let cancelled_at = &mut state.network.receives[receive as usize].cancelled_at;
        if *cancelled_at == state.trail.len() as u32 {
            *cancelled_at = NONE;
        }
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        effect_here(state, true, &[])
    }

    /// It gives the carrier one more choice.
    fn touches<S: System>(&self, state: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        let receive = self.receive(state, done.action.process);
        let mailbox = state.network.receives[receive as usize].mailbox;
        each(Touch::new(mailbox.matches(), May::Add));
    }

    fn may_open(&self) -> bool {
        true
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// The wait for the outcome of the wish to cancel a receive.
pub(in crate::model) struct CancelOutcome(pub(in crate::model) Handle);

impl CancelOutcome {
    fn outcome(&self, state: &State, process: ProcessId) -> Response {
        let posted = state.posted(process, self.0);
        let Posted::Receive(receive) = posted else { panic!("{posted:?} was cancelled") };
        let is_dropped = state.network.receives[receive as usize].outcome == Settlement::Dropped;
        Response::Value(if is_dropped { ValueId::TRUE } else { ValueId::FALSE })
    }
}

impl Operation for CancelOutcome {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let settled = at.state.matched(at.process, self.0)?;
        needs.extend(settled.map(|at| Need::Event(at as u32)));
        Some(self.outcome(at.state, at.process))
    }

    fn awaits(&self) -> PartSet {
        Part::Network.alone()
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        state.tell(state.posted(process, self.0));
        self.outcome(state, process)
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.untell(state.posted(done.action.process, self.0));
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let at = state.trail.len() - 1;
        state.completion(done.action.process, self.0, at).expect("a wait that is over")
    }

    fn may_observe(&self) -> bool {
        true
    }
}
