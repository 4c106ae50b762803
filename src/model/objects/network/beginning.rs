//! The beginning of the receive of a message that a probe has reserved.

use super::super::{NONE, Operation, Place, Posted, World};
use super::effect_here;
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{Effect, Handle, May, ProcessId, Response, System, Touch};

/// What completes a send that is complete late: to reserve its message does not.
pub(in crate::model) struct Beginning(pub(in crate::model) Handle);

impl Beginning {
    fn receive(&self, state: &State, process: ProcessId) -> usize {
        match state.posted(process, self.0) {
            Posted::Receive(receive) => receive as usize,
            other => panic!("only a receive begins, not {other:?}"),
        }
    }
}

impl Operation for Beginning {
    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let receive = self.receive(state, done.action.process);
        let at = state.trail.len() as u32;
        let begun_at = &mut state.network.receives[receive].begun_at;
        assert_eq!(std::mem::replace(begun_at, at), NONE, "a receive begins once");
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let receive = self.receive(state, done.action.process);
        state.network.receives[receive].begun_at = NONE;
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        effect_here(state, true, &[])
    }

    fn touches<S: System>(&self, state: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        let receive = self.receive(state, done.action.process);
        let mailbox = state.network.receives[receive].mailbox;
        each(Touch::new(mailbox.matches(), May::Add));
    }

    fn may_open(&self) -> bool {
        true
    }

    fn may_observe(&self) -> bool {
        false
    }
}
