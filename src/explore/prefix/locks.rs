//! Mutexes that are locked in one step.
//!
//! A process that queues for a mutex would be part of the mutex's code, so
//! there would be a code for each order of the queue. Where mutexes are only locked and unlocked,
//! the order of the queue does not matter: a process may as well queue at the moment when it gets
//! the mutex. So a request and the wait for it are one transition here, which is possible while the
//! mutex is free. Every state of the model in which nobody waits in a queue is a state of the net,
//! and the others differ from it only by such requests. If a request for a mutex is followed by
//! anything but the wait for it, or shows something new to `final` or an invariant, the mutex is
//! taken as it is ([`ModelNet::must_start_again`]).

use super::net::ModelNet;
use crate::model::{Action, Choice, MutexId, Op, ProcessId, System};
#[cfg(feature = "sat")]
use crate::unfolding::prefix::{Code, Line};

impl<S: System> ModelNet<'_, S> {
    /// The mutex that the process is about to request, if that is taken in one step.
    pub(super) fn locks(&self, process: ProcessId) -> Option<MutexId> {
        match self.locals.op(self.state.local(process))? {
            Op::AsyncLock(mutex) if self.is_simple(*mutex) => Some(*mutex),
            _ => None,
        }
    }

    /// Is a process with this code about to request a mutex that is taken in one step?
    #[cfg(feature = "sat")]
    pub(super) fn queues(&self, line: Line, code: Code) -> bool {
        let op = self.local(line, code).and_then(|local| self.locals.op(local));
        matches!(op, Some(Op::AsyncLock(mutex)) if self.is_simple(*mutex))
    }

    pub(super) fn is_simple(&self, mutex: MutexId) -> bool {
        !self.plan.queued.contains(&self.declared(mutex)) && !self.state.mutex(mutex).is_tried()
    }

    fn declared(&self, mutex: MutexId) -> u32 {
        self.locals.objects().mutexes.declared(mutex.0)
    }

    /// Is the process, which has just requested the mutex, about to wait for just that?
    pub(super) fn waits_for(&self, process: ProcessId, mutex: MutexId) -> bool {
        let Some(Op::MutexWaitAny(requests)) = self.locals.op(self.state.local(process)) else {
            return false;
        };
        matches!(requests[..], [request] if request.mutex == mutex)
    }

    /// The process is about to request the mutex. If it will not wait for it next, or shows
    /// something new then, the mutex cannot be taken in one step, whether or not it is free here.
    pub(super) fn expect_wait(&mut self, process: ProcessId, mutex: MutexId) {
        let before = self.state.local(process);
        self.state.step(&mut self.locals, Action { process, choice: Choice(0) });
        let shows = self.locals.shows(process, [before, self.state.local(process)]);
        if shows || !self.waits_for(process, mutex) {
            self.plan.queued.insert(self.declared(mutex));
            self.must_start_again = true;
        }
        self.state.undo(&self.locals);
    }

    /// Carries out what the net leaves out: the requests for mutexes that are not free. They are
    /// undone when the model goes elsewhere.
    #[cfg(feature = "sat")]
    pub fn settle(&mut self) {
        for process in self.state.processes().collect::<Vec<_>>() {
            if let Some(mutex) = self.locks(process)
                && self.state.mutex(mutex).owner().is_some()
            {
                self.state.step(&mut self.locals, Action { process, choice: Choice(0) });
            }
        }
    }
}
