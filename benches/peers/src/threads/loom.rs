//! The programs with the mutexes, atomics and threads of loom.

#[path = "programs.rs"]
#[allow(clippy::duplicate_mod)]
pub mod programs;

use ::loom::{sync, thread};
