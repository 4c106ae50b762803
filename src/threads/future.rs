//! Futures of a program: [`block_on`] runs one, and [`AtomicWaker`] wakes it.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::sync::{Mutex, Notify};

/// Runs a future in this thread, which waits whenever the future does.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell(Notify::new()));
    let waker = Waker::from(bell.clone());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => bell.0.wait(),
        }
    }
}

struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// A place for the waker of one task, from which others wake it.
pub struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    /// No waker yet.
    pub fn new() -> AtomicWaker {
        AtomicWaker(Mutex::new(None))
    }

    /// From now on wakes this waker.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    /// From now on wakes this waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the waker that was registered last, if it was not woken since.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker that was registered last.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Default for AtomicWaker {
    fn default() -> Self {
        AtomicWaker::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
