//! A signal to stop work, for loops that may run long.
//!
//! The thread that watches the limits raises it once; it is never lowered. Work that sees it raised
//! may end at any place, with any result: the caller checks the signal before it uses the result.
//! So a loop needs only one relaxed load in each round, and no way to report that it did not
//! finish.
//!
//! The code of a system is not given a signal: its methods are functions
//! ([`System`](super::System)). But a single call may run long. So a caller declares which signals
//! count on its thread ([`StopSignal::counts_here`]), and a system whose calls may run long checks
//! [`StopSignal::is_raised_here`]. If it is `true`, the process may stop as failed.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag shared by the threads that raise it and the threads that check it. `Default` makes a new
/// one.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

thread_local! {
    /// The signals that count on this thread.
    static HERE: RefCell<Vec<StopSignal>> = const { RefCell::new(Vec::new()) };
}

/// While this value exists, a signal counts on the thread that made the value.
#[derive(Debug)]
pub(crate) struct CountsHere {
    signal: StopSignal,
    /// Makes it not `Send`: the same thread has to drop it.
    _thread: PhantomData<*const ()>,
}

impl Drop for CountsHere {
    fn drop(&mut self) {
        let is_same = |other: &StopSignal| Arc::ptr_eq(&other.0, &self.signal.0);
        HERE.with_borrow_mut(|here| {
            let place = here.iter().rposition(is_same);
            place.map(|place| here.remove(place))
        });
    }
}

impl StopSignal {
    /// From now on the code of systems on this thread checks this signal, too, until the returned
    /// value is dropped.
    pub(crate) fn counts_here(&self) -> CountsHere {
        HERE.with_borrow_mut(|here| here.push(self.clone()));
        CountsHere { signal: self.clone(), _thread: PhantomData }
    }

    /// Is any signal raised that counts on this thread?
    pub(crate) fn is_raised_here() -> bool {
        HERE.with_borrow(|here| here.iter().any(StopSignal::is_raised))
    }

    /// Runs work that has to finish even if a signal is raised, because its result is used.
    pub(crate) fn disregarded<T>(work: impl FnOnce() -> T) -> T {
        let here = HERE.take();
        let done = work();
        HERE.set(here);
        done
    }

    /// Asks all work that checks this signal to stop.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Is the work to stop?
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_while_somebody_wants_it() {
        let (one, other) = (StopSignal::default(), StopSignal::default());
        let first = one.counts_here();
        let second = other.counts_here();
        assert!(!StopSignal::is_raised_here());
        one.raise();
        assert!(StopSignal::is_raised_here());
        assert!(!StopSignal::disregarded(StopSignal::is_raised_here));
        assert!(!std::thread::spawn(StopSignal::is_raised_here).join().expect("no panic"));
        drop(first);
        assert!(!StopSignal::is_raised_here());
        other.raise();
        assert!(StopSignal::is_raised_here());
        drop(second);
        assert!(!StopSignal::is_raised_here());
    }
}
