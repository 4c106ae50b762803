//! Which actions depend on one another: the table of `theory.md`, section 2.
//!
//! The relation is conditional: whether a wait depends on a send is a question of which send its
//! communication is paired with. So it is stated on *footprints*, actions with those questions answered in
//! the execution at hand. It is stable: along one execution later actions never change an answer, because
//! the sends to a mailbox are totally ordered, and so are the receives, the requests for a mutex, ...

use smallvec::SmallVec;

use super::{BarrierId, CellId, End, MailboxId, MutexId, ProcessId, SemaphoreId};

/// What an executed action touched. Positions are places in the logs of [`super::State`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Footprint {
    /// isend or irecv.
    Post {
        /// Where.
        mailbox: MailboxId,
        /// At which end.
        end: End,
        /// As the how-manieth post at that end.
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
    /// async_lock.
    Lock(MutexId),
    /// unlock.
    Unlock {
        /// The mutex.
        mutex: MutexId,
        /// As the how-manieth unlock of it.
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
    /// async_acquire.
    Acquire(SemaphoreId),
    /// release.
    Release {
        /// The semaphore.
        semaphore: SemaphoreId,
        /// As the how-manieth release of it.
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
    /// local, choose.
    Nothing,
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
}

/// The relation of `theory.md`, section 2, after paper 002, section 3.3.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaperRelation;

impl Independence for PaperRelation {
    fn dependent(&self, (p, a): (ProcessId, &Footprint), (q, b): (ProcessId, &Footprint)) -> bool {
        p == q || depends(p, a, q, b) || depends(q, b, p, a)
    }
}

/// One half of the table; the other is its mirror image.
fn depends(p: ProcessId, a: &Footprint, q: ProcessId, b: &Footprint) -> bool {
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
        (Lock(mutex), Lock(other)) => mutex == other,
        (Unlock { mutex, .. }, Unlock { mutex: other, .. }) => mutex == other,
        (Unlock { mutex, position, .. }, Owned { mutex: other, by }) => {
            mutex == other && Some(*position) == *by
        }
        (Unlock { mutex, new_owner: Some(owner), .. }, NotOwned(tested)) => {
            tested.contains(&(*mutex, *owner))
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
        // Only the last event of the process waited for can be next to the join, and it enables it.
        (Join(target), _) => *target == q,
        (Post { .. } | Completed { .. } | Incomplete(_) | Lock(_) | Unlock { .. }, _) => false,
        (Owned { .. } | NotOwned(_) | Acquire(_) | Release { .. } | Granted { .. }, _) => false,
        (Arrive { .. } | Pass { .. } | Read(_) | Write(_) | Nothing, _) => {
            let _ = p;
            false
        }
    }
}
