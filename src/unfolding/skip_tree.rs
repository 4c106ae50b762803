//! Trees that only grow at the leaves, with jump pointers: the ancestor at a given depth in O(log
//! n).
//!
//! Skew-binary jump pointers (Myers, "An applicative random-access stack", IPL 1983): a node jumps
//! either to its parent or, when the two jumps before it have the same length, over both. One word
//! per node, O(1) to add a leaf.
//!
//! The root is [`EventId::NONE`] at depth 0.

use super::event::{Event, EventId, Node};
use super::lanes::Lane;
use super::structure::EventStructure;

impl EventStructure {
    /// The node of `event` in the tree of `lane`.
    #[inline]
    pub(super) fn node(&self, lane: Lane, event: EventId) -> &Node {
        node(&self.events, self.lanes.is_process(lane), event)
    }

    /// The number of events of `lane` up to and including `event`.
    #[inline]
    pub(crate) fn depth(&self, lane: Lane, event: EventId) -> u32 {
        self.node(lane, event).depth
    }

    /// The node of a new child of `parent`.
    pub(super) fn child_node(&self, lane: Lane, parent: EventId) -> Node {
        let Node { jump, depth, .. } = *self.node(lane, parent);
        let Node { jump: jump_jump, depth: jump_depth, .. } = *self.node(lane, jump);
        let same_length = depth - jump_depth == jump_depth - self.depth(lane, jump_jump);
        Node { parent, jump: if same_length { jump_jump } else { parent }, depth: depth + 1 }
    }

    /// The ancestor of `event` (or itself) at `depth`, which must not exceed its own. O(log n).
    pub(crate) fn ancestor(&self, lane: Lane, event: EventId, depth: u32) -> EventId {
        ancestor(&self.events, self.lanes.is_process(lane), event, depth)
    }

    /// The oldest ancestor of `event` (or itself) that is not on the path to `other`. Neither of
    /// the two may be on the path to the other one. O(log n).
    pub(super) fn first_off(&self, lane: Lane, event: EventId, other: EventId) -> EventId {
        let depth = self.depth(lane, event).min(self.depth(lane, other));
        let mut event = self.ancestor(lane, event, depth);
        let mut other = self.ancestor(lane, other, depth);
        loop {
            // Nodes of equal depth have jumps of equal length.
            let (at, beside) = (self.node(lane, event), self.node(lane, other));
            (event, other) = match at.jump == beside.jump {
                false => (at.jump, beside.jump),
                true if at.parent == beside.parent => return event,
                true => (at.parent, beside.parent),
            };
        }
    }

    /// Are the two on one path from the root?
    #[inline]
    pub(super) fn on_one_path(&self, lane: Lane, a: EventId, b: EventId) -> bool {
        a == b || on_one_path(&self.events, self.lanes.is_process(lane), a, b)
    }
}

#[inline]
fn node(events: &[Event], process: bool, event: EventId) -> &Node {
    match events.get(event.index()) {
        None => &Node::ROOT,
        Some(event) if process => &event.own,
        Some(event) => &event.link,
    }
}

fn ancestor(events: &[Event], process: bool, mut event: EventId, depth: u32) -> EventId {
    loop {
        let at = node(events, process, event);
        if at.depth <= depth {
            return event;
        }
        event = match node(events, process, at.jump).depth >= depth {
            true => at.jump,
            false => at.parent,
        };
    }
}

fn on_one_path(events: &[Event], process: bool, a: EventId, b: EventId) -> bool {
    let (depth_a, depth_b) = (node(events, process, a).depth, node(events, process, b).depth);
    match depth_a < depth_b {
        true => ancestor(events, process, b, depth_a) == a,
        false => ancestor(events, process, a, depth_b) == b,
    }
}
