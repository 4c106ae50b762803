//! What a process waits for that waits for a mutex or a reader-writer lock: all who are ahead in its queue.

use super::Wait;
use crate::model::{Handle, Hold, MutexId, ProcessId, RwLockId, RwRequest, Status, System, Touch};
use crate::property::replay::Replay;

impl<S: System> Replay<'_, S> {
    pub(super) fn wait_for_mutex(&self, process: ProcessId, mutex: MutexId) -> Wait {
        let name = self.locals.name_of(mutex);
        let ahead: Vec<_> = self.state.mutex(mutex).queue().take_while(|&p| p != process).collect();
        let owner = ahead[0];
        let mut words = format!("mutex {name}, held by {}", self.name(owner));
        if let [_, queued @ ..] = ahead.as_slice()
            && !queued.is_empty()
        {
            let queued: Vec<_> = queued.iter().map(|&p| self.name(p)).collect();
            words += &format!(", with {} ahead in the queue", queued.join(", "));
        }
        let hopeless = self.why_still_locked(&name, &ahead, |p: ProcessId| {
            let ways = [Touch::Unlock(mutex), Touch::Cancel(mutex)];
            ways.into_iter().any(|touch| self.may_still(p, touch))
        });
        let helpers = if hopeless.is_some() { Vec::new() } else { vec![owner] };
        Wait { words, helpers, hopeless }
    }

    pub(super) fn wait_for_rwlock(
        &self,
        process: ProcessId,
        lock: RwLockId,
        handle: Handle,
    ) -> Wait {
        let (name, (_, own)) =
            (self.locals.name_of(lock), self.state.rwlock_request(process, handle));
        let touch = Touch::RwUnlock(lock);
        let lock = self.state.rwlock(lock);
        let is_waited_for = |other: &&RwRequest| {
            other.turn < own.turn || other.turn == own.turn && own.hold == Hold::Exclusive
        };
        let ahead = lock.queue().take_while(|other| other.process != process);
        let ahead: Vec<_> = ahead.filter(is_waited_for).collect();
        let mut words = format!("lock {name}, held by {}", self.holders(lock, process).join(", "));
        let queued: Vec<_> = ahead
            .iter()
            .filter(|other| !lock.is_granted(other))
            .map(|other| self.name(other.process))
            .collect();
        if !queued.is_empty() {
            words += &format!(", with {} ahead in the queue", queued.join(", "));
        }
        let holders = ahead.iter().filter(|other| lock.is_granted(other));
        let helpers: Vec<_> = holders.map(|other| other.process).collect();
        let ahead: Vec<_> = ahead.iter().map(|other| other.process).collect();
        let hopeless = self.why_still_locked(&name, &ahead, |p| self.may_still(p, touch));
        let helpers = if hopeless.is_some() { Vec::new() } else { helpers };
        Wait { words, helpers, hopeless }
    }

    /// All requests ahead have to be unlocked. A single one that cannot be is reason enough.
    fn why_still_locked(
        &self,
        name: &str,
        ahead: &[ProcessId],
        unlocks: impl Fn(ProcessId) -> bool,
    ) -> Option<String> {
        let gone = ahead.iter().find(|&&p| self.has_ended(p));
        let gone = gone.or_else(|| ahead.iter().find(|&&p| !unlocks(p)));
        gone.map(|&p| match self.status(p) {
            Some(Status::Failed(_)) => {
                format!("{} has failed without unlocking {name}", self.name(p))
            }
            Some(Status::Done) => format!("{} has ended without unlocking {name}", self.name(p)),
            _ => format!("{} never unlocks {name} from where it is", self.name(p)),
        })
    }
}
