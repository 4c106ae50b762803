//! What a step changed: the variables of the process that moved, and the object that it acted on.

use serde::Serialize;

use super::Replay;
use super::narration::label;
use crate::model::{End, MailboxId, Op, ProcessId, Request, SemaphoreId, System, ValueId};

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
    pub(super) fn view(&self, process: ProcessId, op: &Op) -> Vec<(String, String)> {
        let mut view = self.variables(process);
        let objects = self.locals.system().objects();
        match op {
            Op::Isend { mailbox, .. } | Op::Irecv { mailbox, .. } => {
                let name = self.mailbox(*mailbox);
                view.push((format!("messages at {name}"), self.pending_at(*mailbox, End::Send)));
                view.push((format!("receives at {name}"), self.pending_at(*mailbox, End::Receive)));
            }
            Op::AsyncLock(mutex) | Op::Unlock(Request { mutex, .. }) => {
                let queue: Vec<_> =
                    self.state.mutex(*mutex).queue().map(|p| self.name(p)).collect();
                let queue = if queue.is_empty() { "free".into() } else { queue.join(", ") };
                view.push((format!("queue of {}", self.mutex(*mutex)), queue));
            }
            Op::AsyncAcquire(semaphore) | Op::Release(semaphore) => {
                let name = &objects.semaphores[semaphore.index()].0;
                view.push((format!("semaphore {name}"), self.units(*semaphore)));
            }
            Op::Arrive { barrier, round } => {
                let arrived = self.state.barrier(*barrier).arrived(*round);
                let arrived: Vec<_> = arrived.iter().map(|&p| self.name(p)).collect();
                let arrived = if arrived.is_empty() { "nobody".into() } else { arrived.join(", ") };
                let name = &objects.barriers[barrier.index()].0;
                view.push((format!("arrived at {name} (round {})", round + 1), arrived));
            }
            Op::Access(cell, _) => {
                view.push((self.cell(*cell).into(), self.value(self.state.content(*cell))));
            }
            Op::Handle { .. } => {
                let actor = self.name(process);
                view.push((format!("messages to {actor}"), self.pending_to(process)));
            }
            Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::MutexWaitAny(_)
            | Op::MutexTestAny(_)
            | Op::AcquireWait { .. }
            | Op::BarrierWait { .. }
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_) => {}
        }
        view
    }

    /// The messages that an actor has not taken.
    pub(super) fn pending_to(&self, actor: ProcessId) -> String {
        let inboxes = self.state.inboxes();
        let content = |at: u32| self.value(inboxes.log()[at as usize].content);
        let pending: Vec<_> = inboxes.pending(actor).map(content).collect();
        if pending.is_empty() { "none".into() } else { pending.join(", ") }
    }

    /// The posts at an end of a mailbox that have no partner.
    fn pending_at(&self, mailbox: MailboxId, end: End) -> String {
        let posts = self.state.mailbox(mailbox).posts(end);
        let pending = posts.iter().filter(|post| post.partner().is_none()).map(|post| {
            let name = self.name(post.process);
            let label = label(post.envelope);
            match end {
                End::Send if post.value == ValueId::UNIT => format!("one of {name}{label}"),
                End::Send => format!("{} of {name}{label}", self.value(post.value)),
                End::Receive => format!("{name}{label}"),
            }
        });
        let pending: Vec<_> = pending.collect();
        if pending.is_empty() { "none".into() } else { pending.join(", ") }
    }

    fn units(&self, semaphore: SemaphoreId) -> String {
        let semaphore = self.state.semaphore(semaphore);
        let units = semaphore.initial as usize + semaphore.releases.len();
        match semaphore.requests.get(units..) {
            Some(waiting) if !waiting.is_empty() => {
                let waiting: Vec<_> = waiting.iter().map(|&p| self.name(p)).collect();
                format!("0 free, queue: {}", waiting.join(", "))
            }
            _ => format!("{} free", units - semaphore.requests.len()),
        }
    }
}

/// What differs between two views of one thing, in the order of the later one.
pub(super) fn differences(
    before: Vec<(String, String)>,
    after: Vec<(String, String)>,
) -> Vec<Change> {
    let find = |view: &[(String, String)], what: &str| {
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
