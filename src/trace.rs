//! Executions as sequences with happens-before: the parts that DPOR is made of.
//!
//! The other representation, event structures, is [`crate::unfolding`]. Neither module imports the
//! other. An explorer that walks through executions adds each action to [`HappensBefore`], and
//! removes it when it backtracks. [`Classes`] does the same, and also computes the Mazurkiewicz
//! class of the execution.
//!
//! | item | meaning |
//! |---|---|
//! | [`HappensBefore`] | the happens-before order of an execution, by vector clocks |
//! | [`Occurrence`] | an action with its history: the same in all equivalent executions |
//! | [`Execution`] | an execution with its state and order, extended and shortened at its end |
//! | `Heights` | causal depths of actions, for bounded searches |
//! | `Strand` | a schedulable unit: a process, a message to an actor, an internal handler |
//! | `initials` | weak initials: the actions with which a continuation may begin |
//! | `race` | events of an execution that could have occurred in another order |
//! | `Continuation` | what must be explored from a prefix of an execution |
//! | `Reversal` | the continuation that reverses a race |
//! | `BacktrackSets` | the enabled actions that must be tried from each state |
//! | `WakeupTree` | continuations that must be executed from a state |
//! | [`SleepSet`] | enabled actions whose continuations are explored already |
//! | `spin` | loops that wait: their spin iterations are left out of executions |
//! | `order()` | the happens-before order of a given schedule |
//! | [`causal_past()`] | the causal past of the last action of an execution |
//! | `Cuts` | the states of a class that differ in certain relevant actions |
//! | `standstill()` | configurations of a class in which nothing need ever happen again |
//! | [`few_switches()`] | an equivalent execution with few switches between processes |
//! | [`Classes`] | normal forms of executions: equal iff equivalent |

mod backtrack_sets;
mod causal_past;
mod continuation;
mod cuts;
mod execution;
mod few_switches;
mod happens_before;
mod heights;
pub(crate) mod initials;
mod needed;
mod normal_form;
pub mod race;
mod representative;
mod reversal;
mod sleep_set;
pub(crate) mod spin;
mod standstill;
mod wakeup_tree;

pub use causal_past::causal_past;
pub use execution::Execution;
pub use few_switches::{Linearisation, few_switches, switches};
pub use happens_before::HappensBefore;
pub use normal_form::{Classes, NormalForm, Occurrence};
pub use sleep_set::SleepSet;

pub(crate) use backtrack_sets::{BacktrackSets, Candidate};
pub(crate) use causal_past::order;
pub(crate) use continuation::{Continuation, Known, Received};
pub(crate) use cuts::Cuts;
pub(crate) use execution::Strand;
pub(crate) use heights::Heights;
pub(crate) use needed::{LeftOut, needed};
pub(crate) use normal_form::Names;
pub(crate) use representative::representative;
pub(crate) use reversal::Reversal;
pub(crate) use sleep_set::Mark;
pub(crate) use standstill::{Turn, standstill};
pub(crate) use wakeup_tree::{Below, Ticket, WakeupTree, WakeupTrees};
