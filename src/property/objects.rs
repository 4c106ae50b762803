//! The words of reports for objects and the operations on them, one file for each kind of object.
//!
//! | file | has the words for |
//! |---|---|
//! | `waiting` | operations that wait or test for requests of any kind |
//! | `mailbox` | sends and receives |
//! | `network` | sends, receives, matches and probes at p2p and bag mailboxes |
//! | `collective` | entries of collectives |
//! | `mutex`, `rwlock`, `condvar`, `semaphore` | owners and queues |
//! | `barrier`, `latch` | arrivals, counts |
//! | `cell` | accesses to shared cells |
//! | `process`, `actor` | local steps, spawn and join; messages to actors |
//!
//! There are three entry points:
//!
//! - for an [`Op`]: [`words`] finds the [`Words`] of the operation;
//! - for a [`Posted`], the position of a request in the log of its object: [`request`] finds the
//!   [`Request`];
//! - for an [`Object`]: [`Replay::now`] returns what it holds.
//!
//! Each has one `match` here, without an arm for the rest. So a new kind of object is a new file, a
//! line in [`words`] for each of its operations, one in [`request`] if it has requests, and one in
//! the list of kinds. The crate does not compile before they are there.

mod actor;
mod barrier;
mod cell;
mod collective;
mod condvar;
mod latch;
mod mailbox;
mod mutex;
mod network;
mod process;
mod rwlock;
mod semaphore;
mod waiting;

pub(super) use actor::{pending_to, wait_of_failed};

use waiting::Await;

use super::arrows::{Arrow, ArrowKind, Hold, Past};
use super::deadlock::Wait;
use super::leaks::LeakKind;
use super::replay::Replay;
use super::snapshot::FactKind;
use crate::model::{
    Action, BarrierId, CellId, Choice, CollectiveId, CondvarId, Envelope, Failure, Handle, LatchId,
    Locals, MailboxId, MutexId, Object, Op, Posted, ProcessId, Response, RwLockId, SemaphoreId,
    Site, State, System,
};

/// A name and a value.
pub(super) type Named = (String, String);

/// A request: its process, and its number in the process.
pub(super) type Own = (ProcessId, Handle);

/// The words for an operation.
pub(super) trait Words<S: System> {
    /// Its name, if the program has no source.
    fn name(&self) -> &'static str;

    /// Its result in the last step of the replay, which is the action `by` with this response.
    /// `None` if it has no result.
    fn outcome(&self, at: &Replay<'_, S>, by: Action, response: Option<Response>)
    -> Option<String>;

    /// The present content of the objects that it may change if `process` carries it out.
    fn view(&self, at: &Replay<'_, S>, process: ProcessId) -> Vec<Named> {
        let _ = (at, process);
        Vec::new()
    }

    /// What `process`, which is blocked at it, waits for; `None` if the operation never blocks.
    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let _ = (at, process);
        None
    }

    /// What would make `process` leave the loop in which it repeats this operation without success.
    /// `None` if nothing here would.
    fn wait_in_loop(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let _ = (at, process);
        None
    }

    /// Place and text of the operation if `process` makes this choice. `None` if they are those of
    /// the local state of the process.
    fn site(&self, at: &Replay<'_, S>, process: ProcessId, choice: Option<Choice>) -> Option<Site> {
        let _ = (at, process, choice);
        None
    }

    /// The arrows from earlier steps to its step `to`.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let _ = (past, to);
        Vec::new()
    }

    /// The lock that its process has obtained or released in the last step of the replay.
    fn hold(&self, at: &Replay<'_, S>, by: Action) -> Option<Hold> {
        let _ = (at, by);
        None
    }
}

/// The words for a request that a process has posted.
pub(super) trait Request<S: System> {
    /// The object at which it was posted.
    fn object(&self, state: &State) -> Object;

    /// The kind of leak that it is, if it is open at the end.
    fn leak(&self, state: &State) -> LeakKind;

    /// Its result, when it is complete. `own` is this request.
    fn completed(&self, at: &Replay<'_, S>, own: Own) -> String;

    /// What its `process` waits for, if it waits for this request.
    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait;

    /// Must a test find it complete? Only for requests that can be tested.
    fn is_complete(&self, at: &Replay<'_, S>, (process, handle): Own) -> bool {
        at.state.is_complete(process, handle)
    }

    /// The result of a test of this request alone, if it is incomplete.
    fn incomplete(&self, at: &Replay<'_, S>) -> String {
        let _ = at;
        "false".into()
    }

    /// The arrows to step `to`, in which its process observed that it is complete.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        Arrow::all(past.needed(to), to, ArrowKind::Handover)
    }

    /// The lock that its process holds from then on, and the position of this request in its log.
    fn held(&self) -> Option<(Object, u32)> {
        None
    }
}

/// The answer of `ask` about the words of an operation.
pub(super) fn words<S: System, T>(op: &Op, ask: impl FnOnce(&dyn Words<S>) -> T) -> T {
    match *op {
        Op::Isend { mailbox, envelope, value } => {
            ask(&mailbox::Use::Isend { mailbox, envelope, value })
        }
        Op::Irecv { mailbox, .. } => ask(&mailbox::Use::Irecv(mailbox)),
        Op::WaitAny(ref comms) => ask(&mailbox::complete(comms, false)),
        Op::TestAny(ref comms) => ask(&mailbox::complete(comms, true)),
        Op::Send { mailbox, envelope, value, completion } => {
            ask(&network::Use::Send { mailbox, envelope, value, completion })
        }
        Op::Receive { mailbox, pattern } => ask(&network::Use::Receive { mailbox, pattern }),
        Op::Probe { mailbox, pattern, form } => {
            ask(&network::Use::Probe { mailbox, pattern, form })
        }
        Op::Cancel(_) => ask(&network::Use::Cancel),
        Op::CancelOutcome(comm) => ask(&network::Use::CancelOutcome(comm)),
        Op::Begin(_) => ask(&network::Use::Begin),
        Op::Deliver => ask(&network::Use::Deliver),
        Op::Enter { collective, call, .. } => ask(&collective::Enter { collective, call }),
        Op::AsyncLock(mutex) => ask(&mutex::Use::Lock(mutex)),
        Op::MutexWaitAny(ref requests) => ask(&mutex::own(requests, false)),
        Op::MutexTestAny(ref requests) => ask(&mutex::own(requests, true)),
        Op::TryLock(mutex) => ask(&mutex::Use::Try(mutex)),
        Op::Unlock(request) => ask(&mutex::Use::Unlock(request)),
        Op::RwRequest { lock, hold } => ask(&rwlock::Use::Request { lock, hold }),
        Op::RwWait { handle, .. } => ask(&rwlock::wait(handle)),
        Op::RwUnlock { lock, handle } => ask(&rwlock::Use::Unlock { lock, handle }),
        Op::Enrol(condvar) => ask(&condvar::Use::Enrol(condvar)),
        Op::AwaitWake { handle, .. } => ask(&condvar::wait(handle)),
        Op::Notify { condvar, all } => ask(&condvar::Use::Notify { condvar, all }),
        Op::Wake { condvar, handle } => ask(&condvar::Use::Wake { condvar, handle }),
        Op::AsyncAcquire(semaphore) => ask(&semaphore::Use::Acquire(semaphore)),
        Op::AcquireWait { handle, .. } => ask(&semaphore::wait(handle)),
        Op::Release(semaphore) => ask(&semaphore::Use::Release(semaphore)),
        Op::Arrive { barrier, round } => ask(&barrier::Use::Arrive { barrier, round }),
        Op::BarrierWait { barrier, round } => ask(&barrier::Use::Wait { barrier, round }),
        Op::CountDown(latch) => ask(&latch::Use::CountDown(latch)),
        Op::LatchWait(latch) => ask(&latch::Use::Wait(latch)),
        Op::Access(cell, access) => ask(&cell::At(cell, access)),
        Op::Choose { lo, .. } => ask(&process::Use::Choose { lo }),
        Op::Local => ask(&process::Use::Local),
        Op::Spawn(_) => ask(&process::Use::Spawn),
        Op::Join(target) => ask(&process::Use::Join(target)),
        Op::Handle { .. } => ask(&actor::React),
    }
}

/// The answer of `ask` about the words of a request.
pub(super) fn request<S: System, T>(posted: Posted, ask: impl FnOnce(&dyn Request<S>) -> T) -> T {
    match posted {
        Posted::At(mailbox, end, position) => ask(&mailbox::Post { mailbox, end, position }),
        Posted::Sent(send) => ask(&network::Sent(send)),
        Posted::Receive(receive) => ask(&network::Received(receive)),
        Posted::Entry(entry) => ask(&collective::Entry(entry)),
        Posted::Mutex(mutex, position) => ask(&mutex::Queued(mutex, position)),
        Posted::RwLock(lock, position) => ask(&rwlock::Queued(lock, position)),
        Posted::Enrolment(condvar, position) => ask(&condvar::Enrolled(condvar, position)),
        Posted::Notification(condvar, position) => ask(&condvar::Notified(condvar, position)),
        Posted::Semaphore(semaphore, position) => ask(&semaphore::Queued(semaphore, position)),
    }
}

/// The kinds of objects, in the order of reports.
macro_rules! kinds {
    ($($file:ident: $roster:ident, $kind:ident($id:ident), $fact:ident;)*) => {
        impl<S: System> Replay<'_, S> {
            /// All objects. If very many of a kind are declared, only those that processes have
            /// used.
            pub(super) fn objects(&self) -> Vec<Object> {
                let objects = self.locals.objects();
                let mut all = Vec::new();
                $(all.extend(objects.$roster.in_order().into_iter().map(|id| Object::from($id(id))));)*
                all
            }

            /// What an object holds.
            pub(super) fn now(&self, object: impl Into<Object>) -> Vec<Named> {
                match object.into() {
                    $(Object::$kind(id) => $file::now(self, id),)*
                }
            }
        }

        /// The kind of the facts about an object.
        pub(super) fn kind_of_fact(object: Object) -> FactKind {
            match object {
                $(Object::$kind(_) => FactKind::$fact,)*
            }
        }
    };
}
kinds! {
    mailbox: mailboxes, Mailbox(MailboxId), Mailbox;
    mutex: mutexes, Mutex(MutexId), Mutex;
    rwlock: rwlocks, RwLock(RwLockId), Mutex;
    condvar: condvars, Condvar(CondvarId), Mutex;
    semaphore: semaphores, Semaphore(SemaphoreId), Semaphore;
    barrier: barriers, Barrier(BarrierId), Barrier;
    latch: latches, Latch(LatchId), Barrier;
    collective: collectives, Collective(CollectiveId), Barrier;
    cell: cells, Cell(CellId), Cell;
}

/// The failure of a misused object: too many arrivals at a barrier or counts of a latch, two
/// receivers at a p2p or bag mailbox, or calls of a collective that do not agree. `None` if no
/// object is misused.
#[inline]
pub(crate) fn oversubscription<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
) -> Option<Failure> {
    Some(match state.misused()? {
        Object::Barrier(id) => barrier::crowded(locals, state, id),
        Object::Latch(id) => latch::overrun(locals, state.latch(id).size, id),
        Object::Mailbox(mailbox) => network::shared(locals, mailbox),
        Object::Collective(_) => collective::discordant(locals, state, state.discord()?),
        other => unreachable!("{other:?} cannot be misused"),
    })
}

impl<S: System> Replay<'_, S> {
    fn posted(&self, (process, handle): Own) -> Posted {
        self.state.posted(process, handle)
    }

    /// The result of a request, which is complete.
    fn completed(&self, own: Own) -> String {
        request(self.posted(own), |request| request.completed(self, own))
    }

    /// What the process of a request waits for, if it waits for this request.
    fn wait_for(&self, own: Own) -> Wait {
        request(self.posted(own), |request| request.wait(self, own.0))
    }
}

/// The processes that hold a mutex or a reader-writer lock; none for other objects.
#[cfg(feature = "cli")]
pub(super) fn holders(state: &State, object: Object) -> Vec<ProcessId> {
    match object {
        Object::Mutex(mutex) => mutex::owner_in(state, mutex).into_iter().collect(),
        Object::RwLock(lock) => rwlock::holding(state.rwlock(lock)).collect(),
        _ => Vec::new(),
    }
}

/// `" with tag 3 from source 1"`; without the parts that the envelope or pattern does not have.
fn label(envelope: Envelope) -> String {
    let tag = envelope.tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
    let src = envelope.src.map_or(String::new(), |src| format!(" from source {src}"));
    tag + &src
}

/// The items with commas between them, or `if_empty`.
fn listed(items: Vec<String>, if_empty: &str) -> String {
    if items.is_empty() { if_empty.into() } else { items.join(", ") }
}
