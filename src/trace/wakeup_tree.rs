//! Wakeup trees: the continuations that a state is known to need, as a tree of actions.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), section 6. Each path from the root to a
//! leaf is a continuation to be executed; the children of a node are in the order of trying. No
//! child is a weak initial of a path to its right. So when the child is done and sleeps, each of
//! those paths wakes it, and none of them is blocked.
//!
//! [`WakeupTrees::insert`] keeps that (definition 6.5): a new continuation goes down into the first
//! child that is a weak initial of it, and loses that action if it has it. If it comes to a leaf in
//! this way, it is explored with the continuations that the leaf stands for. If no child is a weak
//! initial of it, it becomes the last child.
//!
//! All trees of a search live in one arena, with a list of the nodes that are free.

use super::reversal::Reversal;
use crate::model::{Action, Effect, System};

const NONE: u32 = u32::MAX;

/// An action of a continuation, with what it touches there.
type Step = (Action, Effect);

/// A wakeup tree, by its first child of the root.
#[derive(Debug, PartialEq, Eq)]
pub struct WakeupTree(u32);

impl Default for WakeupTree {
    fn default() -> Self {
        WakeupTree::EMPTY
    }
}

impl WakeupTree {
    /// The empty tree, without a path.
    pub const EMPTY: WakeupTree = WakeupTree(NONE);

    /// Is it without a path?
    pub fn is_empty(&self) -> bool {
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

/// The arena.
#[derive(Debug)]
pub struct WakeupTrees {
    nodes: Vec<Node>,
    free: u32,
    /// The way down during an insertion.
    path: Vec<Action>,
}

impl Default for WakeupTrees {
    fn default() -> Self {
        WakeupTrees { nodes: Vec::new(), free: NONE, path: Vec::new() }
    }
}

impl WakeupTrees {
    /// Takes the first child off the tree, and returns its action and the tree below it.
    pub fn take_first(&mut self, tree: &mut WakeupTree) -> Option<(Action, WakeupTree)> {
        let first = tree.0;
        let node = self.nodes.get_mut(first as usize)?;
        let below = WakeupTree(node.first_child);
        *tree = WakeupTree(node.sibling);
        node.sibling = self.free;
        self.free = first;
        Some((node.step.0, below))
    }

    /// Adds a continuation v, unless there is a path that stands for it.
    pub fn insert<S: System>(
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

    /// Builds a new path for it.
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
