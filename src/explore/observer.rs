//! Observers of a search.
//!
//! An observer is told where the search is, as a [`Position`]: the state, what the system has to
//! say of it, and the schedule that leads there. Nothing of that is computed unless the observer
//! asks:
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

/// Is told what an explorer meets. Methods that are not implemented do nothing.
pub trait Observer {
    /// A complete execution was reached: nothing can happen any more, or only what changes nothing.
    /// `end` tells how it ended.
    fn trace(&mut self, at: Position<'_>, end: End) {
        let _ = (at, end);
    }

    /// An exploration was cut because everything enabled was disabled by the algorithm.
    fn blocked(&mut self, at: Position<'_>) {
        let _ = at;
    }

    /// An execution was cut by the depth bound. A search through states tells only of the first one
    /// if nobody [follows its transitions](Observer::follows_transitions).
    fn truncated(&mut self, at: Position<'_>) {
        let _ = at;
    }

    /// A stateful explorer took a transition from one stored state to another, where it is now. The
    /// transition is made of these actions (one, except for locks as printed). The initial state is
    /// number 0.
    fn transition(&mut self, from: u32, actions: &[Action], to: u32, at: Position<'_>) {
        let _ = (from, actions, to, at);
    }

    /// Does it follow the transitions that it is told of ([`transition`](Observer::transition))? A
    /// search that need not tell them is faster.
    fn follows_transitions(&self) -> bool {
        true
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
    /// It ends in a livelock.
    pub is_livelocked: bool,
    /// Something is wrong with it: a deadlock or livelock, an assertion or `final` that fails, or a
    /// run-time error.
    pub is_violating: bool,
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {
    fn follows_transitions(&self) -> bool {
        false
    }
}
