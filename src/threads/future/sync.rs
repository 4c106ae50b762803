//! Locks and channels for tasks, with the interfaces of `tokio::sync`.
//!
//! ```
//! use mazurka::future as tokio;
//! use std::sync::Arc;
//! use tokio::sync::Mutex;
//!
//! mazurka::model(|| {
//!     tokio::block_on(async {
//!         let sum = Arc::new(Mutex::new(0));
//!         let own = sum.clone();
//!         let task = tokio::spawn(async move { *own.lock().await += 1 });
//!         *sum.lock().await += 2;
//!         task.await.unwrap();
//!         assert_eq!(*sum.lock().await, 3);
//!     });
//! });
//! ```
//!
//! Each object is plain data in a section, which an operation enters once: see `section`. Tasks
//! that wait for a lock or for room in a channel get it in the order in which they were first
//! polled.

mod barrier;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod permits;
mod rwlock;
mod semaphore;
mod senders;
mod wakers;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notify, futures};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
