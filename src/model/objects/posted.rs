//! The places of the requests of a process in the logs of the objects.

use crate::model::state::State;
use crate::model::{
    CondvarId, End, Handle, MailboxId, MutexId, ProcessId, Response, RwLockId, SemaphoreId,
};

/// No place in a log.
pub(in crate::model) const NONE: u32 = u32::MAX;

/// A place in a log, if any.
pub(in crate::model) fn place(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// The place of a request in the log of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Posted {
    /// A communication: an end of a mailbox, and the position there.
    At(MailboxId, End, u32),
    /// A send at a p2p or bag mailbox, by its place among all of them.
    Sent(u32),
    /// A receive at a p2p or bag mailbox, by its place among all of them.
    Receive(u32),
    /// An entry of a collective, by its place among all of them.
    Entry(u32),
    /// A request for a mutex.
    Mutex(MutexId, u32),
    /// A request for a reader-writer lock.
    RwLock(RwLockId, u32),
    /// An enrolment at a condition variable.
    Enrolment(CondvarId, u32),
    /// A notification.
    Notification(CondvarId, u32),
    /// A request for a semaphore.
    Semaphore(SemaphoreId, u32),
}

impl State {
    /// The place of the request `handle` of `process`.
    pub fn posted(&self, process: ProcessId, handle: Handle) -> Posted {
        self.processes[process.index()].posted[handle.index()]
    }

    /// The response to a process that posts its next request.
    pub(crate) fn next_posted(&self, process: ProcessId) -> Response {
        Response::Posted(Handle(self.posted_count(process)))
    }

    /// The number of requests that `process` has posted, which is the number of its next handle.
    pub fn posted_count(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].posted.len() as u32
    }

    /// Records the place of a request with its process. Returns the response.
    pub(in crate::model) fn note(&mut self, process: ProcessId, posted: Posted) -> Response {
        let log = &mut self.processes[process.index()].posted;
        log.push(posted);
        Response::Posted(Handle(log.len() as u32 - 1))
    }

    /// Removes the last request of `process`.
    pub(in crate::model) fn unnote(&mut self, process: ProcessId) {
        self.processes[process.index()].posted.pop();
    }
}
