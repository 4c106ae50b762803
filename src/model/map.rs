//! Maps from values to values.
//!
//! A map is the set of its keys and the list of their values, in the order of the keys. So equal
//! maps have equal forms, and maps that differ in values only share their keys.

use std::fmt;
use std::sync::Arc;

use super::{List, Set, Value};

/// A map: all keys are of one type, and all values are of one type. Copies share what they have.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Map(Arc<Entries>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Entries {
    keys: Set,
    /// The value of each key, in the order of keys.
    values: List,
}

impl Map {
    fn new(keys: Set, values: List) -> Map {
        Map(Arc::new(Entries { keys, values }))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Has it no keys?
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// The keys.
    pub fn keys(&self) -> &Set {
        &self.0.keys
    }

    /// The values, in the order of their keys.
    pub fn values(&self) -> &List {
        &self.0.values
    }

    /// The keys with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.0.keys.items().iter().zip(self.0.values.iter())
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.0.keys.place(key).ok().map(|place| &self.0.values[place])
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &Value) -> Option<&mut Value> {
        let place = self.0.keys.place(key).ok()?;
        Some(&mut Arc::make_mut(&mut self.0).values[place])
    }

    /// Gives a key this value, whether it is there or not.
    pub fn insert(&mut self, key: Value, value: Value) {
        let Entries { keys, values } = &*self.0;
        match keys.place(&key) {
            Ok(place) => Arc::make_mut(&mut self.0).values[place] = value,
            Err(place) => *self = Map::new(keys.with(place, key), values.with(place, value)),
        }
    }

    /// All of `other`, and what has other keys.
    pub fn union(&self, other: &Map) -> Map {
        let keys = self.keys().union(other.keys());
        let (mut mine, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        let values = keys.items().iter().map(|key| {
            let mine = mine.next_if(|&(known, _)| known == key);
            let theirs = theirs.next_if(|&(known, _)| known == key);
            theirs.or(mine).expect("a key of one of them").1.clone()
        });
        let values = values.collect();
        Map::new(keys, values)
    }

    /// What has none of these keys.
    pub fn without(&self, keys: &Set) -> Map {
        let kept = self.iter().filter(|(key, _)| !keys.contains(key));
        let values = kept.map(|(_, value)| value.clone()).collect();
        Map::new(self.keys().difference(keys), values)
    }

    /// The same keys with other values.
    pub fn valued(&self, value: impl FnMut(&Value) -> Value) -> Map {
        Map::new(self.keys().clone(), self.values().iter().map(value).collect())
    }
}

/// Of equal keys the last one counts.
///
/// # Panics
/// If the keys have no order, because they are communications, for example.
impl FromIterator<(Value, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Map {
        let mut entries: Vec<(Value, Value)> = entries.into_iter().collect();
        // A stable sort: of equal keys the last one stays last.
        entries.sort_by(|(one, _), (other, _)| super::set::order(one, other));
        entries.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                std::mem::swap(next, kept);
            }
            is_same
        });
        let (keys, values): (Vec<Value>, Vec<Value>) = entries.into_iter().unzip();
        Map::new(Set::from(List::from(keys)), values.into())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
