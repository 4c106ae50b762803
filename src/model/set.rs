//! Sets of values, and the order of their elements.
//!
//! Invariant: the list is strictly ascending in the [`order`] of values. So equal sets have equal
//! forms, however they were made, and the derived comparison and hash are right.

use std::cmp::Ordering;
use std::fmt;

use super::{List, Value};

/// A set of values, all of one type.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Set(List);

impl Set {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements, in order.
    pub fn items(&self) -> &List {
        &self.0
    }

    /// Is it an element?
    pub fn contains(&self, value: &Value) -> bool {
        self.place(value).is_ok()
    }

    /// The place of an element; for another value, the place where it would be.
    pub(super) fn place(&self, value: &Value) -> Result<usize, usize> {
        self.0.find(|item| order(item, value))
    }

    /// Is each element one of `other`, too?
    pub fn is_subset(&self, other: &Set) -> bool {
        self.len() <= other.len() && self.0.iter().all(|item| other.contains(item))
    }

    /// The elements of either.
    pub fn union(&self, other: &Set) -> Set {
        match (self.len(), other.len()) {
            (_, 0) => self.clone(),
            (0, _) => other.clone(),
            (_, 1) => match self.place(&other.0[0]) {
                Ok(_) => self.clone(),
                Err(place) => self.with(place, other.0[0].clone()),
            },
            _ => self.merged(other, |_, _| true),
        }
    }

    /// The same with a new element, whose place is this.
    pub(super) fn with(&self, place: usize, value: Value) -> Set {
        Set(self.0.with(place, value))
    }

    /// The elements of both.
    pub fn intersection(&self, other: &Set) -> Set {
        self.merged(other, |mine, theirs| mine && theirs)
    }

    /// The elements that `other` has not.
    pub fn difference(&self, other: &Set) -> Set {
        self.merged(other, |mine, theirs| mine && !theirs)
    }

    /// The values that are kept, given whether this set has them and whether the other has them.
    fn merged(&self, other: &Set, keeps: fn(bool, bool) -> bool) -> Set {
        let mut merged = Vec::with_capacity(self.len().max(other.len()));
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (mine.peek(), theirs.peek()) {
                (None, None) => return Set(merged.into()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => order(one, other),
            };
            let one = if next.is_le() { mine.next() } else { None };
            let other = if next.is_ge() { theirs.next() } else { None };
            if keeps(one.is_some(), other.is_some()) {
                merged.extend(one.or(other).cloned());
            }
        }
    }
}

/// # Panics
/// If the values have no order, as communications have none.
impl From<List> for Set {
    fn from(items: List) -> Set {
        let next = || items.iter().skip(1);
        if items.iter().zip(next()).all(|(one, next)| order(one, next).is_lt()) {
            return Set(items);
        }
        let mut items: Vec<Value> = items.iter().cloned().collect();
        items.sort_unstable_by(order);
        items.dedup();
        Set(items.into())
    }
}

/// # Panics
/// If the values have no order, as communications have none.
impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Set {
        List::from_iter(items).into()
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter()).finish()
    }
}

/// The order of values of one type: integers as such, `false` before `true`, variants as they are
/// declared, and what has parts by its first difference, shorter ones first.
///
/// # Panics
/// If one is a communication, a value of a collective, or of a type that only the system knows.
pub(super) fn order(one: &Value, other: &Value) -> Ordering {
    use Value::*;
    let by_parts = |one: &[Value], other: &[Value]| by_items(one.iter(), other.iter());
    match (one, other) {
        (Int(one), Int(other)) => one.cmp(other),
        (Unit, Unit) => Ordering::Equal,
        (Bool(one), Bool(other)) => one.cmp(other),
        (Variant { of, index }, Variant { of: other_of, index: other }) => {
            (of, index).cmp(&(other_of, other))
        }
        (Process(one), Process(other)) => one.cmp(other),
        (Tuple(one), Tuple(other)) => by_parts(one, other),
        (Message { name, args }, Message { name: other_name, args: other }) => {
            name.cmp(other_name).then_with(|| by_parts(args, other))
        }
        (List(one), List(other)) => by_items(one.iter(), other.iter()),
        (Set(one), Set(other)) => by_items(one.0.iter(), other.0.iter()),
        (Map(one), Map(other)) => {
            let keys = by_items(one.keys().0.iter(), other.keys().0.iter());
            keys.then_with(|| by_items(one.values().iter(), other.values().iter()))
        }
        (one, other) => panic!("{one:?} and {other:?} have no order"),
    }
}

fn by_items<'v>(
    mut one: impl Iterator<Item = &'v Value>,
    mut other: impl Iterator<Item = &'v Value>,
) -> Ordering {
    loop {
        match (one.next(), other.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(one), Some(other)) => match order(one, other) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}
