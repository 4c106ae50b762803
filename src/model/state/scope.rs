//! What an operation depends on, by the program point: without its text being read, and without being carried out.
//!
//! In a search that stores states, what a process does is the same wherever its own part of the portrait and those
//! parts are the same that its operation looks at. Most operations look at one object and change nothing but that object and
//! their process. So what they do can be learned once for each situation, and looked up from then on.

use super::State;
use crate::model::{Locals, Object, Op, ProcessId, System};

/// The parts of a [portrait](State::portrait), besides that of its process, that the choices and the effect of a process
/// depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// None.
    Own,
    /// At most this one, by its place in the portrait.
    With(usize),
    /// An actor at rest: its handlers change its own part, depending on it and on the message. And they send messages, which
    /// change the parts of the receivers, depending on these and on the messages.
    Messages,
    /// Any, or more than the portrait shows.
    Anything,
}

impl State {
    /// What the choices of the process depend on, and what its operation does to these parts.
    ///
    /// If the operation changes another part, it changes this part wherever its own and the one named here are the same, and
    /// how depends only on these three.
    pub fn scope<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> Scope {
        if !self.has_scopes(locals) {
            return Scope::Anything;
        }
        let Some(op) = locals.op(self.local(process)) else { return Scope::Own };
        let object = match *op {
            Op::Choose { .. } | Op::Local | Op::WaitAny(_) | Op::TestAny(_) => return Scope::Own,
            Op::Join(target) => return Scope::With(self.place_of_process(target)),
            Op::Access(cell, _) => Object::Cell(cell),
            Op::AsyncLock(mutex) | Op::TryLock(mutex) => Object::Mutex(mutex),
            Op::Unlock(request) => Object::Mutex(request.mutex),
            Op::MutexWaitAny(ref requests) | Op::MutexTestAny(ref requests) => match **requests {
                [request] => Object::Mutex(request.mutex),
                _ => return Scope::Anything,
            },
            Op::RwRequest { lock, .. } | Op::RwWait { lock, .. } | Op::RwUnlock { lock, .. } => {
                Object::RwLock(lock)
            }
            Op::AsyncAcquire(semaphore)
            | Op::AcquireWait { semaphore, .. }
            | Op::Release(semaphore) => Object::Semaphore(semaphore),
            Op::Arrive { barrier, .. } | Op::BarrierWait { barrier, .. } => {
                Object::Barrier(barrier)
            }
            Op::Isend { mailbox, .. } | Op::Irecv { mailbox, .. } => Object::Mailbox(mailbox),
            Op::Handle { .. } => return Scope::Messages,
            // The first four: only at mailboxes of a network, which has no scopes.
            Op::Send { .. }
            | Op::Receive { .. }
            | Op::Probe { .. }
            | Op::Deliver
            | Op::Cancel(_)
            | Op::CancelOutcome(_)
            | Op::Enter { .. }
            | Op::Enrol(_)
            | Op::AwaitWake { .. }
            | Op::Notify { .. }
            | Op::Wake { .. }
            | Op::Spawn(_) => return Scope::Anything,
        };
        Scope::With(self.place_of(object))
    }

    /// Where the number of a process stands in a portrait, if all objects were met at once.
    pub fn place_of_process(&self, process: ProcessId) -> usize {
        self.known + process.index()
    }

    /// The same of an object.
    pub fn place_of(&self, object: Object) -> usize {
        let mut before = 0;
        let sizes = [
            self.cells.len(),
            self.mutexes.len(),
            self.rwlocks.len(),
            self.condvars.len(),
            self.semaphores.len(),
            self.barriers.len(),
            self.collectives.all.len(),
        ];
        let (kind, index) = match object {
            Object::Cell(id) => (0, id.index()),
            Object::Mutex(id) => (1, id.index()),
            Object::RwLock(id) => (2, id.index()),
            Object::Condvar(id) => (3, id.index()),
            Object::Semaphore(id) => (4, id.index()),
            Object::Barrier(id) => (5, id.index()),
            Object::Collective(id) => (6, id.index()),
            Object::Mailbox(id) => (7, id.index()),
        };
        sizes[..kind].iter().for_each(|size| before += size);
        before + index
    }

    /// Do the parts of a portrait have fixed places, and are they about one object or process each?
    pub fn has_scopes<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !locals.met().may_grow() && !self.network.is_used() && self.collectives.all.is_empty()
    }
}
