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

pub use builder::*;
pub use locks::*;
pub use script::{Local, Script};
pub use steps::*;
