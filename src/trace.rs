//! Executions as sequences with happens-before: the parts that DPOR is made of.
//!
//! The other representation, event structures, is [`crate::unfolding`]. Neither module knows the
//! other. An explorer that walks through executions tells [`HappensBefore`] of each action, and
//! takes the action back when it backtracks. [`Classes`] does that too, and names the Mazurkiewicz
//! class of the execution.
//!
//! | item | meaning |
//! |---|---|
//! | [`HappensBefore`] | which action of an execution is before which, as vector clocks |
//! | [`Occurrence`] | an action with its history: the same in all equivalent executions |
//! | [`Execution`] | an execution with its state and order, going forward and back |
//! | [`Heights`] | how far a bounded search may go |
//! | [`Strand`] | what is scheduled on its own: a process, a message, an internal handler |
//! | [`initials`] | what a continuation may begin with |
//! | [`race`] | events of an execution that could have come the other way round |
//! | [`Reversal`] | a continuation in which they do |
//! | [`BacktrackSets`] | which of the enabled actions are to be tried |
//! | [`WakeupTree`] | continuations that are to be executed |
//! | [`SleepSet`] | what need not be executed, because what it leads to was explored |
//! | [`spin`] | loops that wait: which of their actions are left out of executions |
//! | [`order()`] | the order of an execution that is given |
//! | [`causal_past()`] | the part of an execution that its last action needs |
//! | [`Cuts`] | the states of a class that some of its actions tell apart |
//! | [`standstill()`] | a part of a class in which nothing need ever happen again |
//! | [`few_switches()`] | the same execution with processes taking turns less often |
//! | [`Classes`] | normal forms of executions: equal iff equivalent |

mod backtrack_sets;
mod causal_past;
mod cuts;
mod execution;
mod few_switches;
mod happens_before;
mod heights;
pub mod initials;
mod needed;
mod normal_form;
pub mod race;
mod representative;
mod reversal;
mod sleep_set;
pub mod spin;
mod standstill;
mod wakeup_tree;

pub use backtrack_sets::{BacktrackSets, Candidate};
pub use causal_past::{causal_past, order};
pub use cuts::Cuts;
pub use execution::{Execution, Strand};
pub use few_switches::{Linearisation, few_switches, switches};
pub use happens_before::HappensBefore;
pub use heights::Heights;
pub use needed::{Left, needed};
pub use normal_form::{Classes, Names, NormalForm, Occurrence};
pub use representative::representative;
pub use reversal::Reversal;
pub use sleep_set::{Mark, SleepSet};
pub use standstill::standstill;
pub use wakeup_tree::{WakeupTree, WakeupTrees};
