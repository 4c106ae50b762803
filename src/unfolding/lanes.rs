//! The lanes of a system as the unfolding numbers them: the events of a lane are totally ordered
//! along one execution.
//!
//! There is one lane per process, and one for each *ordered* lane ([`Part::is_ordered`]) of each
//! object in use ([`ObjectTable`]): its *chain*. The other lanes of an object have no chain,
//! because what is added to them commutes, or has an order that follows from what was waited for.
//! They are numbered separately, as *gatherings*. Chains come first, so spawning processes only
//! appends. Some numbers behind the chains are kept free for further chains. When they are used up,
//! their number grows by half, and the lanes of processes move: see [`Lanes::meet`].
//!
//! ```text
//!  chains in use, as objects came up        free        processes
//!  sends m, receives m, writes x, ..     │  ..        │  P0, P1, ..
//! ```
//!
//! [`Part::is_ordered`]: crate::model::Part::is_ordered

use crate::model::{Lane as ObjectLane, ObjectTable, Part, ProcessId};

/// A lane, by its position in a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(pub(crate) u32);

impl Lane {
    /// No lane.
    pub(crate) const NONE: Lane = Lane(u32::MAX);

    /// The position in a cut.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The numbers of lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// Per lane of an object, by [`ObjectLane::index`], the number of its chain or of its
    /// gathering.
    numbers: Vec<u32>,
    /// Per chain, its lane.
    chains: Vec<ObjectLane>,
    /// Number of gatherings.
    gatherings: u32,
    /// Number of objects that have lanes.
    known: usize,
    /// The first lane of a process.
    processes: u32,
}

impl Lanes {
    /// The lanes of the objects that are in the table from the start.
    pub(crate) fn new(table: &ObjectTable) -> Self {
        let mut lanes = Lanes::default();
        lanes.take_in(table);
        lanes.processes = lanes.chains.len() as u32;
        lanes
    }

    /// Are there objects in the table that have no lanes yet?
    pub(crate) fn are_behind(&self, table: &ObjectTable) -> bool {
        self.known < table.order().len()
    }

    /// Gives lanes to new objects of the table. The chains keep their numbers, but the lanes of
    /// processes move up if there are not enough free numbers.
    pub(crate) fn meet(&mut self, table: &ObjectTable) {
        self.take_in(table);
        let chains = self.chains.len() as u32;
        if chains > self.processes {
            self.processes = chains.max(self.processes + self.processes / 2);
        }
    }

    fn take_in(&mut self, table: &ObjectTable) {
        for object in &table.order()[self.known..] {
            for lane in object.lanes(table) {
                let next = if lane.part().is_ordered() {
                    self.chains.push(lane);
                    self.chains.len() as u32
                } else {
                    self.gatherings += 1;
                    self.gatherings
                };
                if self.numbers.len() <= lane.index() {
                    self.numbers.resize(lane.index() + 1, u32::MAX);
                }
                self.numbers[lane.index()] = next - 1;
            }
        }
        self.known = table.order().len();
    }

    /// The number of lanes for chains, used or free. The lanes behind them belong to processes.
    pub(crate) fn chains(&self) -> usize {
        self.processes as usize
    }

    /// The number of gatherings.
    pub(super) fn gatherings(&self) -> usize {
        self.gatherings as usize
    }

    /// The chain of an ordered lane.
    #[inline]
    pub(crate) fn chain(&self, lane: ObjectLane) -> Lane {
        debug_assert!(lane.part().is_ordered(), "{lane:?} has no chain");
        Lane(self.numbers[lane.index()])
    }

    /// The gathering of a lane that is not ordered.
    #[inline]
    pub(super) fn gathering(&self, lane: ObjectLane) -> usize {
        debug_assert!(!lane.part().is_ordered(), "{lane:?} is a chain");
        self.numbers[lane.index()] as usize
    }

    /// The lane of an object that has this chain.
    #[inline]
    pub(crate) fn of_chain(&self, chain: Lane) -> ObjectLane {
        self.chains[chain.index()]
    }

    /// The chain of another part of the same object.
    pub(super) fn beside(&self, chain: Lane, part: Part) -> Lane {
        self.chain(ObjectLane::new(part, self.of_chain(chain).object()))
    }

    /// The lane of a process.
    #[inline]
    pub(crate) fn process(&self, process: ProcessId) -> Lane {
        Lane(self.processes + process.0)
    }

    /// Is this the lane of a process?
    pub(crate) fn is_process(&self, lane: Lane) -> bool {
        lane.0 >= self.processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Access, Asking, BarrierId, CellId, End, MailboxId, MutexId, Objects, Op, Value, Values,
    };

    #[test]
    fn chains_stay_and_processes_move_up() {
        let mut objects = Objects::default();
        objects.mailboxes.push_array("m", 2, Default::default());
        objects.mutexes.push_array("l", 1_000, Asking::Queues);
        objects.cells.push_array("x", 1_000, Value::Int(0));
        objects.barriers.push_array("b", 2, 1);
        let mut values = Values::default();
        let mut table = ObjectTable::new(&objects, &mut values);
        let mut lanes = Lanes::new(&table);
        let receives = lanes.chain(MailboxId(1).posts(End::Receive));
        assert_eq!((receives, lanes.beside(receives, Part::Sends)), (Lane(3), Lane(2)));
        assert_eq!(lanes.gathering(BarrierId(1).lane()), 1);
        assert_eq!(lanes.process(ProcessId(1)), Lane(5));
        table.renamed(Op::Access(CellId(500), Access::Read), &objects, &mut values);
        assert!(lanes.are_behind(&table));
        lanes.meet(&table);
        assert!(!lanes.are_behind(&table));
        assert_eq!((lanes.chain(CellId(0).lane()), lanes.chains()), (Lane(4), 6));
        table.renamed(Op::AsyncLock(MutexId(999)), &objects, &mut values);
        lanes.meet(&table);
        let mutex = MutexId(0);
        let (requests, unlocks) = (lanes.chain(mutex.requests()), lanes.chain(mutex.queue()));
        assert_eq!((requests, unlocks, lanes.chains()), (Lane(5), Lane(6), 9));
        assert_eq!(lanes.of_chain(unlocks), mutex.queue());
        assert!(lanes.is_process(lanes.process(ProcessId(0))) && !lanes.is_process(unlocks));
    }
}
