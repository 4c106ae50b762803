//! Wakeup trees: the continuations that a state is known to need, as a tree of actions.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), section 6. Each path from the root to a leaf is a
//! continuation to be executed; the children of a node are in the order of trying. No child is a weak initial
//! of a path that begins with an older sibling's.. that is, of any path to its right. So when the child to the left is
//! done and sleeps, the path to the right wakes it, and cannot be blocked.
//!
//! [`WakeupTrees::insert`] keeps that (definition 6.5): a new continuation v goes down into the first child
//! that is a weak initial of it, losing that action if it has it, until it ends in a leaf, and then is
//! explored with what that leaf stands for, or finds no such child, and becomes the last one.
//!
//! All trees of a search live in one arena, with a list of the nodes that are free.

use crate::model::{Action, Footprint};

const NONE: u32 = u32::MAX;

/// An action of a continuation, with what it touches there.
pub type Step = (Action, Footprint);

/// A wakeup tree, by its first child of the root.
#[derive(Debug, PartialEq, Eq)]
pub struct WakeupTree(u32);

impl WakeupTree {
    /// The tree without a path.
    pub const EMPTY: WakeupTree = WakeupTree(NONE);

    /// Has it no path?
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
    /// Takes the first child off the tree: its action, and the tree below it.
    pub fn take_first(&mut self, tree: &mut WakeupTree) -> Option<(Action, WakeupTree)> {
        let first = tree.0;
        let node = self.nodes.get_mut(first as usize)?;
        let below = WakeupTree(node.first_child);
        *tree = WakeupTree(node.sibling);
        node.sibling = self.free;
        self.free = first;
        Some((node.step.0, below))
    }

    /// Adds a continuation, unless there is a path that stands for it. `is_weak_initial` is asked, after some
    /// actions, of a child, and what the continuation then still has to do. What it has in common with
    /// the tree is removed from `v`.
    pub fn insert(
        &mut self,
        tree: &mut WakeupTree,
        v: &mut Vec<Step>,
        mut is_weak_initial: impl FnMut(&[Action], &Step, &[Step]) -> bool,
    ) {
        self.path.clear();
        let mut parent = NONE;
        let (mut child, mut last) = (tree.0, NONE);
        while child != NONE {
            let node = &self.nodes[child as usize];
            if !is_weak_initial(&self.path, &node.step, v) {
                (last, child) = (child, node.sibling);
                continue;
            }
            let action = node.step.0;
            if let Some(index) = v.iter().position(|step| step.0.process == action.process) {
                v.remove(index);
            }
            if node.first_child == NONE || v.is_empty() {
                return;
            }
            self.path.push(action);
            parent = child;
            (child, last) = (node.first_child, NONE);
        }
        let branch = self.branch(v);
        match (last, parent) {
            (NONE, NONE) => tree.0 = branch,
            (NONE, parent) => self.nodes[parent as usize].first_child = branch,
            (last, _) => self.nodes[last as usize].sibling = branch,
        }
    }

    /// A path of its own.
    fn branch(&mut self, v: &mut Vec<Step>) -> u32 {
        let mut first_child = NONE;
        while let Some(step) = v.pop() {
            let node = Node { step, first_child, sibling: NONE };
            first_child = match self.free {
                NONE => {
                    self.nodes.push(node);
                    self.nodes.len() as u32 - 1
                }
                free => {
                    let place = &mut self.nodes[free as usize];
                    self.free = place.sibling;
                    *place = node;
                    free
                }
            };
        }
        first_child
    }
}
