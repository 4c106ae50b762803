//! Ways to make a [`System`](crate::model::System): a builder, for models written in Rust; and
//! [`history`], for real processes.
//!
//! | item | meaning |
//! |---|---|
//! | [`Builder`] | declares objects and processes |
//! | [`Step`] | an operation of a process: [`send`], [`lock`], [`branch`], .. |
//! | [`Script`] | the system that is built |

mod builder;
pub mod history;
mod instruction;
mod locks;
mod script;
mod steps;

pub use builder::{
    Barrier, Builder, Cell, Child, Collective, Communication, Condvar, Expression, Mailbox, Mutex,
    RwLock, Semaphore, Step, Template, Variable, Variables, acquire, acquire_wait, arrive,
    assert_that, async_acquire, barrier, barrier_wait, branch, cas, choose, fetch_add, irecv,
    irecv_with, isend, isend_with, join, local, read, recv, release, repeat_while, send, set,
    spawn, swap, test, test_any, value_of, wait, wait_any, write,
};
pub use locks::{
    async_lock, cond_wait, lock, mutex_test, mutex_test_any, mutex_wait, mutex_wait_any,
    notify_all, notify_one, read_lock, rw_unlock, try_lock, unlock, write_lock,
};
pub use script::{Local, Script};
pub use steps::{cancel, enter, iprobe, issend_with, mprobe, probe};
