//! Ways to make a [`System`](crate::model::System): so far a builder, for systems made in Rust.
//!
//! | item | meaning |
//! |---|---|
//! | [`Builder`] | declares objects and processes |
//! | [`Step`] | what a process does: [`send`], [`lock`], [`branch`], .. |
//! | [`Script`] | the system that is built |

mod builder;
mod instruction;
mod script;

pub use builder::{
    Barrier, Builder, Cell, Child, Communication, Expression, Mailbox, Mutex, RwLock, Semaphore,
    Step, Template, Variable, Variables, acquire, acquire_wait, arrive, assert_that, async_acquire,
    async_lock, barrier, barrier_wait, branch, cas, choose, fetch_add, irecv, irecv_with, isend,
    isend_with, join, local, lock, mutex_test, mutex_test_any, mutex_wait, mutex_wait_any, read,
    read_lock, recv, release, repeat_while, rw_unlock, send, set, spawn, swap, test, test_any,
    try_lock, unlock, value_of, wait, wait_any, write, write_lock,
};
pub use script::{Local, Script};
