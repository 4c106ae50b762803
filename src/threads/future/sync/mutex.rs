//! A mutex for tasks, which may be locked across an `await`.
//!
//! A guard takes what is guarded out of the mutex, and puts it back. So guards can be sent to
//! other threads, and nothing is unsafe.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::permits::{Held, acquire};
use crate::threads::future::bell::act;
use crate::threads::future::block_on;
use crate::threads::sync::section::{Named, Section, is_over};

/// A mutex. Tasks get it in the order in which they asked.
pub struct Mutex<T: ?Sized>(Section<Held<Option<Box<T>>>>);

/// A mutex that was locked. It is unlocked when this is dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    value: Option<Box<T>>,
    named: Named,
}

/// As [`MutexGuard`], but it does not borrow the mutex.
pub struct OwnedMutexGuard<T: ?Sized> {
    mutex: Arc<Mutex<T>>,
    value: Option<Box<T>>,
    named: Named,
}

/// The mutex was locked.
#[derive(Debug)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is locked")
    }
}

impl std::error::Error for TryLockError {}

impl<T> Mutex<T> {
    /// A mutex that guards this.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        Mutex(Held::new("Mutex", 1, Some(Box::new(value))))
    }

    /// What it guards.
    pub fn into_inner(self) -> T {
        *self.0.into_inner().data.expect("nobody has locked it")
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks it as soon as nobody else has it.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let named = Named::here("lock");
        async move { MutexGuard { mutex: self, value: self.take(named).await, named } }
    }

    /// Locks it as soon as nobody else has it.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let named = Named::here("lock_owned");
        async move {
            let value = self.take(named).await;
            OwnedMutexGuard { mutex: self, value, named }
        }
    }

    /// Locks it in a thread that runs no future.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Locks it in a thread that runs no future.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    async fn take(&self, named: Named) -> Option<Box<T>> {
        let taken = acquire(&self.0, 1, named, |held| held.data.take()).await;
        taken.expect("it is never closed")
    }

    /// Locks it if nobody has it or waits for it.
    ///
    /// # Errors
    /// If somebody has it or waits for it.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let named = Named::here("try_lock");
        self.try_take(named).map(|value| MutexGuard { mutex: self, value, named })
    }

    /// Locks it if nobody has it or waits for it.
    ///
    /// # Errors
    /// If somebody has it or waits for it.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let named = Named::here("try_lock_owned");
        let value = self.try_take(named)?;
        Ok(OwnedMutexGuard { mutex: self, value, named })
    }

    fn try_take(&self, named: Named) -> Result<Option<Box<T>>, TryLockError> {
        self.0.enter(named, |held| match held.permits.take(1) {
            true => Ok(held.data.take()),
            false => Err(TryLockError(())),
        })
    }

    /// What it guards, without locking it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().data.as_mut().expect("nobody has locked it")
    }

    fn put_back(&self, value: &mut Option<Box<T>>, named: Named) {
        if !is_over() {
            act(&self.0, Named { text: "unlock", ..named }, |held| {
                held.data = value.take();
                held.permits.give(1);
            });
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex of a guard.
    pub fn mutex(this: &MutexGuard<'a, T>) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// The mutex of a guard.
    pub fn mutex(this: &OwnedMutexGuard<T>) -> &Arc<Mutex<T>> {
        &this.mutex
    }
}

macro_rules! guard {
    ($guard:ty) => {
        impl<T: ?Sized> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.value.as_ref().expect("a guard that is not dropped")
            }
        }

        impl<T: ?Sized> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                self.value.as_mut().expect("a guard that is not dropped")
            }
        }

        impl<T: ?Sized> Drop for $guard {
            fn drop(&mut self) {
                self.mutex.put_back(&mut self.value, self.named);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard!(MutexGuard<'_, T>);
guard!(OwnedMutexGuard<T>);

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
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
