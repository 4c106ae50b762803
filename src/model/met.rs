//! Objects, named as a search meets them.
//!
//! A program may declare a million mutexes and use two. So an object has two numbers: that of its *declaration*, its place
//! in [`Objects`], and the one under which a search has *met* it. [`System`](super::System)s speak of declared
//! objects, in what [`next`](super::System::next) returns and in what the others are asked. Everything else (operations in
//! [`Locals`](super::Locals), states, effects, the chains of an unfolding) speaks of met objects. These are few and
//! numbered without gaps, so the memory kept for them grows only with the objects in use. [`Locals`](super::Locals) is
//! the only place that translates: it meets an object when it first learns of an operation on it.
//!
//! If there are few objects of a kind, all of them are met at once, in order of declaration. Then the two numbers are
//! the same.

use rustc_hash::FxHashMap;

use super::{
    Asking, BarrierId, CellId, CollectiveId, CondvarId, Delivery, Lane, MailboxId, MutexId,
    Objects, Op, Part, RwLockId, SemaphoreId, Touch, ValueId, Values,
};

/// Up to this many objects of a kind are met at once.
const FEW: usize = 64;

/// An object that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A mailbox.
    Mailbox(MailboxId),
    /// A mutex.
    Mutex(MutexId),
    /// A reader-writer lock.
    RwLock(RwLockId),
    /// A condition variable.
    Condvar(CondvarId),
    /// A semaphore.
    Semaphore(SemaphoreId),
    /// A barrier.
    Barrier(BarrierId),
    /// A collective.
    Collective(CollectiveId),
    /// A shared cell.
    Cell(CellId),
}

/// The objects of one kind that were met; each starts with a `T`.
#[derive(Debug)]
pub struct Roster<T> {
    /// Per met number: the declared number, and what the object starts with.
    declared: Vec<u32>,
    starts: Vec<T>,
    met: FxHashMap<u32, u32>,
}

impl<T> Default for Roster<T> {
    fn default() -> Self {
        Roster { declared: Vec::new(), starts: Vec::new(), met: FxHashMap::default() }
    }
}

impl<T: Copy> Roster<T> {
    /// How many were met.
    pub fn len(&self) -> usize {
        self.declared.len()
    }

    /// Was no object met?
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    /// The place of a met object in the declarations.
    pub fn declared(&self, met: u32) -> u32 {
        self.declared[met as usize]
    }

    /// The number under which a declared object was met, if it was met.
    pub fn met(&self, declared: u32) -> Option<u32> {
        self.met.get(&declared).copied()
    }

    /// What a met object starts with.
    pub fn start(&self, met: u32) -> T {
        self.starts[met as usize]
    }

    /// Those met, in order of declaration.
    pub fn in_order(&self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.len() as u32).collect();
        all.sort_unstable_by_key(|&met| self.declared(met));
        all
    }

    /// The number under which `declared` is met from now on, and whether that is new.
    fn meet(&mut self, declared: u32, start: impl FnOnce() -> T) -> (u32, bool) {
        let next = self.len() as u32;
        let met = *self.met.entry(declared).or_insert(next);
        if met == next {
            self.declared.push(declared);
            self.starts.push(start());
        }
        (met, met == next)
    }
}

/// All objects that were met.
#[derive(Debug, Default)]
pub struct Met {
    /// Mailboxes with the order of their messages.
    pub mailboxes: Roster<Delivery>,
    /// Mutexes, and how each is asked for.
    pub mutexes: Roster<Asking>,
    /// Reader-writer locks.
    pub rwlocks: Roster<()>,
    /// Condition variables.
    pub condvars: Roster<()>,
    /// Semaphores with their initial number of units.
    pub semaphores: Roster<u32>,
    /// Barriers with their number of participants.
    pub barriers: Roster<u32>,
    /// Collectives with their number of ranks.
    pub collectives: Roster<u32>,
    /// Cells with their initial content.
    pub cells: Roster<ValueId>,
    order: Vec<Object>,
    may_grow: bool,
}

impl Met {
    /// The objects that are met at once.
    pub(crate) fn new(objects: &Objects, values: &mut Values) -> Met {
        let mut all = Met::default();
        let few = |count: usize| 0..if count <= FEW { count as u32 } else { 0 };
        few(objects.mailboxes.len()).for_each(|id| _ = all.mailbox(MailboxId(id), objects));
        few(objects.mutexes.len()).for_each(|id| _ = all.mutex(MutexId(id), objects));
        few(objects.rwlocks.len()).for_each(|id| _ = all.rwlock(RwLockId(id)));
        few(objects.condvars.len()).for_each(|id| _ = all.condvar(CondvarId(id)));
        few(objects.semaphores.len()).for_each(|id| _ = all.semaphore(SemaphoreId(id), objects));
        few(objects.cells.len()).for_each(|id| _ = all.cell(CellId(id), objects, values));
        few(objects.barriers.len()).for_each(|id| _ = all.barrier(BarrierId(id), objects));
        few(objects.collectives.len()).for_each(|id| _ = all.collective(CollectiveId(id), objects));
        all.may_grow = all.order.len() < objects.len();
        all
    }

    /// All of them, in the order in which they were met.
    pub fn order(&self) -> &[Object] {
        &self.order
    }

    /// Were there too many to meet all of them at once?
    pub fn may_grow(&self) -> bool {
        self.may_grow
    }

    /// The operation on declared objects as one on met objects.
    pub(crate) fn renamed(&mut self, mut op: Op, objects: &Objects, values: &mut Values) -> Op {
        match &mut op {
            Op::Isend { mailbox, .. }
            | Op::Irecv { mailbox, .. }
            | Op::Send { mailbox, .. }
            | Op::Receive { mailbox, .. }
            | Op::Probe { mailbox, .. } => *mailbox = self.mailbox(*mailbox, objects),
            Op::AsyncLock(mutex) | Op::TryLock(mutex) => *mutex = self.mutex(*mutex, objects),
            Op::Unlock(request) => request.mutex = self.mutex(request.mutex, objects),
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                for request in requests {
                    request.mutex = self.mutex(request.mutex, objects);
                }
            }
            Op::RwRequest { lock, .. } | Op::RwWait { lock, .. } | Op::RwUnlock { lock, .. } => {
                *lock = self.rwlock(*lock);
            }
            Op::Enrol(condvar)
            | Op::AwaitWake { condvar, .. }
            | Op::Notify { condvar, .. }
            | Op::Wake { condvar, .. } => *condvar = self.condvar(*condvar),
            Op::AsyncAcquire(semaphore)
            | Op::AcquireWait { semaphore, .. }
            | Op::Release(semaphore) => *semaphore = self.semaphore(*semaphore, objects),
            Op::Arrive { barrier, .. } | Op::BarrierWait { barrier, .. } => {
                *barrier = self.barrier(*barrier, objects);
            }
            Op::Enter { collective, .. } => *collective = self.collective(*collective, objects),
            Op::Access(cell, _) => *cell = self.cell(*cell, objects, values),
            Op::Cancel(_)
            | Op::CancelOutcome(_)
            | Op::Deliver
            | Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_)
            | Op::Handle { .. } => {}
        }
        op
    }

    /// The touch of a met object as one of a declared object.
    pub(super) fn declared(&self, Touch { lane, may }: Touch) -> Touch {
        let met = lane.object();
        let number = match lane.part() {
            Part::Process | Part::Inbox | Part::Network => met,
            Part::Sends | Part::Receives | Part::Messages | Part::Matches => {
                self.mailboxes.declared(met)
            }
            Part::Ends => self.collectives.declared(met),
            Part::Requests | Part::Queue => self.mutexes.declared(met),
            Part::Turns | Part::Leaves => self.rwlocks.declared(met),
            Part::Notes | Part::Wakes => self.condvars.declared(met),
            Part::Acquires | Part::Releases => self.semaphores.declared(met),
            Part::Arrivals => self.barriers.declared(met),
            Part::Contents => self.cells.declared(met),
        };
        Touch { lane: Lane::new(lane.part(), number), may }
    }

    /// The name of a met object, as the author of the program would say it.
    pub(super) fn name(&self, object: Object, objects: &Objects) -> String {
        match object {
            Object::Mailbox(id) => objects.mailboxes.name(self.mailboxes.declared(id.0)),
            Object::Mutex(id) => objects.mutexes.name(self.mutexes.declared(id.0)),
            Object::RwLock(id) => objects.rwlocks.name(self.rwlocks.declared(id.0)),
            Object::Condvar(id) => objects.condvars.name(self.condvars.declared(id.0)),
            Object::Semaphore(id) => objects.semaphores.name(self.semaphores.declared(id.0)),
            Object::Barrier(id) => objects.barriers.name(self.barriers.declared(id.0)),
            Object::Collective(id) => objects.collectives.name(self.collectives.declared(id.0)),
            Object::Cell(id) => objects.cells.name(self.cells.declared(id.0)),
        }
    }

    fn mailbox(&mut self, declared: MailboxId, objects: &Objects) -> MailboxId {
        let delivery = || *objects.mailboxes.start(declared.0);
        let (id, is_new) = self.mailboxes.meet(declared.0, delivery);
        self.enter(MailboxId(id), is_new)
    }

    fn mutex(&mut self, declared: MutexId, objects: &Objects) -> MutexId {
        let asking = || *objects.mutexes.start(declared.0);
        let (id, is_new) = self.mutexes.meet(declared.0, asking);
        self.enter(MutexId(id), is_new)
    }

    fn rwlock(&mut self, declared: RwLockId) -> RwLockId {
        let (id, is_new) = self.rwlocks.meet(declared.0, || ());
        self.enter(RwLockId(id), is_new)
    }

    fn condvar(&mut self, declared: CondvarId) -> CondvarId {
        let (id, is_new) = self.condvars.meet(declared.0, || ());
        self.enter(CondvarId(id), is_new)
    }

    fn semaphore(&mut self, declared: SemaphoreId, objects: &Objects) -> SemaphoreId {
        let units = || *objects.semaphores.start(declared.0);
        let (id, is_new) = self.semaphores.meet(declared.0, units);
        self.enter(SemaphoreId(id), is_new)
    }

    fn barrier(&mut self, declared: BarrierId, objects: &Objects) -> BarrierId {
        let size = || *objects.barriers.start(declared.0);
        let (id, is_new) = self.barriers.meet(declared.0, size);
        self.enter(BarrierId(id), is_new)
    }

    fn collective(&mut self, declared: CollectiveId, objects: &Objects) -> CollectiveId {
        let size = || *objects.collectives.start(declared.0);
        let (id, is_new) = self.collectives.meet(declared.0, size);
        self.enter(CollectiveId(id), is_new)
    }

    fn cell(&mut self, declared: CellId, objects: &Objects, values: &mut Values) -> CellId {
        let content = || values.intern(objects.cells.start(declared.0).clone());
        let (id, is_new) = self.cells.meet(declared.0, content);
        self.enter(CellId(id), is_new)
    }

    fn enter<Id: Into<Object> + Copy>(&mut self, id: Id, is_new: bool) -> Id {
        self.order.extend(is_new.then(|| id.into()));
        id
    }
}

macro_rules! objects {
    ($($kind:ident($id:ident)),*) => {$(
        impl From<$id> for Object {
            fn from(id: $id) -> Object {
                Object::$kind(id)
            }
        }
    )*};
}
objects!(
    Mailbox(MailboxId),
    Mutex(MutexId),
    RwLock(RwLockId),
    Condvar(CondvarId),
    Semaphore(SemaphoreId),
    Barrier(BarrierId),
    Collective(CollectiveId),
    Cell(CellId)
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Access, Delivery, Handle, May, Request, Value};

    fn declared() -> Objects {
        let mut objects = Objects::default();
        objects.mutexes.push_array("m", 1_000_000, Asking::Queues);
        objects.semaphores.push_array("s", 3, 2);
        objects.cells.push_array("x", 1_000, Value::Int(5));
        objects
    }

    #[test]
    fn objects_are_numbered_as_they_are_met() {
        let (objects, mut values) = (declared(), Values::default());
        let mut met = Met::new(&objects, &mut values);
        assert!(met.may_grow() && met.order().len() == 3);
        assert_eq!(met.semaphores.in_order(), [0, 1, 2], "few are met at once");
        let request = |mutex| Request { mutex: MutexId(mutex), handle: Handle(0) };
        let wait = Op::MutexWaitAny([request(999_999), request(7), request(999_999)].into());
        let wait = met.renamed(wait, &objects, &mut values);
        assert_eq!(wait, Op::MutexWaitAny([request(0), request(1), request(0)].into()));
        let read = met.renamed(Op::Access(CellId(9), Access::Read), &objects, &mut values);
        assert_eq!(read, Op::Access(CellId(0), Access::Read));
        assert_eq!(
            met.order()[3..],
            [Object::Mutex(MutexId(0)), Object::Mutex(MutexId(1)), Object::Cell(CellId(0))]
        );
        assert_eq!(met.mutexes.in_order(), [1, 0], "7 is declared before 999999");
        assert_eq!(
            met.declared(Touch::new(MutexId(0).queue(), May::Turn)),
            Touch::new(MutexId(999_999).queue(), May::Turn)
        );
        assert_eq!(met.name(Object::Mutex(MutexId(1)), &objects), "m[7]");
        assert_eq!(values.get(met.cells.start(0)), &Value::Int(5));
        assert_eq!((met.cells.met(9), met.cells.met(0)), (Some(0), None));
    }

    #[test]
    fn few_objects_keep_their_numbers() {
        let mut objects = Objects::default();
        objects.mailboxes.push_array("m", FEW as u32, Delivery::Ordered);
        let mut values = Values::default();
        let mut met = Met::new(&objects, &mut values);
        let receive = Op::Irecv { mailbox: MailboxId(40), pattern: Default::default() };
        assert_eq!(met.renamed(receive.clone(), &objects, &mut values), receive);
        assert!(!met.may_grow() && met.order().len() == FEW);
    }
}
