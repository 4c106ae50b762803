//! Stored states: the parts of the explorers that match states.
//!
//! | part | idea |
//! |---|---|
//! | [`store`] | each state once, compressed as a tree |
//! | `orbits` | one state for all that are equal up to the names of symmetric processes |
//! | [`cursor`] | the current model state, and the stored state that it equals |
//! | `full_graph` | every state, by memoised transitions |
//! | `batches` | every state, in batches of many states, on several threads |
//! | `kept` | searches that are saved, and go on in another process |
//! | `views` | the part of a state that an invariant reads, so that it is judged once for many states |
//! | [`depth_first`] | depth-first search, with a reduction that selects the transitions to explore |
//! | [`breadth_first`] | breadth-first search of all states up to a depth |
//! | [`safe_set`] | operations with which no other process can interfere |
//! | [`fused`] | safe sets, without the states between steps that concern one process |
//! | [`fair`] | what must happen in the end, on the graph of all states |
//! | [`labels`], [`past`] | the transitions after a state, and the races with them |
//! | [`source_set`] | whether the transitions explored from a state suffice |
//!
//! Cirisci, Enea, Farzan, Mutluergil: *A pragmatic approach to stateful partial order reduction*
//! (VMCAI 2023), "the paper" below.

mod batches;
mod breadth_first;
mod canonical;
#[cfg(feature = "cli")]
pub mod count;
mod cursor;
mod de_s_por;
pub(crate) mod depth_first;
mod dl_s_por;
mod ends;
mod enumeration;
pub mod every_state;
mod expander;
pub(crate) mod fair;
mod foreseen;
mod frontier;
mod full_graph;
pub mod fused;
mod histories;
#[cfg_attr(not(feature = "json"), path = "states/unkept.rs")]
mod kept;
mod known;
pub(crate) mod labels;
mod locks;
mod moves;
mod orbits;
mod packed;
pub(crate) mod past;
mod paths;
mod plan;
mod pool;
mod processes;
mod reactions;
pub mod s_por;
mod safe_set;
pub(crate) mod settings;
pub(crate) mod source_set;
mod store;
mod table;
mod views;
mod visits;
mod ways;

pub use every_state::EveryState;
pub use fair::search::Fair;
pub use fused::Fused;
pub use s_por::{SPor, Sources};
