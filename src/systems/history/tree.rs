//! The histories of processes so far, as a tree: a history is a node, and its last observation is
//! the edge to it.
//!
//! What is known of a node never changes. If there are many nodes, one goes when no search holds it
//! any more ([`Tree::release`]) and none continues it. Its number is used again.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::runner::{Asked, Reply, Told};
use crate::model::{Access, Op};

/// A history, by its index in the tree.
pub(crate) type NodeId = u32;

/// The most nodes that are all kept.
const FEW: usize = 1 << 14;

struct Node<S> {
    /// How many nodes had been added before.
    birth: u64,
    /// The number of times that searches hold it.
    held: AtomicU32,
    /// The number of histories that continue it, and of processes spawned at its end.
    continued: u32,
    /// The history without its last observation; `None` for the empty history of a start.
    parent: Option<NodeId>,
    /// The node of the empty history.
    root: NodeId,
    told: Told,
    /// The question of the process there; `None` if it has not been started yet.
    reply: Option<Reply<S>>,
}

/// The histories of processes whose starts have the type `S`.
pub(crate) struct Tree<S> {
    nodes: Vec<Node<S>>,
    /// The numbers of nodes that are gone.
    free: Vec<NodeId>,
    /// The number of nodes that were added.
    added: u64,
    /// The most nodes that are all kept.
    few: usize,
    children: HashTable<NodeId>,
    /// Observations that lead back: after `node` and this observation, the process has another
    /// history again, a prefix of `node` or `node` itself.
    returns: FxHashMap<NodeId, Vec<(Told, NodeId)>>,
    /// The starts of the processes whose histories begin here.
    starts: FxHashMap<NodeId, S>,
    initial: Vec<NodeId>,
    /// The processes that were spawned at the end of a history.
    spawned: FxHashMap<NodeId, NodeId>,
    /// The empty histories of the processes that have ended.
    ended: FxHashSet<NodeId>,
}

impl<S: Clone> Tree<S> {
    /// The empty histories of processes with these starts.
    pub(crate) fn new(starts: Vec<S>) -> Tree<S> {
        let mut tree = Tree {
            nodes: Vec::new(),
            free: Vec::new(),
            added: 0,
            few: FEW,
            children: HashTable::new(),
            returns: FxHashMap::default(),
            starts: FxHashMap::default(),
            initial: Vec::new(),
            spawned: FxHashMap::default(),
            ended: FxHashSet::default(),
        };
        tree.initial = starts.into_iter().map(|start| tree.plant(start)).collect();
        tree
    }

    /// Adds a node: a history that continues its parent, or the empty history of a process.
    fn push(&mut self, parent: Option<NodeId>, told: Told, reply: Option<Reply<S>>) -> NodeId {
        let id = self.free.pop().unwrap_or(self.nodes.len() as NodeId);
        let root = parent.map_or(id, |parent| self.root(parent));
        if let Some(parent) = parent {
            self.nodes[parent as usize].continued += 1;
        }
        let (birth, held) = (self.added, AtomicU32::new(0));
        self.added += 1;
        let node = Node { birth, held, continued: 0, parent, root, told, reply };
        match self.nodes.get_mut(id as usize) {
            Some(place) => *place = node,
            None => self.nodes.push(node),
        }
        id
    }

    fn plant(&mut self, start: S) -> NodeId {
        let root = self.push(None, Told::Unit, None);
        self.starts.insert(root, start);
        root
    }

    /// A search holds this node, until it is [released](Tree::release) as often.
    pub(crate) fn hold(&self, node: NodeId) {
        self.nodes[node as usize].held.fetch_add(1, Ordering::Relaxed);
    }

    /// A search holds this node once less. Returns whether it is to be [pruned](Tree::prune).
    pub(crate) fn release(&self, node: NodeId) -> bool {
        let Node { held, continued, .. } = &self.nodes[node as usize];
        let is_last = held.fetch_sub(1, Ordering::Relaxed) == 1;
        is_last && *continued == 0 && self.nodes.len() - self.free.len() > self.few
    }

    /// Removes a node if no search holds it and none continues it; and then its parents likewise.
    pub(crate) fn prune(&mut self, mut node: NodeId) {
        while let Node { continued: 0, parent: Some(parent), held, told, .. } =
            &mut self.nodes[node as usize]
            && *held.get_mut() == 0
        {
            let (parent, hash_of) = (*parent, hash(*parent, told));
            if let Ok(place) = self.children.find_entry(hash_of, |&child| child == node) {
                place.remove();
            }
            self.returns.remove(&node);
            let gone = &mut self.nodes[node as usize];
            (gone.told, gone.reply) = (Told::Unit, None);
            // It cannot be pruned again.
            gone.continued = u32::MAX;
            self.free.push(node);
            self.nodes[parent as usize].continued -= 1;
            node = parent;
        }
    }

    /// Distinguishes a node from others that have its number at another time.
    pub(crate) fn birth(&self, node: NodeId) -> u64 {
        self.nodes[node as usize].birth
    }

    /// Is a history a prefix of another one of the same process, or the same?
    pub(crate) fn is_at_or_before(&self, node: NodeId, later: NodeId) -> bool {
        // A history was added later than its prefixes.
        let birth = self.birth(node);
        let mut prefixes = std::iter::successors(Some(later), |&node| self.parent(node));
        prefixes.find(|&prefix| self.birth(prefix) <= birth) == Some(node)
    }

    /// Keeps all nodes if there are not more than this.
    pub(crate) fn keep_few(&mut self, few: usize) {
        self.few = few;
    }

    /// The number of histories that were added.
    pub(crate) fn added(&self) -> u64 {
        self.added
    }

    /// All histories, if none is ever released.
    pub(crate) fn all(&self) -> Range<NodeId> {
        0..self.nodes.len() as NodeId
    }

    /// The empty histories of the processes that exist from the start.
    pub(crate) fn initial(&self) -> &[NodeId] {
        &self.initial
    }

    /// The history without its last observation.
    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node as usize].parent
    }

    /// The last observation.
    pub(crate) fn told(&self, node: NodeId) -> &Told {
        &self.nodes[node as usize].told
    }

    /// The question of the process there, if it is known.
    pub(crate) fn reply(&self, node: NodeId) -> Option<&Reply<S>> {
        self.nodes[node as usize].reply.as_ref()
    }

    /// Whether more than one outcome is possible there.
    pub(crate) fn varies(&self, node: NodeId) -> bool {
        let Some(Reply { asked: Asked::Op { op, .. }, .. }) = self.reply(node) else {
            return false;
        };
        match op {
            Op::WaitAny(_) | Op::TestAny(_) | Op::Probe { .. } | Op::CancelOutcome(_) => true,
            Op::MutexWaitAny(requests) => requests.len() > 1,
            Op::MutexTestAny(_) | Op::TryLock(_) | Op::Choose { .. } | Op::Join(_) => true,
            Op::Access(_, access) => !matches!(access, Access::Write(_)),
            _ => false,
        }
    }

    /// Records the question of a process with this history.
    pub(crate) fn begin(&mut self, root: NodeId, reply: Reply<S>) {
        self.nodes[root as usize].reply.get_or_insert(reply);
    }

    /// The start of the process with this history.
    pub(crate) fn start(&self, node: NodeId) -> &S {
        &self.starts[&self.root(node)]
    }

    /// The empty history of the process with this history.
    pub(crate) fn root(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].root
    }

    /// Records that a process with this history has ended. Returns whether it is the first one of
    /// its start.
    pub(crate) fn end(&mut self, node: NodeId) -> bool {
        let root = self.root(node);
        self.ended.insert(root)
    }

    /// The empty history of the process that is spawned at the end of this history.
    pub(crate) fn spawned(&mut self, node: NodeId, start: &S) -> NodeId {
        if let Some(&root) = self.spawned.get(&node) {
            return root;
        }
        let root = self.plant(start.clone());
        self.spawned.insert(node, root);
        self.nodes[node as usize].continued += 1;
        root
    }

    /// The empty history of the process that is spawned at the end of this history, if it is known.
    pub(crate) fn known_child(&self, node: NodeId) -> Option<NodeId> {
        self.spawned.get(&node).copied()
    }

    /// From now on, a process with the history `node` that makes this observation has the history
    /// `earlier` again, unless a history that continues `node` with it exists already. Returns the
    /// history that results.
    pub(crate) fn come_back(&mut self, node: NodeId, told: Told, earlier: NodeId) -> NodeId {
        if let Some(known) = self.child(node, &told) {
            return known;
        }
        self.returns.entry(node).or_default().push((told, earlier));
        earlier
    }

    /// No observation leads back any more, until it does again.
    pub(crate) fn forget_returns(&mut self) {
        self.returns.clear();
    }

    /// The history that continues `node` with this observation, if it exists.
    pub(crate) fn child(&self, node: NodeId, told: &Told) -> Option<NodeId> {
        let found = self.children.find(hash(node, told), |&child| {
            let child = &self.nodes[child as usize];
            child.parent == Some(node) && child.told == *told
        });
        let back = || self.returns.get(&node)?.iter().find(|(known, _)| known == told);
        found.copied().or_else(|| back().map(|&(_, earlier)| earlier))
    }

    /// Adds a history that continues `node` with this observation.
    pub(crate) fn grow(&mut self, node: NodeId, told: Told, reply: Reply<S>) -> NodeId {
        let child = self.extend(node, told);
        self.begin(child, reply);
        child
    }

    /// The history that continues `node` with this observation. If it is added, the question of the
    /// process there is not known.
    pub(crate) fn extend(&mut self, node: NodeId, told: Told) -> NodeId {
        if let Some(known) = self.child(node, &told) {
            return known;
        }
        let hash_of = hash(node, &told);
        let child = self.push(Some(node), told, None);
        let nodes = &self.nodes;
        self.children.insert_unique(hash_of, child, |&child| {
            let child = &nodes[child as usize];
            hash(child.parent.expect("a child"), &child.told)
        });
        child
    }

    /// Adds a history with the same observations as `known`, which replaces it in all later
    /// look-ups.
    pub(crate) fn replace(&mut self, known: NodeId, reply: Reply<S>) -> NodeId {
        let node = &self.nodes[known as usize];
        let (parent, told) = (node.parent, node.told.clone());
        let hash_of = hash(parent.expect("a child"), &told);
        let new = self.push(parent, told, Some(reply));
        let place = self.children.find_mut(hash_of, |&child| child == known);
        *place.expect("a history that is found") = new;
        new
    }
}

fn hash(parent: NodeId, told: &Told) -> u64 {
    FxBuildHasher.hash_one((parent, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_goes_with_its_last_holder_and_its_prefixes_with_it() {
        let mut tree = Tree::new(vec!["process"]);
        tree.keep_few(0);
        let root = tree.initial()[0];
        let grow = |tree: &mut Tree<_>, from, seen| {
            let node = tree.grow(from, Told::Chosen(seen), Reply::new(Asked::Done, None));
            tree.hold(node);
            node
        };
        let first = grow(&mut tree, root, 1);
        let [left, right] = [2, 3].map(|seen| grow(&mut tree, first, seen));
        assert!(!tree.release(first), "others continue it");
        assert!(tree.release(left));
        tree.prune(left);
        assert_eq!(tree.child(first, &Told::Chosen(2)), None);
        assert_eq!(tree.child(first, &Told::Chosen(3)), Some(right));
        let births = [first, right].map(|node| tree.birth(node));
        let again = grow(&mut tree, right, 4);
        assert_eq!(again, left, "its number is used again");
        assert!(tree.birth(again) > births[1] && tree.is_at_or_before(first, again));
        assert!(!tree.is_at_or_before(again, right));
        assert!(!tree.release(right) && tree.release(again));
        tree.prune(again);
        assert_eq!(tree.child(root, &Told::Chosen(1)), None, "no one needs any of them");
        assert_eq!((tree.nodes.len() - tree.free.len(), tree.added()), (1, 5));
    }
}
