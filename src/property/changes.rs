//! What a step changed: the variables of the process that moved, and the object that it acted on.

use serde::Serialize;

use super::Replay;
use super::snapshot::Named;
use crate::model::{End, MailboxId, Op, Posted, ProcessId, Request, System};

/// Something that a step changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A variable, or an object with its kind.
    pub what: String,
    /// Before; `None` if it did not exist.
    pub before: Option<String>,
    /// After; `None` if it no longer exists.
    pub after: Option<String>,
}

impl<S: System> Replay<'_, S> {
    /// The variables of `process` and the objects that `op` may change.
    pub(super) fn view(&self, process: ProcessId, op: &Op) -> Vec<Named> {
        let mut view = match op {
            Op::Deliver => Vec::new(),
            _ => self.variables(process),
        };
        match op {
            Op::Isend { mailbox, .. }
            | Op::Irecv { mailbox, .. }
            | Op::Send { mailbox, .. }
            | Op::Receive { mailbox, .. }
            | Op::Probe { mailbox, .. } => view.extend(self.both_ends_now(*mailbox)),
            Op::Deliver => {
                if let Posted::Receive(receive) = self.state.carried(process) {
                    let receive = &self.state.network().receives()[receive as usize];
                    view.extend(self.both_ends_now(receive.mailbox));
                }
            }
            Op::Enter { collective, .. } => view.push(self.entries_now(*collective)),
            Op::AsyncLock(mutex) | Op::TryLock(mutex) | Op::Unlock(Request { mutex, .. }) => {
                view.push(self.queue_now(*mutex));
            }
            Op::RwRequest { lock, .. } | Op::RwUnlock { lock, .. } => {
                view.push(self.holders_now(*lock));
            }
            Op::Enrol(condvar) | Op::Notify { condvar, .. } | Op::Wake { condvar, .. } => {
                view.push(self.waiting_now(*condvar));
            }
            Op::AsyncAcquire(semaphore) | Op::Release(semaphore) => {
                view.push(self.units_now(*semaphore));
            }
            Op::Arrive { barrier, round } => view.push(self.arrivals_now(*barrier, *round)),
            Op::Access(cell, _) => view.push(self.cell_now(*cell)),
            Op::Handle { .. } => {
                let actor = self.name(process);
                view.push((format!("messages to {actor}"), self.pending_to(process)));
            }
            Op::Cancel(_)
            | Op::CancelOutcome(_)
            | Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::MutexWaitAny(_)
            | Op::MutexTestAny(_)
            | Op::RwWait { .. }
            | Op::AwaitWake { .. }
            | Op::AcquireWait { .. }
            | Op::BarrierWait { .. }
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_) => {}
        }
        view
    }
}

impl<S: System> Replay<'_, S> {
    fn both_ends_now(&self, mailbox: MailboxId) -> [Named; 2] {
        [End::Send, End::Receive].map(|end| self.posts_now(mailbox, end))
    }
}

/// What differs between two views of one thing, in the order of the later one.
pub(super) fn differences(before: Vec<Named>, after: Vec<Named>) -> Vec<Change> {
    let find = |view: &[Named], what: &str| {
        view.iter().find(|(name, _)| name == what).map(|(_, content)| content.clone())
    };
    let appeared = after.iter().map(|(what, content)| Change {
        what: what.clone(),
        before: find(&before, what),
        after: Some(content.clone()),
    });
    let vanished = before.iter().filter(|(what, _)| find(&after, what).is_none());
    let vanished = vanished.map(|(what, content)| Change {
        what: what.clone(),
        before: Some(content.clone()),
        after: None,
    });
    appeared.chain(vanished).filter(|change| change.before != change.after).collect()
}
