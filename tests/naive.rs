//! The definitional oracle: the unfolding of a small system, by the definitions and nothing else.
//!
//! Slow and obvious on purpose; no code is shared with `trace` or `unfolding`. The system is run on
//! the bare [`State`]; an event is an action with its history, the set of all events that happen
//! before it (FORTE 2019, definitions 3 and 4). Since the dependence relation is conditional
//! (`src/model/effect.rs`), the dependences of an action are determined in an execution, and "e and
//! f are in conflict" means that no execution has both. It is not assumed but checked that this is
//! a prime event structure:
//!
//! - all executions with one set of events lead to one state, one set of enabled actions and one
//!   set of next events ([`Structure::of`]);
//! - conflicts between pairs determine all conflicts: each causally closed and conflict-free set of
//!   events is the set of some execution ([`Structure::of`] again);
//! - the relation is an independence relation: neighbours that it calls independent can be swapped
//!   ([`swaps`]).

pub mod relation;
mod structure;
mod swaps;

pub use structure::{Configuration, Event, Obstacle, Run, Snapshot, Structure};
pub use swaps::check_swaps;

use roaring::RoaringBitmap;

/// A set of events.
pub type Set = RoaringBitmap;
