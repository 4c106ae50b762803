//! Sends and receives at p2p and bag mailboxes: they only post.

use super::super::{NONE, Operation, Place, Posted, World};
use super::{Network, Reception, Sent, Settlement, effect_here};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{
    Completion, Effect, Envelope, MailboxId, May, Response, System, Touch, ValueId,
};

impl Network {
    /// The send at this position of the execution, if it is one: its position among all sends.
    pub(crate) fn send_at(&self, position: usize) -> Option<u32> {
        let at = |sent: &Sent| sent.at.cmp(&(position as u32));
        self.sends.binary_search_by(at).ok().map(|send| send as u32)
    }
}

/// A send.
pub(in crate::model) struct Sending {
    pub(in crate::model) mailbox: MailboxId,
    pub(in crate::model) envelope: Envelope,
    pub(in crate::model) value: ValueId,
    pub(in crate::model) completion: Completion,
}

impl Operation for Sending {
    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let &Sending { mailbox, envelope, value, completion } = self;
        let process = done.action.process;
        let id = world.messages.name(Some((process, state.acted(process))), 0);
        let send = state.network.sends.len() as u32;
        let (at, receive) = (state.trail.len() as u32, NONE);
        let sent =
            Sent { id, process, mailbox, envelope, value, completion, at, receive, told_at: NONE };
        state.network.sends.push(sent);
        state.network.unmatched += 1;
        state.network.ends[mailbox.index()].sends.push(send);
        let positions = &mut state.network.positions;
        if positions.len() <= id.index() {
            positions.resize(id.index() + 1, NONE);
        }
        positions[id.index()] = send;
        state.note(process, Posted::Sent(send))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let sent = state.network.sends.pop().expect("a send to take back");
        state.network.unmatched -= 1;
        state.network.positions[sent.id.index()] = NONE;
        state.network.ends[self.mailbox.index()].sends.pop();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        effect_here(state, true, &[])
    }

    /// It watches nothing: whatever comes before a send makes no difference to it.
    fn touches<S: System>(&self, _: &State, _: &S, _: &Done, each: &mut impl FnMut(Touch)) {
        each(Touch::new(self.mailbox.messages(), May::Add));
    }

    fn may_open(&self) -> bool {
        true
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// A receive.
pub(in crate::model) struct Receiving {
    pub(in crate::model) mailbox: MailboxId,
    pub(in crate::model) pattern: Envelope,
}

impl Operation for Receiving {
    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let &Receiving { mailbox, pattern } = self;
        let process = done.action.process;
        let carrier = state.carrier(world.births, done);
        let receive = state.network.open_receive(Reception {
            process,
            mailbox,
            pattern,
            carrier,
            at: state.trail.len() as u32,
            outcome: Settlement::Open,
            matched_at: NONE,
            begun_at: NONE,
            cancelled_at: NONE,
            told_at: NONE,
            settled: state.network.settled(mailbox),
        });
        state.processes[carrier.index()].posted.push(Posted::Receive(receive));
        state.note(process, Posted::Receive(receive))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let process = done.action.process;
        let carrier = state.network.receives.last().expect("a receive to take back").carrier;
        state.processes[carrier.index()].posted.pop();
        state.network.close_receive();
        state.unnote(process);
        state.dismiss(done);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        effect_here(state, true, &[])
    }

    fn may_observe(&self) -> bool {
        false
    }
}
