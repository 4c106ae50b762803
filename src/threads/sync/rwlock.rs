//! [`std::sync::RwLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::LockResult;

use super::{Content, granted};
use crate::model::{Handle, Hold, Op, RwLockId};
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::system::Made;

/// A reader-writer lock. Threads that wait get it in the order in which they asked.
pub struct RwLock<T: ?Sized> {
    id: RwLockId,
    content: Content,
    inner: std::sync::RwLock<T>,
}

/// A lock that the thread reads. It is unlocked when this is dropped.
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    handle: Handle,
    place: Place,
    inner: Option<std::sync::RwLockReadGuard<'a, T>>,
}

/// A lock that the thread writes. It is unlocked when this is dropped.
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    handle: Handle,
    place: Place,
    inner: Option<std::sync::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    /// A lock that guards this.
    pub fn new(value: T) -> RwLock<T> {
        let id = RwLockId(Running::current().make(Made::RwLock));
        RwLock { id, content: Content::new(), inner: std::sync::RwLock::new(value) }
    }

    /// What it guards.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it together with other readers.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        let handle = self.ask(Hold::Shared, "read", place);
        let guard = |inner| RwLockReadGuard { lock: self, handle, place, inner: Some(inner) };
        granted(self.inner.try_read(), guard)
    }

    /// Locks it alone.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        let handle = self.ask(Hold::Exclusive, "write", place);
        let guard = |inner| RwLockWriteGuard { lock: self, handle, place, inner: Some(inner) };
        granted(self.inner.try_write(), guard)
    }

    fn ask(&self, hold: Hold, text: &'static str, place: Place) -> Handle {
        let lock = self.id;
        let handle = request(Op::RwRequest { lock, hold }, text, place);
        ask_for(Op::RwWait { lock, handle }, text, place);
        self.content.observe(text, place);
        handle
    }

    fn end(&self, handle: Handle, place: Place) {
        if Running::try_current().is_some() {
            ask_for(Op::RwUnlock { lock: self.id, handle }, "unlock", place);
        }
    }

    /// What it guards, without locking it.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Has a thread panicked while it had locked it to write?
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.inner.take());
        self.lock.end(self.handle, self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.content.leave();
        drop(self.inner.take());
        self.lock.content.publish("unlock", self.place);
        self.lock.end(self.handle, self.place);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard that is not dropped")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard that is not dropped")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard that is not dropped")
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
