//! A place for the waker of one task, from which others wake it.

use std::fmt;
use std::task::Waker;

use crate::threads::sync::section::{Named, Section};

/// A place for the waker of one task, from which others wake it.
pub struct AtomicWaker(Section<Option<Waker>>);

impl AtomicWaker {
    /// No waker yet.
    #[track_caller]
    pub fn new() -> AtomicWaker {
        AtomicWaker(Section::new("AtomicWaker", None))
    }

    /// From now on wakes this waker.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        drop(self.0.enter(Named::here("register"), |place| place.replace(waker)));
    }

    /// From now on wakes this waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the waker that was registered last, if it was not woken since.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.0.enter(Named::here("wake"), Option::take) {
            waker.wake();
        }
    }

    /// Takes the waker that was registered last.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.0.enter(Named::here("take_waker"), Option::take)
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> Self {
        AtomicWaker::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
