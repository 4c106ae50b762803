//! The depth-first walk of DPOR: forward along an execution, and back to the last state with something
//! left to explore.
//!
//! What has to be explored is found on the way, from the races of the execution at hand; how it is chosen is
//! the [`Rule`] of the explorer. The walk keeps the sleep sets ([`SleepSet`]), if it is asked to: what was
//! explored from a state is asleep there from then on.

use super::points::{Candidate, Points};
use super::{Driver, Scheduling, Sorter};
use crate::model::{Action, System};
use crate::trace::{Execution, SleepSet};

/// What DPOR and its variants differ in.
pub trait Rule<S: System> {
    /// The last action of the execution is new: adds to the backtrack sets of earlier states what its races
    /// ask for.
    fn races(&mut self, walk: &mut Walk<'_, S>);
}

/// An execution, and what is to be explored from each of its states.
pub struct Walk<'s, S: System> {
    pub execution: Execution<'s, S>,
    pub points: Points,
    pub sorter: Sorter,
    pub sleep_sets: bool,
    /// What is asleep; nothing ever without sleep sets.
    sleep: SleepSet,
    /// The enabled actions of the last state.
    enabled: Vec<Action>,
}

/// Explores what `rule` asks for, and one execution at least.
pub fn explore<S: System>(
    system: &S,
    scheduling: Scheduling,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let mut walk = Walk {
        execution: Execution::new(system),
        points: Points::default(),
        sorter: Sorter::new(scheduling.order),
        sleep_sets: scheduling.sleep_sets,
        sleep: SleepSet::default(),
        enabled: Vec::new(),
    };
    driver.started(&walk.execution.locals, walk.execution.state());
    loop {
        walk.arrive(driver);
        if !driver.is_stopped() && !walk.execution.is_empty() {
            rule.races(&mut walk);
        }
        let Some(action) = walk.back_to_something_left(driver) else { return };
        walk.execution.push(action);
        walk.sleep.descend(&mut walk.execution);
        driver.moved(&walk.execution.locals, walk.execution.state(), action);
    }
}

impl<S: System> Walk<'_, S> {
    /// Finds out what is enabled in the state just reached, and begins its backtrack set with the first that
    /// is awake.
    fn arrive(&mut self, driver: &mut Driver<'_>) {
        self.enabled.clear();
        if !driver.is_stopped() {
            self.execution.enabled(&mut self.enabled);
            self.sorter.sort(&self.execution, &mut self.enabled);
        }
        let Walk { execution, sleep, .. } = self;
        self.points.push(self.enabled.iter().map(|&action| Candidate {
            action,
            strand: execution.strand(action),
            is_chosen: false,
            is_asleep: sleep.contains(action),
        }));
        if !driver.is_stopped() {
            self.begin(driver);
        }
    }

    fn begin(&mut self, driver: &mut Driver<'_>) {
        let here = self.execution.len();
        let awake = self.points.candidates(here).iter().find(|candidate| !candidate.is_asleep);
        match awake.map(|candidate| candidate.strand) {
            None if self.enabled.is_empty() => {
                driver.terminal(&self.execution.locals, self.execution.state());
            }
            None => driver.blocked(self.execution.state()),
            Some(_) if here as u64 >= u64::from(driver.depth_bound()) => driver.truncated(),
            Some(strand) => self.points.add(here, strand),
        }
    }

    /// Takes actions back until there is one to be explored; `None` if none is left anywhere.
    fn back_to_something_left(&mut self, driver: &Driver<'_>) -> Option<Action> {
        loop {
            if !driver.is_stopped()
                && let Some(action) = self.points.take(self.sleep_sets)
            {
                return Some(action);
            }
            self.points.pop();
            if self.execution.is_empty() {
                return None;
            }
            self.sleep.ascend();
            let (action, footprint) = self.execution.pop();
            if self.sleep_sets {
                self.sleep.put(action, footprint);
            }
        }
    }
}
