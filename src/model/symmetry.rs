//! Symmetry: processes that differ only in their index.
//!
//! C. N. Ip, D. L. Dill, *Better verification through symmetry* (FMSD 9, 1996). If a program uses
//! an index only for equality, as an index, and as a value that travels (their *scalarset*), then
//! each permutation of the indices maps executions to executions. So of the states that are equal
//! up to a permutation (an *orbit*) a search need explore only one.
//!
//! A [`Group`] is a range of indices with its permutations: all of them, or the rotations if the
//! program also computes the next index in a ring. What a permutation does to a state is given by
//! what kind of value each place holds ([`IndexKind`]). A [`Term`] is a part of a state in which
//! the indices can be seen, so that they can be renamed. Terms forget orders that depend on the
//! numbers of indices: that of a set, and of the keys of a map.
//!
//! **Soundness.** A renamed state is a state of the same program, and has the renamed future, if
//! (1) the program treats the indices alike (whoever implements [`Symmetry`] says so), and (2) the
//! terms contain everything that the future depends on
//! ([`State::term_of_object`](super::State), `state/terms.rs`).

use std::ops::Range;

use super::{Object, ProcessId, Value, Values};

/// A range of indices that may be permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The names of the processes that have these indices.
    pub name: String,
    /// The indices.
    pub range: Range<i64>,
    /// Only rotations are allowed.
    pub is_ring: bool,
}

impl Group {
    /// The number of indices.
    pub fn size(&self) -> u32 {
        (self.range.end - self.range.start) as u32
    }

    /// The place of an index in the range.
    pub fn place(&self, index: i64) -> Option<u32> {
        self.range.contains(&index).then(|| (index - self.range.start) as u32)
    }

    /// The number of its permutations, if it fits.
    pub fn permutations(&self) -> Option<u64> {
        let size = u64::from(self.size());
        match self.is_ring {
            true => Some(size),
            false => (1..=size).try_fold(1_u64, u64::checked_mul),
        }
    }
}

/// One of the indices of a group: the number of the group, and the place in its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    /// The group.
    pub group: u32,
    /// The place, counted from 0.
    pub place: u32,
}

/// Where the indices of groups are in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Nowhere.
    Fixed,
    /// The value is an index of this group plus this number (that of the first object of an
    /// array, or 0), or an integer outside of its range, which no permutation changes.
    Index(u32, i64),
    /// In components of a tuple.
    Tuple(Box<[IndexKind]>),
    /// In the items of a list. If there is a group, the positions are its indices, too.
    List(Option<u32>, Box<IndexKind>),
    /// In the elements of a set.
    Set(Box<IndexKind>),
    /// In the keys and the values of a map.
    Map(Box<IndexKind>, Box<IndexKind>),
}

/// A part of a state in which the indices of groups can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Something without indices.
    Word(u32),
    /// An index.
    Member(Member),
    /// Parts in this order.
    Row(Box<[Term]>),
    /// Parts in any order.
    Bag(Box<[Term]>),
    /// Parts at positions. Those from the second number on belong to the indices of the group.
    Array(u32, u32, Box<[Term]>),
}

impl Term {
    /// Parts in this order.
    pub fn row(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::Row(parts.into_iter().collect())
    }

    /// Parts in any order.
    pub fn bag(parts: impl IntoIterator<Item = Term>) -> Term {
        Term::Bag(parts.into_iter().collect())
    }

    /// The term of a value of this kind. `pool` numbers values without indices.
    ///
    /// # Panics
    /// If the value is not of this kind. Then the analysis of the program was wrong, and a search
    /// must not go on.
    pub fn of(value: &Value, kind: &IndexKind, groups: &[Group], pool: &mut Values) -> Term {
        let word = |pool: &mut Values| Term::Word(pool.intern(value.clone()).0);
        let mut all = |parts: &mut dyn Iterator<Item = (&Value, &IndexKind)>| -> Box<[Term]> {
            parts.map(|(part, kind)| Term::of(part, kind, groups, pool)).collect()
        };
        match (kind, value) {
            // Unit stands for the value of a variable that is never read again.
            (IndexKind::Fixed, _) | (_, Value::Unit) => word(pool),
            (IndexKind::Index(group, first), Value::Int(index)) => {
                match groups[*group as usize].place(*index - first) {
                    Some(place) => Term::Member(Member { group: *group, place }),
                    None => word(pool),
                }
            }
            (IndexKind::Tuple(kinds), Value::Tuple(parts)) if kinds.len() == parts.len() => {
                Term::Row(all(&mut parts.iter().zip(kinds)))
            }
            (IndexKind::List(None, kind), Value::List(items)) => {
                Term::Row(all(&mut items.iter().map(|item| (item, &**kind))))
            }
            (IndexKind::List(Some(group), kind), Value::List(items)) => {
                let first = groups[*group as usize].range.start as u32;
                let items = all(&mut items.iter().map(|item| (item, &**kind)));
                Term::Array(*group, first, items)
            }
            (IndexKind::Set(kind), Value::Set(set)) => {
                Term::Bag(all(&mut set.items().iter().map(|item| (item, &**kind))))
            }
            (IndexKind::Map(key, of), Value::Map(map)) => {
                Term::bag(map.iter().map(|(one, other)| {
                    let key = Term::of(one, key, groups, pool);
                    Term::row([key, Term::of(other, of, groups, pool)])
                }))
            }
            // No number at all, where communications of several types were in one list.
            (_, Value::Bool(_) | Value::Variant { .. }) => word(pool),
            (
                IndexKind::Tuple(_) | IndexKind::List(..) | IndexKind::Set(_) | IndexKind::Map(..),
                Value::Int(_),
            ) => word(pool),
            (kind, value) => panic!("{value:?} where the analysis of symmetry expects {kind:?}"),
        }
    }
}

/// What is known of the symmetry of a system with local states `L`.
pub trait Symmetry<L> {
    /// The groups. At least one.
    fn groups(&self) -> &[Group];

    /// The index of a process that exists from the start, if it is of a group.
    fn process(&self, process: ProcessId) -> Option<Member>;

    /// The index of a declared object in its array, if it is of a group.
    fn object(&self, object: Object) -> Option<Member>;

    /// The number of the declaration of a process or of the first object of its array: what the
    /// permutations of its group do not change.
    fn family_of(&self, process: ProcessId) -> u32;

    /// The number of the first object in the array of this object.
    fn array_of(&self, object: Object) -> u32;

    /// What the cell holds, or the messages at the mailbox carry: the value, the source, the tag.
    fn carried(&self, object: Object) -> [&IndexKind; 3];

    /// The term of a local state; `None` for one that is as it is, such as a failed one.
    fn local(&self, local: &L, pool: &mut Values) -> Option<Term>;
}
