//! The configurations that a search has visited.
//!
//! A configuration is known by the last event of each process. These events are the leaves of a
//! binary tree, in the order of the processes, and equal trees are stored once: so two
//! configurations are equal iff they have the same root. C ∪ {e} differs from C in one leaf, so it
//! needs one new node for each level, and shares all others with C. No list is copied or compared.
//!
//! ```text
//!       2             a process has no event yet: 0; after b follows c at the same process:
//!      / \                                     3
//!     1   d                                   / \
//!    / \           becomes                   4   d
//!   a   b                                   a c
//! ```
//!
//! The tree has as many levels as the largest process with an event needs. That follows from C, so
//! it does not depend on the way to C.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::model::ProcessId;
use crate::unfolding::EventId;

/// A node or a leaf of a tree. [`NONE`] is the empty tree; leaves have the bit [`LEAF`].
type Tree = u32;

const NONE: Tree = 0;
const LEAF: Tree = 1 << 31;

/// A configuration.
#[derive(Clone, Copy, Debug, Default)]
struct Root {
    tree: Tree,
    levels: u32,
}

/// The set of visited configurations, and the way from ∅ to the current one.
#[derive(Default)]
pub struct Visited {
    /// The subtrees of each node; the first node has the number 1.
    nodes: Vec<[Tree; 2]>,
    numbers: HashTable<Tree>,
    roots: FxHashSet<Tree>,
    way: Vec<Root>,
}

impl Visited {
    /// Goes from the current C to C ∪ {e}, for an e of this process, if C ∪ {e} was not visited
    /// before. Returns whether it went there. O(log n) for n processes.
    pub fn enter(&mut self, process: ProcessId, e: EventId) -> bool {
        let Root { mut tree, mut levels } = self.way.last().copied().unwrap_or_default();
        while process.0 >> levels > 0 {
            tree = self.node([tree, NONE]);
            levels += 1;
        }
        let root = self.with(tree, levels, process.0, LEAF | e.0);
        let is_new = self.roots.insert(root);
        if is_new {
            self.way.push(Root { tree: root, levels });
        }
        is_new
    }

    /// Goes back from the current C to where it was entered from.
    pub fn leave(&mut self) {
        self.way.pop();
    }

    /// The tree with another leaf at this place.
    fn with(&mut self, tree: Tree, levels: u32, place: u32, leaf: Tree) -> Tree {
        let Some(level) = levels.checked_sub(1) else { return leaf };
        let mut subtrees = match tree {
            NONE => [NONE; 2],
            tree => self.nodes[tree as usize - 1],
        };
        let side = (place >> level & 1) as usize;
        subtrees[side] = self.with(subtrees[side], level, place, leaf);
        self.node(subtrees)
    }

    /// The node with these subtrees.
    fn node(&mut self, subtrees: [Tree; 2]) -> Tree {
        if subtrees == [NONE; 2] {
            return NONE;
        }
        let Visited { nodes, numbers, .. } = self;
        let hash = |subtrees: &[Tree; 2]| FxBuildHasher.hash_one(subtrees);
        let of = |tree: &Tree| &nodes[*tree as usize - 1];
        if let Some(&known) = numbers.find(hash(&subtrees), |tree| *of(tree) == subtrees) {
            return known;
        }
        let number = nodes.len() as Tree + 1;
        numbers.insert_unique(hash(&subtrees), number, |tree| hash(of(tree)));
        nodes.push(subtrees);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::random::SplitMix64;

    /// On random ways forth and back, a configuration is new iff a set of maps says so.
    #[test]
    fn configurations_are_equal_iff_their_last_events_are() {
        let (mut visited, mut rng) = (Visited::default(), SplitMix64::new(1));
        let mut known: BTreeSet<BTreeMap<u32, u32>> = BTreeSet::new();
        let mut way: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new()];
        let mut again = 0;
        for _ in 0..5_000 {
            if rng.below(5) < 2 && way.len() > 1 {
                visited.leave();
                way.pop();
                continue;
            }
            let process = rng.below(9) as u32;
            let mut next = way.last().expect("the current one").clone();
            let event = next.get(&process).map_or(10_000 * process, |&last| last + 1);
            next.insert(process, event);
            let is_new = known.insert(next.clone());
            assert_eq!(visited.enter(ProcessId(process), EventId(event)), is_new, "{next:?}");
            match is_new {
                true => way.push(next),
                false => again += 1,
            }
        }
        assert!(known.len() > 1_000 && again > 100, "{} and {again}", known.len());
    }
}
