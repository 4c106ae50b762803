//! A value that is written once, by a task.

use std::convert::Infallible;
use std::fmt;
use std::sync::OnceLock;

use super::semaphore::Semaphore;
use crate::threads::sync::section::{Flag, Named};

/// A value that is written once.
pub struct OnceCell<T> {
    value: OnceLock<T>,
    is_set: Flag,
    /// One permit to write, until the value is there.
    writing: Semaphore,
}

/// Why a value was not written.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// There is one.
    AlreadyInitializedError(T),
    /// Another task is making one.
    InitializingError(T),
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "there is a value",
            SetError::InitializingError(_) => "another task is making a value",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for SetError<T> {}

impl<T> OnceCell<T> {
    /// No value yet.
    #[track_caller]
    pub fn new() -> OnceCell<T> {
        OnceCell::new_with(None)
    }

    /// This value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> OnceCell<T> {
        let cell = OnceCell {
            value: OnceLock::new(),
            is_set: Flag::new("OnceCell"),
            writing: Semaphore::new(1),
        };
        if let Some(value) = value {
            cell.write(value, Named::here("new_with"));
        }
        cell
    }

    /// Is there a value?
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.is_set.is_set(Named::here("initialized"))
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.get_at(Named::here("get"))
    }

    fn get_at(&self, named: Named) -> Option<&T> {
        self.is_set.is_set(named).then(|| self.value.get().expect("it was written"))
    }

    /// The value, without a step.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Writes the value.
    ///
    /// # Errors
    /// If there is one, or another task is making one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.writing.try_acquire() {
            Ok(permit) if !self.initialized() => {
                self.write(value, Named::here("set"));
                permit.forget();
                Ok(())
            }
            Ok(_) => Err(SetError::AlreadyInitializedError(value)),
            Err(super::TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(super::TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    fn write(&self, value: T, named: Named) -> &T {
        let value = self.value.get_or_init(|| value);
        self.is_set.set(named);
        // Others need no permit any more.
        self.writing.close_at(named);
        value
    }

    /// The value. If there is none, the future of one task makes it, and others wait.
    #[track_caller]
    pub fn get_or_init<F: Future<Output = T>>(
        &self,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = &T> {
        let value = self.get_or_try_init(|| async { Ok::<T, Infallible>(make().await) });
        async { value.await.unwrap_or_else(|never| match never {}) }
    }

    /// The value. If there is none, the future of one task makes it, and others wait. If that
    /// fails, the next one tries.
    #[track_caller]
    pub fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<&T, E>> {
        let named = Named::here("get_or_init");
        async move {
            if let Some(value) = self.get_at(named) {
                return Ok(value);
            }
            match self.writing.acquire_at(1, named).await {
                Ok(permit) => {
                    let value = self.write(make().await?, named);
                    permit.forget();
                    Ok(value)
                }
                Err(_) => Ok(self.get_at(named).expect("it was written")),
            }
        }
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").finish_non_exhaustive()
    }
}
