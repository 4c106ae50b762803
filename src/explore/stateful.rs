//! Every state once: the full state graph, without reduction.
//!
//! What is equal from here on is explored once, however many executions lead to it. This is the judge of the
//! reductions that store states: none of them may store more, and all must end in the same states.

use super::states::Stateful;
use super::states::search::{self, Rule, Search};
use super::{Driver, Guarantee, Info};
use crate::model::{ProcessId, System};

/// What it is.
pub const INFO: Info = Info {
    name: "stateful",
    summary: "every state once, without reduction",
    source: "",
    guarantee: Guarantee::EveryEnd,
    requires: None,
};

struct All;

impl<S: System> Rule<S> for All {
    fn next(&mut self, search: &mut Search<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.enabled.without(&top.explored);
        search.first(&rest, visited_first)
    }
}

/// Visits every state.
pub fn explore<S: System>(system: &S, settings: Stateful, driver: &mut Driver<'_>) {
    search::explore(system, settings, &mut All, driver);
}
