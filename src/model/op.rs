//! Visible operations, their responses, and actions.
//!
//! [`Op`] is closed on purpose: a new operation does not compile until the objects, the
//! independence relation and the extensions of the unfolding say what it does.

use std::sync::Arc;

use super::object_table::{Object, ObjectMut};
use super::objects::{Operation, by_operation};
use super::{Call, LocalId, Partners, ProcessId, ValueId};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in an arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    /// A mailbox, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    MailboxId;
    /// A mutex, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    MutexId;
    /// A reader-writer lock, by its index in [`super::ObjectTable`]; for a system, in
    /// [`super::Objects`].
    RwLockId;
    /// A condition variable, by its index in [`super::ObjectTable`]; for a system, in
    /// [`super::Objects`].
    CondvarId;
    /// A semaphore, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    SemaphoreId;
    /// A barrier, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    BarrierId;
    /// A latch, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    LatchId;
    /// A collective, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    CollectiveId;
    /// A shared cell, by its index in [`super::ObjectTable`]; for a system, in [`super::Objects`].
    CellId;
    /// A message, named by its sender, the number of the sender's event that sent it, and its place
    /// among the messages sent there (see [`super::Locals::message`]). Unique within an execution;
    /// with the history of the sender, unique across executions.
    MessageId;
    /// The n-th request that a process posted (`isend`, `irecv`, `async_lock`, `async_acquire`,
    /// ..), counted per process from 0: a name that does not depend on what other processes did.
    Handle;
}

/// What a send says about itself, and what a receive may ask for.
///
/// On a receive a missing part is a wildcard; on a send it is a part that only a wildcard accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// `src:`
    pub src: Option<i64>,
    /// `tag:`
    pub tag: Option<i64>,
}

impl Envelope {
    /// Does a receive with this pattern accept a send with envelope `send`?
    pub fn accepts(self, send: Envelope) -> bool {
        (self.src.is_none() || self.src == send.src) && (self.tag.is_none() || self.tag == send.tag)
    }

    /// Does it accept everything?
    pub fn is_wildcard(self) -> bool {
        self == Envelope::default()
    }
}

/// In which order the messages of a mailbox are received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// In the order of all sends (Pham, Jéron, Quinson, FORTE 2019).
    #[default]
    Ordered,
    /// Messages of one sender in their order (MPI).
    P2p,
    /// In any order.
    Bag,
}

/// What a probe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probing {
    /// Waits for a message and reports its source and tag.
    Wait,
    /// Reports whether it sees a message, source and tag. It may always see none: then both are -1.
    Test,
    /// As [`Test`](Probing::Test), but it sees no message only when nothing else can happen: no
    /// process has another action. A system declares that it has such probes
    /// ([`Objects::may_time_out_when_stuck`](super::Objects::may_time_out_when_stuck)).
    WhenStuck,
    /// Waits for a message and takes it. Reports a complete communication, source and tag.
    Take,
    /// As [`Take`](Probing::Take), but the message is only reserved: its receive begins later
    /// ([`Op::Begin`]), and a send that is complete late is complete then.
    Reserve,
}

impl Probing {
    /// May it find nothing?
    pub fn may_miss(self) -> bool {
        matches!(self, Probing::Test | Probing::WhenStuck)
    }

    /// Does it take the message that it finds?
    pub fn takes(self) -> bool {
        matches!(self, Probing::Take | Probing::Reserve)
    }
}

/// When a send is complete, or what a rank does in a collective, where MPI leaves that to its
/// implementations ([`super::Semantics`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Completion {
    /// As early as its meaning allows: a send at once, a rank when the ranks it needs have entered.
    #[default]
    Early,
    /// A send when it is matched, a rank when all have entered.
    Late,
    /// Early or late: no process can rely on either. See [`super::State::is_optional`].
    Either,
}

/// A request for a mutex, pending or past: the process's own request with that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The mutex asked for.
    pub mutex: MutexId,
    /// The `async_lock` that asked.
    pub handle: Handle,
}

/// How a process holds a reader-writer lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hold {
    /// As a reader, with others.
    Shared,
    /// As a writer, alone.
    Exclusive,
}

/// A visible operation of a process.
///
/// Other operations are spelled out before they come here: `wait` and `test` are the any-forms with
/// one element, `waitall` is a sequence of waits, and `send`, `recv`, `lock`, `acquire` and
/// `barrier` are a request and a wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// AsyncSend: response [`Response::Posted`].
    Isend {
        /// Where to.
        mailbox: MailboxId,
        /// Source and tag.
        envelope: Envelope,
        /// What.
        value: ValueId,
    },
    /// AsyncReceive: response [`Response::Posted`].
    Irecv {
        /// Where from.
        mailbox: MailboxId,
        /// What it accepts.
        pattern: Envelope,
    },
    /// A send at a mailbox with p2p or bag delivery: response [`Response::Posted`].
    Send {
        /// Where to.
        mailbox: MailboxId,
        /// Source and tag.
        envelope: Envelope,
        /// What.
        value: ValueId,
        /// When it is complete: at once, or when it is matched.
        completion: Completion,
    },
    /// A receive at a mailbox with p2p or bag delivery: response [`Response::Posted`].
    Receive {
        /// Where from.
        mailbox: MailboxId,
        /// What it accepts.
        pattern: Envelope,
    },
    /// Looks for a message at a p2p or bag mailbox: response [`Response::Value`], see [`Probing`].
    Probe {
        /// Where.
        mailbox: MailboxId,
        /// What it accepts.
        pattern: Envelope,
        /// What it does with the message.
        form: Probing,
    },
    /// Asks to cancel an own receive at a p2p or bag mailbox: response [`Response::Unit`].
    Cancel(Handle),
    /// Blocks until a receive that was to be cancelled is cancelled or matched: response
    /// [`Response::Value`], a bool: `true` if it is cancelled.
    CancelOutcome(Handle),
    /// Begins the receive of a message that a probe has reserved ([`Probing::Reserve`]), once:
    /// response [`Response::Unit`].
    Begin(Handle),
    /// Enters a collective: response [`Response::Posted`]; later [`super::Value::Gathered`].
    Enter {
        /// Which.
        collective: CollectiveId,
        /// As which rank, less than their number.
        rank: u32,
        /// What it does.
        call: Call,
        /// What it gives.
        value: ValueId,
        /// When it is complete: when the ranks that it needs have entered, or when all have.
        completion: Completion,
        /// The ranks that it needs, if the kind of the call does not say it.
        partners: Option<Arc<Partners>>,
    },
    /// A carrier's step: matches its receive, or ends its entry. Never the operation of a program.
    Deliver,
    /// WaitAny: blocks until an own communication is paired; response [`Response::Completed`].
    WaitAny(Box<[Handle]>),
    /// TestAny of own communications: [`Response::Completed`] or [`Response::Incomplete`].
    TestAny(Box<[Handle]>),
    /// AsyncMutexLock: response [`Response::Posted`]. The process must not be in the mutex's queue.
    AsyncLock(MutexId),
    /// MutexWait over own requests: response [`Response::Completed`].
    MutexWaitAny(Box<[Request]>),
    /// MutexTest over own requests: response [`Response::Completed`] or [`Response::Incomplete`].
    MutexTestAny(Box<[Request]>),
    /// Takes the mutex if its queue is empty: response [`Response::Posted`]. Otherwise it does
    /// nothing: response [`Response::Incomplete`]. The process must not be in the queue.
    TryLock(MutexId),
    /// MutexUnlock of an own request in the queue, owner or not: response [`Response::Unit`].
    Unlock(Request),
    /// Asks for a reader-writer lock: response [`Response::Posted`]. The process must not be in its
    /// queue.
    RwRequest {
        /// The lock.
        lock: RwLockId,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// Blocks until the own request is granted: response [`Response::Unit`].
    RwWait {
        /// The lock.
        lock: RwLockId,
        /// The `RwRequest` that asked.
        handle: Handle,
    },
    /// Ends an own request that was waited for: response [`Response::Unit`].
    RwUnlock {
        /// The lock.
        lock: RwLockId,
        /// The `RwRequest` that asked.
        handle: Handle,
    },
    /// Enrols at a condition variable: response [`Response::Posted`].
    Enrol(CondvarId),
    /// Blocks until the own enrolment is woken: response [`Response::Unit`].
    AwaitWake {
        /// The condition variable.
        condvar: CondvarId,
        /// The `Enrol`.
        handle: Handle,
    },
    /// A notification: response [`Response::Posted`]. The [`Op::Wake`] of it must come next.
    Notify {
        /// The condition variable.
        condvar: CondvarId,
        /// Is it for all waiting processes, or for one of them?
        all: bool,
    },
    /// Wakes candidates of an own notification, after all earlier ones: [`Response::Unit`].
    Wake {
        /// The condition variable.
        condvar: CondvarId,
        /// The `Notify`.
        handle: Handle,
    },
    /// Appends to the semaphore's queue: response [`Response::Posted`].
    AsyncAcquire(SemaphoreId),
    /// Blocks until the own request is granted: response [`Response::Unit`].
    AcquireWait {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// The `async_acquire` that asked.
        handle: Handle,
    },
    /// Adds one unit: response [`Response::Unit`].
    Release(SemaphoreId),
    /// Arrives at the barrier: response [`Response::Unit`].
    Arrive {
        /// The barrier.
        barrier: BarrierId,
        /// Number of earlier arrivals of this process there.
        round: u32,
    },
    /// Blocks until all participants have arrived in this round: response [`Response::Unit`].
    BarrierWait {
        /// The barrier.
        barrier: BarrierId,
        /// The round waited for, counted from 0.
        round: u32,
    },
    /// Counts a latch down: response [`Response::Unit`].
    CountDown(LatchId),
    /// Blocks until a latch is counted down to zero: response [`Response::Unit`].
    LatchWait(LatchId),
    /// An atomic access to a cell.
    Access(CellId, Access),
    /// Internal nondeterminism over `lo..hi`, not empty: response [`Response::Chosen`].
    Choose {
        /// First value.
        lo: i64,
        /// One past the last value; at most 2^31 - 1 beyond `lo`.
        hi: i64,
    },
    /// LocalComp, a visible event without effect: response [`Response::Unit`].
    Local,
    /// Starts a process in the given local state: response [`Response::Spawned`].
    Spawn(LocalId),
    /// Blocks until the process has ended: response [`Response::Unit`].
    Join(ProcessId),
    /// An actor at rest: it takes a pending message that it accepts, or runs an internal handler
    /// that is enabled. No response: what the handler does is a `Reaction`.
    Handle {
        /// Number of its internal handlers.
        internals: u32,
    },
}

/// Does something with the place of every value that an [`Op`] has.
macro_rules! visit_values {
    ($op:expr, |$value:ident| $visit:expr) => {
        match $op {
            Op::Isend { value: $value, .. }
            | Op::Send { value: $value, .. }
            | Op::Enter { value: $value, .. }
            | Op::Access(
                _,
                Access::Write($value) | Access::Swap($value) | Access::Update($value),
            ) => $visit,
            Op::Access(_, Access::CompareAndSwap { old, new }) => {
                for $value in [old, new] {
                    $visit;
                }
            }
            _ => {}
        }
    };
}

/// Calls a macro with the kind and the place of every object that an [`Op`] names.
macro_rules! visit_objects {
    ($op:expr, $visit:ident) => {
        match $op {
            Op::Isend { mailbox, .. }
            | Op::Irecv { mailbox, .. }
            | Op::Send { mailbox, .. }
            | Op::Receive { mailbox, .. }
            | Op::Probe { mailbox, .. } => $visit!(Mailbox, *mailbox),
            Op::AsyncLock(mutex) | Op::TryLock(mutex) => $visit!(Mutex, *mutex),
            Op::Unlock(request) => $visit!(Mutex, request.mutex),
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                for request in requests {
                    $visit!(Mutex, request.mutex);
                }
            }
            Op::RwRequest { lock, .. } | Op::RwWait { lock, .. } | Op::RwUnlock { lock, .. } => {
                $visit!(RwLock, *lock)
            }
            Op::Enrol(condvar)
            | Op::AwaitWake { condvar, .. }
            | Op::Notify { condvar, .. }
            | Op::Wake { condvar, .. } => $visit!(Condvar, *condvar),
            Op::AsyncAcquire(semaphore)
            | Op::AcquireWait { semaphore, .. }
            | Op::Release(semaphore) => $visit!(Semaphore, *semaphore),
            Op::Arrive { barrier, .. } | Op::BarrierWait { barrier, .. } => {
                $visit!(Barrier, *barrier)
            }
            Op::CountDown(latch) | Op::LatchWait(latch) => $visit!(Latch, *latch),
            Op::Enter { collective, .. } => $visit!(Collective, *collective),
            Op::Access(cell, _) => $visit!(Cell, *cell),
            Op::Cancel(_)
            | Op::CancelOutcome(_)
            | Op::Begin(_)
            | Op::Deliver
            | Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_)
            | Op::Handle { .. } => {}
        }
    };
}

impl Op {
    /// May it leave every object unchanged? Whether it did is known by its effect
    /// ([`Effect::is_observation`](super::Effect::is_observation)).
    pub fn may_observe(&self) -> bool {
        by_operation!(self, operation => operation.may_observe())
    }

    /// Calls `each` with every object that it names.
    pub(super) fn for_each_object(&self, mut each: impl FnMut(Object)) {
        macro_rules! visit {
            ($kind:ident, $place:expr) => {
                each(Object::$kind($place))
            };
        }
        visit_objects!(self, visit)
    }

    /// The object that it names, if it names exactly one.
    pub fn object(&self) -> Option<Object> {
        let (mut first, mut count) = (None, 0);
        self.for_each_object(|object| (first, count) = (Some(object), count + 1));
        first.filter(|_| count == 1)
    }

    /// Calls `each` with every object that it names, to be replaced.
    pub(super) fn for_each_object_mut(&mut self, mut each: impl FnMut(ObjectMut<'_>)) {
        macro_rules! visit {
            ($kind:ident, $place:expr) => {
                each(ObjectMut::$kind(&mut $place))
            };
        }
        visit_objects!(self, visit)
    }

    /// The operation with each of its values replaced by `new` of it, in order.
    pub fn with_values(&self, mut new: impl FnMut(ValueId) -> ValueId) -> Op {
        let mut op = self.clone();
        visit_values!(&mut op, |value| *value = new(*value));
        op
    }

    /// Calls `each` with every value that it has.
    pub(super) fn for_each_value(&self, mut each: impl FnMut(ValueId)) {
        visit_values!(self, |value| each(*value));
    }

    /// Source and tag of a post at a mailbox, or its pattern; else what matches everything.
    pub fn envelope(&self) -> Envelope {
        match *self {
            Op::Isend { envelope, .. } | Op::Irecv { pattern: envelope, .. } => envelope,
            _ => Envelope::default(),
        }
    }

    /// Is its choice a message or an internal handler?
    pub fn chooses_message(&self) -> bool {
        matches!(self, Op::Handle { .. } | Op::Deliver | Op::Probe { .. })
    }

    /// Are several responses possible after one history?
    pub fn is_choice(&self) -> bool {
        by_operation!(self, operation => operation.is_choice())
    }
}

/// An atomic access to a shared cell. Whether it is a read or a write may depend on the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Response [`Response::Value`], the content.
    Read,
    /// Response [`Response::Unit`]. Always counts as a change, even if the content stays the same.
    Write(ValueId),
    /// Response [`Response::Value`], a bool. A failed one is a read.
    CompareAndSwap {
        /// Expected content.
        old: ValueId,
        /// New content.
        new: ValueId,
    },
    /// Response [`Response::Value`], the old content, or [`Response::Overflow`]. Adding 0 reads.
    FetchAdd(i64),
    /// Response [`Response::Value`], the old content. A swap that leaves the content is a read.
    Swap(ValueId),
    /// Response [`Response::Value`], the old content. The value says what becomes of it
    /// ([`Update`](super::Update)); if it stays, this is a read.
    Update(ValueId),
}

/// The result of an operation, as its process observes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Response {
    /// Only that it happened.
    Unit,
    /// The name of the request just posted.
    Posted(Handle),
    /// Element `index` is complete (paired, or owned); `value` is what was received, else unit.
    Completed {
        /// Place in the operation's list.
        index: u32,
        /// The received value.
        value: ValueId,
    },
    /// A test found nothing complete.
    Incomplete,
    /// What a cell held, or whether a `cas` succeeded.
    Value(ValueId),
    /// The value of a `choose`.
    Chosen(i64),
    /// The process that a `spawn` started.
    Spawned(ProcessId),
    /// A `fetch_add` that would leave the 64-bit range; the cell is unchanged.
    Overflow,
}

/// Which way an action goes, where history does not decide it: the index that a `waitany` or
/// `testany` returns ([`Choice::NOTHING`] for none), the offset of a `choose`, the candidate that a
/// `notify_one` wakes, or the message of an actor (below -1: an internal handler). Else it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Choice(pub i32);

impl Choice {
    /// There is only one way.
    pub const ONLY: Choice = Choice(0);
    /// A test that found nothing complete.
    pub const NOTHING: Choice = Choice(-1);

    /// An actor takes this message.
    pub fn message(message: MessageId) -> Choice {
        Choice(message.0 as i32)
    }

    /// An actor runs this internal handler.
    pub fn internal(handler: u32) -> Choice {
        Choice(-2 - handler as i32)
    }

    /// What an actor does, if this is its choice.
    pub fn handled(self) -> Handled {
        match self.0 {
            message @ 0.. => Handled::Message(MessageId(message as u32)),
            internal => Handled::Internal((-2 - internal) as u32),
        }
    }
}

/// The choice of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Handled {
    /// It takes this message.
    Message(MessageId),
    /// It runs this internal handler.
    Internal(u32),
}

/// What makes an actor act: all that its reaction depends on, besides its local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stimulus {
    /// A message with this content.
    Message(ValueId),
    /// One of its internal handlers.
    Internal(u32),
}

/// A step of one process, from a state where it is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action {
    /// The process.
    pub process: ProcessId,
    /// The way in which it goes on.
    pub choice: Choice,
}
