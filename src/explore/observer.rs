//! Observers of a search.
//!
//! An observer receives the current [`Position`] of the search: the state, the system's description
//! of it, and the schedule that leads there. They are computed only when the observer asks for
//! them:
//!
//! ```
//! use mazurka::explore::{Budget, End, Observer, Udpor, explore};
//! use mazurka::property::Position;
//!
//! /// How executions end, each with a schedule that leads there.
//! #[derive(Default)]
//! struct Ends(Vec<String>);
//!
//! impl Observer for Ends {
//!     fn trace(&mut self, at: Position<'_>, _: End) {
//!         let cells = at.cells();
//!         let cells = cells.iter().map(|(name, value)| format!("{name} = {value}"));
//!         let cells = cells.collect::<Vec<_>>().join(", ");
//!         self.0.push(format!("{cells} after {}", at.schedule()));
//!     }
//! }
//!
//! let source = "shared x: int = 0; process P[i in 0..2] { x = i; }";
//! let program = mazurka::lang::compile("race.maz", source, &[]).expect("a valid program");
//! let mut ends = Ends::default();
//! explore(&program, Udpor::default(), Budget { all: true, ..Budget::default() }, &mut ends);
//! ends.0.sort();
//! assert_eq!(ends.0, ["x = 0 after 1,0", "x = 1 after 0,1"]);
//! ```

use std::time::Duration;

use super::result::Stats;
use crate::model::Action;
use crate::property::Position;

/// Receives callbacks from a search. Methods that are not implemented do nothing.
pub trait Observer {
    /// A complete execution was reached: nothing is enabled, or only spin iterations are.
    /// `end` says how it ended.
    fn trace(&mut self, at: Position<'_>, end: End) {
        let _ = (at, end);
    }

    /// An exploration was cut because everything enabled was disabled by the algorithm.
    fn blocked(&mut self, at: Position<'_>) {
        let _ = at;
    }

    /// An execution was cut by the depth bound. A search through states reports only the first one,
    /// unless the observer [follows its transitions](Observer::follows_transitions).
    fn truncated(&mut self, at: Position<'_>) {
        let _ = at;
    }

    /// A stateful explorer took a transition from the stored state number `from` to number `to`,
    /// which is the current state. The initial state has number 0. `actions` has one action, except
    /// for locks as printed and for fused steps.
    fn transition(&mut self, from: u32, actions: &[Action], to: u32, at: Position<'_>) {
        let _ = (from, actions, to, at);
    }

    /// Does it need the calls of [`transition`](Observer::transition)? If not, the search may skip
    /// them and is faster.
    fn follows_transitions(&self) -> bool {
        true
    }

    /// The figures so far. Called at most a few times a second.
    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let _ = (stats, elapsed);
    }
}

/// How a complete execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// It ends in a deadlock.
    pub is_deadlocked: bool,
    /// It ends in a livelock.
    pub is_livelocked: bool,
    /// It has a violation: a deadlock or livelock, an assertion or `final` that fails, or a
    /// run-time error.
    pub is_violating: bool,
}

/// An observer that ignores everything.
pub struct NoObserver;

impl Observer for NoObserver {
    fn follows_transitions(&self) -> bool {
        false
    }
}
