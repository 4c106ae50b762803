//! The beginning of the receive of a message that a probe has reserved.
//!
//! The probe has matched the message, so nobody else gets it. But a synchronous send is complete
//! only if a receive has begun as well (MPI 4.1, 3.8), so it depends on that, not on the probe.

use super::super::{NONE, Operation, Place, Posted, World, place};
use super::{Network, Sent, effect_here};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{Effect, Handle, MailboxId, May, ProcessId, Response, System, Touch};

impl Network {
    /// The position of the action with which the receive of this message began.
    pub(crate) fn begun_at(&self, sent: &Sent) -> Option<usize> {
        let receive = &self.receives[sent.receive()? as usize];
        place(receive.begun_at).map(|at| at as usize)
    }

    /// The sends to a mailbox whose messages are reserved, with receives that have not begun.
    pub(in crate::model) fn reserved(&self, mailbox: MailboxId) -> impl Iterator<Item = u32> {
        let is_reserved = |&send: &u32| {
            let sent = &self.sends[send as usize];
            sent.receive().is_some() && self.begun_at(sent).is_none()
        };
        self.ends(mailbox).sends.iter().copied().filter(is_reserved)
    }
}

/// Begins the receive that this request of the process is.
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
