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

use super::reversal::Reversal;
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
}

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
    /// Removes the first child of the tree, and returns its action and the tree below it.
    pub(crate) fn take_first(&mut self, tree: &mut WakeupTree) -> Option<(Action, WakeupTree)> {
        let first = tree.0;
        let node = self.nodes.get_mut(first as usize)?;
        let below = WakeupTree(node.first_child);
        *tree = WakeupTree(node.sibling);
        node.sibling = self.free;
        self.free = first;
        Some((node.step.0, below))
    }

    /// Inserts a continuation v, unless a path of the tree covers it.
    pub(crate) fn insert<S: System>(
        &mut self,
        tree: &mut WakeupTree,
        reversal: &mut Reversal<'_, '_, S>,
        v: &mut Vec<usize>,
    ) {
        self.path.clear();
        let (mut parent, mut last, mut child) = (NONE, NONE, tree.0);
        while let Some(node) = self.nodes.get(child as usize) {
            let (action, effect) = &node.step;
            if !reversal.has_weak_initial(&self.path, (*action, effect), v) {
                (last, child) = (child, node.sibling);
                continue;
            }
            let process = |&position: &usize| reversal.event(position).0.process;
            if let Some(index) = v.iter().position(|at| process(at) == action.process) {
                v.remove(index);
            }
            if node.first_child == NONE || v.is_empty() {
                return;
            }
            self.path.push(*action);
            (parent, last, child) = (child, NONE, node.first_child);
        }
        let branch = self.branch(reversal, v);
        match (last, parent) {
            (NONE, NONE) => tree.0 = branch,
            (NONE, parent) => self.nodes[parent as usize].first_child = branch,
            (last, _) => self.nodes[last as usize].sibling = branch,
        }
    }

    /// Adds a new path with the actions of v, and returns its first node.
    fn branch<S: System>(&mut self, reversal: &Reversal<'_, '_, S>, v: &[usize]) -> u32 {
        v.iter().rev().fold(NONE, |first_child, &position| {
            let (action, effect) = reversal.event(position);
            self.add(Node { step: (action, effect.clone()), first_child, sibling: NONE })
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
