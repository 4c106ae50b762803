//! Complete executions chosen by chance, one after another: for programs with too many executions
//! to explore them all.
//!
//! ```text
//! repeat n times:
//!   E := the initial state
//!   while some action is enabled after E:  E := E·p, where p is chosen by chance
//!   count the class of E
//! ```
//!
//! | file | idea |
//! |---|---|
//! | [`chooser`] | how p is chosen: uniformly, or by random priorities of processes (PCT) |
//! | [`coverage`] | how many classes have been seen, and how many only once |
//! | [`by_chance`] | the loop above |
//!
//! Such a search proves nothing, however long it runs: it always ends as incomplete, also if it has
//! seen every class. What it knows is how much of it was new to the end ([`coverage`]).
//!
//! Loops that wait are waits here as in other searches (`trace::spin`): an iteration that changes
//! nothing is left out, so a process that spins does not keep an execution going. With a depth
//! bound, loops run literally. An execution that is as long as the bound, or without a bound as
//! long as an [endless](super::budget::Budget::endless) one, is cut, and the next one begins.

mod by_chance;
mod chooser;
mod coverage;

pub use by_chance::ByChance;
