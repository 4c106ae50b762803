//! [`std::sync::Once`], [`std::sync::OnceLock`] and [`std::sync::LazyLock`].

use std::fmt;
use std::ops::Deref;
use std::sync::PoisonError;

use super::Mutex;
use super::atomic::{AtomicBool, Ordering};

/// Something that is done once.
#[derive(Debug)]
pub struct Once {
    is_done: AtomicBool,
    lock: Mutex<bool>,
}

/// Whether an earlier attempt has panicked.
#[derive(Debug)]
pub struct OnceState {
    is_poisoned: bool,
}

impl OnceState {
    /// Has an earlier attempt panicked?
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl Once {
    /// Something that was not done yet.
    #[track_caller]
    pub fn new() -> Once {
        Once { is_done: AtomicBool::new(false), lock: Mutex::new(false) }
    }

    /// Does it, if it was not done yet.
    ///
    /// # Panics
    /// If an earlier attempt has panicked.
    #[track_caller]
    pub fn call_once(&self, work: impl FnOnce()) {
        if !self.is_completed() {
            self.call(|state| {
                assert!(!state.is_poisoned(), "an earlier attempt has panicked");
                work();
            });
        }
    }

    /// Does it, if it was not done yet, even if an earlier attempt has panicked.
    #[track_caller]
    pub fn call_once_force(&self, work: impl FnOnce(&OnceState)) {
        if !self.is_completed() {
            self.call(work);
        }
    }

    #[track_caller]
    fn call(&self, work: impl FnOnce(&OnceState)) {
        let lock = self.lock.lock();
        let is_poisoned = lock.is_err();
        let mut is_done = lock.unwrap_or_else(PoisonError::into_inner);
        if !*is_done {
            work(&OnceState { is_poisoned });
            *is_done = true;
            self.is_done.store(true, Ordering::SeqCst);
        }
    }

    /// Was it done?
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.is_done.load(Ordering::SeqCst)
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Self {
        Once::new()
    }
}

/// A value that is written once.
pub struct OnceLock<T> {
    once: Once,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// No value yet.
    #[track_caller]
    pub fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: std::sync::OnceLock::new() }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.once.is_completed().then(|| self.value.get().expect("it was written"))
    }

    /// Writes the value.
    ///
    /// # Errors
    /// With this value if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is written once"));
        value.map_or(Ok(()), Err)
    }

    /// The value; it is made if there is none.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.once.call_once_force(|_| {
            let _ = self.value.set(make());
        });
        self.value.get().expect("it was written")
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// A value that is made when it is first used.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: std::sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that this will make.
    #[track_caller]
    pub fn new(make: F) -> LazyLock<T, F> {
        LazyLock { value: OnceLock::new(), make: std::sync::Mutex::new(Some(make)) }
    }

    /// The value.
    ///
    /// # Panics
    /// If an earlier attempt to make it has panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            make.expect("an earlier attempt has panicked")()
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
