//! Actors: their messages, and what their handlers do.

use super::{NONE, Operation, Place, World, place};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{
    Act, Action, Choice, Effect, Handled, Inboxes, Lane, LocalId, Locals, May, Message, MessageId,
    Mode, Need, Part, ProcessId, Response, Stimulus, System, Touch, Values,
};

impl ProcessId {
    /// The lane of the messages that the actor takes.
    pub fn inbox(self) -> Lane {
        Lane::new(Part::Inbox, self.0)
    }
}

impl State {
    /// The messages between actors.
    pub fn inboxes(&self) -> &Inboxes {
        &self.inboxes
    }

    /// The messages that the handler at `position` of the execution sent: the position of the first
    /// one in the log, and their number, which is 0 for other actions.
    pub(crate) fn sent_at(&self, position: usize) -> (u32, u32) {
        let first = self.trail[position].messages;
        let next = self
            .trail
            .get(position + 1)
            .map_or(self.inboxes.log().len() as u32, |done| done.messages);
        (first, next - first)
    }

    /// The message with this id.
    ///
    /// # Panics
    /// If it was not sent in this execution.
    pub(crate) fn message(&self, id: MessageId) -> &Message {
        let position = self.inboxes.position(id).expect("a message that was sent");
        &self.inboxes.log()[position as usize]
    }

    /// What the actor reacts to if it makes this choice.
    pub(crate) fn stimulus(&self, choice: Choice) -> Stimulus {
        match choice.handled() {
            Handled::Message(id) => Stimulus::Message(self.message(id).content),
            Handled::Internal(handler) => Stimulus::Internal(handler),
        }
    }

    /// Runs a handler, and returns the local state after it.
    pub(in crate::model) fn react<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        done: &mut Done,
    ) -> LocalId {
        let Action { process, choice } = done.action;
        let stimulus = self.stimulus(choice);
        let (local, acted) = (self.local(process), self.acted(process));
        let reaction = locals.react(process, local, stimulus, self.children(process));
        if let Handled::Message(id) = choice.handled() {
            done.taken = self.inboxes.position(id).expect("a message that was sent");
            self.inboxes.take(done.taken);
        }
        done.started = reaction.started.len() as u32;
        for &local in &reaction.started {
            self.start(locals.births_mut(), process, local);
        }
        let creator = Some(self.trail.len());
        for (place, &(to, content)) in reaction.sent.iter().enumerate() {
            let id = locals.message(Some((process, acted)), place as u32);
            self.inboxes.send(id, to, content, creator);
        }
        reaction.after
    }
}

/// The operation of an actor at rest.
pub(in crate::model) struct React {
    pub(in crate::model) internals: u32,
}

impl Operation for React {
    fn ways(&self, _: &State, _: ProcessId) -> u32 {
        0
    }

    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, locals, process } = at;
        let (local, log) = (state.local(process), state.inboxes.log());
        for message in state.inboxes.pending(process).map(|at| &log[at as usize]) {
            if locals.accepts(process, local, Stimulus::Message(message.content)) {
                each(Choice::message(message.id));
            }
        }
        for handler in 0..self.internals {
            if locals.accepts(process, local, Stimulus::Internal(handler)) {
                each(Choice::internal(handler));
            }
        }
    }

    /// A handler has no response: [`State::react`] runs it.
    fn carry_out(&self, _: &mut State, _: World<'_>, _: &mut Done) -> Response {
        unreachable!("a handler has no response")
    }

    fn undo(&self, state: &mut State, births: &Births, done: &Done) {
        while state.inboxes.log().len() > done.messages as usize {
            state.inboxes.unsend();
        }
        state.unstart(births, done);
        if done.taken != NONE {
            state.inboxes.untake(done.taken);
        }
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let process = done.action.process;
        let taken = place(done.taken).map(|position| &state.inboxes.log()[position as usize]);
        let creator = taken.and_then(Message::creator);
        let mut effect = Effect {
            at: state.trail.len() as u32 - 1,
            needs: creator.into_iter().map(|position| Need::Event(position as u32)).collect(),
            ..Effect::handler(process)
        };
        let started = state.started(at.locals.births(), done);
        effect.acts.extend(started.map(|child| Act::new(child.lane(), Mode::Change)));
        effect
    }

    fn watches<S: System>(
        &self,
        _: &State,
        _: &S,
        _: &mut Values,
        process: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        each(Touch::new(process.inbox(), May::Open));
    }

    fn touches<S: System>(&self, state: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        let sent = &state.inboxes.log()[done.messages as usize..];
        sent.iter().for_each(|message| each(Touch::new(message.to.inbox(), May::Add)));
    }

    fn may_observe(&self) -> bool {
        false
    }

    fn is_choice(&self) -> bool {
        true
    }
}
