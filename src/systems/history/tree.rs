//! The histories that processes have had so far, as a tree: a history is a node, what was told last
//! is its edge.
//!
//! Nodes are never removed, and what is known of one never changes. So who knows the number of a
//! node can ask for it at any time.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::runner::{Asked, Reply, Told};
use crate::model::{Access, Op};

/// A history, by its place in the tree.
pub(super) type NodeId = u32;

struct Node<S> {
    /// The history without what was told last; `None` for a process that was told nothing yet.
    parent: Option<NodeId>,
    /// Where the process begins.
    root: NodeId,
    told: Told,
    /// What the process asks there; `None` if it has not been started yet.
    reply: Option<Reply<S>>,
}

/// Histories of processes that start from an `S`.
pub(super) struct Tree<S> {
    nodes: Vec<Node<S>>,
    children: HashTable<NodeId>,
    /// Histories in which the process is told this, and is then where it was in another one:
    /// further up, or right there.
    returns: FxHashMap<NodeId, (Told, NodeId)>,
    /// What the processes start from whose histories begin here.
    starts: FxHashMap<NodeId, S>,
    initial: Vec<NodeId>,
    /// The processes that were spawned at the end of a history.
    spawned: FxHashMap<NodeId, NodeId>,
    /// The beginnings of the processes that have ended.
    ended: FxHashSet<NodeId>,
}

impl<S: Clone> Tree<S> {
    /// The histories of processes that were told nothing yet.
    pub(super) fn new(starts: Vec<S>) -> Tree<S> {
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

    /// How many histories there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The beginnings of the processes that exist from the start.
    pub(super) fn initial(&self) -> &[NodeId] {
        &self.initial
    }

    /// The history without what was told last.
    pub(super) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node as usize].parent
    }

    /// What was told last.
    pub(super) fn told(&self, node: NodeId) -> &Told {
        &self.nodes[node as usize].told
    }

    /// What the process asks there, if that is known.
    pub(super) fn reply(&self, node: NodeId) -> Option<&Reply<S>> {
        self.nodes[node as usize].reply.as_ref()
    }

    /// May the process be told more than one thing there?
    pub(super) fn varies(&self, node: NodeId) -> bool {
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

    /// Notes what the process asks first.
    pub(super) fn begin(&mut self, root: NodeId, reply: Reply<S>) {
        self.nodes[root as usize].reply.get_or_insert(reply);
    }

    /// What the process with this history was started from.
    pub(super) fn start(&self, node: NodeId) -> &S {
        &self.starts[&self.root(node)]
    }

    fn root(&self, node: NodeId) -> NodeId {
        self.nodes[node as usize].root
    }

    /// Notes that a process that had this history has ended. Is it the first with its beginning?
    pub(super) fn end(&mut self, node: NodeId) -> bool {
        let root = self.root(node);
        self.ended.insert(root)
    }

    /// The beginning of the process that is spawned at the end of this history.
    pub(super) fn spawned(&mut self, node: NodeId, start: &S) -> NodeId {
        if let Some(&root) = self.spawned.get(&node) {
            return root;
        }
        let root = self.plant(start.clone());
        self.spawned.insert(node, root);
        root
    }

    /// From now on the process that has the history `node` and is told this has the history
    /// `earlier` again, if none goes on from there yet. Returns the one that it has.
    pub(super) fn come_back(&mut self, node: NodeId, told: Told, earlier: NodeId) -> NodeId {
        if let Some(known) = self.child(node, &told) {
            return known;
        }
        self.returns.insert(node, (told, earlier));
        earlier
    }

    /// The history that goes on from `node` with this, if there is one.
    pub(super) fn child(&self, node: NodeId, told: &Told) -> Option<NodeId> {
        let found = self.children.find(hash(node, told), |&child| {
            let child = &self.nodes[child as usize];
            child.parent == Some(node) && child.told == *told
        });
        let back = || self.returns.get(&node).filter(|(known, _)| known == told);
        found.copied().or_else(|| back().map(|&(_, earlier)| earlier))
    }

    /// Adds a history that goes on from `node` with this.
    pub(super) fn grow(&mut self, node: NodeId, told: Told, reply: Reply<S>) -> NodeId {
        let hash_of = hash(node, &told);
        let child =
            self.push(Node { parent: Some(node), root: self.root(node), told, reply: Some(reply) });
        let nodes = &self.nodes;
        self.children.insert_unique(hash_of, child, |&child| {
            let child = &nodes[child as usize];
            hash(child.parent.expect("a child"), &child.told)
        });
        child
    }

    /// Puts a history in the place of `known`, which has the same told. It is the one that is found
    /// from now on.
    pub(super) fn replace(&mut self, known: NodeId, reply: Reply<S>) -> NodeId {
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
