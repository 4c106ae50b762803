//! [`std::sync::Mutex`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, TryLockError, TryLockResult};

use super::poison::Poison;
use super::{Content, granted, poisoned, unpoisoned};
use crate::model::{Handle, MutexId, Op, Request};
use crate::systems::history::Told;
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::system::Made;

/// A mutex.
pub struct Mutex<T: ?Sized> {
    id: MutexId,
    content: Content,
    poison: Poison,
    inner: std::sync::Mutex<T>,
}

/// A mutex that the thread has locked. It is unlocked when this is dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    handle: Handle,
    place: Place,
    /// Was the thread unwinding when it locked it?
    was_panicking: bool,
    inner: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A mutex that guards this.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        Mutex::new_at(value, "Mutex", Location::caller())
    }

    pub(super) fn new_at(value: T, what: &'static str, place: Place) -> Mutex<T> {
        let id = MutexId(Running::current().make(Made::Mutex, what, place));
        let content = Content::new("content of Mutex", place);
        let poison = Poison::new(place);
        Mutex { id, content, poison, inner: std::sync::Mutex::new(value) }
    }

    /// What it guards.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), Location::caller());
        poisoned(is_poisoned, unpoisoned(self.inner.into_inner()))
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until no other thread has locked it, and locks it.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock_at(Location::caller())
    }

    pub(super) fn lock_at(&self, place: Place) -> LockResult<MutexGuard<'_, T>> {
        Running::current().must_not_have(self.id.0, false, place);
        let handle = request(Op::AsyncLock(self.id), "lock", place);
        let own = Request { mutex: self.id, handle };
        ask_for(Op::MutexWaitAny([own].into()), "lock", place);
        self.guard(handle, place)
    }

    /// Locks it unless another thread has it or waits for it.
    ///
    /// # Errors
    /// If another thread has it or waits for it, or a thread has panicked while it had locked it.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        Running::current().shared.tries();
        match ask_for(Op::TryLock(self.id), "try_lock", place) {
            Some(Told::Posted(handle)) => Ok(self.guard(handle, place)?),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    fn guard(&self, handle: Handle, place: Place) -> LockResult<MutexGuard<'_, T>> {
        self.content.observe("lock", place);
        let inner = granted(self.inner.try_lock());
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), place);
        Running::current().has_locked(self.id.0, false);
        let was_panicking = std::thread::panicking();
        let inner = Some(inner);
        poisoned(is_poisoned, MutexGuard { mutex: self, handle, place, was_panicking, inner })
    }

    /// What it guards, without locking it.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked the mutex.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), Location::caller());
        poisoned(is_poisoned, unpoisoned(self.inner.get_mut()))
    }

    /// Has a thread panicked while it had locked it?
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set(Location::caller())
    }

    /// Forgets that a thread has panicked.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.poison.clear(Location::caller());
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Unlocks the mutex, and returns it.
    pub(super) fn unlock(mut self) -> &'a Mutex<T> {
        self.release();
        self.mutex
    }

    fn release(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        let (mutex, place) = (self.mutex, self.place);
        Running::try_current().inspect(|running| running.has_unlocked(mutex.id.0));
        mutex.content.leave();
        drop(inner);
        mutex.content.publish("unlock", place);
        mutex.poison.set_by(self.was_panicking, place);
        let own = Request { mutex: mutex.id, handle: self.handle };
        if Running::try_current().is_some() {
            ask_for(Op::Unlock(own), "unlock", place);
        }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.release();
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard that is not dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard that is not dropped")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
