//! Extensions by handlers of actors.
//!
//! For a message m that event k sends to actor a, the extensions are `[k] ∪ [x]` for each position
//! x in a's chain of C where a's guard accepts m, unless k itself is after a later event of a. This
//! holds for *every* pending message, enabled at C or not: a guard that is false now may have been
//! true at an earlier position, and there m is in conflict with what a did instead. For an internal
//! handler there is one extension at each position where it is enabled.
//!
//! When e joins C, the new extensions, with e as a direct cause, are: each pending message and
//! internal handler of e's own actor at the position after e; and each message that e has sent, at
//! all positions of its receiver.

use smallvec::SmallVec;

use super::{Events, Origin, Shape};
use crate::model::{Choice, Op, ProcessId, Response, Stimulus, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    /// The extensions of an actor at its last position in C.
    pub(super) fn extend_handlers(
        &mut self,
        c: &Configuration,
        from: Origin,
        internals: u32,
    ) -> Events {
        let inboxes = c.state.inboxes();
        let mut events = Events::new();
        for at in inboxes.pending(from.process) {
            let message = &inboxes.log()[at as usize];
            let creator = message.creator().map_or(EventId::NONE, |position| c.events()[position]);
            events.push(self.extend_handler(c, from, Choice::message(message.id), creator));
        }
        for handler in 0..internals {
            events.push(self.extend_handler(c, from, Choice::internal(handler), EventId::NONE));
        }
        events
    }

    /// The extensions by the messages that e, which has just joined C, has sent to others.
    pub(super) fn extend_receivers(&mut self, c: &mut Configuration, e: EventId) {
        let sender = self.structure.event(e).process;
        let position = Some(c.events().len() - 1);
        let log = c.state.inboxes().log();
        let sent = log.iter().rev().take_while(|message| message.creator() == position).count();
        let mut taken: SmallVec<[(ProcessId, EventId); 4]> = SmallVec::new();
        for at in log.len() - sent..log.len() {
            let message = &c.state.inboxes().log()[at];
            let (receiver, choice) = (message.to, Choice::message(message.id));
            if receiver != sender {
                taken.push((receiver, self.extend_receiver(c, receiver, choice, e)));
            }
        }
        // The list of a receiver is copied once, however many messages it was sent.
        taken.sort_by_key(|&(receiver, _)| receiver);
        for of_one in taken.chunk_by(|(one, _), (other, _)| one == other) {
            let receiver = of_one[0].0;
            let mut enabled: Events = c.enabled_of(receiver).into();
            enabled.extend(of_one.iter().map(|&(_, event)| event));
            c.set_enabled(receiver, &enabled);
        }
    }

    /// Finds the extensions by a message that e has sent, at each position of its receiver in C.
    /// Returns the one at the last position.
    fn extend_receiver(
        &mut self,
        c: &Configuration,
        receiver: ProcessId,
        choice: Choice,
        e: EventId,
    ) -> EventId {
        let lane = self.structure.lanes.process(receiver);
        let known = self.known(e, lane);
        let mut from = self.origin(c, receiver);
        let last = self.extend_handler(c, from, choice, e);
        while self.structure.depth(lane, from.previous) > known {
            let undone = self.structure.event(from.previous);
            from = Origin {
                process: receiver,
                before: undone.before,
                previous: undone.own.parent,
                after_event: undone.after_event,
            };
            self.extend_handler(c, from, choice, e);
        }
        last
    }

    /// The extension by one choice of an actor at one position, if its guard allows it.
    fn extend_handler(
        &mut self,
        c: &Configuration,
        from: Origin,
        choice: Choice,
        creator: EventId,
    ) -> EventId {
        let stimulus: Stimulus = c.state.stimulus(choice);
        let process = from.process;
        if !matches!(self.locals.op(from.before), Some(Op::Handle { .. }))
            || self.structure.is_stopped()
            || !self.locals.accepts(process, from.before, stimulus)
        {
            return EventId::NONE;
        }
        let shape = Shape { choice, ..Shape::plain(Response::Unit) };
        self.add_with(c, from, shape, &[creator], |locals| {
            let length = c.position(from.previous).map_or(0, |position| position as usize + 1);
            let children = c.state.children_at(locals, process, length);
            locals.react(process, from.before, stimulus, children).after
        })
    }
}
