//! [`std::sync`]: locks, atomics, channels and what is made of them.

pub(super) mod access;
pub mod atomic;
mod barrier;
mod condvar;
pub mod counted;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod pointer;
mod poison;
mod rwlock;
pub(super) mod section;
pub(super) mod turns;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use std::sync::atomic::{AtomicU32, Ordering};

use super::ask::{Place, Running, ask, ask_for, content, is_stale};
use super::system::Made;
use super::token::Token;
use crate::model::{Access, CellId, Op};
use crate::systems::history::Asked;

/// The guard of a lock that the model has granted.
fn granted<G>(tried: TryLockResult<G>) -> G {
    match tried {
        Ok(inner) => inner,
        Err(TryLockError::Poisoned(inner)) => inner.into_inner(),
        Err(TryLockError::WouldBlock) => is_stale(),
    }
}

/// A result that says whether the lock is poisoned.
fn poisoned<G>(is_poisoned: bool, guard: G) -> LockResult<G> {
    if is_poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
}

/// What a lock guards, whether it is poisoned or not.
fn unpoisoned<G>(locked: LockResult<G>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// What a lock guards is in memory. In the model there is a token for it.
#[derive(Debug)]
struct Content {
    cell: CellId,
    /// The history that left what is in memory; [`u32::MAX`] at first.
    left_by: AtomicU32,
}

impl Content {
    fn new(what: &'static str, place: Place) -> Content {
        let cell = CellId(Running::current().make(Made::Cell, what, place));
        Content { cell, left_by: AtomicU32::new(u32::MAX) }
    }

    /// Observes who has left what is in memory.
    fn observe(&self, text: &'static str, place: Place) {
        let Some(told) = ask_for(Op::Access(self.cell, Access::Read), text, place) else { return };
        let writer = Token::of(&content(Some(told))).map_or(u32::MAX, |Token(by)| by);
        if writer != self.left_by.load(Ordering::Relaxed) {
            is_stale();
        }
    }

    /// Notes that the running thread leaves what is in memory from now on. What it does next must
    /// be [`publish`](Content::publish).
    fn leave(&self) {
        if let Some(running) = Running::try_current() {
            self.left_by.store(running.node.get(), Ordering::Relaxed);
        }
    }

    /// Lets others observe it.
    fn publish(&self, text: &'static str, place: Place) {
        let Some(running) = Running::try_current() else { return };
        let token = Token(running.node.get()).value();
        let write = |token| Op::Access(self.cell, Access::Write(token));
        ask(Asked::with(token, write), text, place);
    }
}
