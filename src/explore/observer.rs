//! Who watches a search.

use std::time::Duration;

use super::result::Stats;
use crate::model::{Action, State};

/// Told of what an explorer meets. All methods do nothing unless implemented.
pub trait Observer {
    /// A complete execution was reached: nothing is enabled in `state`.
    fn trace(&mut self, state: &State) {
        let _ = state;
    }

    /// What the complete execution that was told last came to.
    fn judged(&mut self, end: End) {
        let _ = end;
    }

    /// An exploration was cut because everything enabled was disabled by the algorithm.
    fn blocked(&mut self, state: &State) {
        let _ = state;
    }

    /// An execution was cut in `state` by the depth bound.
    fn truncated(&mut self, state: &State) {
        let _ = state;
    }

    /// A stateful explorer took a transition, made of these actions (one, but for locks as printed), from one stored
    /// state to another; the initial one is 0.
    fn transition(&mut self, from: u32, actions: &[Action], to: u32) {
        let _ = (from, actions, to);
    }

    /// Now and then, at most some times a second: how far the search is.
    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let _ = (stats, elapsed);
    }
}

/// What is wrong with a complete execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// It ends in a deadlock.
    pub is_deadlocked: bool,
    /// Something is wrong with it: that, or an assertion or `final` that fails, or a run-time error.
    pub is_violating: bool,
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {}
