//! [`std::sync::Barrier`].

use std::panic::Location;
use std::sync::PoisonError;

use super::{Condvar, Mutex};

/// A barrier: threads wait there until there are enough of them.
#[derive(Debug)]
pub struct Barrier {
    wanted: usize,
    /// The number of threads that wait, and how often there were enough.
    state: Mutex<(usize, usize)>,
    changed: Condvar,
}

/// Whether a thread was the last one to come.
#[derive(Clone, Copy, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Was it the last one to come?
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many threads.
    #[track_caller]
    pub fn new(wanted: usize) -> Barrier {
        Barrier { wanted, state: Mutex::new((0, 0)), changed: Condvar::new() }
    }

    /// Waits until there are enough threads.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        if state.0 >= self.wanted {
            *state = (0, state.1.wrapping_add(1));
            drop(state);
            self.changed.notify_all();
            return BarrierWaitResult(true);
        }
        let round = state.1;
        while state.1 == round {
            let woken = self.changed.wait_inside(state, false, Location::caller());
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        BarrierWaitResult(false)
    }
}
