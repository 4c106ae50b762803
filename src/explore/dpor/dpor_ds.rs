//! DPOR-DS: DPOR for distributed state machines, which never end, up to a depth.
//!
//! Yabandeh and Kostić, *DPOR-DS: dynamic partial order reduction in distributed systems* (EPFL,
//! 2009).
//!
//! ```text
//! lastPath := any path of length n
//! repeat:
//!   for each e_i ↛ e_j of one node in lastPath, i < j, not looked at before:
//!     add before e_i the branch  {e_k : i < k ≤ j, e_k → e_j} · e_i
//!   lastPath := as far as the last unexplored branch, then along the branch, then anyhow
//! ```
//!
//! Section 3.2 of the paper gets there in steps: *naive* adds only the first e_k as a branch.
//! *Force* attaches the wanted order to it, so that the reversed order is explored even if the
//! depth leaves no room for further events. Figure 4 makes that a recursion over the explored tree,
//! and figure 7 a loop that considers each pair once. Here pairs are considered as the path grows,
//! so each is considered once anyway, and figures 4 and 7 are the same: [`Way::Force`]. A branch is
//! not added if its first event already begins a branch there.
//!
//! **Before.** The paper's → includes "same node, earlier". That orders any two events of a node,
//! so nothing could ever be reordered. Here it is read as creation ([`super::creation`]): e_i → e_j
//! if e_j's message would not be there without e_i. Chains of → may go through earlier events of
//! one node.
//!
//! **What it misses.** The paper's theorem is that no reorderable pair of events of an explored
//! path remains. That does not mean that every class of executions of length n is visited:
//!
//! - Events beyond the end of a path are in no pair. `registry` with one worker has two messages
//!   pending, r0 to the registry and w1 to the worker, whose handler sends r1 to the registry. Up
//!   to depth 2 there are two classes, r0·w1 and w1·r1. The search takes r0·w1, finds nothing to
//!   reorder, and ends, although force is meant to find r1 before r0. Even an event that is enabled
//!   from the start may never be taken: at depth 1, the second of two messages to two actors.
//! - Messages that are never taken are in no pair either: messages that a guard refuses, and
//!   messages to an actor that failed.
//!
//! Also, force does not avoid the third path of `registry` (figure 3): the second one, w1·r1·r0,
//! contains the pair r1, r0, which figure 7 reorders.
//!
//! **Depth.** The paper counts events, so here a depth is the length of executions, unlike in all
//! other explorers without stored states. The classes are those of executions of that length, and
//! of shorter executions that end.
//!
//! **Completed.** [`Way::Completed`] keeps the wanted orders, and adds what is missing: pending
//! messages race whether they are taken or not, as in [`super::backtrack_sets`]; where a path is
//! cut, every enabled strand is added along it ([`super::by_races`]); and sleep sets are used,
//! because without them it would be the exhaustive search. It visits every class of executions of
//! length n, and of shorter executions that end, exactly once.

use super::backtrack_sets::LastRaces;
use super::by_races::{ByRaces, Races};
use super::creation::{creators, has_only_actors, not_before, wanted_order};
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::order::Order;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, SleepPolicy, Walk, WalkOptions};
use crate::model::{Action, System};
use crate::trace::{BacktrackSets, Strand};

/// DPOR up to a depth, in one of three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DporDs {
    /// What is explored for a race.
    pub way: Way,
    /// The order in which enabled actions are tried.
    pub order: Order,
}

/// What [`DporDs`] explores for a race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// A branch: the first event of the reversed order.
    Naive,
    /// A branch that follows the whole reversed order, as published.
    Force,
    /// All that is needed to visit every class up to the depth.
    #[default]
    Completed,
}

impl DporDs {
    /// [`Way::Naive`], with these options.
    pub fn naive(options: &Options) -> Self {
        DporDs { way: Way::Naive, ..DporDs::completed(options) }
    }

    /// [`Way::Force`], with these options.
    pub fn force(options: &Options) -> Self {
        DporDs { way: Way::Force, ..DporDs::completed(options) }
    }

    /// [`Way::Completed`], with these options.
    pub fn completed(options: &Options) -> Self {
        DporDs { way: Way::Completed, order: options.order.unwrap_or_default() }
    }
}

impl Explorer for DporDs {
    fn profile(&self) -> Profile {
        let all = Profile {
            requires: Some("actors, and a depth bound"),
            takes: Takes::ORDER,
            depth: Depth::Length,
            ..Profile::default()
        };
        match self.way {
            Way::Naive => Profile {
                name: "dpor-naive",
                summary: "DPOR for state machines up to a depth: a branch for each race",
                source: "Yabandeh, Kostić (EPFL, 2009), section 3.2",
                requires: Some("actors without guards, and a depth bound"),
                ..all
            },
            Way::Force => Profile {
                name: "dpor-force",
                summary: "DPOR for state machines up to a depth: a branch with the wanted order for each race",
                source: "Yabandeh, Kostić (EPFL, 2009), figures 4 and 7",
                ..all
            },
            Way::Completed => Profile {
                name: "dpor-ds",
                summary: "DPOR for state machines, completed: covers every execution up to the depth",
                source: "after Yabandeh, Kostić (EPFL, 2009), figure 7",
                guarantee: Guarantee::EveryClassOnce,
                takes: Takes { always_sleeps: true, ..Takes::ORDER },
                both_depths: true,
                may_block: true,
                splits: Splits::Roughly,
                ..all
            },
        }
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        let name = self.profile().name;
        if !has_only_actors(system) {
            return Some(format!(
                "`{name}` is for programs of actors only (`dpor` is for all programs)"
            ));
        }
        if budget.depth.is_none() {
            return Some(format!(
                "`{name}` explores executions up to a depth, which --depth has to set"
            ));
        }
        let is_beyond = system.actors().has_guards() || system.actors().has_internals();
        (self.way == Way::Naive && is_beyond).then(|| {
            format!("`{name}` is not for programs with guards or internal handlers (`dpor-ds` is)")
        })
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let is_completed = self.way == Way::Completed;
        let sleep = if is_completed { SleepPolicy::All } else { SleepPolicy::Given };
        let options = WalkOptions { order: Some(self.order), sleep, depth: Depth::Length };
        match is_completed {
            true => {
                walk::explore(system, options, &mut ByRaces::new(LastRaces::with_orders()), driver)
            }
            false => {
                let branches = Branches { with_order: self.way == Way::Force };
                walk::explore(system, options, &mut ByRaces::new(branches), driver);
            }
        }
    }
}

/// Adds a branch for each pair of actions of one actor that can be executed in the other order.
struct Branches {
    with_order: bool,
}

impl<S: System> Races<S> for Branches {
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets) {
        let j = walk.execution.len() - 1;
        let message = walk.execution.state().action(j);
        for index in 0.. {
            let Some(&i) = not_before(&walk.execution, message).get(index) else { break };
            if i as usize == j {
                break;
            }
            self.branch(walk, backtrack, i as usize, message);
        }
    }

    fn covers_cuts(&self) -> bool {
        false
    }
}

impl Branches {
    fn branch<S: System>(
        &self,
        walk: &mut Walk<'_, '_, '_, S>,
        backtrack: &mut BacktrackSets,
        i: usize,
        message: Action,
    ) {
        let first = creators(&walk.execution, i, message).next();
        let first = first.map_or(message, |k| walk.execution.action(k));
        let strand = Strand::of(first, true);
        if backtrack.find(i, strand).is_none_or(|found| found.is_chosen) {
            return;
        }
        backtrack.add(i, strand);
        if self.with_order {
            let order = wanted_order(&walk.execution, i, message);
            backtrack.want(i, order);
        }
    }
}
