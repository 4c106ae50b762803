//! Heights along an execution: how long the longest chain of actions is that ends in each, each happening
//! before the next.
//!
//! A search that is bounded by causal depth goes through the events up to a height. These are closed under
//! causes, so they are an event structure of their own: an action that is *too high* after an execution is no
//! event of it. The height of an action depends on nothing but what happens before it. So two executions that
//! differ only in the order of independent actions agree on what is too high, and independent actions do not
//! make one another so. Dependent ones do: of two of them the one that comes second is the higher.

use super::HappensBefore;
use crate::model::Independence;

/// The heights of the actions of an execution that grows and shrinks at its end.
#[derive(Debug)]
pub struct Heights {
    max: u32,
    of: Vec<u32>,
    /// How many actions are as high as allowed.
    tops: usize,
}

impl Heights {
    /// Of the empty execution, where actions higher than `max` are too high.
    pub fn new(max: u32) -> Self {
        Heights { max, of: Vec::new(), tops: 0 }
    }

    /// The height that the last action of `order` has, if it is not part of the execution yet.
    fn next<I: Independence>(&self, order: &HappensBefore<I>) -> u32 {
        let causes = order.direct_predecessors(self.of.len()).iter();
        1 + causes.map(|&cause| self.of[cause as usize]).max().unwrap_or(0)
    }

    /// Would the last action of `order` be too high?
    pub fn exclude<I: Independence>(&self, order: &HappensBefore<I>) -> bool {
        self.next(order) > self.max
    }

    /// The last action of `order` is part of the execution from now on.
    pub fn push<I: Independence>(&mut self, order: &HappensBefore<I>) {
        let height = self.next(order);
        self.tops += usize::from(height >= self.max);
        self.of.push(height);
    }

    /// The last action is taken back.
    pub fn pop(&mut self) {
        let height = self.of.pop().expect("an action to take back");
        self.tops -= usize::from(height >= self.max);
    }

    /// Is the action at `position` so high that nothing can happen after it?
    pub fn is_top(&self, position: usize) -> bool {
        self.of[position] >= self.max
    }

    /// Is any? If not, no next action is too high.
    pub fn have_tops(&self) -> bool {
        self.tops > 0
    }
}
