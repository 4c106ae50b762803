//! A flag to wait for.

use std::sync::PoisonError;
use std::time::Duration;

use super::{Condvar, Mutex};

/// One thread waits until others have notified it.
#[derive(Debug)]
pub struct Notify {
    is_notified: Mutex<bool>,
    notified: Condvar,
}

impl Notify {
    /// Nobody has notified it yet.
    #[track_caller]
    pub fn new() -> Notify {
        Notify { is_notified: Mutex::new(false), notified: Condvar::new() }
    }

    /// Lets the thread go on that waits, or the next one that will wait.
    #[track_caller]
    pub fn notify(&self) {
        *self.is_notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.notified.notify_one();
    }

    /// Waits for a notification since the last wait.
    #[track_caller]
    pub fn wait(&self) {
        let mut is_notified = self.is_notified.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_notified {
            is_notified = self.notified.wait(is_notified).unwrap_or_else(PoisonError::into_inner);
        }
        *is_notified = false;
    }
}

impl Notify {
    /// Waits as [`wait`](Notify::wait), or until the time is over: a choice.
    #[track_caller]
    pub(in crate::threads) fn wait_timeout(&self, time: Duration) {
        let is_notified = self.is_notified.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.notified.wait_timeout_while(is_notified, time, |notified| !*notified);
        *woken.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}
