//! Explorers that walk along executions, from the exhaustive one to optimal DPOR: rules of one
//! [`walk`](super::walk).
//!
//! | file | rule |
//! |---|---|
//! | [`exhaustive`] | every enabled action |
//! | [`sleep`] | every enabled action that is not asleep |
//! | [`source`] | source sets |
//! | [`optimal`] | wakeup trees |
//! | [`parsimonious`] | reverse search over normal forms |
//! | [`backtrack_sets`] | DPOR: backtrack sets from the last races |
//! | [`trans_dpor`] | one message at a time in a backtrack set |
//! | [`trans_dpor_tool`] | TransDPOR as the tool of the paper implements it |
//! | [`dpor_ds`] | a branch for each race, up to a depth |

mod backtrack_candidates;
mod backtrack_sets;
mod by_races;
mod creation;
mod dpor_ds;
mod exhaustive;
mod of_processes;
mod optimal;
pub(crate) mod parsimonious;
mod pending;
mod sleep;
mod source;
mod trans_dpor;
mod trans_dpor_tool;

pub use backtrack_sets::Dpor;
pub use dpor_ds::{DporDs, Way};
pub use exhaustive::Exhaustive;
pub use optimal::Optimal;
pub use parsimonious::Parsimonious;
pub use sleep::Sleep;
pub use source::Source;
pub use trans_dpor::TransDpor;
