//! S-POR: each state once, invisible operations first.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 1.
//!
//! ```text
//! Explore(s):
//!   if s was not visited:
//!     for all t ∈ safeSet(s):
//!       (s, a, s') := next(s, t);  push s';  Explore(s');  pop
//! ```
//!
//! safeSet(s) is one process whose operation no other can interfere with, or else all enabled
//! processes ([`SafeSets`](super::safe_set::SafeSets)). Sound: a safe set is a persistent set, and
//! along a cycle some state is explored in full ([`super::depth_first`]). The paper assumes that
//! there are neither deadlocks nor cycles. The first assumption is not needed here, because nothing
//! is ever disabled by another process.

use super::de_s_por::Eager;
use super::depth_first::{self, DepthFirst, Reduction};
use super::dl_s_por::Lazy;
use super::past::Memory;
use super::plan::Plan;
use super::settings::{Stateful, Switch};
use crate::explore::budget::Depth;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile};
use crate::explore::settings::options::Takes;
use crate::model::{ProcessId, System};

/// Visits the states that are reached by safe sets, or by source sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SPor {
    /// How states are stored and matched.
    pub how: Stateful,
    /// How source sets reduce the safe sets.
    pub sources: Sources,
}

/// How source sets are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sources {
    /// Not at all: safe sets are explored in full.
    #[default]
    None,
    /// Along the stack (`de_s_por`).
    Eager,
    /// When the search backtracks to a state (`dl_s_por`).
    Lazy,
}

impl SPor {
    /// Safe sets alone.
    pub fn safe(how: impl Into<Stateful>) -> Self {
        SPor { how: how.into(), sources: Sources::None }
    }

    /// With source sets, found eagerly.
    pub fn eager(how: impl Into<Stateful>) -> Self {
        SPor { how: how.into(), sources: Sources::Eager }
    }

    /// With source sets, found lazily.
    pub fn lazy(how: impl Into<Stateful>) -> Self {
        SPor { how: how.into(), sources: Sources::Lazy }
    }
}

impl Explorer for SPor {
    fn profile(&self) -> Profile {
        let (name, summary, switches) = match self.sources {
            Sources::None => (
                "s-por",
                "each state once; operations without possible interference first (safe sets)",
                &[Switch::SafeSets, Switch::ProgramPoints, Switch::LiveVariables][..],
            ),
            Sources::Eager => (
                "de-s-por",
                "s-por with source sets, computed eagerly along the stack",
                &[Switch::SafeSets, Switch::Once, Switch::VisitedFirst, Switch::Summaries][..],
            ),
            Sources::Lazy => (
                "dl-s-por",
                "s-por with source sets, computed when a state is backtracked to",
                &Switch::ALL[..],
            ),
        };
        Profile {
            name,
            summary,
            source: "Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023)",
            guarantee: Guarantee::of_states(self.how),
            takes: Takes::of_stored(switches),
            depth: Depth::Length,
            can_be_saved: true,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let (how, memory) = ((self.how, Plan::default()), Memory::of(self.how));
        match self.sources {
            Sources::None => depth_first::explore(system, how, &mut SafeSetReduction, driver),
            Sources::Eager => depth_first::explore(system, how, &mut Eager { memory }, driver),
            Sources::Lazy => depth_first::explore(system, how, &mut Lazy { memory }, driver),
        }
    }
}

struct SafeSetReduction;

impl<S: System> Reduction<S> for SafeSetReduction {
    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.safe.without(&top.explored);
        search.first(&rest, visited_first)
    }
}
