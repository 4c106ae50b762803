//! Every state once: the full state graph, without reduction.
//!
//! A state is explored once, however many executions lead to it. The reductions that store states are judged by this
//! explorer: none of them may store more states, and all must end in the same ones.

use std::num::NonZeroU32;

use super::batches::{self, Plan};
use super::depth_first::{self, DepthFirst, Reduction};
use super::settings::{Stateful, Switch};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Depth, Explorer, Guarantee, Info};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Locals, ProcessId, System};

/// Visits every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EveryState {
    /// How states are stored.
    pub how: Stateful,
    /// How many threads explore.
    pub jobs: NonZeroU32,
    /// After so many transitions states are explored many at a time, if that can be done: at least a 32nd part of this number.
    pub first: u64,
    /// But one at a time again, if that needs the model so often that it is led along more actions than this, and than an eighth
    /// of the transitions.
    pub ways: u64,
}

/// Most programs need fewer transitions.
const FIRST: u64 = 1 << 17;
const WAYS: u64 = 1 << 16;

impl EveryState {
    /// One thread, and states that are stored in this way.
    pub fn of(how: Stateful) -> EveryState {
        EveryState { how, jobs: NonZeroU32::MIN, first: FIRST, ways: WAYS }
    }

    fn plan(&self) -> Plan {
        Plan { jobs: self.jobs.get() as usize, first: self.first, ways: self.ways }
    }
}

impl Default for EveryState {
    fn default() -> Self {
        EveryState::of(Stateful::default())
    }
}

const OPTIONS: &[&str] =
    &["order", "seed", "without", "as-printed", "histories", "hash-compaction", "jobs"];

impl Choosable for EveryState {
    const INFO: Info = Info {
        name: "stateful",
        summary: "every state once, without reduction",
        source: "",
        guarantee: Guarantee::EveryEnd,
        requires: None,
    };
    const TAKES: Takes = Takes { options: OPTIONS, ..Takes::of_stored(&[Switch::LiveVariables]) };

    fn new(options: &Options) -> Self {
        let one = EveryState::of(options.stateful());
        EveryState { jobs: options.jobs.unwrap_or(one.jobs), ..one }
    }
}

impl Explorer for EveryState {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn guarantee(&self) -> Guarantee {
        self.how.guarantee(Self::INFO.guarantee)
    }

    fn depth(&self) -> Depth {
        Depth::Length
    }

    fn visits_every_state(&self) -> bool {
        self.guarantee() > Guarantee::SomeClasses
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let usual = Stateful { without: self.how.without, ..Stateful::default() };
        let is_looked_up = self.how == usual && needs_no_model(system, driver);
        match driver.depth() {
            None if is_looked_up => batches::explore(system, self.how, self.plan(), driver),
            Some(_) if is_looked_up && batches::can_go_by_levels(system) => {
                batches::explore_by_levels(system, self.how, self.plan(), driver);
            }
            _ => depth_first::explore(system, self.how, &mut All, driver),
        }
    }
}

/// With more objects and processes than this, to learn what they do takes longer than to do it.
const MOST_PARTS: usize = 256;

/// Is there nobody who looks at the model state after each transition, and has each of not too many parts its place?
fn needs_no_model<S: System>(system: &S, driver: &Driver<'_>) -> bool {
    let locals = Locals::new(system);
    let parts = locals.initial().len() + locals.met().order().len();
    !locals.met().may_grow()
        && parts <= MOST_PARTS
        && !driver.follows_transitions()
        && !driver.budget().properties.are_asked_on_the_way()
}

struct All;

impl<S: System> Reduction<S> for All {
    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.enabled.without(&top.explored);
        search.first(&rest, visited_first)
    }
}
