//! What a process waits for that waits for a mutex or a reader-writer lock: all who are ahead in its queue. And for one
//! that waits at a condition variable: a notification.

use super::Wait;
use crate::model::{
    CondvarId, Handle, Hold, MutexId, Op, ProcessId, RwLockId, RwRequest, Status, System, Touch,
};
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

    /// A notification that came before somebody enrolled is lost to him, which is worth telling.
    pub(super) fn wait_for_notification(
        &self,
        process: ProcessId,
        condvar: CondvarId,
        handle: Handle,
    ) -> Wait {
        let name = self.locals.name_of(condvar);
        let touch = Touch::Notify(condvar);
        let mut helpers = self.suppliers(touch);
        helpers.retain(|&p| p != process);
        let hopeless = helpers.is_empty().then(|| {
            let (turn, all) =
                (self.state.enrolment(process, handle).turn, self.state.condvar(condvar));
            match (turn, all.notifications().len() as u32 - turn) {
                (0, 0) => "no other process that is left notifies it".to_owned(),
                (_, 0) => {
                    let told = match self.notified_at(condvar, turn - 1) {
                        Some((who, line)) if line > 0 => format!(" ({who}, line {line})"),
                        Some((who, _)) => format!(" ({who})"),
                        None => String::new(),
                    };
                    format!("nobody will notify it: the notification came before the wait{told}")
                }
                _ => "every notification since then has woken another process, and no other \
                      process that is left notifies it"
                    .to_owned(),
            }
        });
        Wait { words: format!("a notification of {name}"), helpers, hopeless }
    }

    /// Who made this notification, and in which line.
    fn notified_at(&self, condvar: CondvarId, wanted: u32) -> Option<(String, u32)> {
        let mut seen = 0;
        for position in 0..self.state.depth() {
            let before = self.state.before(position);
            let Some(Op::Notify { condvar: other, .. }) = self.locals.op(before) else { continue };
            if *other == condvar {
                if seen == wanted {
                    let process = self.state.action(position).process;
                    let site = self.locals.system().describe().site(self.locals.get(before));
                    let line = site.map_or(0, |site| site.line);
                    return Some((self.name(process).to_owned(), line));
                }
                seen += 1;
            }
        }
        None
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
