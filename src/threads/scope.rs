//! [`std::thread::scope`]: threads that may borrow from the one that spawns them.
//!
//! # Why the one `unsafe` is sound
//!
//! A thread of a scope runs a closure that borrows for `'scope`, and the world wants closures that
//! borrow for ever. So a lifetime is extended. Nothing that is borrowed is gone while the closure
//! exists:
//!
//! - [`scope`] returns, or goes on with a panic, only when each thread of the scope has ended. A
//!   thread has ended when its closure has returned or unwound, and so was dropped
//!   (`world::run`).
//! - A destructor that is called in a panic, or because the world ends, cannot wait. So it spawns
//!   nothing: its closures are dropped at once (`Spawned::start`).
//! - If the world ends before that, all stacks are unwound or forgotten. The one that waits in
//!   `scope` is unwound after those of the threads of its scope, and after closures that have not
//!   begun were dropped (`World::drop`): threads with scopes are unwound last, and of two of them
//!   the one first that was spawned later. If stacks are forgotten, then all of them are.
//! - A [`ScopedJoinHandle`] has the result, not the closure, and cannot outlive `'scope`.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Mutex as Plain, PoisonError};

use super::ask::{Body, Place, Running};
use super::thread::{Builder, Result, Spawned, Thread};
use crate::model::ProcessId;

/// Spawns threads that may borrow what lives longer than the scope.
pub struct Scope<'scope, 'env: 'scope> {
    /// The threads that nobody has joined.
    threads: Plain<Vec<ProcessId>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope that was spawned, and returns a `T`.
pub struct ScopedJoinHandle<'scope, T> {
    spawned: Spawned<T>,
    threads: &'scope Plain<Vec<ProcessId>>,
}

/// Calls the function with a scope, and waits for all threads that were spawned in it.
///
/// # Panics
/// If the function does.
#[track_caller]
pub fn scope<'env, F, T>(work: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = Location::caller();
    let running = Running::current();
    running.with_scopes.borrow_mut().insert(running.thread.get());
    let scope = Scope { threads: Plain::default(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
    if !running.is_ending.get() {
        let threads = std::mem::take(&mut *of(&scope.threads));
        threads.into_iter().for_each(|process| super::thread::wait_for(process, place));
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

fn of(threads: &Plain<Vec<ProcessId>>) -> std::sync::MutexGuard<'_, Vec<ProcessId>> {
    threads.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread.
    #[track_caller]
    pub fn spawn<T: 'scope>(
        &'scope self,
        code: impl FnOnce() -> T + 'scope,
    ) -> ScopedJoinHandle<'scope, T> {
        self.start(Builder::new(), code, Location::caller())
    }

    fn start<T: 'scope>(
        &'scope self,
        builder: Builder,
        code: impl FnOnce() -> T + 'scope,
        place: Place,
    ) -> ScopedJoinHandle<'scope, T> {
        let spawned = Spawned::start(builder, code, extended, place);
        of(&self.threads).extend(spawned.process());
        ScopedJoinHandle { spawned, threads: &self.threads }
    }
}

/// The closure, as if it borrowed for ever: see the head of this module.
#[expect(unsafe_code, reason = "no safe code can run what borrows on a stack of its own")]
fn extended<'scope>(body: Box<dyn FnOnce() + 'scope>) -> Body {
    // SAFETY: the closure is dropped before `'scope` ends, as the head of this module says. Only a
    // lifetime differs between the types.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'scope>, Body>(body) }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, and returns what it has returned.
    ///
    /// # Errors
    /// None: a panic in a thread is a violation.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let own = self.spawned.process();
        of(self.threads).retain(|&process| Some(process) != own);
        self.spawned.join(Location::caller())
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.spawned.thread()
    }
}

impl Builder {
    /// Starts a thread in a scope.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, T: 'scope>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        code: impl FnOnce() -> T + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        Ok(scope.start(self, code, Location::caller()))
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
