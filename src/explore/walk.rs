//! The depth-first walk of DPOR: forward along an execution, and back to the last state with something
//! left to explore.
//!
//! What has to be explored is found on the way, from the races of the execution at hand; how it is chosen is
//! the [`Rule`] of the explorer. The walk keeps the sleep sets (Godefroid, LNCS 1032, 1996, chapter 5), if it is
//! asked to: an action is asleep in a state if all executions that begin with it there are equivalent to
//! some explored before. What was explored from a state is asleep there from then on; what is asleep stays
//! so as long as only actions are executed that it does not depend on. Dependence is asked about in the state
//! where both are enabled, for it may be another one later.

use super::points::{Candidate, Points};
use super::{Driver, Scheduling, Sorter};
use crate::model::{Action, Footprint, Independence, PaperRelation, ProcessId, System};
use crate::trace::{Execution, Strand};

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
    /// The enabled actions of the last state.
    enabled: Vec<Action>,
    /// What is asleep before and after a step, with what it would touch if that matters.
    asleep: Vec<(Action, Option<Footprint>)>,
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
        enabled: Vec::new(),
        asleep: Vec::new(),
    };
    driver.started(&walk.execution.locals, walk.execution.state());
    loop {
        walk.arrive(driver);
        if !driver.is_stopped() {
            rule.races(&mut walk);
        }
        let Some(action) = walk.back_to_something_left(driver) else { return };
        walk.step(action);
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
        let Walk { execution, asleep, .. } = self;
        self.points.push(self.enabled.iter().map(|&action| Candidate {
            action,
            strand: execution.strand(action),
            is_chosen: false,
            is_asleep: asleep.iter().any(|&(sleeper, _)| sleeper == action),
        }));
        if driver.is_stopped() {
            return;
        }
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
            self.execution.pop();
        }
    }

    fn step(&mut self, action: Action) {
        self.asleep.clear();
        if self.sleep_sets {
            self.note_sleepers(action.process);
        }
        self.execution.push(action);
        let footprint = self.execution.order().footprint(self.execution.len() - 1);
        let stepped = (action.process, footprint);
        self.asleep.retain(|(sleeper, touched)| {
            let touched = touched.as_ref().map(|touched| (sleeper.process, touched));
            touched.is_none_or(|touched| !PaperRelation.dependent(touched, stepped))
        });
    }

    /// What is asleep here of others than `process`. The handlers of two actors are independent where both
    /// are enabled, and one of an actor is so of any action of another process.
    fn note_sleepers(&mut self, process: ProcessId) {
        let here = self.execution.len();
        for index in 0..self.points.candidates(here).len() {
            let Candidate { action, strand, is_asleep, .. } = self.points.candidates(here)[index];
            if is_asleep && action.process != process {
                let is_process = matches!(strand, Strand::Process(_));
                let touched = is_process.then(|| self.execution.footprint(action));
                self.asleep.push((action, touched));
            }
        }
    }
}
