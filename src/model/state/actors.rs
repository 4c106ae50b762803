//! Actors in a state: their messages, and what their handlers start.

use super::super::object::place;
use super::{Done, Process, State};
use crate::model::{
    Action, Birth, Choice, Handled, Inboxes, LocalId, Locals, Message, MessageId, ProcessId,
    Stimulus, System,
};

impl State {
    /// The messages between actors.
    pub fn inboxes(&self) -> &Inboxes {
        &self.inboxes
    }

    /// The message of this name.
    ///
    /// # Panics
    /// If it was not sent here.
    pub fn message(&self, id: MessageId) -> &Message {
        let position = self.inboxes.position(id).expect("a message that was sent");
        &self.inboxes.log()[position as usize]
    }

    /// The action that spawned `process`, by its position in the execution; `None` if it exists from the
    /// start.
    pub fn born(&self, process: ProcessId) -> Option<usize> {
        place(self.processes[process.index()].born).map(|position| position as usize)
    }

    /// How many actions `process` has made.
    pub fn acted(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].acted
    }

    /// What the actor acts on if it makes this choice.
    pub fn stimulus(&self, choice: Choice) -> Stimulus {
        match choice.handled() {
            Handled::Message(id) => Stimulus::Message(self.message(id).content),
            Handled::Internal(handler) => Stimulus::Internal(handler),
        }
    }

    /// Runs a handler; the local state after it.
    pub(super) fn react<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        done: &mut Done,
    ) -> LocalId {
        let Action { process, choice } = done.action;
        let stimulus = self.stimulus(choice);
        let Process { local, acted, .. } = self.processes[process.index()];
        let reaction = locals.react(process, local, stimulus, acted);
        if let Handled::Message(id) = choice.handled() {
            done.taken = self.inboxes.position(id).expect("a message that was sent");
            self.inboxes.take(done.taken);
        }
        done.started = reaction.started.len() as u32;
        for (place, &local) in reaction.started.iter().enumerate() {
            self.start(locals, process, place as u32, local);
        }
        let creator = Some(self.trail.len());
        for (place, &(to, content)) in reaction.sent.iter().enumerate() {
            let id = locals.message(Some((process, acted)), place as u32);
            self.inboxes.send(id, to, content, creator);
        }
        reaction.after
    }

    /// The `place`-th process that `parent` starts in its present action comes into being.
    pub(super) fn start<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        parent: ProcessId,
        place: u32,
        local: LocalId,
    ) -> ProcessId {
        let id = locals.child(Birth { parent, act: self.acted(parent), place });
        while self.processes.len() <= id.index() {
            self.processes.push(Process::ABSENT);
        }
        let born = self.trail.len() as u32;
        self.processes[id.index()] = Process { local, born, ..Process::ABSENT };
        id
    }

    /// The processes that the last action started, in order.
    pub fn just_spawned<S: System>(
        &self,
        locals: &Locals<'_, S>,
    ) -> impl Iterator<Item = ProcessId> {
        self.trail.last().into_iter().flat_map(move |last| {
            let parent = last.action.process;
            let act = self.acted(parent) - 1;
            (0..last.started).map(move |place| {
                let child = locals.known_child(Birth { parent, act, place });
                child.expect("a process that was started")
            })
        })
    }

    /// Removes the processes that `parent` had started in the action just taken back.
    pub(super) fn unstart<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        parent: ProcessId,
        started: u32,
    ) {
        let act = self.acted(parent);
        for place in 0..started {
            let child = locals.known_child(Birth { parent, act, place });
            let child = child.expect("a process that was started");
            self.processes[child.index()] = Process::ABSENT;
        }
    }
}
