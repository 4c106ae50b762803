//! What can be said of a program that may run for ever: what its executions begin with.
//!
//! A search that goes down an execution without an end sees nothing else. So if one was found, all
//! executions are searched up to a depth, then up to twice the depth, and so on, until there is a
//! violation, there are too many of them, or they are long. That is no proof, whatever is found.
//!
//! This is for processes whose states are histories. Other programs may run for ever in finitely
//! many states, and then other explorers go through all of these.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Chosen;
use crate::explore::{Budget, End, Observer, Outcome, StopReason};
use crate::model::AnySystem;
use crate::property::Position;

/// The depths.
const DEPTHS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// The most executions of a search.
const MOST: u64 = 2_000;

/// Counts executions, and ends the search when there are too many.
struct Counting {
    left: u64,
    enough: Arc<AtomicBool>,
}

impl Counting {
    fn count(&mut self) {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.enough.store(true, Ordering::Relaxed),
        }
    }
}

impl Observer for Counting {
    fn trace(&mut self, _: Position<'_>, _: End) {
        self.count();
    }

    fn truncated(&mut self, _: Position<'_>) {
        self.count();
    }

    fn follows_transitions(&self) -> bool {
        false
    }
}

/// The first search up to some depth that finds a violation, or else the deepest one that has come
/// to its end; and that depth.
pub(super) fn explored(
    system: &AnySystem<'_>,
    (explorer, jobs): (&Chosen, Option<NonZeroU32>),
    budget: &Budget,
) -> Option<(u32, Outcome)> {
    let begun = Instant::now();
    let mut deepest = None;
    for depth in DEPTHS {
        let enough = Arc::new(AtomicBool::new(false));
        let limits = budget.after(begun.elapsed());
        let limits = Budget { depth: Some(depth), cancel: enough.clone(), ..limits };
        if explorer.refusal(system, jobs, &limits).is_some() {
            break;
        }
        let outcome = explorer.explore(system, jobs, limits, &mut Counting { left: MOST, enough });
        if !outcome.violations.is_empty() {
            return Some((depth, outcome));
        }
        if outcome.stopped_by != Some(StopReason::Depth) {
            break;
        }
        deepest = Some((depth, outcome));
    }
    deepest
}
