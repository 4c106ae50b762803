//! A flag to wait for.

use std::panic::Location;

use super::condvar::is_over;
use super::{Condvar, Mutex, unpoisoned};
use crate::threads::ask::Place;

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
        Notify::new_at(("state of Notify", "Notify"), Location::caller())
    }

    /// What it is made of is called so, and was made there.
    pub(in crate::threads) fn new_at(
        (state, what): (&'static str, &'static str),
        place: Place,
    ) -> Notify {
        let is_notified = Mutex::new_at(false, state, place);
        Notify { is_notified, notified: Condvar::new_at(what, place) }
    }

    /// Lets the thread go on that waits, or the next one that will wait.
    #[track_caller]
    pub fn notify(&self) {
        *unpoisoned(self.is_notified.lock()) = true;
        self.notified.notify_one();
    }

    /// Waits for a notification since the last wait.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_unless(false, || false, Location::caller());
    }

    /// Waits as [`wait`](Notify::wait), or until the time is over: a choice.
    #[track_caller]
    pub(in crate::threads) fn wait_timeout(&self) {
        let place = Location::caller();
        self.wait_unless(true, || is_over("wait_timeout", place), place);
    }

    fn wait_unless(&self, is_timed: bool, is_over: impl Fn() -> bool, place: Place) {
        let mut is_notified = unpoisoned(self.is_notified.lock_at(place));
        while !*is_notified && !is_over() {
            is_notified = unpoisoned(self.notified.wait_inside(is_notified, is_timed, place));
        }
        *is_notified = false;
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}
