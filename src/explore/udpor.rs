//! UDPOR: along the configurations of the unfolding.
//!
//! [`search`] is the algorithm, [`prefix`] what it met, to look at; [`notes`] is how the one tells the other.

pub mod k;
mod notes;
pub mod prefix;
mod search;

pub use k::K;
pub use search::{Udpor, udpor_with};
