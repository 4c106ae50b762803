//! The shared objects, one file for each kind: what they hold, and what the operations on them
//! mean.
//!
//! | file | object | operations |
//! |---|---|---|
//! | `mailbox` | sends and receives, each in order, paired on arrival | isend, irecv, waitany, testany |
//! | `network` | what is posted at p2p and bag mailboxes, and its matches | send, receive, probe, cancel, deliver |
//! | `collective` | entries, by round and rank | enter |
//! | `mutex` | a queue | async_lock, mutex_waitany, mutex_testany, try_lock, unlock |
//! | `rwlock` | a fair queue of readers and writers | read_lock, write_lock, unlock |
//! | `condvar` | enrolments and notifications | cond_wait, notify_one, notify_all |
//! | `semaphore` | requests and releases | async_acquire, acquire_wait, release |
//! | `barrier` | arrivals by round | async_barrier, barrier_wait |
//! | `latch` | counts | count_down, wait |
//! | `cell` | its contents so far | read, write, cas, fetch_add, swap |
//! | `process` | processes as such | choose, local, spawn, join |
//! | `actor` | messages on their way (`inbox`) | handlers |
//!
//! Objects are logs. Nothing is erased while executing, and undoing is popping; each file says
//! which invariants its object keeps.
//!
//! An [`Op`](super::Op) says what a process asks for. What it means is said by an [`Operation`], a
//! small type that answers all that the model asks: is it enabled, what does it do, how is it
//! undone, what did it touch. [`by_operation`] finds the type for an `Op`. So a new operation is a
//! variant of `Op`, a line there and an `Operation`. The crate does not compile until it has all
//! three.

pub(super) mod actor;
pub(super) mod barrier;
pub(super) mod cell;
pub(super) mod collective;
pub(super) mod condvar;
pub(super) mod inbox;
pub(super) mod latch;
pub(super) mod mailbox;
pub(super) mod mutex;
pub(super) mod network;
pub(super) mod posted;
pub(super) mod process;
pub(super) mod rwlock;
pub(super) mod semaphore;

use rustc_hash::FxHashMap;

pub use posted::Posted;

pub(super) use posted::{NONE, place};

use super::locals::{Births, MessageNames};
use super::state::{Done, Parts, State};
use super::{
    Action, Choice, Effect, Lane, LocalId, Locals, May, Mode, Needs, ProcessId, Response, System,
    Touch, ValueId, Values,
};

macro_rules! define_parts {
    ($($(#[$doc:meta])* $part:ident,)*) => {
        /// The kinds of lanes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Part {
            $($(#[$doc])* $part,)*
        }

        impl Part {
            /// All kinds, in order.
            pub(super) const ALL: &[Part] = &[$(Part::$part,)*];
        }
    };
}
define_parts! {
    /// What starts a process. The events of the process itself are in no lane: they are ordered by
    /// the process.
    Process,
    /// The sends posted at a mailbox.
    Sends,
    /// The receives posted at a mailbox.
    Receives,
    /// All that is posted at p2p and bag mailboxes and collectives, and all matches.
    Network,
    /// The messages sent to a p2p or bag mailbox.
    Messages,
    /// The matches at a p2p or bag mailbox, the probes that take, and the wishes to cancel a
    /// receive.
    Matches,
    /// The ends of entries of a collective.
    Ends,
    /// The requests for a mutex.
    Requests,
    /// The unlocks of a mutex; also the requests, if the mutex is tried.
    Queue,
    /// The requests for a reader-writer lock.
    Turns,
    /// The unlocks of a reader-writer lock.
    Leaves,
    /// The notifications and enrolments of a condition variable.
    Notes,
    /// The wake steps of notifications.
    Wakes,
    /// The requests for a semaphore.
    Acquires,
    /// The releases of a semaphore.
    Releases,
    /// The arrivals at a barrier.
    Arrivals,
    /// The counts of a latch.
    Counts,
    /// The contents of a cell.
    Contents,
    /// The messages that an actor has taken.
    Inbox,
}

impl Part {
    /// The set of this kind alone.
    #[inline]
    pub(crate) const fn alone(self) -> PartSet {
        PartSet(1 << self as u32)
    }

    /// Do operations compete for the places of changes in such a lane? Otherwise its acts are
    /// gathered, or are found by their position.
    pub fn is_ordered(self) -> bool {
        use Part::*;
        match self {
            Sends | Receives | Requests | Queue | Turns | Notes | Acquires | Releases
            | Contents => true,
            Process | Network | Messages | Matches | Ends => false,
            Leaves | Wakes | Arrivals | Counts | Inbox => false,
        }
    }
}

/// A set of kinds of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSet(u32);

impl PartSet {
    /// The empty set.
    pub const NONE: PartSet = PartSet(0);

    /// The union of both sets.
    #[inline]
    pub(crate) const fn or(self, other: PartSet) -> PartSet {
        PartSet(self.0 | other.0)
    }

    /// Do the sets have a kind in common?
    #[inline]
    pub(crate) const fn meets(self, other: PartSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// Calls a macro with the list of all kinds of objects. An entry has the name of the kind, the type
/// of its numbers, the field for all its objects, and what a [`State`] keeps for each object, if in
/// a field of that name. Portraits have the kinds in this order.
macro_rules! all_kinds {
    ($then:ident) => {
        $then! {
            /// Shared cells with their initial content.
            Cell(CellId) cells [Vec<ValueId>],
            /// Mutexes, and how each is asked for.
            Mutex(MutexId) mutexes [crate::model::objects::mutex::Mutex],
            /// Reader-writer locks.
            RwLock(RwLockId) rwlocks [crate::model::objects::rwlock::RwLock],
            /// Condition variables.
            Condvar(CondvarId) condvars [crate::model::objects::condvar::Condvar],
            /// Semaphores with their initial number of units.
            Semaphore(SemaphoreId) semaphores [crate::model::objects::semaphore::Semaphore],
            /// Barriers with their number of participants.
            Barrier(BarrierId) barriers [crate::model::objects::barrier::Barrier],
            /// Latches with their number of counts.
            Latch(LatchId) latches [crate::model::objects::latch::Latch],
            /// Collectives with their number of ranks.
            Collective(CollectiveId) collectives [],
            /// Mailboxes with the order of their messages.
            Mailbox(MailboxId) mailboxes [crate::model::objects::mailbox::Mailbox],
        }
    };
}
pub(super) use all_kinds;

/// What the model asks of a kind of object. The numbers of its objects implement it.
pub trait ObjectId: Copy {
    /// The value that an object is declared with.
    type Declared;
    /// The initial value of an object.
    type Start: Copy;

    /// The kinds of lanes on which operations on such an object act.
    const PARTS: &'static [Part];

    /// The kinds of lanes that are ordered, or on which something is gathered, for an object with
    /// this initial value.
    fn lanes_of(start: Self::Start) -> &'static [Part] {
        let _ = start;
        Self::PARTS
    }

    /// Does each operation on such an object read and change only this object and its own process?
    const IS_ALONE: bool;

    /// The initial value of an object with this declaration.
    fn start(declared: &Self::Declared, values: &mut Values) -> Self::Start;

    /// Begins the log of the next object of this kind.
    fn begin(state: &mut State, start: Self::Start);

    /// Its number in a portrait: `Parts::EMPTY`, or the number that `parts` gives to all that the
    /// future depends on.
    fn slot<S: System>(self, state: &State, locals: &mut Locals<'_, S>, parts: &mut Parts) -> u32;

    /// Is it in its initial state, although its number in a portrait is not `Parts::EMPTY`?
    fn is_at_start(self, state: &State) -> bool {
        let _ = state;
        false
    }

    /// Does it have a request that is not answered yet? O(1), except where patterns matter.
    fn has_open_requests(self, state: &State) -> bool;

    /// An object of this kind that was misused, if there is one. From then on an execution has no
    /// meaning.
    fn misused(state: &State) -> Option<Self> {
        let _ = state;
        None
    }
}

/// What the model asks of an operation.
///
/// An operation either takes the next place in a lane, where it is always possible
/// ([`lane`](Operation::lane), [`at`](Operation::at)), or it has some ways to go on, each of which
/// may need something ([`ways`](Operation::ways), [`way`](Operation::way)). By default it has one
/// way, which needs nothing and does nothing.
pub(super) trait Operation {
    /// The lane in which it takes the next place, if it takes one.
    fn lane(&self, state: &State) -> Option<Lane> {
        let _ = state;
        None
    }

    /// How it would act on that lane after the first `changes` changes of the lane, and the
    /// response of its process. `state` may have more changes, but the process has not moved.
    fn at(
        &self,
        state: &State,
        values: &mut Values,
        process: ProcessId,
        changes: u32,
    ) -> (Mode, Response) {
        let _ = (state, values, process, changes);
        unreachable!("it takes no place in a lane")
    }

    /// The request that it would complete there, if it is a change.
    fn completes(&self, state: &State, process: ProcessId, changes: u32) -> Option<u32> {
        let _ = (state, process, changes);
        None
    }

    /// The number of its ways to go on, possible or not.
    fn ways(&self, state: &State, process: ProcessId) -> u32 {
        let _ = (state, process);
        1
    }

    /// The response of its process if it goes on in the way with this index, which is also its
    /// choice; `None` if that is not possible yet. Appends to `needs` what the way needs besides
    /// what the process knew before.
    fn way<S: System>(
        &self,
        at: &Place<'_, '_, S>,
        index: u32,
        needs: &mut Needs,
    ) -> Option<Response> {
        let _ = (at, index, needs);
        Some(Response::Unit)
    }

    /// The kinds of lanes on which something may come that one of its ways needs.
    fn awaits(&self) -> PartSet {
        PartSet::NONE
    }

    /// Does it ask whether something is complete, without waiting for it?
    fn is_test(&self) -> bool {
        false
    }

    /// Its effect if it is a test that finds nothing complete.
    fn not_yet(&self, state: &State, process: ProcessId) -> Effect {
        let _ = (state, process);
        unreachable!("it is not a test")
    }

    /// The lane on which it adds something that others wait for, if it takes no place in a lane.
    fn gathers(&self) -> Option<Lane> {
        None
    }

    /// It takes no place in a lane: may an open choice that was made before it (a match, a probe or
    /// an any-form) have another result because of it? Source-DPOR asserts the answer in debug
    /// builds.
    fn may_open(&self) -> bool {
        false
    }

    /// Calls `each` with the choices of the process that is at this operation; not at all if it is
    /// blocked.
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let mut needs = Needs::new();
        for index in 0..self.ways(at.state, at.process) {
            if self.way(at, index, &mut needs).is_some() {
                each(Choice(index as i32));
            }
        }
    }

    /// Carries out the current action, which is one of the choices. Returns the response of its
    /// process.
    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let _ = (state, world, done);
        Response::Unit
    }

    /// Takes back what `carry_out` did.
    fn undo(&self, state: &mut State, births: &Births, done: &Done) {
        let _ = (state, births, done);
    }

    /// The effect of the last action of the state, which was this operation of the process.
    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let Action { process, choice } = done.action;
        if choice == Choice::NOTHING {
            return self.not_yet(at.state, process);
        }
        let mut needs = Needs::new();
        self.way(at, choice.0 as u32, &mut needs).expect("it was possible");
        Effect::needing(&needs)
    }

    /// How it acts on its lane if it takes a place there, wherever that is.
    fn may<S: System>(&self, state: &State, system: &S) -> May {
        let _ = (state, system);
        May::Change
    }

    /// Calls `each` with all that it watches, enabled in `state`: see [`Touch`].
    fn watches<S: System>(
        &self,
        state: &State,
        system: &S,
        values: &mut Values,
        process: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        let _ = (values, process);
        if let Some(lane) = self.lane(state) {
            each(Touch::new(lane, self.may(state, system)));
        }
    }

    /// Calls `each` with all that it touched as the last action of `state`.
    fn touches<S: System>(
        &self,
        state: &State,
        system: &S,
        done: &Done,
        each: &mut impl FnMut(Touch),
    ) {
        let _ = done;
        if let Some(lane) = self.lane(state) {
            each(Touch::new(lane, self.may(state, system)));
        } else if let Some(lane) = self.gathers() {
            each(Touch::new(lane, May::Add));
        }
    }

    /// May it leave every object unchanged? Whether it did is known by its effect
    /// ([`Effect::is_observation`]).
    fn may_observe(&self) -> bool;

    /// Are several responses possible after one history?
    fn is_choice(&self) -> bool {
        false
    }
}

/// A process, the state that it is in, and what is known of local states.
pub(super) struct Place<'p, 's, S: System> {
    pub(super) state: &'p State,
    pub(super) locals: &'p Locals<'s, S>,
    pub(super) process: ProcessId,
}

/// What carrying out an operation may use besides the state.
pub(super) struct World<'w> {
    pub(super) values: &'w mut Values,
    pub(super) births: &'w mut Births,
    pub(super) messages: &'w mut MessageNames,
    pub(super) returned: &'w FxHashMap<LocalId, ValueId>,
}

/// Evaluates an expression with the [`Operation`] of an [`Op`](super::Op).
macro_rules! by_operation {
    ($op:expr, $it:ident => $answer:expr) => {{
        use $crate::model::objects::{actor, barrier, cell, collective, condvar, latch, mailbox};
        use $crate::model::objects::{mutex, network, process, rwlock, semaphore};
        use $crate::model::{End, Op, ValueId};
        macro_rules! answer {
            ($operation:expr) => {{
                let $it = $operation;
                $answer
            }};
        }
        match *$op {
            Op::Isend { mailbox, envelope, value } => {
                answer!(mailbox::Posting { mailbox, end: End::Send, envelope, value })
            }
            Op::Irecv { mailbox, pattern: envelope } => {
                let value = ValueId::UNIT;
                answer!(mailbox::Posting { mailbox, end: End::Receive, envelope, value })
            }
            Op::Send { mailbox, envelope, value, completion } => {
                answer!(network::Sending { mailbox, envelope, value, completion })
            }
            Op::Receive { mailbox, pattern } => answer!(network::Receiving { mailbox, pattern }),
            Op::Probe { mailbox, pattern, form } => {
                answer!(network::ProbeFor { mailbox, pattern, form })
            }
            Op::Cancel(comm) => answer!(network::Cancelling(comm)),
            Op::CancelOutcome(comm) => answer!(network::CancelOutcome(comm)),
            Op::Begin(comm) => answer!(network::Beginning(comm)),
            Op::Enter { collective, rank, call, value, completion, ref partners } => {
                answer!(collective::Entering {
                    collective,
                    rank,
                    call,
                    value,
                    completion,
                    partners
                })
            }
            Op::Deliver => answer!(network::Delivering),
            Op::WaitAny(ref comms) => answer!(mailbox::Completing { comms, is_test: false }),
            Op::TestAny(ref comms) => answer!(mailbox::Completing { comms, is_test: true }),
            Op::AsyncLock(mutex) => answer!(mutex::Lock(mutex)),
            Op::MutexWaitAny(ref requests) => answer!(mutex::Own { requests, is_test: false }),
            Op::MutexTestAny(ref requests) => answer!(mutex::Own { requests, is_test: true }),
            Op::TryLock(mutex) => answer!(mutex::Try(mutex)),
            Op::Unlock(request) => answer!(mutex::Unlock(request)),
            Op::RwRequest { lock, hold } => answer!(rwlock::Request { lock, hold }),
            Op::RwWait { lock, handle } => answer!(rwlock::Wait { lock, handle }),
            Op::RwUnlock { lock, handle } => answer!(rwlock::Unlock { lock, handle }),
            Op::Enrol(condvar) => answer!(condvar::Enrol(condvar)),
            Op::AwaitWake { condvar, handle } => answer!(condvar::Wait { condvar, handle }),
            Op::Notify { condvar, all } => answer!(condvar::Notify { condvar, all }),
            Op::Wake { condvar, handle } => answer!(condvar::Wake { condvar, handle }),
            Op::AsyncAcquire(semaphore) => answer!(semaphore::Acquire(semaphore)),
            Op::AcquireWait { semaphore, handle } => {
                answer!(semaphore::AcquireWait { semaphore, handle })
            }
            Op::Release(semaphore) => answer!(semaphore::Release(semaphore)),
            Op::Arrive { barrier, round } => answer!(barrier::Arrive { barrier, round }),
            Op::BarrierWait { barrier, round } => answer!(barrier::Pass { barrier, round }),
            Op::CountDown(latch) => answer!(latch::CountDown(latch)),
            Op::LatchWait(latch) => answer!(latch::Wait(latch)),
            Op::Access(cell, access) => answer!(cell::At(cell, access)),
            Op::Choose { lo, hi } => answer!(process::Choose { lo, hi }),
            Op::Local => answer!(process::Local),
            Op::Spawn(child) => answer!(process::Spawn(child)),
            Op::Join(target) => answer!(process::Join(target)),
            Op::Handle { internals } => answer!(actor::React { internals }),
        }
    }};
}
pub(super) use by_operation;

/// The choices of an any-form: one for each element that is complete, and for a test
/// [`Choice::NOTHING`] if there is none.
fn choices_of_any(
    complete: impl Iterator<Item = bool>,
    is_test: bool,
    each: &mut impl FnMut(Choice),
) {
    let mut found = false;
    for (index, is_complete) in complete.enumerate() {
        if is_complete {
            found = true;
            each(Choice(index as i32));
        }
    }
    if is_test && !found {
        each(Choice::NOTHING);
    }
}

/// The response to an any-form; `value` is what element `index` hands over.
fn response_of_any(choice: Choice, value: impl FnOnce(usize) -> ValueId) -> Response {
    match choice {
        Choice::NOTHING => Response::Incomplete,
        Choice(index) => Response::Completed { index: index as u32, value: value(index as usize) },
    }
}
