//! UDPOR: the explorer that walks along the configurations of the unfolding.
//!
//! [`search`] is the algorithm. [`recording`] is the part of the unfolding that a search has built,
//! for display. [`notes`] are the callbacks by which it is recorded. [`proof`] checks that no
//! extension was lost.

mod intruder;
pub(crate) mod k;
mod notes;
mod proof;
pub mod recording;
mod search;

pub use k::K;
pub use search::{Udpor, udpor_with};
