//! The lanes of a system: what orders events totally along one execution.
//!
//! One lane per process, and per object one for each kind of change that does not commute with itself:
//! the sends and the receives of a mailbox, the requests and the releases of a mutex or a semaphore, the
//! writes of a cell. Chains come first, so spawning processes only appends.

use crate::model::{CellId, End, MailboxId, MutexId, Objects, ProcessId, SemaphoreId};

/// A lane, by its place in a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(pub u32);

impl Lane {
    /// No lane.
    pub const NONE: Lane = Lane(u32::MAX);

    /// The position in a cut.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How lanes are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    mutexes: u32,
    semaphores: u32,
    cells: u32,
    processes: u32,
}

impl Lanes {
    /// The lanes of a system with these objects.
    pub fn new(objects: &Objects) -> Self {
        let mutexes = 2 * objects.mailboxes.len() as u32;
        let semaphores = mutexes + 2 * objects.mutexes.len() as u32;
        let cells = semaphores + 2 * objects.semaphores.len() as u32;
        let processes = cells + objects.cells.len() as u32;
        Lanes { mutexes, semaphores, cells, processes }
    }

    /// How many lanes are chains; the others belong to processes.
    pub fn chains(&self) -> usize {
        self.processes as usize
    }

    /// Sends or receives of a mailbox.
    pub fn posts(&self, mailbox: MailboxId, end: End) -> Lane {
        Lane(2 * mailbox.0 + u32::from(end == End::Receive))
    }

    /// The other end of the mailbox that `posts` belongs to.
    pub fn opposite(&self, posts: Lane) -> Lane {
        debug_assert!(posts.0 < self.mutexes, "{posts:?} is no end of a mailbox");
        Lane(posts.0 ^ 1)
    }

    /// Is this an end of a mailbox?
    pub fn is_posts(&self, lane: Lane) -> bool {
        lane.0 < self.mutexes
    }

    /// Is this the receiving end of a mailbox?
    pub fn is_receives(&self, lane: Lane) -> bool {
        self.is_posts(lane) && lane.0 & 1 == 1
    }

    /// Requests for a mutex.
    pub fn locks(&self, mutex: MutexId) -> Lane {
        Lane(self.mutexes + 2 * mutex.0)
    }

    /// Releases of a mutex.
    pub fn unlocks(&self, mutex: MutexId) -> Lane {
        Lane(self.mutexes + 2 * mutex.0 + 1)
    }

    /// Requests for a semaphore.
    pub fn acquires(&self, semaphore: SemaphoreId) -> Lane {
        Lane(self.semaphores + 2 * semaphore.0)
    }

    /// Releases of a semaphore.
    pub fn releases(&self, semaphore: SemaphoreId) -> Lane {
        Lane(self.semaphores + 2 * semaphore.0 + 1)
    }

    /// Changes of a cell.
    pub fn writes(&self, cell: CellId) -> Lane {
        Lane(self.cells + cell.0)
    }

    /// The events of a process.
    pub fn process(&self, process: ProcessId) -> Lane {
        Lane(self.processes + process.0)
    }

    /// Is this the lane of a process?
    pub fn is_process(&self, lane: Lane) -> bool {
        lane.0 >= self.processes
    }
}
