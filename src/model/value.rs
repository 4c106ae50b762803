//! Values that processes compute with, send and store, interned so that the objects handle plain
//! ids.

use std::collections::VecDeque;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{Call, Handle, List, Map, Opaque, ProcessId, Set};

/// A value of the modelling language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Value {
    /// The value of statements.
    Unit,
    /// A checked 64-bit integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Variant `index` of the enumeration numbered `of`.
    Variant {
        /// Which enumeration.
        of: u32,
        /// Which of its variants, in order of declaration.
        index: u32,
    },
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A list `[T]` or an array `[T; n]`.
    List(List),
    /// A set.
    Set(Set),
    /// A map.
    Map(Map),
    /// A communication: the request of its own process with that number.
    Comm(Handle),
    /// A handle to a spawned process, or a reference to an actor.
    Process(ProcessId),
    /// What a rank gets at the end of a collective: the values of the ranks that it waited for, in
    /// the order of ranks.
    Gathered {
        /// The call of all ranks.
        call: Call,
        /// The rank that gets this.
        rank: u32,
        /// The value that this rank gave.
        own: Arc<Value>,
        /// The values of the ranks that it waited for, which may include itself.
        given: Arc<[Value]>,
    },
    /// A message between actors.
    Message {
        /// The number of the message's declaration in the program.
        name: u32,
        /// Its parameters.
        args: Arc<[Value]>,
    },
    /// A value of a type that only the system knows.
    Opaque(Opaque),
}

impl Value {
    /// The integer inside.
    ///
    /// # Panics
    /// If the value is not an integer: programs are statically typed, so that is a bug of this
    /// crate.
    pub fn int(&self) -> i64 {
        match self {
            Value::Int(n) => *n,
            other => panic!("expected an integer, found {other:?}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sequence = |f: &mut fmt::Formatter<'_>, items: &mut dyn Iterator<Item = &Value>| {
            for (i, item) in items.enumerate() {
                if i > 0 {
                    write!(f, ", ")?;
                }
                write!(f, "{item}")?;
            }
            Ok(())
        };
        match self {
            Value::Unit => write!(f, "()"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Variant { of, index } => write!(f, "#{of}.{index}"),
            Value::Tuple(items) => {
                write!(f, "(")?;
                sequence(f, &mut items.iter())?;
                write!(f, ")")
            }
            Value::List(items) => {
                write!(f, "[")?;
                sequence(f, &mut items.iter())?;
                write!(f, "]")
            }
            Value::Set(set) => {
                write!(f, "{{")?;
                sequence(f, &mut set.items().iter())?;
                write!(f, "}}")
            }
            Value::Map(map) => {
                write!(f, "{{")?;
                for (i, (key, value)) in map.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{key}: {value}")?;
                }
                write!(f, "}}")
            }
            Value::Comm(handle) => write!(f, "comm {}", handle.0),
            Value::Process(p) => write!(f, "process {}", p.0),
            Value::Gathered { given, .. } => {
                write!(f, "[")?;
                sequence(f, &mut given.iter())?;
                write!(f, "]")
            }
            Value::Message { name, args } => {
                write!(f, "#{name}(")?;
                sequence(f, &mut args.iter())?;
                write!(f, ")")
            }
            Value::Opaque(value) => write!(f, "{value:?}"),
        }
    }
}

/// An interned [`Value`]: equal ids, equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// [`Value::Unit`], in every pool.
    pub const UNIT: ValueId = ValueId(0);
    /// `Value::Bool(false)`, in every pool.
    pub const FALSE: ValueId = ValueId(1);
    /// `Value::Bool(true)`, in every pool.
    pub const TRUE: ValueId = ValueId(2);
}

/// The pool of interned values.
#[derive(Clone, Debug)]
pub struct Values {
    /// `None` for those that were forgotten.
    pool: Vec<Option<Value>>,
    ids: HashTable<ValueId>,
    /// The ids of those that were forgotten, to be used again, in the order of forgetting.
    free: VecDeque<ValueId>,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Values { pool: Vec::new(), ids: HashTable::new(), free: VecDeque::new() };
        for value in [Value::Unit, Value::Bool(false), Value::Bool(true)] {
            values.intern(value);
        }
        values
    }
}

impl Values {
    /// The id of `value`, the same for equal values.
    pub fn intern(&mut self, value: Value) -> ValueId {
        let hash = FxBuildHasher.hash_one(&value);
        let pool = &self.pool;
        if let Some(&id) = self.ids.find(hash, |&id| *found(pool, id) == value) {
            return id;
        }
        let id = match self.free.len() > MOST_UNUSED {
            true => self.free.pop_front().expect("one of many"),
            false => {
                self.pool.push(None);
                ValueId(self.pool.len() as u32 - 1)
            }
        };
        self.pool[id.0 as usize] = Some(value);
        let pool = &self.pool;
        self.ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(found(pool, id)));
        id
    }

    /// The value behind `id`.
    pub fn get(&self, id: ValueId) -> &Value {
        found(&self.pool, id)
    }

    /// All values, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.pool.iter().flatten()
    }

    /// The number of values.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Forgets all values but those with these ids, and those that every pool has.
    pub(super) fn forget(&mut self, mut needed: FixedBitSet) {
        needed.grow(self.pool.len());
        needed.insert_range(..IN_EVERY_POOL);
        self.ids.retain(|&mut id| needed.contains(id.0 as usize));
        for index in needed.zeroes() {
            let id = ValueId(index as u32);
            if self.pool[index].take().is_some() {
                self.free.push_back(id);
            }
        }
    }
}

/// The most ids of forgotten values that are not used again. In debug builds there are some, so
/// that who asks about a forgotten value is told so.
const MOST_UNUSED: usize = if cfg!(debug_assertions) { 1000 } else { 0 };

/// The number of values that every pool has: the first ones.
const IN_EVERY_POOL: usize = 3;

/// The value behind `id`.
#[inline]
fn found(pool: &[Option<Value>], id: ValueId) -> &Value {
    pool[id.0 as usize].as_ref().expect("a value that is needed is kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_values_can_come_back() {
        let mut values = Values::default();
        let [five, six] = [5, 6].map(|n| values.intern(Value::Int(n)));
        let mut needed = FixedBitSet::new();
        needed.grow_and_insert(six.0 as usize);
        values.forget(needed);
        let all = [Value::Unit, Value::Bool(false), Value::Bool(true), Value::Int(6)];
        assert!(values.iter().eq(&all));
        assert_eq!((values.len(), values.intern(Value::Int(6))), (4, six));
        let again = values.intern(Value::Int(5));
        assert_eq!(values.get(again), &Value::Int(5));
        assert_eq!(again == five, MOST_UNUSED == 0);
    }
}
