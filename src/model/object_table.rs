//! Objects, numbered in the order in which a search encounters them.
//!
//! A program may declare a million mutexes and use two. So an object has a *declared index*, its
//! place in [`Objects`], and a *table index*, given when the search first encounters it.
//! [`System`](super::System)s use declared indices: in what [`next`](super::System::next) returns,
//! and in the questions that they answer. Everything else (operations in [`Locals`](super::Locals),
//! states, effects, the chains of an unfolding) uses table indices. These have no gaps, so the
//! memory for objects grows only with the number of objects in use. [`Locals`](super::Locals) is
//! the only place that translates: it adds an object to the table when it first sees an operation
//! on it.
//!
//! If a kind has at most [`FEW`] objects, all of them are in the table from the start, in order of
//! declaration. Then both indices are equal.

use super::op::*;
use rustc_hash::FxHashMap;

use super::objects::{ObjectId, all_kinds};
use super::{Delivery, Lane, Objects, Op, Touch, ValueId, Values};

/// Up to this number of objects of a kind, all of them are in the table from the start.
const FEW: usize = 64;

macro_rules! define_object {
    ($($(#[$doc:meta])* $kind:ident($id:ident) $all:ident [$($log:ty)?],)*) => {
        /// An object that a search has encountered: its kind and its table index.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Object {
            $($kind($id),)*
        }

        /// The number of an object, by kind, to be replaced by another number.
        pub(super) enum ObjectMut<'o> {
            $($kind(&'o mut $id),)*
        }

        $(
            impl From<$id> for Object {
                fn from(id: $id) -> Object {
                    Object::$kind(id)
                }
            }
        )*

        /// The objects that a search has encountered.
        #[derive(Debug, Default)]
        pub struct ObjectTable {
            $($(#[$doc])* pub $all: Roster<<$id as ObjectId>::Start>,)*
            order: Vec<Object>,
            may_grow: bool,
        }

        impl ObjectTable {
            /// The objects that are in the table from the start.
            pub(crate) fn new(objects: &Objects, values: &mut Values) -> ObjectTable {
                let mut all = ObjectTable::default();
                let few = |count: usize| 0..if count <= FEW { count as u32 } else { 0 };
                $(for number in few(objects.$all.len()) {
                    all.intern(ObjectMut::$kind(&mut $id(number)), objects, values);
                })*
                all.may_grow = all.order.len() < objects.len();
                all
            }

            /// Replaces the declared index of an object by its table index. A new object is added.
            fn intern(&mut self, object: ObjectMut<'_>, objects: &Objects, values: &mut Values) {
                match object {
                    $(ObjectMut::$kind(id) => {
                        let start = || <$id as ObjectId>::start(objects.$all.start(id.0), values);
                        let (index, is_new) = self.$all.intern(id.0, start);
                        *id = $id(index);
                        self.order.extend(is_new.then_some(Object::$kind(*id)));
                    })*
                }
            }

            /// The touch with the declared index of its object in place of the table index.
            pub(super) fn declared(&self, touch: Touch) -> Touch {
                let (part, number) = (touch.lane.part(), touch.lane.object());
                $(if <$id as ObjectId>::PARTS.contains(&part) {
                    return Touch { lane: Lane::new(part, self.$all.declared(number)), ..touch };
                })*
                touch
            }

            /// The name of an object, as the author of the program would say it.
            pub(super) fn name(&self, object: Object, objects: &Objects) -> String {
                let declared = match object {
                    $(Object::$kind(id) => Object::$kind($id(self.$all.declared(id.0))),)*
                };
                objects.name(declared)
            }
        }

        impl Object {
            /// Its table index.
            pub fn number(self) -> u32 {
                match self {
                    $(Object::$kind(id) => id.0,)*
                }
            }

            /// Those of its lanes that are ordered, or on which something is gathered.
            pub fn lanes(self, table: &ObjectTable) -> impl Iterator<Item = Lane> {
                let parts = match self {
                    $(Object::$kind(id) => <$id as ObjectId>::lanes_of(table.$all.start(id.0)),)*
                };
                parts.iter().map(move |&part| Lane::new(part, self.number()))
            }
        }
    };
}
all_kinds!(define_object);

/// The objects of one kind that a search has encountered, with their initial values.
#[derive(Debug)]
pub struct Roster<T> {
    /// By table index: the declared index.
    declared: Vec<u32>,
    /// By table index: the initial value.
    starts: Vec<T>,
    /// By declared index: the table index.
    indices: FxHashMap<u32, u32>,
}

impl<T> Default for Roster<T> {
    fn default() -> Self {
        Roster { declared: Vec::new(), starts: Vec::new(), indices: FxHashMap::default() }
    }
}

impl<T: Copy> Roster<T> {
    /// The number of objects in the table.
    pub(crate) fn len(&self) -> usize {
        self.declared.len()
    }

    /// The declared index of the object with this table index.
    pub(crate) fn declared(&self, index: u32) -> u32 {
        self.declared[index as usize]
    }

    /// The table index of a declared object; `None` if it is not in the table yet.
    pub(crate) fn index(&self, declared: u32) -> Option<u32> {
        self.indices.get(&declared).copied()
    }

    /// The initial value of the object with this table index.
    pub(crate) fn start(&self, index: u32) -> T {
        self.starts[index as usize]
    }

    /// The table indices of all objects, in order of declaration.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.len() as u32).collect();
        all.sort_unstable_by_key(|&index| self.declared(index));
        all
    }

    /// The table index of `declared`, and whether it is new.
    fn intern(&mut self, declared: u32, start: impl FnOnce() -> T) -> (u32, bool) {
        let next = self.len() as u32;
        let index = *self.indices.entry(declared).or_insert(next);
        if index == next {
            self.declared.push(declared);
            self.starts.push(start());
        }
        (index, index == next)
    }
}

impl ObjectTable {
    /// All objects, in the order of the search.
    pub(crate) fn order(&self) -> &[Object] {
        &self.order
    }

    /// The values that objects begin with.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> {
        self.cells.starts.iter().copied()
    }

    /// Are there declared objects that were not added at the start, so that this table may grow?
    pub(crate) fn may_grow(&self) -> bool {
        self.may_grow
    }

    /// Do the parts of a portrait have fixed indices, and is each about one object or process? This
    /// is so if all objects were added at the start, and no operation needs a carrier.
    pub(crate) fn has_fixed_parts(&self) -> bool {
        let mut mailboxes = 0..self.mailboxes.len() as u32;
        !self.may_grow
            && self.collectives.len() == 0
            && mailboxes.all(|mailbox| self.mailboxes.start(mailbox) == Delivery::Ordered)
    }

    /// The operation with table indices in place of declared indices.
    pub(crate) fn renamed(&mut self, mut op: Op, objects: &Objects, values: &mut Values) -> Op {
        op.for_each_object_mut(|object| self.intern(object, objects, values));
        op
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Access, Asking, Handle, May, Request, Value};

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
        let mut table = ObjectTable::new(&objects, &mut values);
        assert!(table.may_grow() && table.order().len() == 3);
        assert_eq!(table.semaphores.in_order(), [0, 1, 2], "few are there from the start");
        let request = |mutex| Request { mutex: MutexId(mutex), handle: Handle(0) };
        let wait = Op::MutexWaitAny([request(999_999), request(7), request(999_999)].into());
        let wait = table.renamed(wait, &objects, &mut values);
        assert_eq!(wait, Op::MutexWaitAny([request(0), request(1), request(0)].into()));
        let read = table.renamed(Op::Access(CellId(9), Access::Read), &objects, &mut values);
        assert_eq!(read, Op::Access(CellId(0), Access::Read));
        assert_eq!(
            table.order()[3..],
            [Object::Mutex(MutexId(0)), Object::Mutex(MutexId(1)), Object::Cell(CellId(0))]
        );
        assert_eq!(table.mutexes.in_order(), [1, 0], "7 is declared before 999999");
        assert_eq!(
            table.declared(Touch::new(MutexId(0).queue(), May::Turn)),
            Touch::new(MutexId(999_999).queue(), May::Turn)
        );
        assert_eq!(table.name(Object::Mutex(MutexId(1)), &objects), "m[7]");
        assert_eq!(values.get(table.cells.start(0)), &Value::Int(5));
        assert_eq!((table.cells.index(9), table.cells.index(0)), (Some(0), None));
    }

    #[test]
    fn few_objects_keep_their_numbers() {
        let mut objects = Objects::default();
        objects.mailboxes.push_array("m", FEW as u32, Delivery::Ordered);
        let mut values = Values::default();
        let mut table = ObjectTable::new(&objects, &mut values);
        let receive = Op::Irecv { mailbox: MailboxId(40), pattern: Default::default() };
        assert_eq!(table.renamed(receive.clone(), &objects, &mut values), receive);
        assert!(!table.may_grow() && table.order().len() == FEW);
    }
}
