//! [`std::sync::Condvar`].

use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::MutexGuard;
use crate::model::{CondvarId, Op};
use crate::systems::history::Told;
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::system::Made;

/// A condition variable.
#[derive(Debug)]
pub struct Condvar(CondvarId);

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Was the time over?
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// Is the time of a wait over before what it waits for happens? That is a choice: both ways are
/// explored.
pub(super) fn is_over(text: &'static str, place: Place) -> bool {
    ask_for(Op::Choose { lo: 0, hi: 2 }, text, place) == Some(Told::Chosen(1))
}

impl Condvar {
    /// A condition variable that nobody waits for.
    #[track_caller]
    pub fn new() -> Condvar {
        Condvar::new_at("Condvar", Location::caller())
    }

    pub(super) fn new_at(what: &'static str, place: Place) -> Condvar {
        Condvar(CondvarId(Running::current().make(Made::Condvar, what, place)))
    }

    /// What distinguishes it from other objects.
    pub(super) fn number(&self) -> u32 {
        self.0.0
    }

    /// Unlocks the mutex, waits to be notified, and locks the mutex again.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_at(guard, false, Location::caller())
    }

    /// Waits, as the program says: so the thread may wake for no reason.
    fn wait_at<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        is_timed: bool,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        match Running::current().wakes_for_nothing(place) {
            true => guard.unlock().lock_at(place),
            false => self.wait_inside(guard, is_timed, place),
        }
    }

    /// Waits to be notified, in an operation of the program or of another object.
    pub(super) fn wait_inside<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        is_timed: bool,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        let Condvar(condvar) = *self;
        let handle = request(Op::Enrol(condvar), "wait", place);
        let mutex = guard.unlock();
        if is_timed {
            let running = Running::current();
            running.shared.wait_for_time(running.node.get());
        }
        ask_for(Op::AwaitWake { condvar, handle }, "wait", place);
        mutex.lock_at(place)
    }

    /// Waits as long as the condition holds.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait_at(guard, false, Location::caller())?;
        }
        Ok(guard)
    }

    /// Waits to be notified, or until the time is over: whether it is over first is a choice.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        _: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        let is_over = is_over("wait_timeout", place);
        let found = match is_over {
            true => guard.unlock().lock_at(place),
            false => self.wait_at(guard, true, place),
        };
        match found {
            Ok(guard) => Ok((guard, WaitTimeoutResult(is_over))),
            Err(poisoned) => {
                Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(is_over))))
            }
        }
    }

    /// Waits as long as the condition holds, or until the time is over.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        while condition(&mut *guard) {
            let (found, result) = self.wait_timeout(guard, time)?;
            guard = found;
            if result.timed_out() {
                let is_over = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(is_over)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one of the waiting threads, if there are any.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, "notify_one", Location::caller());
    }

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, "notify_all", Location::caller());
    }

    fn notify(&self, all: bool, text: &'static str, place: Place) {
        let Condvar(condvar) = *self;
        let handle = request(Op::Notify { condvar, all }, text, place);
        ask_for(Op::Wake { condvar, handle }, text, place);
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}
