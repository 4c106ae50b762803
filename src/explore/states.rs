//! Stored states: the parts of the explorers that match states.
//!
//! | part | idea |
//! |---|---|
//! | [`store`] | each state once, compressed as a tree |
//! | [`cursor`] | the model state at hand, and the stored state that it equals |
//! | `full_graph` | every state, by moves that were learned |
//! | `batches` | the same for many states at a time, on several threads |
//! | `views` | what invariants see of a state, so that they are judged once for many states |
//! | [`depth_first`] | depth-first, with a reduction that says what to explore |
//! | [`breadth_first`] | breadth-first, everything up to a depth |
//! | [`safe_set`] | operations that nobody can interfere with |
//! | [`labels`], [`past`] | what comes after a state, and what races with it |
//! | [`source_set`] | whether enough was explored from a state |
//!
//! Cirisci, Enea, Farzan, Mutluergil: *A pragmatic approach to stateful partial order reduction*
//! (VMCAI 2023), "the paper" below.

mod batches;
mod breadth_first;
pub mod count;
mod cursor;
mod de_s_por;
pub mod depth_first;
mod dl_s_por;
mod enumeration;
mod every_state;
mod expander;
mod foreseen;
mod frontier;
mod full_graph;
mod histories;
mod known;
pub mod labels;
mod moves;
mod packed;
pub mod past;
mod portfolio;
mod processes;
mod reactions;
mod s_por;
mod safe_set;
pub mod settings;
pub mod source_set;
mod store;
mod table;
mod views;

pub use every_state::EveryState;
pub use portfolio::Portfolio;
pub use s_por::{SPor, Sources};
