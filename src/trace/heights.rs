//! Heights along an execution. The height of an action is the length of the longest chain that ends
//! in it, where each action of the chain happens before the next.
//!
//! A search up to a causal depth visits the events up to a height. These are closed under causes,
//! so they form an event structure of their own. An action that is *too high* after an execution is
//! not an event of that structure. The height of an action depends only on the actions that happen
//! before it. So two executions that differ only in the order of independent actions agree on the
//! actions that are too high, and executing an action does not change the height of an independent
//! one. Of two dependent actions, the second one is the higher.

use super::HappensBefore;

/// The heights of the actions of an execution that grows and shrinks at its end.
#[derive(Debug)]
pub(crate) struct Heights {
    max: u32,
    of: Vec<u32>,
    /// The number of actions with height `max`.
    tops: usize,
}

impl Heights {
    /// The heights of the empty execution. Actions higher than `max` are too high.
    pub(crate) fn new(max: u32) -> Self {
        Heights { max, of: Vec::new(), tops: 0 }
    }

    /// The height of the last action of `order`, which is not part of the execution yet.
    fn next(&self, order: &HappensBefore) -> u32 {
        let causes = order.direct_predecessors(self.of.len()).iter();
        1 + causes.map(|&cause| self.of[cause as usize]).max().unwrap_or(0)
    }

    /// Would the last action of `order` be too high?
    pub(crate) fn exclude(&self, order: &HappensBefore) -> bool {
        self.next(order) > self.max
    }

    /// Makes the last action of `order` part of the execution.
    pub(crate) fn push(&mut self, order: &HappensBefore) {
        let height = self.next(order);
        self.tops += usize::from(height >= self.max);
        self.of.push(height);
    }

    /// Removes the last action.
    pub(crate) fn pop(&mut self) {
        let height = self.of.pop().expect("an action to take back");
        self.tops -= usize::from(height >= self.max);
    }

    /// Has the action at `position` the greatest height allowed, so that all its successors are too
    /// high?
    pub(crate) fn is_top(&self, position: usize) -> bool {
        self.of[position] >= self.max
    }

    /// Is there an action with the greatest height allowed? If not, no next action is too high.
    pub(crate) fn have_tops(&self) -> bool {
        self.tops > 0
    }
}
