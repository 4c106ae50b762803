//! Lists and arrays, persistent: those that differ in few elements share the others.
//!
//! A short list is copied as a whole when it is changed, and takes the room of its elements. A long
//! one is a tree of blocks, of which few are copied. A block has room for 64 elements even if it
//! holds one, and short lists are what most local states remember, in thousands of versions.
//! Without the feature `lang`, long ones are copied as a whole, too: systems made in Rust have few.
//!
//! Invariant: a list is [`Items::Few`] iff it has at most [`FEW`] elements. So equal lists have
//! equal forms, and the derived comparison and hash are right.

use std::cmp::Ordering;
#[cfg(not(feature = "lang"))]
use std::collections::VecDeque as Long;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

#[cfg(feature = "lang")]
use im::Vector as Long;

use super::Value;

/// The length of the longest list that is copied as a whole: that of a block.
const FEW: usize = 64;

/// A list of values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct List(Items);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Items {
    Few(Arc<Vec<Value>>),
    Many(Arc<Long<Value>>),
}

impl List {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.0 {
            Items::Few(items) => items.len(),
            Items::Many(items) => items.len(),
        }
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first element.
    pub fn first(&self) -> Option<&Value> {
        self.iter().next()
    }

    /// The elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        let (few, many) = match &self.0 {
            Items::Few(items) => (&items[..], None),
            Items::Many(items) => (&[][..], Some(items.iter())),
        };
        few.iter().chain(many.into_iter().flatten())
    }

    /// By binary search: the place of an element that is `Equal`; otherwise the place that it would
    /// have. The list must be sorted.
    pub(super) fn find(&self, order: impl FnMut(&Value) -> Ordering) -> Result<usize, usize> {
        match &self.0 {
            Items::Few(items) => items.binary_search_by(order),
            Items::Many(items) => items.binary_search_by(order),
        }
    }

    /// Appends an element.
    pub fn push(&mut self, value: Value) {
        match &mut self.0 {
            Items::Few(items) if items.len() == FEW => {
                *self = items.iter().cloned().chain([value]).collect();
            }
            Items::Few(items) => match Arc::get_mut(items) {
                Some(items) => items.push(value),
                // A clone would have no room for it, and twice the room after it.
                None => *items = Arc::new(with(items, value)),
            },
            Items::Many(items) => Arc::make_mut(items).push_back(value),
        }
    }

    /// A list with one element more, at `place`.
    pub(super) fn with(&self, place: usize, value: Value) -> List {
        let mut longer = Vec::with_capacity(self.len() + 1);
        longer.extend(self.iter().take(place).cloned());
        longer.push(value);
        longer.extend(self.iter().skip(place).cloned());
        longer.into()
    }

    /// Removes the element at `place`.
    ///
    /// # Panics
    /// If there is none.
    pub fn remove(&mut self, place: usize) {
        match &mut self.0 {
            Items::Few(items) => drop(Arc::make_mut(items).remove(place)),
            Items::Many(items) => {
                Arc::make_mut(items).remove(place);
                if items.len() == FEW {
                    *self = items.iter().cloned().collect();
                }
            }
        }
    }
}

/// A copy of `items` with one more.
fn with(items: &[Value], value: Value) -> Vec<Value> {
    let mut longer = Vec::with_capacity(items.len() + 1);
    longer.extend_from_slice(items);
    longer.push(value);
    longer
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> List {
        List(match items.len() <= FEW {
            true => Items::Few(Arc::new(items)),
            false => Items::Many(Arc::new(items.into())),
        })
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> List {
        Vec::from_iter(items).into()
    }
}

impl Index<usize> for List {
    type Output = Value;

    fn index(&self, place: usize) -> &Value {
        match &self.0 {
            Items::Few(items) => &items[place],
            Items::Many(items) => &items[place],
        }
    }
}

impl IndexMut<usize> for List {
    fn index_mut(&mut self, place: usize) -> &mut Value {
        match &mut self.0 {
            Items::Few(items) => &mut Arc::make_mut(items)[place],
            Items::Many(items) => &mut Arc::make_mut(items)[place],
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    fn values(list: &List) -> Vec<Value> {
        list.iter().cloned().collect()
    }

    #[test]
    fn a_list_is_a_vector_at_any_length() {
        let hasher = RandomState::new();
        let (mut list, mut twin) = (List::from(Vec::new()), Vec::new());
        let compare = |list: &List, twin: &Vec<Value>| {
            assert_eq!(values(list), *twin);
            assert_eq!((list.len(), list.first()), (twin.len(), twin.first()));
            let other = List::from(twin.clone());
            assert_eq!(*list, other);
            assert_eq!(hasher.hash_one(list), hasher.hash_one(other));
            assert_eq!(format!("{list:?}"), format!("{twin:?}"));
        };
        for n in 0..2 * FEW as i64 {
            let before = list.clone();
            list.push(Value::Int(n));
            assert_eq!(values(&before), twin);
            twin.push(Value::Int(n));
            compare(&list, &twin);
            let place = twin.len() / 2;
            (list[place], twin[place]) = (Value::Int(-n), Value::Int(-n));
            assert_eq!(list[place], twin[place]);
        }
        while !twin.is_empty() {
            let before = list.clone();
            list.remove(twin.len() / 3);
            assert_eq!(values(&before), twin);
            twin.remove(twin.len() / 3);
            compare(&list, &twin);
        }
        assert!(list.is_empty());
    }

    /// Local states keep many values.
    #[test]
    fn values_are_small() {
        assert_eq!(size_of::<Value>(), 48);
    }
}
