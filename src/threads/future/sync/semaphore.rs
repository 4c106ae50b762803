//! A semaphore.

use std::fmt;
use std::sync::Arc;

use super::permits::{Closed, Held, acquire};
use crate::threads::future::bell::act;
use crate::threads::sync::section::{Named, Section, is_over};

/// Permits that tasks take and give back.
pub struct Semaphore(Section<Held<()>>);

/// The semaphore is closed.
#[derive(Debug, PartialEq, Eq)]
pub struct AcquireError(());

/// Why there is no permit.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are not so many.
    NoPermits,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "the semaphore is closed",
            TryAcquireError::NoPermits => "there are no permits",
        })
    }
}

impl std::error::Error for AcquireError {}

impl std::error::Error for TryAcquireError {}

impl Semaphore {
    /// The most permits of a semaphore.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// A semaphore with so many permits.
    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        Semaphore(Held::new("Semaphore", permits, ()))
    }

    /// The number of permits that can be taken.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.0.enter(Named::here("available_permits"), |held| held.permits.available())
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        act(&self.0, Named::here("add_permits"), |held| held.permits.give(n));
    }

    /// Takes away up to so many permits for ever, and returns how many those were.
    #[track_caller]
    pub fn forget_permits(&self, n: usize) -> usize {
        self.0.enter(Named::here("forget_permits"), |held| held.permits.take_up_to(n))
    }

    /// Takes a permit as soon as there is one.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_at(1, Named::here("acquire"))
    }

    /// Takes so many permits as soon as there are so many.
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_at(n as usize, Named::here("acquire_many"))
    }

    pub(super) async fn acquire_at(
        &self,
        permits: usize,
        named: Named,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        let acquired = acquire(&self.0, permits, named, |_| ()).await;
        acquired.map_err(|Closed| AcquireError(()))?;
        Ok(SemaphorePermit { semaphore: self, permits, named })
    }

    /// Takes a permit, if there is one.
    ///
    /// # Errors
    /// If there is none, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_at(1, Named::here("try_acquire"))
    }

    /// Takes so many permits, if there are so many.
    ///
    /// # Errors
    /// If there are fewer, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_at(n as usize, Named::here("try_acquire_many"))
    }

    fn try_acquire_at(
        &self,
        permits: usize,
        named: Named,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let taken = self.0.enter(named, |held| match held.permits.is_closed() {
            true => Err(TryAcquireError::Closed),
            false => held.permits.take(permits).then_some(()).ok_or(TryAcquireError::NoPermits),
        });
        taken.map(|()| SemaphorePermit { semaphore: self, permits, named })
    }

    /// Takes a permit that does not borrow the semaphore, as soon as there is one.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_at(1, Named::here("acquire_owned"))
    }

    /// Takes so many permits that do not borrow the semaphore, as soon as there are so many.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_at(n as usize, Named::here("acquire_many_owned"))
    }

    async fn acquire_owned_at(
        self: Arc<Self>,
        permits: usize,
        named: Named,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permit = self.acquire_at(permits, named).await?;
        permit.forget();
        Ok(OwnedSemaphorePermit { semaphore: self, permits, named })
    }

    /// Takes a permit that does not borrow the semaphore, if there is one.
    ///
    /// # Errors
    /// If there is none, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_owned_at(1, Named::here("try_acquire_owned"))
    }

    /// Takes so many permits that do not borrow the semaphore, if there are so many.
    ///
    /// # Errors
    /// If there are fewer, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_owned_at(n as usize, Named::here("try_acquire_many_owned"))
    }

    fn try_acquire_owned_at(
        self: Arc<Self>,
        permits: usize,
        named: Named,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_at(permits, named)?.forget();
        Ok(OwnedSemaphorePermit { semaphore: self, permits, named })
    }

    /// Closes it: nobody gets a permit any more.
    #[track_caller]
    pub fn close(&self) {
        self.close_at(Named::here("close"));
    }

    pub(super) fn close_at(&self, named: Named) {
        act(&self.0, named, |held| held.permits.close());
    }

    /// Is it closed?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.0.enter(Named::here("is_closed"), |held| held.permits.is_closed())
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

/// Permits, which are given back when this is dropped.
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    named: Named,
}

/// Permits that do not borrow their semaphore. They are given back when this is dropped.
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
    named: Named,
}

macro_rules! permit {
    ($permit:ty) => {
        impl $permit {
            /// Keeps the permits away for ever.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Adds the permits of another one of the same semaphore.
            ///
            /// # Panics
            /// If it is of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(std::ptr::eq(&*self.semaphore, &*other.semaphore), "another semaphore");
                self.permits += std::mem::take(&mut other.permits);
            }

            /// Takes so many of these permits, if they are so many.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                let semaphore = self.semaphore.clone();
                Some(Self { semaphore, permits: n, named: self.named })
            }

            /// The number of permits.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl Drop for $permit {
            fn drop(&mut self) {
                if self.permits > 0 && !is_over() {
                    let named = Named { text: "release", ..self.named };
                    act(&self.semaphore.0, named, |held| held.permits.give(self.permits));
                }
            }
        }
    };
}

permit!(SemaphorePermit<'_>);
permit!(OwnedSemaphorePermit);

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}
