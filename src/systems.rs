//! Ways to make a [`System`](crate::model::System): a builder, for models written in Rust; and
//! [`history`], for real processes.
//!
//! | item | meaning |
//! |---|---|
//! | [`Builder`] | declares objects and processes |
//! | [`Step`] | an operation of a process: [`send`], [`lock`], [`branch`], .. |
//! | [`Script`] | the system that is built: a program, as [`lang`](crate::lang) compiles them |

pub mod history;

pub use crate::lang::builder::*;
pub use crate::lang::{Local, Program as Script};
