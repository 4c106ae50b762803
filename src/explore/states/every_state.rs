//! Every state once: the full state graph, without reduction.
//!
//! A state is explored once, however many executions lead to it. The reductions that store states are judged by this
//! explorer: none of them may store more states, and all must end in the same ones.

use super::depth_first::{self, DepthFirst, Reduction};
use super::full_graph;
use super::settings::{Stateful, Switch};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Depth, Explorer, Guarantee, Info};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Locals, ProcessId, System};

/// Visits every state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EveryState(pub Stateful);

impl Choosable for EveryState {
    const INFO: Info = Info {
        name: "stateful",
        summary: "every state once, without reduction",
        source: "",
        guarantee: Guarantee::EveryEnd,
        requires: None,
    };
    const TAKES: Takes = Takes::of_stored(&[Switch::LiveVariables]);

    fn new(options: &Options) -> Self {
        EveryState(options.stateful())
    }
}

impl Explorer for EveryState {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn guarantee(&self) -> Guarantee {
        self.0.guarantee(Self::INFO.guarantee)
    }

    fn depth(&self) -> Depth {
        Depth::Length
    }

    fn visits_every_state(&self) -> bool {
        self.guarantee() > Guarantee::SomeClasses
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let usual = Stateful { without: self.0.without, ..Stateful::default() };
        match self.0 == usual && needs_no_model(system, driver) {
            true => full_graph::explore(system, self.0, driver),
            false => depth_first::explore(system, self.0, &mut All, driver),
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
        && driver.depth().is_none()
        && !driver.follows_transitions()
        && !driver.judges_on_the_way()
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
