//! Which actions depend on one another. This relation fixes what a class of executions is, and every count.
//!
//! It follows Pham, Jéron and Quinson (FORTE 2019), section 3.3, made exact where the paper leaves it open.
//! Two actions of one process are dependent. Actions of different processes are dependent only if listed here:
//!
//! | action | and | if |
//! |---|---|---|
//! | isend, irecv | the same | at the same mailbox; an isend and an irecv are independent |
//! | wait, test→true, any→j | isend, irecv | it is the partner that completed the communication |
//! | test→false, any→none | isend, irecv | it is the partner of a communication under test |
//! | send, receive at a p2p or bag mailbox | anything | never; it is a cause of matches |
//! | match, probe→s | send, receive, match | it is the send s, the own receive, or the match of a competitor |
//! | wait, test→true at such a mailbox | match | of its receive, or of its synchronous send |
//! | test→false, probe→none there | anything | never |
//! | async_lock, unlock | the same | of the same mutex; an async_lock and an unlock are independent |
//! | mutex_wait, mutex_test→true | unlock | it is the last one to release a request ahead in the queue |
//! | mutex_test→false | unlock | it makes the tester, who is in the queue, the owner |
//! | try_lock, async_lock, unlock of a mutex that is tried | the same | unless both are a try_lock→false |
//! | write request for a reader-writer lock | a request | of the same lock; two read requests are independent |
//! | wait for a reader-writer lock | unlock | by the writer before it; for a writer also by the readers since then |
//! | notification | a notification, an enrolment | at the same condition variable; two enrolments are independent |
//! | step that wakes | the same | of the same condition variable |
//! | wait at a condition variable | step that wakes | it woke the process |
//! | async_acquire, release | the same | of the same semaphore; one of each are independent |
//! | acquire_wait | release | it granted the request |
//! | barrier_wait | arrival | of the same round; two arrivals are independent |
//! | access to a cell | the same | at least one changes the cell |
//! | spawn, join | an event of the process | it is its child, or the process waited for |
//! | handler | an event of an actor | the handler started the actor |
//! | handler | handler | one took a message that the other had sent |
//! | local, choose | anything | never |
//!
//! - *Any-forms.* Which of several completed communications a `waitany` returns is a choice, part of the
//!   action. If it were "the first one paired", the order of two sends to two mailboxes would decide it,
//!   although they are independent.
//! - *Patterns.* A post is paired on arrival with the oldest unpaired opposite one that matches. That is
//!   the only stable matching of the order of sends with the order of receives: if s and r preferred each
//!   other to their partners, the later of the two would have taken the other on arrival. So sends and
//!   receives commute, and a pair once made is never revised.
//! - *Data.* The receiver learns a received value by a wait, a test or `value`, never by the pairing:
//!   otherwise a send would write another process's local state.
//! - *Writes.* A plain write is a change, whatever it writes; a failed `cas`, and a `swap` or `fetch_add`
//!   that leaves the content, are reads.
//!
//! The relation is conditional: whether a wait depends on a send is decided by which send its
//! communication is paired with. So it is stated on *footprints*: actions with those questions answered in
//! the execution at hand. It is stable: later actions of an execution never change an answer, because
//! the sends to a mailbox are totally ordered, and so are the receives, the requests for a mutex, ...

use smallvec::SmallVec;

use super::{
    BarrierId, CellId, CondvarId, End, Hold, MailboxId, MutexId, ProcessId, Register, RwLockId,
    SemaphoreId,
};

/// What an executed action touched. Positions are places in the logs of [`super::State`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Footprint {
    /// isend or irecv.
    Post {
        /// Where.
        mailbox: MailboxId,
        /// At which end.
        end: End,
        /// Its index among the posts at that end.
        position: u32,
        /// The opposite post that it was paired with on arrival.
        partner: Option<u32>,
    },
    /// wait, waitany→j, test→true, testany→j.
    Completed {
        /// Where.
        mailbox: MailboxId,
        /// The end at which the partner was posted.
        partner_end: End,
        /// The partner that completed the communication.
        partner: u32,
    },
    /// test→false, testany→none: the communications under test, by mailbox, own end and position.
    Incomplete(SmallVec<[(MailboxId, End, u32); 2]>),
    /// An action at a p2p or bag mailbox, or of the network. It depends on the actions at these places of the execution,
    /// and on no others before it.
    Network {
        /// Its own place in the execution.
        at: u32,
        /// Does it post, match or take something?
        changes: bool,
        /// The places of all its causes in other processes.
        causes: SmallVec<[u32; 4]>,
    },
    /// async_lock.
    Lock(MutexId),
    /// unlock.
    Unlock {
        /// The mutex.
        mutex: MutexId,
        /// Its index among the unlocks of it.
        position: u32,
        /// The request that owns the mutex because of this unlock, if it is in the queue already.
        new_owner: Option<u32>,
    },
    /// mutex_wait, mutex_test→true, and the any-forms.
    Owned {
        /// The mutex owned.
        mutex: MutexId,
        /// The last unlock among the requests ahead of the own one.
        by: Option<u32>,
    },
    /// mutex_test→false: the own requests under test.
    NotOwned(SmallVec<[(MutexId, u32); 2]>),
    /// A request for a mutex that is tried, or a try_lock→true.
    Enqueue(MutexId),
    /// try_lock→false.
    Held(MutexId),
    /// The request of a read_lock or write_lock.
    RwRequest {
        /// The lock.
        lock: RwLockId,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// The wait of a read_lock or write_lock.
    RwOwned {
        /// The lock.
        lock: RwLockId,
        /// The turn of the request.
        turn: u32,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// unlock of a reader-writer lock.
    RwUnlock {
        /// The lock.
        lock: RwLockId,
        /// The turn of the request.
        turn: u32,
        /// As a reader or a writer.
        hold: Hold,
    },
    /// The enrolment of a cond_wait.
    Enrol(CondvarId),
    /// The wait of a cond_wait.
    Woken {
        /// The condition variable.
        condvar: CondvarId,
        /// The notification that woke it.
        by: u32,
    },
    /// The notification of a notify_one or notify_all.
    Notify(CondvarId),
    /// The step of it that wakes.
    Wake {
        /// The condition variable.
        condvar: CondvarId,
        /// Its index among the notifications.
        position: u32,
    },
    /// async_acquire.
    Acquire(SemaphoreId),
    /// release.
    Release {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// Its index among the releases of it.
        position: u32,
    },
    /// acquire_wait.
    Granted {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// The release that granted the request.
        by: Option<u32>,
    },
    /// async_barrier.
    Arrive {
        /// The barrier.
        barrier: BarrierId,
        /// The round.
        round: u32,
    },
    /// barrier_wait.
    Pass {
        /// The barrier.
        barrier: BarrierId,
        /// The round.
        round: u32,
    },
    /// An access that left the cell as it was.
    Read(CellId),
    /// An access that changed the cell.
    Write(CellId),
    /// spawn.
    Spawn(ProcessId),
    /// join.
    Join(ProcessId),
    /// A handler of an actor.
    Handler {
        /// The index of the message taken among all messages sent; `None` for an internal handler.
        taken: Option<u32>,
        /// The messages sent: the number of the first one, and how many there are.
        sent: (u32, u32),
        /// The actors started.
        started: SmallVec<[ProcessId; 1]>,
        /// The actions of others that it depends on, by their positions in the execution: the one that sent
        /// the message; for the first handler of an actor, the one that started it.
        causes: SmallVec<[u32; 2]>,
    },
    /// local, choose.
    Nothing,
}

impl Footprint {
    /// Did the action leave every object as it was?
    pub fn is_observation(&self) -> bool {
        use Footprint::*;
        match self {
            Completed { .. } | Incomplete(_) | Owned { .. } | NotOwned(_) | Granted { .. } => true,
            Held(_) | RwOwned { .. } | Woken { .. } | Pass { .. } | Read(_) | Join(_) | Nothing => {
                true
            }
            Post { .. } | Lock(_) | Unlock { .. } | Enqueue(_) | Acquire(_) => false,
            RwRequest { .. } | RwUnlock { .. } | Release { .. } | Arrive { .. } => false,
            Enrol(_) | Notify(_) | Wake { .. } | Write(_) | Spawn(_) | Handler { .. } => false,
            Network { changes, .. } => !changes,
        }
    }

    /// Did the action make a new version of this?
    pub fn changes(&self, register: Register) -> bool {
        match (self, register) {
            (Footprint::Write(cell), Register::Cell(other)) => *cell == other,
            (
                Footprint::Enqueue(mutex) | Footprint::Unlock { mutex, .. },
                Register::Queue(other),
            ) => *mutex == other,
            _ => false,
        }
    }
}

/// A relation that says which actions commute.
///
/// # Contract
/// Symmetric; independent actions neither enable nor disable one another and lead to one state in either
/// order; the events of one process are always dependent. The exhaustive explorer checks the first of
/// these in debug builds.
pub trait Independence {
    /// Do these two actions of one execution depend on one another?
    fn dependent(&self, a: (ProcessId, &Footprint), b: (ProcessId, &Footprint)) -> bool;

    /// The positions of all earlier actions of others that the footprint depends on and that its process does not know
    /// of already; `None` if the footprint does not tell them, and they have to be searched for.
    fn causes<'f>(&self, footprint: &'f Footprint) -> Option<&'f [u32]> {
        let _ = footprint;
        None
    }

    /// The chain that an action with this footprint is in, if it is in one.
    fn chain(&self, footprint: &Footprint) -> Option<Chain> {
        let _ = footprint;
        None
    }

    /// Where the earlier actions of others are that an action with this footprint depends on and that its process does not know of
    /// already, besides the one that started the process.
    fn lookup(&self, footprint: &Footprint) -> Lookup {
        let _ = footprint;
        Lookup::Everywhere
    }
}

/// Actions on one object, in the order of the execution. Each depends on all that are before it; only reads do not depend on one
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// The posts at one end of a mailbox.
    Posts(MailboxId, End),
    /// The requests for a mutex.
    Requests(MutexId),
    /// The unlocks of a mutex; if it is tried, the requests, too.
    Unlocks(MutexId),
    /// The requests for a semaphore.
    Acquires(SemaphoreId),
    /// The releases of a semaphore.
    Releases(SemaphoreId),
    /// The accesses to a cell.
    Accesses(CellId),
}

impl Chain {
    /// A number that no other chain has; about as large as there are chains.
    pub fn index(self) -> usize {
        const KINDS: usize = 7;
        let (kind, object) = match self {
            Chain::Posts(mailbox, End::Send) => (0, mailbox.index()),
            Chain::Posts(mailbox, End::Receive) => (1, mailbox.index()),
            Chain::Requests(mutex) => (2, mutex.index()),
            Chain::Unlocks(mutex) => (3, mutex.index()),
            Chain::Acquires(semaphore) => (4, semaphore.index()),
            Chain::Releases(semaphore) => (5, semaphore.index()),
            Chain::Accesses(cell) => (6, cell.index()),
        };
        KINDS * object + kind
    }
}

/// Where earlier actions are that an action depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Anywhere.
    Everywhere,
    /// There are none.
    Nowhere,
    /// The newest of this chain.
    Newest(Chain),
    /// The newest of this chain; and perhaps failed tests, which may be anywhere.
    NewestAndTests(Chain),
    /// The one at this position of the chain.
    At(Chain, u32),
    /// The last write among the accesses to the cell.
    LastWrite(CellId),
    /// The last write among them, and the reads since then.
    Since(CellId),
    /// The last one of this process.
    LastOf(ProcessId),
}

/// The relation of Pham, Jéron and Quinson (FORTE 2019), section 3.3, made exact: see the table in the source
/// of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaperRelation;

impl Independence for PaperRelation {
    fn dependent(&self, (p, a): (ProcessId, &Footprint), (q, b): (ProcessId, &Footprint)) -> bool {
        p == q || depends(a, q, b) || depends(b, p, a)
    }

    fn causes<'f>(&self, footprint: &'f Footprint) -> Option<&'f [u32]> {
        match footprint {
            Footprint::Handler { causes, .. } => Some(causes),
            Footprint::Network { causes, .. } => Some(causes),
            _ => None,
        }
    }

    #[inline]
    fn chain(&self, footprint: &Footprint) -> Option<Chain> {
        match *footprint {
            Footprint::Post { mailbox, end, .. } => Some(Chain::Posts(mailbox, end)),
            Footprint::Lock(mutex) => Some(Chain::Requests(mutex)),
            Footprint::Unlock { mutex, .. } | Footprint::Enqueue(mutex) => {
                Some(Chain::Unlocks(mutex))
            }
            Footprint::Acquire(semaphore) => Some(Chain::Acquires(semaphore)),
            Footprint::Release { semaphore, .. } => Some(Chain::Releases(semaphore)),
            Footprint::Read(cell) | Footprint::Write(cell) => Some(Chain::Accesses(cell)),
            _ => None,
        }
    }

    #[inline]
    fn lookup(&self, footprint: &Footprint) -> Lookup {
        use Footprint::*;
        match *footprint {
            Post { mailbox, end, partner: None, .. } => Lookup::Newest(Chain::Posts(mailbox, end)),
            Post { mailbox, end, .. } => Lookup::NewestAndTests(Chain::Posts(mailbox, end)),
            Completed { mailbox, partner_end, partner } => {
                Lookup::At(Chain::Posts(mailbox, partner_end), partner)
            }
            Lock(mutex) => Lookup::Newest(Chain::Requests(mutex)),
            Unlock { mutex, .. } | Enqueue(mutex) => Lookup::NewestAndTests(Chain::Unlocks(mutex)),
            Held(mutex) => Lookup::Newest(Chain::Unlocks(mutex)),
            Owned { mutex, by } => {
                by.map_or(Lookup::Nowhere, |by| Lookup::At(Chain::Unlocks(mutex), by))
            }
            Acquire(semaphore) => Lookup::Newest(Chain::Acquires(semaphore)),
            Release { semaphore, .. } => Lookup::Newest(Chain::Releases(semaphore)),
            Granted { semaphore, by } => {
                by.map_or(Lookup::Nowhere, |by| Lookup::At(Chain::Releases(semaphore), by))
            }
            Read(cell) => Lookup::LastWrite(cell),
            Write(cell) => Lookup::Since(cell),
            // What would complete a request under test comes later.
            Incomplete(_) | NotOwned(_) | Nothing => Lookup::Nowhere,
            Network { .. } | Handler { .. } => Lookup::Everywhere,
            RwRequest { .. } | RwOwned { .. } | RwUnlock { .. } => Lookup::Everywhere,
            Enrol(_) | Woken { .. } | Notify(_) | Wake { .. } => Lookup::Everywhere,
            Join(target) => Lookup::LastOf(target),
            Arrive { .. } | Pass { .. } | Spawn(_) => Lookup::Everywhere,
        }
    }
}

/// One half of the table; q is the process of b. The other half is its mirror image.
fn depends(a: &Footprint, q: ProcessId, b: &Footprint) -> bool {
    use Footprint::*;
    match (a, b) {
        (Post { mailbox, end, .. }, Post { mailbox: other, end: other_end, .. }) => {
            mailbox == other && end == other_end
        }
        (
            Post { mailbox, end, position, .. },
            Completed { mailbox: other, partner_end, partner },
        ) => mailbox == other && end == partner_end && position == partner,
        (Post { mailbox, end, partner: Some(partner), .. }, Incomplete(tested)) => {
            tested.contains(&(*mailbox, end.opposite(), *partner))
        }
        (Network { at, .. }, Network { causes, .. }) => causes.contains(at),
        (Lock(mutex), Lock(other)) => mutex == other,
        (Unlock { mutex, .. }, Unlock { mutex: other, .. }) => mutex == other,
        (Unlock { mutex, position, .. }, Owned { mutex: other, by }) => {
            mutex == other && Some(*position) == *by
        }
        (Unlock { mutex, new_owner: Some(owner), .. }, NotOwned(tested)) => {
            tested.contains(&(*mutex, *owner))
        }
        (Enqueue(mutex), Enqueue(other) | Held(other)) => mutex == other,
        (Unlock { mutex, .. }, Enqueue(other) | Held(other)) => mutex == other,
        (RwRequest { lock, hold: Hold::Exclusive }, RwRequest { lock: other, .. }) => lock == other,
        (
            RwUnlock { lock, turn, hold: Hold::Exclusive },
            RwOwned { lock: other, turn: other_turn, .. },
        ) => lock == other && turn + 1 == *other_turn,
        (
            RwUnlock { lock, turn, hold: Hold::Shared },
            RwOwned { lock: other, turn: other_turn, hold: Hold::Exclusive },
        ) => lock == other && turn == other_turn,
        (Notify(condvar), Notify(other) | Enrol(other)) => condvar == other,
        (Wake { condvar, .. }, Wake { condvar: other, .. }) => condvar == other,
        (Wake { condvar, position }, Woken { condvar: other, by }) => {
            condvar == other && position == by
        }
        (Acquire(semaphore), Acquire(other)) => semaphore == other,
        (Release { semaphore, .. }, Release { semaphore: other, .. }) => semaphore == other,
        (Release { semaphore, position }, Granted { semaphore: other, by }) => {
            semaphore == other && Some(*position) == *by
        }
        (Arrive { barrier, round }, Pass { barrier: other, round: other_round }) => {
            barrier == other && round == other_round
        }
        (Write(cell), Read(other) | Write(other)) => cell == other,
        (Spawn(child), _) => *child == q,
        (Handler { started, .. }, _) if started.contains(&q) => true,
        (Handler { sent: (first, count), .. }, Handler { taken: Some(taken), .. }) => {
            (*first..first + count).contains(taken)
        }
        // Only the last event of the process waited for can be next to the join, and it enables it.
        (Join(target), _) => *target == q,
        (Post { .. } | Completed { .. } | Incomplete(_) | Lock(_) | Unlock { .. }, _) => false,
        (Enrol(_) | Woken { .. } | Notify(_) | Wake { .. }, _) => false,
        (Enqueue(_) | Held(_) | RwRequest { .. } | RwOwned { .. } | RwUnlock { .. }, _) => false,
        (Network { .. }, _) => false,
        (Owned { .. } | NotOwned(_) | Acquire(_) | Release { .. } | Granted { .. }, _) => false,
        (Arrive { .. } | Pass { .. } | Read(_) | Write(_) | Handler { .. } | Nothing, _) => false,
    }
}
