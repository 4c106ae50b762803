//! A flag to wait for.

use std::sync::PoisonError;

use super::{Condvar, Mutex};

/// One thread waits until others have notified it.
#[derive(Debug)]
pub struct Notify {
    is_notified: Mutex<bool>,
    notified: Condvar,
}

impl Notify {
    /// Nobody has notified it yet.
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

impl Default for Notify {
    fn default() -> Self {
        Notify::new()
    }
}
