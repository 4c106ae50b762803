//! S-POR: states once, and invisible operations first.
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
//! safeSet(s) is one process whose operation nobody can interfere with, or else all that are enabled
//! ([`SafeSets`](super::states::SafeSets)). Sound: a safe set is a persistent set, and along a cycle some state is
//! explored in full ([`super::states::search`]). The paper assumes that there are neither deadlocks nor
//! cycles. The first is not needed here, where nothing is ever disabled by another process.

use super::states::Stateful;
use super::states::search::{self, Rule, Search};
use super::{Driver, Guarantee, Info};
use crate::model::{ProcessId, System};

/// What it is.
pub const INFO: Info = Info {
    name: "s-por",
    summary: "states once, and operations first that nobody can interfere with (safe sets)",
    source: "Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023)",
    guarantee: Guarantee::EveryEnd,
    requires: None,
};

struct SafeSetRule;

impl<S: System> Rule<S> for SafeSetRule {
    fn next(&mut self, search: &mut Search<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.safe.without(&top.explored);
        search.first(&rest, visited_first)
    }
}

/// Visits the states that safe sets lead to.
pub fn explore<S: System>(system: &S, settings: Stateful, driver: &mut Driver<'_>) {
    search::explore(system, settings, &mut SafeSetRule, driver);
}
