//! [`std::sync::RwLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{LockResult, TryLockError, TryLockResult};

use super::poison::Poison;
use super::{Condvar, Content, Mutex, granted, poisoned, unpoisoned};
use crate::model::{Handle, Hold, Op, RwLockId};
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::system::Made;

/// A reader-writer lock. Threads that wait get it in the order in which they asked, unless some are
/// tried: then in any order, but no reader comes before a writer that waits.
pub struct RwLock<T: ?Sized> {
    way: Way,
    poison: Poison,
    inner: std::sync::RwLock<T>,
}

/// How threads get a lock.
enum Way {
    /// From the model.
    Queued(RwLockId, Content),
    /// By what is made of a mutex: so they can try it.
    Tried(Mutex<Holders>, Condvar),
}

/// Who has a lock that may be tried.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    readers: usize,
    is_written: bool,
    /// The number of writers that wait.
    ///
    /// Readers come after them, as they do in the standard library. If one came before, that would
    /// be the same as if the writer had not asked yet: nobody sees that it waits, but for those who
    /// try.
    waiting: usize,
}

impl Holders {
    fn admit(self, hold: Hold) -> bool {
        !self.is_written
            && match hold {
                Hold::Shared => self.waiting == 0,
                Hold::Exclusive => self.readers == 0,
            }
    }

    fn add(&mut self, hold: Hold) {
        match hold {
            Hold::Shared => self.readers += 1,
            Hold::Exclusive => self.is_written = true,
        }
    }

    fn remove(&mut self, hold: Hold) {
        match hold {
            Hold::Shared => self.readers -= 1,
            Hold::Exclusive => self.is_written = false,
        }
    }
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
    /// Was the thread unwinding when it locked it?
    was_panicking: bool,
    inner: Option<std::sync::RwLockWriteGuard<'a, T>>,
}

impl Way {
    fn new(place: Place) -> Way {
        let running = Running::current();
        if running.shared.mode.is_tried {
            return Way::Tried(
                Mutex::new_at(Holders::default(), "holders of RwLock", place),
                Condvar::new_at("RwLock", place),
            );
        }
        running.shared.has_rwlocks.store(true, Ordering::Relaxed);
        let id = RwLockId(running.make(Made::RwLock, "RwLock", place));
        Way::Queued(id, Content::new("content of RwLock", place))
    }

    /// What distinguishes the lock from others.
    fn number(&self) -> u32 {
        match self {
            Way::Queued(lock, _) => lock.0,
            Way::Tried(_, changed) => changed.number(),
        }
    }

    fn lock(&self, hold: Hold, text: &'static str, place: Place) -> Handle {
        Running::current().must_not_have(self.number(), hold == Hold::Shared, place);
        match self {
            Way::Queued(lock, content) => {
                let lock = *lock;
                let handle = request(Op::RwRequest { lock, hold }, text, place);
                ask_for(Op::RwWait { lock, handle }, text, place);
                content.observe(text, place);
                handle
            }
            Way::Tried(holders, changed) => {
                let mut holders = unpoisoned(holders.lock_at(place));
                let waits = hold == Hold::Exclusive && !holders.admit(hold);
                holders.waiting += usize::from(waits);
                while !holders.admit(hold) {
                    holders = unpoisoned(changed.wait_inside(holders, false, place));
                }
                holders.waiting -= usize::from(waits);
                holders.add(hold);
                Handle(0)
            }
        }
    }

    fn try_lock(&self, hold: Hold, place: Place) -> bool {
        Running::current().shared.tries();
        // Otherwise the search is done once more, but a thread that unwinds goes on.
        let Way::Tried(holders, _) = self else { return false };
        let mut holders = unpoisoned(holders.lock_at(place));
        let is_admitted = holders.admit(hold);
        if is_admitted {
            holders.add(hold);
        }
        is_admitted
    }

    /// Notes that the running thread leaves what is in memory from now on.
    fn leave(&self) {
        if let Way::Queued(_, content) = self {
            content.leave();
        }
    }

    fn unlock(&self, hold: Hold, handle: Handle, place: Place) {
        let Some(running) = Running::try_current() else { return };
        running.has_unlocked(self.number());
        drop(running);
        match self {
            Way::Queued(lock, content) => {
                if hold == Hold::Exclusive {
                    content.publish("unlock", place);
                }
                ask_for(Op::RwUnlock { lock: *lock, handle }, "unlock", place);
            }
            Way::Tried(holders, changed) => {
                unpoisoned(holders.lock_at(place)).remove(hold);
                changed.notify_all();
            }
        }
    }
}

impl<T> RwLock<T> {
    /// A lock that guards this.
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        let place = Location::caller();
        let (way, poison) = (Way::new(place), Poison::new(place));
        RwLock { way, poison, inner: std::sync::RwLock::new(value) }
    }

    /// What it guards.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), Location::caller());
        poisoned(is_poisoned, unpoisoned(self.inner.into_inner()))
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
        let handle = self.way.lock(Hold::Shared, "read", place);
        self.read_guard(handle, place)
    }

    /// Locks it together with other readers, unless another thread writes it or waits to.
    ///
    /// # Errors
    /// If another thread writes it or waits to, or one has panicked while it had locked it to
    /// write.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        match self.way.try_lock(Hold::Shared, place) {
            true => Ok(self.read_guard(Handle(0), place)?),
            false => Err(TryLockError::WouldBlock),
        }
    }

    /// Locks it alone.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        let handle = self.way.lock(Hold::Exclusive, "write", place);
        self.write_guard(handle, place)
    }

    /// Locks it alone, unless another thread has it.
    ///
    /// # Errors
    /// If another thread has it, or one has panicked while it had locked it to write.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        match self.way.try_lock(Hold::Exclusive, place) {
            true => Ok(self.write_guard(Handle(0), place)?),
            false => Err(TryLockError::WouldBlock),
        }
    }

    fn read_guard(&self, handle: Handle, place: Place) -> LockResult<RwLockReadGuard<'_, T>> {
        let inner = Some(granted(self.inner.try_read()));
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), place);
        Running::current().has_locked(self.way.number(), true);
        poisoned(is_poisoned, RwLockReadGuard { lock: self, handle, place, inner })
    }

    fn write_guard(&self, handle: Handle, place: Place) -> LockResult<RwLockWriteGuard<'_, T>> {
        let inner = Some(granted(self.inner.try_write()));
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), place);
        Running::current().has_locked(self.way.number(), false);
        let was_panicking = std::thread::panicking();
        poisoned(is_poisoned, RwLockWriteGuard { lock: self, handle, place, was_panicking, inner })
    }

    /// What it guards, without locking it.
    ///
    /// # Errors
    /// If a thread has panicked while it had locked it to write.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let is_poisoned = self.poison.is_found(self.inner.is_poisoned(), Location::caller());
        poisoned(is_poisoned, unpoisoned(self.inner.get_mut()))
    }

    /// Has a thread panicked while it had locked it to write?
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

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.inner.take());
        self.lock.way.unlock(Hold::Shared, self.handle, self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.way.leave();
        drop(self.inner.take());
        self.lock.poison.set_by(self.was_panicking, self.place);
        self.lock.way.unlock(Hold::Exclusive, self.handle, self.place);
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
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
