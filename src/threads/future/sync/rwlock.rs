//! A reader-writer lock for tasks, which may be locked across an `await`.
//!
//! Readers share what is guarded. A writer takes it out of the lock when no reader has it any more.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::mutex::TryLockError;
use super::permits::{Held, acquire};
use crate::threads::future::bell::act;
use crate::threads::future::block_on;
use crate::threads::sync::section::{Named, Section, is_over};

/// The most readers at a time.
const MOST: usize = (u32::MAX >> 3) as usize;

/// A reader-writer lock. Tasks get it in the order in which they asked.
pub struct RwLock<T: ?Sized> {
    section: Section<Held<Option<Arc<T>>>>,
    /// The most readers at a time, which are what a writer needs.
    most: usize,
}

/// A lock that is read. It is unlocked when this is dropped.
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    value: Option<Arc<T>>,
    named: Named,
}

/// A lock that is written. It is unlocked when this is dropped.
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    value: Option<Arc<T>>,
    named: Named,
}

/// As [`RwLockReadGuard`], but it does not borrow the lock.
pub struct OwnedRwLockReadGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    value: Option<Arc<T>>,
    named: Named,
}

/// As [`RwLockWriteGuard`], but it does not borrow the lock.
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    value: Option<Arc<T>>,
    named: Named,
}

impl<T> RwLock<T> {
    /// A lock that guards this.
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        RwLock { section: Held::new("RwLock", MOST, Some(Arc::new(value))), most: MOST }
    }

    /// A lock that guards this, with at most so many readers at a time.
    #[track_caller]
    pub fn with_max_readers(value: T, most: u32) -> RwLock<T> {
        let most = most as usize;
        RwLock { section: Held::new("RwLock", most, Some(Arc::new(value))), most }
    }

    /// What it guards.
    pub fn into_inner(self) -> T {
        let value = self.section.into_inner().data.and_then(Arc::into_inner);
        value.expect("nobody has locked it")
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it together with other readers, as soon as no writer has it or asked before.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let named = Named::here("read");
        async move { RwLockReadGuard { lock: self, value: self.share(named).await, named } }
    }

    /// Locks it alone, as soon as nobody has it.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let named = Named::here("write");
        async move { RwLockWriteGuard { lock: self, value: self.take(named).await, named } }
    }

    /// Locks it together with other readers, as soon as no writer has it or asked before.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let named = Named::here("read_owned");
        async move {
            let value = self.share(named).await;
            OwnedRwLockReadGuard { lock: self, value, named }
        }
    }

    /// Locks it alone, as soon as nobody has it.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let named = Named::here("write_owned");
        async move {
            let value = self.take(named).await;
            OwnedRwLockWriteGuard { lock: self, value, named }
        }
    }

    async fn share(&self, named: Named) -> Option<Arc<T>> {
        let shared = acquire(&self.section, 1, named, |held| held.data.clone()).await;
        shared.expect("it is never closed")
    }

    async fn take(&self, named: Named) -> Option<Arc<T>> {
        let taken = acquire(&self.section, self.most, named, |held| held.data.take()).await;
        taken.expect("it is never closed")
    }

    /// Locks it together with other readers, in a thread that runs no future.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// Locks it alone, in a thread that runs no future.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// Locks it together with other readers, if no writer has it or waits for it.
    ///
    /// # Errors
    /// If a writer has it or waits for it.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let named = Named::here("try_read");
        let value = self.section.enter(named, |held| match held.permits.take(1) {
            true => Ok(held.data.clone()),
            false => Err(TryLockError(())),
        })?;
        Ok(RwLockReadGuard { lock: self, value, named })
    }

    /// Locks it alone, if nobody has it or waits for it.
    ///
    /// # Errors
    /// If somebody has it or waits for it.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let named = Named::here("try_write");
        let value = self.section.enter(named, |held| match held.permits.take(self.most) {
            true => Ok(held.data.take()),
            false => Err(TryLockError(())),
        })?;
        Ok(RwLockWriteGuard { lock: self, value, named })
    }

    /// What it guards, without locking it.
    pub fn get_mut(&mut self) -> &mut T {
        unique(&mut self.section.get_mut().data)
    }

    fn end_read(&self, value: &mut Option<Arc<T>>, named: Named) {
        if !is_over() {
            // Before a writer can have it.
            *value = None;
            let named = Named { text: "unlock", ..named };
            act(&self.section, named, |held| held.permits.give(1));
        }
    }

    fn end_write(&self, value: &mut Option<Arc<T>>, permits: usize, named: Named) {
        if !is_over() {
            act(&self.section, Named { text: "unlock", ..named }, |held| {
                held.data = value.take();
                held.permits.give(permits);
            });
        }
    }
}

fn unique<T: ?Sized>(value: &mut Option<Arc<T>>) -> &mut T {
    value.as_mut().and_then(Arc::get_mut).expect("no reader has it")
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Goes on as a reader. Nobody writes in between.
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        let RwLockWriteGuard { lock, named, .. } = self;
        let value = self.value.clone();
        lock.end_write(&mut self.value, lock.most - 1, named);
        std::mem::forget(self);
        RwLockReadGuard { lock, value, named }
    }
}

macro_rules! guard {
    ($guard:ty, $end:expr) => {
        impl<T: ?Sized> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.value.as_ref().expect("a guard that is not dropped")
            }
        }

        impl<T: ?Sized> Drop for $guard {
            fn drop(&mut self) {
                $end(&*self.lock, &mut self.value, self.named);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

macro_rules! write_guard {
    ($guard:ty) => {
        guard!($guard, |lock: &RwLock<T>, value: &mut _, named| {
            lock.end_write(value, lock.most, named)
        });

        impl<T: ?Sized> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                unique(&mut self.value)
            }
        }
    };
}

guard!(RwLockReadGuard<'_, T>, RwLock::end_read);
guard!(OwnedRwLockReadGuard<T>, RwLock::end_read);
write_guard!(RwLockWriteGuard<'_, T>);
write_guard!(OwnedRwLockWriteGuard<T>);

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
