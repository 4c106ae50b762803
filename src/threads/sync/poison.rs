//! Whether a thread has panicked while it had a lock.
//!
//! The lock in memory knows it, too. But who asks without the lock needs an operation: the answer
//! is in a cell, which is written before the lock is given back. Who gets the lock knows who had it
//! before, so it looks at the one in memory; unless the program heals locks. Anyone may do so at
//! any time, so then the cell is read with each lock.

use super::atomic::Number;
use crate::threads::ask::{Place, Running};
use crate::threads::token::Width;

/// The flag of a lock.
#[derive(Debug)]
pub(super) struct Poison(Number);

impl Poison {
    /// That of a lock which is made there.
    pub(super) fn new(place: Place) -> Poison {
        Poison(Number::new("poison of a lock", Width { bits: 1, is_signed: false }, 0, place))
    }

    /// Is it set? Who asks need not have the lock.
    pub(super) fn is_set(&self, place: Place) -> bool {
        self.0.load("is_poisoned", place) != 0
    }

    /// Is it set, if who has the lock finds this in memory?
    pub(super) fn is_found(&self, in_memory: bool, place: Place) -> bool {
        let is_healed = Running::try_current().is_some_and(|running| running.shared.mode.heals);
        if is_healed { self.is_set(place) } else { in_memory }
    }

    /// If the thread has begun to unwind since it got the lock, sets it. Others can have the lock
    /// after that.
    pub(super) fn set_by(&self, was_panicking: bool, place: Place) {
        if std::thread::panicking() && !was_panicking && !Running::is_gone() {
            self.0.store(1, "unlock in a panic", place);
        }
    }

    /// Clears it.
    pub(super) fn clear(&self, place: Place) {
        Running::current().shared.heals();
        self.0.store(0, "clear_poison", place);
    }
}
