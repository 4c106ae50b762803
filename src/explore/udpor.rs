//! UDPOR: the explorer that walks along the configurations of the unfolding, and needs no table of
//! them.
//!
//! [`search`] is the algorithm. [`recording`] is the part of the unfolding that a search has built,
//! for display.

pub mod k;
pub mod recording;
pub mod search;

pub use k::K;
pub use search::{Udpor, udpor_with};
