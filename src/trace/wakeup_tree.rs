//! Wakeup trees: the continuations that must be explored from a state, as a tree of actions.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), section 6. Each path from the root to a
//! leaf is a continuation to execute; the children of a node are in the order of trying. No child
//! is a weak initial of a path to its right. So when the child is done and sleeps, each path to its
//! right wakes it, and none of them is blocked.
//!
//! [`WakeupTrees::insert`] maintains this invariant (definition 6.5). A new continuation descends
//! to the first child that is a weak initial of it, and the action of this child is removed from
//! the continuation. If it reaches a leaf, it is covered by the continuations of the leaf. If no
//! child is a weak initial of it, it becomes the last child.
//!
//! All trees of a search share one arena with a free list.

use super::continuation::Continuation;
use crate::model::{Action, Effect, System};

const NONE: u32 = u32::MAX;

/// An action of a continuation, with its effect there.
type Step = (Action, Effect);

/// A wakeup tree: the index of the first child of its root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WakeupTree(u32);

impl Default for WakeupTree {
    fn default() -> Self {
        WakeupTree::EMPTY
    }
}

impl WakeupTree {
    /// The tree without a path.
    pub(crate) const EMPTY: WakeupTree = WakeupTree(NONE);

    /// Has the tree no path?
    pub(crate) fn is_empty(&self) -> bool {
        *self == WakeupTree::EMPTY
    }
}

#[derive(Debug)]
struct Node {
    step: Step,
    first_child: u32,
    /// The next child of the same parent; of a free node, the next free one.
    sibling: u32,
    /// If it is a leaf that was given away: the name of what was given.
    ticket: Option<Ticket>,
}

/// Names a continuation that another thread explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(pub(crate) u32);

/// What is below the first child of a tree.
#[derive(Debug)]
pub(crate) enum Below {
    /// This tree; empty if the child is a leaf.
    Tree(WakeupTree),
    /// The child is a leaf that was given away.
    Given(Ticket),
}

/// A leaf of a wakeup tree: the nodes of the path to it.
#[derive(Debug)]
pub(crate) struct Leaf(Vec<u32>);

/// The arena of all wakeup trees of a search.
#[derive(Debug)]
pub(crate) struct WakeupTrees {
    nodes: Vec<Node>,
    free: u32,
    /// Scratch space: the path from the root during an insertion.
    path: Vec<Action>,
}

impl Default for WakeupTrees {
    fn default() -> Self {
        WakeupTrees { nodes: Vec::new(), free: NONE, path: Vec::new() }
    }
}

impl WakeupTrees {
    /// Removes the first child of the tree, and returns its action, and the tree below it, or the
    /// ticket of a leaf that was given away.
    pub(crate) fn take_first(&mut self, tree: &mut WakeupTree) -> Option<(Action, Below)> {
        let first = tree.0;
        let node = self.nodes.get_mut(first as usize)?;
        let below = match node.ticket {
            Some(ticket) => Below::Given(ticket),
            None => Below::Tree(WakeupTree(node.first_child)),
        };
        *tree = WakeupTree(node.sibling);
        node.sibling = self.free;
        self.free = first;
        Some((node.step.0, below))
    }

    /// The first leaf of the tree that was not given away, if there is one.
    pub(crate) fn first_leaf(&self, tree: &WakeupTree) -> Option<Leaf> {
        let mut path = Vec::new();
        self.find_leaf(tree.0, &mut path).then_some(Leaf(path))
    }

    fn find_leaf(&self, first: u32, path: &mut Vec<u32>) -> bool {
        let mut child = first;
        while let Some(node) = self.nodes.get(child as usize) {
            path.push(child);
            let is_found = match node.first_child {
                NONE => node.ticket.is_none(),
                below => self.find_leaf(below, path),
            };
            if is_found {
                return true;
            }
            path.pop();
            child = node.sibling;
        }
        false
    }

    /// The path to a leaf of the tree. For each action, also those to its left, which will be
    /// asleep when it is executed.
    pub(crate) fn path_to(
        &self,
        tree: &WakeupTree,
        leaf: &Leaf,
    ) -> impl Iterator<Item = (Vec<Action>, Action)> {
        let mut first = tree.0;
        leaf.0.iter().map(move |&next| {
            let mut left = Vec::new();
            while first != next {
                let node = &self.nodes[first as usize];
                left.push(node.step.0);
                first = node.sibling;
            }
            let node = &self.nodes[next as usize];
            first = node.first_child;
            (left, node.step.0)
        })
    }

    /// Notes that a leaf was given away.
    pub(crate) fn give(&mut self, leaf: &Leaf, ticket: Ticket) {
        let last = leaf.0.last().expect("a path has a leaf");
        self.nodes[*last as usize].ticket = Some(ticket);
    }

    /// Inserts a continuation v, unless a path of the tree covers it.
    pub(crate) fn insert<S: System>(
        &mut self,
        tree: &mut WakeupTree,
        continuation: &mut impl Continuation<S>,
        v: &mut Vec<usize>,
    ) {
        self.path.clear();
        let (mut parent, mut last, mut child) = (NONE, NONE, tree.0);
        while let Some(node) = self.nodes.get(child as usize) {
            let (action, effect) = &node.step;
            if !continuation.has_weak_initial(&self.path, (*action, effect), v) {
                (last, child) = (child, node.sibling);
                continue;
            }
            let process = |&position: &usize| continuation.event(position).0.process;
            if let Some(index) = v.iter().position(|at| process(at) == action.process) {
                v.remove(index);
            }
            if node.first_child == NONE || v.is_empty() {
                return;
            }
            self.path.push(*action);
            (parent, last, child) = (child, NONE, node.first_child);
        }
        let branch = self.branch(continuation, v);
        match (last, parent) {
            (NONE, NONE) => tree.0 = branch,
            (NONE, parent) => self.nodes[parent as usize].first_child = branch,
            (last, _) => self.nodes[last as usize].sibling = branch,
        }
    }

    /// Adds a new path with the actions of v, and returns its first node.
    fn branch<S: System>(&mut self, continuation: &impl Continuation<S>, v: &[usize]) -> u32 {
        v.iter().rev().fold(NONE, |first_child, &position| {
            let (action, effect) = continuation.event(position);
            let step = (action, effect.clone());
            self.add(Node { step, first_child, sibling: NONE, ticket: None })
        })
    }

    fn add(&mut self, node: Node) -> u32 {
        let free = self.free;
        match self.nodes.get_mut(free as usize) {
            Some(place) => {
                self.free = std::mem::replace(place, node).sibling;
                free
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }
}
