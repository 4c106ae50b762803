//! The lanes of a system: the events of a lane are totally ordered along one execution.
//!
//! One lane per process, and per object that was met ([`Met`]) one for each kind of change that does not commute with
//! itself: the sends and the receives of a mailbox, the requests and the releases of a mutex or a semaphore, the
//! write requests for a reader-writer lock, the notifications at a condition variable, the writes of a cell. If a mutex is tried, its requests are among the releases: then these are all changes of its queue. Chains come first, so spawning processes only appends. Some numbers behind the chains are kept
//! free for further ones. When they are used up, their number grows by half, and the lanes of processes move: see
//! [`Lanes::meet`].
//!
//! ```text
//!  chains in use, as objects were met        free        processes
//!  sends m, receives m, writes x, ..     │  ..        │  P0, P1, ..
//! ```

use crate::model::{
    CellId, CondvarId, Delivery, End, MailboxId, Met, MutexId, Object, ProcessId, RwLockId,
    SemaphoreId,
};

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

    /// The one after it.
    fn next(self) -> Lane {
        Lane(self.0 + 1)
    }
}

/// How lanes are numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Per mailbox its sends; the receives come next, and sends are even.
    sends: Vec<Lane>,
    /// Per mutex its requests; the releases come next.
    locks: Vec<Lane>,
    /// Per reader-writer lock.
    write_requests: Vec<Lane>,
    /// Per condition variable.
    notifications: Vec<Lane>,
    /// As for mutexes, per semaphore.
    acquires: Vec<Lane>,
    /// Per cell.
    writes: Vec<Lane>,
    /// Per chain: is it an end of a mailbox?
    is_posts: Vec<bool>,
    /// How many objects have their lanes.
    known: usize,
    /// The first lane of a process.
    processes: u32,
}

impl Lanes {
    /// The lanes of the objects that were met at once.
    pub fn new(met: &Met) -> Self {
        let mut lanes = Lanes::default();
        lanes.take_in(met);
        lanes.processes = lanes.is_posts.len() as u32;
        lanes
    }

    /// Were objects met that have no lanes yet?
    pub fn are_behind(&self, met: &Met) -> bool {
        self.known < met.order().len()
    }

    /// Gives lanes to the objects met since. The chains keep their numbers, but the lanes of processes begin further
    /// up if there were not enough free numbers.
    pub fn meet(&mut self, met: &Met) {
        self.take_in(met);
        let chains = self.is_posts.len() as u32;
        if chains > self.processes {
            self.processes = chains.max(self.processes + self.processes / 2);
        }
    }

    fn take_in(&mut self, met: &Met) {
        for &object in &met.order()[self.known..] {
            match object {
                // At others posts commute.
                Object::Mailbox(id) if met.mailboxes.start(id.0) != Delivery::Ordered => {
                    self.sends.push(Lane::NONE);
                }
                Object::Mailbox(_) => {
                    let sends = self.pair(true);
                    self.sends.push(sends);
                }
                Object::Mutex(_) => {
                    let locks = self.pair(false);
                    self.locks.push(locks);
                }
                Object::Semaphore(_) => {
                    let acquires = self.pair(false);
                    self.acquires.push(acquires);
                }
                Object::RwLock(_) => {
                    let requests = self.single();
                    self.write_requests.push(requests);
                }
                Object::Condvar(_) => {
                    let notifications = self.single();
                    self.notifications.push(notifications);
                }
                Object::Cell(_) => {
                    let writes = self.single();
                    self.writes.push(writes);
                }
                // Arrivals and entries commute.
                Object::Barrier(_) | Object::Collective(_) => {}
            }
        }
        self.known = met.order().len();
    }

    /// The first of two new chains; it is even.
    fn pair(&mut self, is_posts: bool) -> Lane {
        let first = self.is_posts.len().next_multiple_of(2);
        self.is_posts.resize(first, false);
        self.is_posts.resize(first + 2, is_posts);
        Lane(first as u32)
    }

    /// A new chain.
    fn single(&mut self) -> Lane {
        self.is_posts.push(false);
        Lane(self.is_posts.len() as u32 - 1)
    }

    /// How many lanes are for chains; the others belong to processes.
    pub fn chains(&self) -> usize {
        self.processes as usize
    }

    /// Sends or receives of a mailbox.
    pub fn posts(&self, mailbox: MailboxId, end: End) -> Lane {
        Lane(self.sends[mailbox.index()].0 + u32::from(end == End::Receive))
    }

    /// The other end of the mailbox that `posts` belongs to.
    pub fn opposite(&self, posts: Lane) -> Lane {
        debug_assert!(self.is_posts(posts), "{posts:?} is no end of a mailbox");
        Lane(posts.0 ^ 1)
    }

    /// Is this an end of a mailbox?
    pub fn is_posts(&self, lane: Lane) -> bool {
        self.is_posts.get(lane.index()) == Some(&true)
    }

    /// Is this the receiving end of a mailbox?
    pub fn is_receives(&self, lane: Lane) -> bool {
        self.is_posts(lane) && lane.0 & 1 == 1
    }

    /// Requests for a mutex.
    pub fn locks(&self, mutex: MutexId) -> Lane {
        self.locks[mutex.index()]
    }

    /// Releases of a mutex; of one that is tried, all changes of its queue.
    pub fn unlocks(&self, mutex: MutexId) -> Lane {
        self.locks(mutex).next()
    }

    /// Write requests for a reader-writer lock.
    pub fn write_requests(&self, lock: RwLockId) -> Lane {
        self.write_requests[lock.index()]
    }

    /// Notifications at a condition variable.
    pub fn notifications(&self, condvar: CondvarId) -> Lane {
        self.notifications[condvar.index()]
    }

    /// Requests for a semaphore.
    pub fn acquires(&self, semaphore: SemaphoreId) -> Lane {
        self.acquires[semaphore.index()]
    }

    /// Releases of a semaphore.
    pub fn releases(&self, semaphore: SemaphoreId) -> Lane {
        self.acquires(semaphore).next()
    }

    /// Changes of a cell.
    pub fn writes(&self, cell: CellId) -> Lane {
        self.writes[cell.index()]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Access, Asking, Objects, Op, Value, Values};

    #[test]
    fn chains_stay_and_processes_move_up() {
        let mut objects = Objects::default();
        objects.mailboxes.push_array("m", 2, Default::default());
        objects.mutexes.push_array("l", 1_000, Asking::Queues);
        objects.cells.push_array("x", 1_000, Value::Int(0));
        let mut values = Values::default();
        let mut met = Met::new(&objects, &mut values);
        let mut lanes = Lanes::new(&met);
        let receives = lanes.posts(MailboxId(1), End::Receive);
        assert_eq!((receives, lanes.opposite(receives)), (Lane(3), Lane(2)));
        assert_eq!(lanes.process(ProcessId(1)), Lane(5));
        met.renamed(Op::Access(CellId(500), Access::Read), &objects, &mut values);
        assert!(lanes.are_behind(&met));
        lanes.meet(&met);
        assert!(!lanes.are_behind(&met));
        assert_eq!((lanes.writes(CellId(0)), lanes.chains()), (Lane(4), 6));
        met.renamed(Op::AsyncLock(MutexId(999)), &objects, &mut values);
        lanes.meet(&met);
        let (locks, unlocks) = (lanes.locks(MutexId(0)), lanes.unlocks(MutexId(0)));
        assert_eq!((locks, unlocks), (Lane(6), Lane(7)), "they begin at an even one");
        assert_eq!(lanes.chains(), 9);
        assert!(lanes.is_receives(receives) && !lanes.is_posts(unlocks));
        assert!(lanes.is_process(lanes.process(ProcessId(0))) && !lanes.is_process(unlocks));
    }
}
