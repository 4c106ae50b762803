//! Probes: they look for a message, or take one.

use super::super::{NONE, Operation, Place, Posted, World, place};
use super::{Probe, Reception, Settlement, Taker, effect_here};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{
    Choice, Effect, Envelope, Handle, Handled, MailboxId, May, Need, Probing, ProcessId, Response,
    System, Touch, Value, ValueId, Values,
};

impl State {
    /// What a probe reports about the message that it found.
    pub(crate) fn probed(
        &self,
        form: Probing,
        own: Handle,
        choice: Choice,
        values: &mut Values,
    ) -> ValueId {
        let number = |part: Option<i64>| Value::Int(part.unwrap_or(0));
        let found = match choice.handled() {
            Handled::Message(id) => {
                let send = self.network.position(id).expect("a message that was sent");
                Some(&self.network.sends[send as usize])
            }
            Handled::Internal(_) => None,
        };
        let nobody = Envelope { src: Some(-1), tag: Some(-1) };
        let envelope = found.map_or(nobody, |sent| sent.envelope);
        let (src, tag) = (number(envelope.src), number(envelope.tag));
        let mut reported = match form {
            Probing::Wait => vec![src, tag],
            Probing::Test | Probing::WhenStuck => vec![Value::Bool(found.is_some()), src, tag],
            Probing::Take | Probing::Reserve => vec![Value::Comm(own), src, tag],
        };
        // A probe reports a message that only processes understand as a whole, with its length, for
        // example.
        let message = found.map(|sent| values.get(sent.value));
        reported.extend(message.filter(|message| matches!(message, Value::Opaque(_))).cloned());
        values.intern(Value::Tuple(reported.into()))
    }
}

/// probe, iprobe, mprobe.
pub(in crate::model) struct ProbeFor {
    pub(in crate::model) mailbox: MailboxId,
    pub(in crate::model) pattern: Envelope,
    pub(in crate::model) form: Probing,
}

impl ProbeFor {
    /// The effect of a probe that has found nothing. If it waited until all were stuck, all that
    /// happened is a cause.
    fn missed(&self, state: &State) -> Effect {
        let mut effect = Effect::nothing();
        if self.form == Probing::WhenStuck {
            effect.needs.extend(state.processes().map(|process| Need::All(process.lane(), 0)));
        }
        effect
    }

    /// The probe as a taker at the end of `state`.
    fn taker(&self, state: &State) -> Taker {
        state.network.newest_taker(self.mailbox, self.pattern)
    }
}

impl Operation for ProbeFor {
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, process, .. } = at;
        let network = &state.network;
        let name = |send: u32| Choice::message(network.sends[send as usize].id);
        network.possible(self.taker(state), |send| each(name(send)));
        let misses = self.form.may_miss()
            && state.may_poll(at.locals, process)
            && (self.form != Probing::WhenStuck || state.only_gives_up(at.locals));
        if misses {
            each(Choice::NOTHING);
        }
    }

    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let (process, choice) = (done.action.process, done.action.choice);
        let at = state.trail.len() as u32;
        let own = Handle(state.posted_count(process));
        let reported = state.probed(self.form, own, choice, world.values);
        let Taker { before, settled, .. } = self.taker(state);
        state.network.ends[self.mailbox.index()].probes.push(Probe {
            at,
            pattern: self.pattern,
            before,
            own,
            settled,
        });
        state.network.enter(self.mailbox, process);
        if let Handled::Message(id) = choice.handled() {
            done.taken = state.network.position(id).expect("a message that was sent");
            if self.form.takes() {
                let receive = state.network.open_receive(Reception {
                    process,
                    mailbox: self.mailbox,
                    pattern: self.pattern,
                    carrier: process,
                    at,
                    outcome: Settlement::Open,
                    matched_at: NONE,
                    begun_at: NONE,
                    cancelled_at: NONE,
                    told_at: NONE,
                    settled,
                });
                state.network.match_up(receive, done.taken, at);
                if self.form == Probing::Reserve {
                    state.network.receives[receive as usize].begun_at = NONE;
                }
                state.note(process, Posted::Receive(receive));
            }
        }
        Response::Value(reported)
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        if self.form.takes() {
            let receive = state.network.receives.len() as u32 - 1;
            state.network.unmatch(receive);
            state.network.close_receive();
            state.unnote(done.action.process);
        }
        state.network.ends[self.mailbox.index()].probes.pop();
        state.network.leave(self.mailbox);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let Some(send) = place(done.taken) else { return self.missed(state) };
        let takes = self.form.takes();
        let probe = state.network.ends(self.mailbox).probes.last().expect("it was carried out");
        let taker = probe.taker(self.mailbox);
        // If it took the message, the message has no other receive.
        let causes = state.network.causes(taker, send).expect("a probe has its causes");
        effect_here(state, takes, &causes)
    }

    fn watches<S: System>(
        &self,
        _: &State,
        _: &S,
        _: &mut Values,
        _: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        self.mailbox.awaits().for_each(each);
    }

    fn touches<S: System>(&self, _: &State, _: &S, _: &Done, each: &mut impl FnMut(Touch)) {
        if self.form.takes() {
            each(Touch::new(self.mailbox.matches(), May::Add));
        }
    }

    fn may_open(&self) -> bool {
        self.form.takes()
    }

    fn may_observe(&self) -> bool {
        !self.form.takes()
    }

    fn is_choice(&self) -> bool {
        true
    }
}
