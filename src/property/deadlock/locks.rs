//! What a process waits for that waits for a mutex or a reader-writer lock: all who are ahead in its queue. And for one
//! that waits at a condition variable: a notification.

use super::Wait;
use crate::model::{
    CondvarId, Handle, Hold, May, MutexId, Op, ProcessId, RwLockId, RwRequest, Status, System,
    Touch,
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
            let ways =
                [Touch::new(mutex.queue(), May::Turn), Touch::new(mutex.queue(), May::Change)];
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
        let touch = Touch::new(lock.leaves(), May::Add);
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
        let touch = Touch::new(condvar.notes(), May::Change);
        let mut helpers = self.suppliers(touch);
        helpers.retain(|&p| p != process);
        let hopeless = helpers.is_empty().then(|| {
            let (turn, all) =
                (self.state.enrolment(process, handle).turn, self.state.condvar(condvar));
            match (turn, all.notifications().len() as u32 - turn) {
                (0, 0) => "no other process that is left notifies it".to_owned(),
                (_, 0) => match self.notified_at(condvar, turn - 1) {
                    Some(at) if !self.has_looked(process, at) => {
                        let told = self.made_at(at);
                        format!(
                            "nobody will notify it: the notification came before the wait ({told})"
                        )
                    }
                    _ => "no other process that is left notifies it".to_owned(),
                },
                _ => "every notification since then has woken another process, and no other \
                      process that is left notifies it"
                    .to_owned(),
            }
        });
        Wait { words: format!("a notification of {name}"), helpers, hopeless }
    }

    /// The place of this notification in the execution.
    fn notified_at(&self, condvar: CondvarId, wanted: u32) -> Option<usize> {
        let is_it = |&at: &usize| {
            let op = self.locals.op(self.state.before(at));
            matches!(op, Some(Op::Notify { condvar: other, .. }) if *other == condvar)
        };
        (0..self.state.depth()).filter(is_it).nth(wanted as usize)
    }

    /// Has the process, which waits for a notification, looked after this place of the execution whether it has to wait? Then no earlier
    /// notification is lost to it. A look is an access to a cell. Where the process has no cells, but values behind a mutex that are not
    /// seen here, it is taking the mutex.
    fn has_looked(&self, process: ProcessId, since: usize) -> bool {
        let own = |&at: &usize| self.state.action(at).process == process;
        let op = |at: usize| self.locals.op(self.state.before(at));
        let accesses = |at: usize| matches!(op(at), Some(Op::Access(..)));
        let locks = |at: usize| matches!(op(at), Some(Op::MutexWaitAny(_) | Op::TryLock(_)));
        let depth = self.state.depth();
        let has_cells = (0..depth).filter(own).any(accesses);
        (since..depth).filter(own).any(if has_cells {
            &accesses as &dyn Fn(usize) -> bool
        } else {
            &locks
        })
    }

    /// Who acted at this place of the execution, and in which line.
    fn made_at(&self, at: usize) -> String {
        let name = self.name(self.state.action(at).process);
        let site = self.locals.system().describe().site(self.locals.get(self.state.before(at)));
        match site.filter(|site| site.line > 0) {
            Some(site) => format!("{name}, line {}", site.line),
            None => name.to_owned(),
        }
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
