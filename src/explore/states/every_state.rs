//! Every state once: the full state graph, without reduction.
//!
//! A state is explored once, however many executions lead to it. This explorer is the reference for
//! the reductions that store states: none of them may store more states, and all must reach the
//! same terminal states.

use std::num::NonZeroU32;

use super::batches;
use super::depth_first::{self, DepthFirst, Reduction};
use super::plan::Plan;
use super::settings::{Stateful, Switch};
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile};
use crate::explore::settings::options::{Options, Takes};
use crate::model::{ProcessId, System};

/// Visits every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EveryState {
    /// How states are stored and matched.
    pub how: Stateful,
    /// The number of threads.
    pub jobs: NonZeroU32,
    /// Number of transitions before states are explored in batches, where that is possible. A batch
    /// has at least `first` / 32 states, if there are as many.
    pub first: u64,
    /// Number of replayed actions after which the search falls back to one state at a time (in
    /// addition to an eighth of the transitions).
    pub max_replayed: u64,
    /// Symmetry is used if there are at least that many permutations. To rename a state takes some
    /// 30 times as long as to visit it.
    pub least_permutations: u64,
}

impl EveryState {
    /// With this many permutations symmetry takes less time than it saves.
    pub const PAYS: u64 = 24;

    /// A search with one thread and these settings.
    pub fn of(how: Stateful) -> EveryState {
        let Plan { first, max_replayed, .. } = Plan::default();
        let least_permutations = EveryState::PAYS;
        EveryState { how, jobs: NonZeroU32::MIN, first, max_replayed, least_permutations }
    }

    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        let one = EveryState::of(options.into());
        EveryState { jobs: options.jobs.unwrap_or(one.jobs), ..one }
    }

    /// Does a search of this system execute each transition on the model? Then one by
    /// [`Fused`](super::Fused) takes no longer, and visits fewer states.
    pub(crate) fn is_on_the_model<S: System>(&self, system: &S) -> bool {
        self.how.renames(system, self.least_permutations) || !batches::gains_by_looking_up(system)
    }

    fn plan(&self) -> Plan {
        Plan { jobs: self.jobs.get() as usize, first: self.first, max_replayed: self.max_replayed }
    }
}

impl Default for EveryState {
    fn default() -> Self {
        EveryState::of(Stateful::default())
    }
}

const OPTIONS: &[&str] =
    &["order", "seed", "without", "as-printed", "histories", "hash-compaction", "jobs"];

impl Explorer for EveryState {
    fn profile(&self) -> Profile {
        Profile {
            name: "stateful",
            summary: "every state once, without reduction",
            guarantee: Guarantee::of_states(self.how),
            takes: Takes {
                options: OPTIONS,
                ..Takes::of_stored(&[Switch::LiveVariables, Switch::Symmetry])
            },
            depth: Depth::Length,
            knows_when_stuck: true,
            every_state: self.how.is_sound(),
            can_be_saved: true,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, _: &S, _: &Budget) -> Option<String> {
        let is_alone = cfg!(feature = "parallel") || self.jobs == NonZeroU32::MIN;
        (!is_alone).then(|| "several threads need the feature `parallel` of the crate".into())
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        match driver.depth() {
            None if self.how.merges_orbits(system, driver, self.least_permutations) => {
                let all = &mut All { merges_orbits: true };
                depth_first::explore(system, (self.how, self.plan()), all, driver);
            }
            None if batches::can_look_up(system, self.how, driver) => {
                batches::explore(system, self.how, self.plan(), driver);
            }
            _ => {
                let all = &mut All { merges_orbits: false };
                depth_first::explore(system, (self.how, self.plan()), all, driver);
            }
        }
    }
}

struct All {
    merges_orbits: bool,
}

impl<S: System> Reduction<S> for All {
    fn merges_orbits(&self) -> bool {
        self.merges_orbits
    }

    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.enabled.without(&top.explored);
        search.first(&rest, visited_first)
    }
}
