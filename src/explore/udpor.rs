//! UDPOR: along the configurations of the unfolding.
//!
//! [`search`] is the algorithm. [`prefix`] is what it met, to look at. By [`notes`] the first tells
//! the second. [`proof`] says that nothing was lost.

mod intruder;
pub mod k;
mod notes;
pub mod prefix;
mod proof;
mod search;

pub use k::K;
pub use search::{Udpor, udpor_with};
