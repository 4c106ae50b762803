//! Searches along the configurations of the unfolding: what they share, and DPOR as one of them.
//!
//! | file | idea |
//! |---|---|
//! | [`notes`] | callbacks by which the steps of a search are recorded |
//! | [`queue`] | enabled events in an order |
//! | [`intruder`] | probes by a process that is not the receiver |
//! | [`proof`] | no extension was lost |
//! | [`maximal`] | how a search ends in a maximal configuration |
//! | [`visited`] | the configurations visited so far |
//! | [`backtracking`] | DPOR and TransDPOR: a backtrack set for each configuration |
//!
//! UDPOR is in [`crate::explore::udpor`].

pub mod backtracking;
pub mod intruder;
pub mod maximal;
pub mod notes;
pub mod proof;
pub mod queue;
pub mod visited;
