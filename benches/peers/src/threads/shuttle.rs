//! The programs with the mutexes, atomics and threads of shuttle.

#[path = "programs.rs"]
#[allow(clippy::duplicate_mod)]
pub mod programs;

use ::shuttle::{sync, thread};
