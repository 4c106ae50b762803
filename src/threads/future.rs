//! Async code: tasks, and what they wait for, with the interfaces of tokio.
//!
//! ```
//! use mazurka::future as tokio;
//! use tokio::sync::mpsc;
//!
//! mazurka::model(|| {
//!     tokio::block_on(async {
//!         let (sender, mut receiver) = mpsc::channel(1);
//!         let task = tokio::spawn(async move {
//!             sender.send(1).await.unwrap();
//!             sender.send(2).await.unwrap();
//!         });
//!         assert_eq!(receiver.recv().await, Some(1));
//!         assert_eq!(receiver.recv().await, Some(2));
//!         assert_eq!(receiver.recv().await, None);
//!         task.await.unwrap();
//!     });
//! });
//! ```
//!
//! A program that was written for tokio needs one `use` changed, as above. A task is a thread of
//! the program that runs its future with [`block_on`], as if each had a core of its own: an
//! execution of a runtime with any number of threads is one of these executions.
//!
//! # What is explored
//!
//! Each call of an object of [`sync`] is one step that nothing comes in between, and so is each
//! poll of a future of one. All orders of dependent steps are explored. Besides there are choices:
//! - the branch of [`select!`](crate::select) that is polled first, unless it says `biased;`;
//! - which of its times is over first, where a task goes to sleep: see [`time`].
//!
//! A future that is dropped while it waits gives up its place, and passes on what it was granted.
//!
//! # What is not
//!
//! - A panic in a task is a violation at once. So a [`JoinError`](task::JoinError) is always one of
//!   an aborted task.
//! - Tasks are not ended when `block_on` returns. A task that waits for ever is a deadlock.
//! - Objects of other crates that have no steps here, such as channels of `futures`, are not seen.
//!   Nor are the locks that some combinators share between tasks.
//!
//! | file | idea |
//! |---|---|
//! | `bell` | how a task sleeps and is woken |
//! | `waker` | a waker that others find |
//! | `tasks` | tasks, and their handles |
//! | `join_set` | the tasks of one owner |
//! | `sync` | locks and channels |
//! | `clock`, `time` | times, and when they are over |
//! | `select`, `join` | futures side by side in one task |

mod bell;
mod clock;
mod join;
mod join_set;
mod select;
pub mod sync;
mod tasks;
pub mod time;
mod waker;

use std::panic::Location;

pub use crate::{join, pin, select, try_join};
pub use tasks::spawn;
pub use waker::AtomicWaker;

pub mod task {
    //! Tasks, with the interfaces of `tokio::task`.

    pub use super::join_set::JoinSet;
    pub use super::tasks::{
        AbortHandle, Id, JoinError, JoinHandle, Result, spawn, spawn_blocking, spawn_local,
        yield_now,
    };
}

#[doc(hidden)]
pub mod macros {
    //! What the macros of this module are made of.

    pub use super::join::{End as Joined, Part, join, try_join};
    pub use super::select::{Branch, End, Ready, select};
}

use bell::Bell;

/// Runs a future in this thread, which waits whenever the future does.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Bell::new(Location::caller());
    bell.run(std::pin::pin!(future), || false).expect("a future that nobody aborts")
}
