//! What the last action of an execution touched: the footprint that decides its dependences.
//!
//! Asked right after the step, when the logs still say at which positions it acted.

use super::{Done, State};
use crate::model::object::place;
use crate::model::{
    Action, Choice, End, Footprint, Handle, Locals, MailboxId, Op, Post, Status, System,
};

impl State {
    /// What the enabled action would touch if it were executed here.
    pub fn peek<S: System>(&mut self, locals: &mut Locals<'_, S>, action: Action) -> Footprint {
        self.step(locals, action);
        let footprint = self.footprint(locals);
        self.undo(locals);
        footprint
    }

    /// What the last action touched, resolved in this execution.
    ///
    /// # Panics
    /// In an initial state.
    pub fn footprint<S: System>(&self, locals: &Locals<'_, S>) -> Footprint {
        let last @ &Done { action: Action { process, choice }, before, changed, .. } =
            self.trail.last().expect("an action");
        let Status::At(op) = locals.status(before) else {
            panic!("{process:?} moved after it had ended");
        };
        let watched = |comm: &Handle| {
            let (mailbox, end, position, _) = self.communication(process, *comm);
            (mailbox, end, position)
        };
        match op {
            Op::Isend { mailbox, .. } => self.footprint_of_post(*mailbox, End::Send),
            Op::Irecv { mailbox, .. } => self.footprint_of_post(*mailbox, End::Receive),
            Op::WaitAny(comms) | Op::TestAny(comms) => match choice {
                Choice::NOTHING => Footprint::Incomplete(comms.iter().map(watched).collect()),
                Choice(index) => {
                    let (mailbox, end, _, partner) =
                        self.communication(process, comms[index as usize]);
                    let partner = partner.expect("a completed communication has a partner");
                    Footprint::Completed { mailbox, partner_end: end.opposite(), partner }
                }
            },
            Op::AsyncLock(mutex) => Footprint::Lock(*mutex),
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => match choice {
                Choice::NOTHING => Footprint::NotOwned(
                    requests.iter().map(|&r| (r.mutex, self.mutex_request(process, r))).collect(),
                ),
                Choice(index) => {
                    let request = requests[index as usize];
                    let mutex = self.mutex(request.mutex);
                    let by = mutex.granted_by(self.mutex_request(process, request));
                    Footprint::Owned { mutex: request.mutex, by }
                }
            },
            Op::Unlock(request) => {
                let mutex = self.mutex(request.mutex);
                let position = mutex.releases().len() as u32 - 1;
                let new_owner = mutex.owner().filter(|&o| mutex.granted_by(o) == Some(position));
                Footprint::Unlock { mutex: request.mutex, position, new_owner }
            }
            Op::AsyncAcquire(semaphore) => Footprint::Acquire(*semaphore),
            Op::AcquireWait { semaphore, handle } => {
                let request = self.semaphore_request(process, *handle);
                let by = self.semaphore(*semaphore).granted_by(request);
                Footprint::Granted { semaphore: *semaphore, by }
            }
            Op::Release(semaphore) => {
                let position = self.semaphore(*semaphore).releases.len() as u32 - 1;
                Footprint::Release { semaphore: *semaphore, position }
            }
            Op::Arrive { barrier, round } => Footprint::Arrive { barrier: *barrier, round: *round },
            Op::BarrierWait { barrier, round } => {
                Footprint::Pass { barrier: *barrier, round: *round }
            }
            Op::Access(cell, _) if changed => Footprint::Write(*cell),
            Op::Access(cell, _) => Footprint::Read(*cell),
            Op::Choose { .. } | Op::Local => Footprint::Nothing,
            Op::Spawn(_) => {
                let child = self.just_spawned(locals).next();
                Footprint::Spawn(child.expect("a spawned child"))
            }
            Op::Join(target) => Footprint::Join(*target),
            Op::Handle { .. } => self.footprint_of_handler(locals, last),
        }
    }

    fn footprint_of_handler<S: System>(&self, locals: &Locals<'_, S>, last: &Done) -> Footprint {
        let process = last.action.process;
        let taken = place(last.taken);
        let creator = taken.and_then(|position| self.inboxes.log()[position as usize].creator());
        let born = self.born(process).filter(|_| self.acted(process) == 1);
        Footprint::Handler {
            taken,
            sent: (last.messages, self.inboxes.log().len() as u32 - last.messages),
            started: self.just_spawned(locals).collect(),
            causes: creator.into_iter().chain(born).map(|position| position as u32).collect(),
        }
    }

    fn footprint_of_post(&self, mailbox: MailboxId, end: End) -> Footprint {
        let partner = self.mailbox(mailbox).posts(end).last().and_then(Post::partner);
        Footprint::Post { mailbox, end, position: self.last_position(mailbox, end), partner }
    }

    fn last_position(&self, mailbox: MailboxId, end: End) -> u32 {
        self.mailbox(mailbox).posts(end).len() as u32 - 1
    }
}
