//! DPOR-DS

use super::creation::{makers, not_before};
use super::dpor::Dpor;
use super::trans_dpor::has_only_actors;
use super::walk::{self, Rule, Walk};
use super::{Budget, Driver, Guarantee, Info, Order, Scheduling};
use crate::model::{Action, System};
use crate::trace::Strand;

/// What it is.
pub const NAIVE: Info = Info {
    name: "dpor-naive",
    summary: "DPOR for state machines up to a depth: only a branch for each race",
    source: "Yabandeh, Kostić (EPFL, 2009), section 3.2",
    guarantee: Guarantee::SomeClasses,
    requires: Some("actors without guards, and a depth bound"),
};

/// What it is.
pub const FORCE: Info = Info {
    name: "dpor-force",
    summary: "DPOR for state machines up to a depth: a branch with the wanted order for each race",
    source: "Yabandeh, Kostić (EPFL, 2009), figures 4 and 7",
    guarantee: Guarantee::SomeClasses,
    requires: Some("actors, and a depth bound"),
};

/// What it is.
pub const DS: Info = Info {
    name: "dpor-ds",
    summary: "the same, completed: covers every execution up to the depth",
    source: "after Yabandeh, Kostić (EPFL, 2009), figure 7",
    guarantee: Guarantee::EveryClassOnce,
    requires: Some("actors, and a depth bound"),
};

/// Why it is not for this system, or not within this budget.
pub fn refusal<S: System>(info: Info, system: &S, budget: &Budget) -> Option<String> {
    let name = info.name;
    if !has_only_actors(system) {
        return Some(format!(
            "`{name}` is for programs of actors only (`dpor` is for all programs)"
        ));
    }
    if budget.depth.is_none() {
        return Some(format!(
            "`{name}` goes through executions up to a depth: say which, with --depth"
        ));
    }
    (info.name == NAIVE.name && (system.has_guards() || system.has_internals())).then(|| {
        format!("`{name}` is not for programs with guards or internal handlers (`dpor-ds` is)")
    })
}

/// Adds only a branch.
pub fn explore_naive<S: System>(system: &S, order: Order, driver: &mut Driver<'_>) {
    let mut rule = Branches { with_order: false };
    walk::explore(system, Scheduling { order, sleep_sets: false }, &mut rule, driver);
}

/// Attaches the wanted order to it.
pub fn explore_force<S: System>(system: &S, order: Order, driver: &mut Driver<'_>) {
    let mut rule = Branches { with_order: true };
    walk::explore(system, Scheduling { order, sleep_sets: false }, &mut rule, driver);
}

/// Visits every class up to the depth.
pub fn explore<S: System>(system: &S, order: Order, driver: &mut Driver<'_>) {
    let mut rule = Dpor::with_orders();
    walk::explore(system, Scheduling { order, sleep_sets: true }, &mut rule, driver);
}

/// A branch for each pair of actions of one actor that can be taken the other way round.
struct Branches {
    with_order: bool,
}

impl<S: System> Rule<S> for Branches {
    fn races(&mut self, walk: &mut Walk<'_, S>) {
        let j = walk.execution.len() - 1;
        let message = walk.execution.state().action(j);
        for index in 0.. {
            let Some(&i) = not_before(&walk.execution, message).get(index) else { break };
            if i as usize == j {
                break;
            }
            self.branch(walk, i as usize, message);
        }
    }

    fn covers_cuts(&self) -> bool {
        false
    }
}

impl Branches {
    fn branch<S: System>(&self, walk: &mut Walk<'_, S>, i: usize, message: Action) {
        let first = makers(&walk.execution, i, message).next();
        let first = first.map_or(message, |k| walk.execution.action(k));
        let strand = Strand::of(first, true);
        if walk.points.find(i, strand).is_none_or(|found| found.is_chosen) {
            return;
        }
        walk.points.add(i, strand);
        if self.with_order {
            let order = wanted_order(walk, i, message);
            walk.points.want(i, order);
        }
    }
}

/// What to take after the first of those before the message, the message itself and the action at `i` it
/// is in race with: the rest of these, the first of them last.
pub fn wanted_order<S: System>(walk: &Walk<'_, S>, i: usize, message: Action) -> Vec<Action> {
    let execution = &walk.execution;
    let made = makers(execution, i, message).map(|k| execution.action(k));
    let mut order: Vec<_> = made.chain([message, execution.action(i)]).skip(1).collect();
    order.reverse();
    order
}
