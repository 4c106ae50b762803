//! The stored states, each once, compressed as trees that share most of their nodes.
//!
//! A state is given by its portrait, a canonical vector of numbers
//! ([`State::portrait`](crate::model::State::portrait)). The vector is folded to a binary tree:
//! neighbours form a pair, neighbouring pairs form a pair, up to one pair for the whole, and each
//! distinct pair is stored once (tree compression: Blom, Lisper, van de Pol, Weber, *A database
//! approach to distributed state-space generation*, J. Logic Comput. 2011; Laarman, van de Pol,
//! Weber, SPIN 2011). A step changes a number or two, so all of a new state's tree except one or
//! two paths exists already. Matching is exact: equal roots are equal lists.
//!
//! ```text
//!        root             a state: 8 bytes for its root, and an entry in the table
//!       /    \
//!     pair   pair
//!     / \    / \
//!    3   1  0   7         cells, queues, local states
//! ```
//!
//! *Incremental.* The tree of the last list is kept. Only nodes above numbers that have changed are
//! looked up: in a depth-first search the last state is a neighbour.
//!
//! *Hash compaction* (Wolper, Leroy, CAV 1993) keeps a hash of 64 bits instead. That needs less
//! memory, but two states may be mistaken for one.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A stored state. States are numbered in the order in which they were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateId(pub(crate) u32);

impl StateId {
    /// The position in an arena.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of states.
pub(crate) enum Store {
    /// The whole states.
    Exact(Trees),
    /// Only their hashes.
    Compacted(Hashes),
}

impl Store {
    /// An empty store. With `compact` it stores only hashes.
    pub(crate) fn new(compact: bool) -> Store {
        if compact { Store::Compacted(Hashes::default()) } else { Store::Exact(Trees::default()) }
    }

    /// The state with this portrait, if it is stored.
    pub(crate) fn find(&mut self, portrait: &[u32]) -> Option<StateId> {
        match self {
            Store::Exact(trees) => trees.find(portrait),
            Store::Compacted(hashes) => hashes.find(portrait),
        }
    }

    /// Stores the state with this portrait. Returns its number, and whether it is new.
    pub(crate) fn insert(&mut self, portrait: &[u32]) -> (StateId, bool) {
        match self {
            Store::Exact(trees) => trees.insert(portrait),
            Store::Compacted(hashes) => hashes.insert(portrait),
        }
    }

    /// The number of stored states.
    pub fn count(&self) -> usize {
        match self {
            Store::Exact(trees) => trees.roots.pairs.len(),
            Store::Compacted(hashes) => hashes.hashes.len(),
        }
    }

    /// The bytes that the next insertion may allocate, besides those in use.
    pub(crate) fn growth(&self) -> usize {
        match self {
            Store::Exact(trees) => trees.nodes.growth(trees.last.len()) + trees.roots.growth(1),
            Store::Compacted(_) => 0,
        }
    }

    /// Bytes in use for the states.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Store::Exact(trees) => trees.nodes.bytes() + trees.roots.bytes(),
            Store::Compacted(hashes) => hashes.hashes.len() * 8 + hashes.ids.capacity() * 5,
        }
    }
}

/// A set of pairs, numbered. Lookup and insertion take O(1) amortised.
#[derive(Default)]
struct Pairs {
    ids: HashTable<u32>,
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    fn find(&self, pair: (u32, u32)) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(pair);
        self.ids.find(hash, |&id| self.pairs[id as usize] == pair).copied()
    }

    fn insert(&mut self, pair: (u32, u32)) -> (u32, bool) {
        let hash = FxBuildHasher.hash_one(pair);
        if let Some(&id) = self.ids.find(hash, |&id| self.pairs[id as usize] == pair) {
            return (id, false);
        }
        let id = self.pairs.len() as u32;
        self.pairs.push(pair);
        let pairs = &self.pairs;
        self.ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(pairs[id as usize]));
        (id, true)
    }

    /// The bytes that are allocated while `added` pairs are inserted. Lists and tables double their
    /// size.
    fn growth(&self, added: usize) -> usize {
        let (listed, hashed) = (self.pairs.capacity(), self.ids.capacity());
        let next = |capacity: usize, each| match self.pairs.len() + added > capacity {
            true => 2 * capacity * each,
            false => 0,
        };
        next(listed, 8) + next(hashed, 6)
    }

    fn bytes(&self) -> usize {
        self.pairs.len() * 8 + self.ids.capacity() * 5
    }
}

/// The states as trees.
#[derive(Default)]
pub(crate) struct Trees {
    /// The inner nodes.
    nodes: Pairs,
    /// For each state, the root of its tree and the length of its list.
    roots: Pairs,
    /// The tree of the last list: its n numbers at n to 2n - 1, and at i < n the pair of the
    /// entries at 2i and 2i + 1.
    last: Vec<u32>,
    /// The places of `last` that have changed.
    changed: Vec<bool>,
}

impl Trees {
    fn insert(&mut self, list: &[u32]) -> (StateId, bool) {
        let root = self.fold(list);
        let (id, is_new) = self.roots.insert(root);
        (StateId(id), is_new)
    }

    fn find(&mut self, list: &[u32]) -> Option<StateId> {
        let root = self.fold(list);
        self.roots.find(root).map(StateId)
    }

    /// The entry for a list, with its root.
    fn fold(&mut self, list: &[u32]) -> (u32, u32) {
        let width = list.len();
        let is_other_shape = self.last.len() != 2 * width;
        if is_other_shape {
            self.last.resize(2 * width, 0);
            self.changed.resize(2 * width, true);
        }
        for (place, &number) in (width..).zip(list) {
            self.changed[place] = is_other_shape || self.last[place] != number;
            self.last[place] = number;
        }
        for place in (1..width).rev() {
            let is_changed = self.changed[2 * place] || self.changed[2 * place + 1];
            self.changed[place] = is_changed;
            if is_changed {
                let pair = (self.last[2 * place], self.last[2 * place + 1]);
                self.last[place] = self.nodes.insert(pair).0;
            }
        }
        (self.last.get(1).copied().unwrap_or(0), width as u32)
    }
}

/// The states as hashes.
#[derive(Default)]
pub(crate) struct Hashes {
    ids: HashTable<u32>,
    hashes: Vec<u64>,
}

impl Hashes {
    fn find(&self, list: &[u32]) -> Option<StateId> {
        let hash = FxBuildHasher.hash_one(list);
        self.ids.find(hash, |&id| self.hashes[id as usize] == hash).map(|&id| StateId(id))
    }

    fn insert(&mut self, list: &[u32]) -> (StateId, bool) {
        if let Some(id) = self.find(list) {
            return (id, false);
        }
        let hash = FxBuildHasher.hash_one(list);
        let id = self.hashes.len() as u32;
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.ids.insert_unique(hash, id, |&id| hashes[id as usize]);
        (StateId(id), true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    use super::*;

    proptest! {
        #[test]
        fn a_state_is_its_portrait(
            lists in prop::collection::vec(prop::collection::vec(0_u32..3, 0..7), 0..60)
        ) {
            let (mut store, mut twin) = (Store::new(false), FxHashMap::default());
            for list in lists {
                let known = twin.get(&list).copied();
                prop_assert_eq!(store.find(&list), known);
                let next = StateId(twin.len() as u32);
                let id = *twin.entry(list.clone()).or_insert(next);
                prop_assert_eq!(store.insert(&list), (id, known.is_none()));
            }
            prop_assert_eq!(store.count(), twin.len());
        }
    }

    #[test]
    fn neighbours_share_most_of_their_trees() {
        let mut store = Store::new(false);
        for number in 0..1000 {
            let mut list = vec![7; 64];
            list[number % 64] = number as u32;
            store.insert(&list);
        }
        let Store::Exact(trees) = &store else { unreachable!("it was asked for") };
        assert!(trees.nodes.pairs.len() < 1000 * 7, "not more than a path each");
    }
}
