//! Objects that processes make while they run, and what is known of all values.
//!
//! An object is known by its kind, by the process that made it, by its name, and by how many the
//! process had made before of this kind and name. A process is known by the process that started
//! it, and by how many that one had started before. So what an object is depends only on the
//! history of its maker, and no two objects of an execution are the same.
//!
//! The objects of each kind are an array of the model, long enough for all. An object gets the next
//! number of its array when it is first made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::handle::{Named, lasting};
use crate::model::{Asking, Called, Delivery, Object, Objects, Value};

/// The most objects of a kind that processes make.
const MANY: u32 = 1 << 28;

/// The most participants of a barrier, counts of a latch, or ranks of a collective that a process
/// makes. For each number there is an array.
pub(super) const MOST: u32 = 64;
const MANY_ALIKE: u32 = 1 << 20;

/// The kinds of objects that processes make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Made {
    Mailbox(Delivery),
    Mutex(Asking),
    RwLock,
    Condvar,
    Semaphore,
    Cell,
    Barrier(u32),
    Latch(u32),
    Collective(u32),
}

/// A process, by its number in this program.
pub(super) type Maker = u32;

/// What the processes of a program share.
#[derive(Default)]
pub(super) struct Making {
    /// The number of the program.
    pub(super) program: u32,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    /// For each kind, the array of its objects, by its first number; and how many there are.
    arrays: FxHashMap<Made, (u32, u32)>,
    /// The objects that were made so: their kind, maker, name, and number among those alike.
    objects: FxHashMap<(Made, Maker, &'static str, u32), (u32, &'static str)>,
    /// What they are called.
    names: FxHashMap<Object, &'static str>,
    /// The processes, by the process that started them and their number there.
    processes: FxHashMap<(Maker, u32), Maker>,
    /// The number of processes so far.
    makers: u32,
    /// In debug builds: all values so far.
    values: FxHashSet<Value>,
}

impl Making {
    /// For the program with this number.
    pub(super) fn new(program: u32) -> Making {
        Making { program, tables: Mutex::default() }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares the arrays, after all other objects.
    pub(super) fn declare(self: &Arc<Self>, objects: &mut Objects) {
        let mut tables = self.tables();
        let mut begin = |made, first: usize| {
            tables.arrays.insert(made, (first as u32, 0));
        };
        for delivery in [Delivery::Ordered, Delivery::P2p, Delivery::Bag] {
            begin(Made::Mailbox(delivery), objects.mailboxes.len());
            objects.mailboxes.push_array("mailbox", MANY, delivery);
        }
        for asking in [Asking::Queues, Asking::Tries] {
            begin(Made::Mutex(asking), objects.mutexes.len());
            objects.mutexes.push_array("mutex", MANY, asking);
        }
        begin(Made::RwLock, objects.rwlocks.len());
        objects.rwlocks.push_array("rwlock", MANY, ());
        begin(Made::Condvar, objects.condvars.len());
        objects.condvars.push_array("condvar", MANY, ());
        begin(Made::Semaphore, objects.semaphores.len());
        objects.semaphores.push_array("semaphore", MANY, 0);
        begin(Made::Cell, objects.cells.len());
        objects.cells.push_array("cell", MANY, Value::Unit);
        for number in 0..=MOST {
            begin(Made::Barrier(number), objects.barriers.len());
            objects.barriers.push_array("barrier", MANY_ALIKE, number);
            begin(Made::Latch(number), objects.latches.len());
            objects.latches.push_array("latch", MANY_ALIKE, number);
            begin(Made::Collective(number), objects.collectives.len());
            objects.collectives.push_array("collective", MANY_ALIKE, number);
        }
        drop(tables);
        let making = self.clone();
        objects.called = Called(Some(Arc::new(move |object| making.called(object))));
    }

    fn called(&self, object: Object) -> Option<String> {
        self.tables().names.get(&object).map(|name| name.to_string())
    }

    /// The object that this process makes so, as the `nth` one of this kind and name, from 0.
    pub(super) fn object<I: Into<Object> + Copy>(
        &self,
        made: Made,
        (maker, process): (Maker, &str),
        (name, nth): (&str, u32),
        id: fn(u32) -> I,
    ) -> Named<I> {
        let tables = &mut *self.tables();
        let key = (made, maker, lasting(name), nth);
        let &mut (number, name) = tables.objects.entry(key).or_insert_with(|| {
            let (first, count) = tables.arrays.get_mut(&made).expect("an array of each kind");
            let number = *first + *count;
            *count += 1;
            let name = match nth {
                0 => format!("{name} of {process}"),
                _ => format!("{name} {} of {process}", nth + 1),
            };
            let name = lasting(&name);
            tables.names.insert(id(number).into(), name);
            (number, name)
        });
        Named { id: id(number), program: self.program, name }
    }

    /// The next process that exists from the start.
    pub(super) fn first_process(&self) -> Maker {
        let mut tables = self.tables();
        tables.makers += 1;
        tables.makers - 1
    }

    /// The process that `maker` starts after `nth` others.
    pub(super) fn process(&self, maker: Maker, nth: u32) -> Maker {
        let tables = &mut *self.tables();
        *tables.processes.entry((maker, nth)).or_insert_with(|| {
            tables.makers += 1;
            tables.makers - 1
        })
    }

    /// In debug builds, what is wrong with this value, if anything: it is equal to an earlier one,
    /// but looks different. One of the two would stand for both.
    pub(super) fn objection(&self, value: &Value) -> Option<String> {
        if !cfg!(debug_assertions) || !matches!(value, Value::Opaque(_)) {
            return None;
        }
        let mut tables = self.tables();
        let Some(known) = tables.values.get(value).cloned() else {
            tables.values.insert(value.clone());
            return None;
        };
        drop(tables);
        let (known, value) = (known.to_string(), value.to_string());
        (known != value).then(|| {
            format!(
                "the values {known} and {value} are equal, but `Debug` shows that they are not the \
                 same; values that are equal have to be interchangeable (`Data`)"
            )
        })
    }
}
