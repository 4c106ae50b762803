//! The histories of processes so far, as a tree: a history is a node, and its last observation is
//! the edge to it.
//!
//! Nodes are never removed, and what is known of a node never changes. So the number of a node
//! stays valid.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::runner::{Asked, Reply, Told};
use crate::model::{Access, Op};

/// A history, by its index in the tree.
pub(crate) type NodeId = u32;

struct Node<S> {
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

    fn push(&mut self, node: Node<S>) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    fn plant(&mut self, start: S) -> NodeId {
        let root = self.nodes.len() as NodeId;
        self.push(Node { parent: None, root, told: Told::Unit, reply: None });
        self.starts.insert(root, start);
        root
    }

    /// Is a history a prefix of another one of the same process, or the same?
    pub(crate) fn is_at_or_before(&self, node: NodeId, later: NodeId) -> bool {
        // A history has a larger number than its prefixes.
        let mut prefixes = std::iter::successors(Some(later), |&node| self.parent(node));
        prefixes.find(|&prefix| prefix <= node) == Some(node)
    }

    /// The number of histories.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
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
        let child =
            self.push(Node { parent: Some(node), root: self.root(node), told, reply: None });
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
        let (parent, root, told) = (node.parent, node.root, node.told.clone());
        let hash_of = hash(parent.expect("a child"), &told);
        let new = self.push(Node { parent, root, told, reply: Some(reply) });
        let place = self.children.find_mut(hash_of, |&child| child == known);
        *place.expect("a history that is found") = new;
        new
    }
}

fn hash(parent: NodeId, told: &Told) -> u64 {
    FxBuildHasher.hash_one((parent, told))
}
