//! Programs of threads with mutexes and atomics, for Mazurka, loom and shuttle.
//!
//! Loom and shuttle offer the types of the standard library, so `programs` is one text for both.
//! Loom allows five threads, including the one that starts the others, and the programs have no
//! more.

pub mod loom;
pub mod mazurka;
pub mod shuttle;
