//! A signal that work is to stop, for loops that may be long.
//!
//! Whoever watches the limits raises it, once; it is never lowered. Work that sees it raised may end at any
//! place, with any result: whoever asked for the work looks at the signal before using the result. So a
//! loop needs only one relaxed load in each round, and no way to report that it did not finish.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by those who look at it and those who raise it. `Default` is one that nobody else knows.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Tells everybody who looks at it to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Is the work to stop?
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<StopSignal> for Arc<AtomicBool> {
    fn from(signal: StopSignal) -> Self {
        signal.0
    }
}

impl From<Arc<AtomicBool>> for StopSignal {
    fn from(flag: Arc<AtomicBool>) -> Self {
        StopSignal(flag)
    }
}
