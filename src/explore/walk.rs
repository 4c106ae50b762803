//! The depth-first walk of DPOR: forward along an execution, and back to the last state with something
//! left to explore.
//!
//! What has to be explored is found on the way, from the races of the execution at hand; how it is chosen is
//! the [`Rule`] of the explorer. The walk keeps the sleep sets ([`SleepSet`]), if it is asked to: what was
//! explored from a state is asleep there from then on.
//!
//! **Executions that are cut.** DPOR is about executions that end. Where the depth bound cuts one, an action may be
//! missing from it for the only reason that others came first, and no race tells of it: up to causal depth 1, a
//! read is never seen to race with a write that would come second; of two messages to two actors, one action deep,
//! the second would not be seen at all. So when an execution is cut, everything enabled is added in all the
//! states that it passed through. That is enough. Let v be a class of executions from a state s, as deep as the
//! bound allows, or complete. If some execution through s was cut, v's first action was explored from s (or sleeps
//! there). If none was, all that was explored from s is what the search without a bound would have explored; so it
//! covers v or, if v is cut, a continuation of v, which would have been cut as well. It has a price: while
//! executions are cut there is no reduction but that of the sleep sets.
//!
//! An execution is cut wherever an action is left out for being too high, even if the exploration is blocked there,
//! or goes on with another choice of the same process.

use super::driver::Driver;
use super::explorer::Depth;
use super::order::{Order, Sorter};
use super::points::{Candidate, Points};
use crate::model::{Action, System};
use crate::trace::{Execution, SleepSet};

/// How an explorer that walks along executions goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Scheduling {
    /// In which order enabled actions are tried.
    pub order: Order,
    /// With sleep sets (Godefroid 1996) on top.
    pub sleep_sets: bool,
}

/// What DPOR and its variants differ in.
pub trait Rule<S: System> {
    /// The last action of the execution is new: adds to the backtrack sets of earlier states what its races
    /// ask for.
    fn races(&mut self, walk: &mut Walk<'_, S>);

    /// Where an execution is cut by the depth bound, are all others of that length to be covered, too?
    fn covers_cuts(&self) -> bool {
        true
    }
}

/// An execution, and what is to be explored from each of its states.
pub struct Walk<'s, S: System> {
    pub execution: Execution<'s, S>,
    pub points: Points,
    pub sorter: Sorter,
    pub sleep_sets: bool,
    /// Longer executions are cut.
    max_length: usize,
    /// What is asleep; nothing ever without sleep sets.
    sleep: SleepSet,
    /// The enabled actions of the last state.
    enabled: Vec<Action>,
    /// What is to be tried next, the first of it last.
    wanted: Vec<Action>,
}

/// Explores what `rule` asks for, and one execution at least.
pub fn explore<S: System>(
    system: &S,
    scheduling: Scheduling,
    depth: Depth,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let (max_height, max_length) = match depth {
        Depth::Causal => (driver.depth(), driver.length_bound()),
        Depth::Length => (None, driver.depth_bound()),
    };
    let mut walk = Walk {
        execution: Execution::bounded(system, max_height),
        max_length: max_length as usize,
        points: Points::default(),
        sorter: Sorter::new(scheduling.order),
        sleep_sets: scheduling.sleep_sets,
        sleep: SleepSet::default(),
        enabled: Vec::new(),
        wanted: Vec::new(),
    };
    driver.started(&walk.execution.locals, walk.execution.state());
    loop {
        walk.arrive(driver, rule.covers_cuts());
        if !driver.is_stopped() && !walk.execution.is_empty() {
            rule.races(&mut walk);
        }
        let Some(action) = walk.next(driver) else { return };
        walk.execution.push(action);
        walk.sleep.descend(&mut walk.execution);
        driver.moved(&walk.execution.locals, walk.execution.state(), action);
    }
}

impl<S: System> Walk<'_, S> {
    /// Finds out what is enabled in the state just reached, and begins its backtrack set with the first that
    /// is awake.
    fn arrive(&mut self, driver: &mut Driver<'_>, covers_cuts: bool) {
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
            self.begin(driver, covers_cuts);
        }
    }

    fn begin(&mut self, driver: &mut Driver<'_>, covers_cuts: bool) {
        let here = self.execution.len();
        let is_too_long = !self.enabled.is_empty() && here >= self.max_length;
        if covers_cuts && (is_too_long || !self.execution.cut().is_empty()) {
            self.points.cut();
        }
        if is_too_long {
            driver.truncated(self.execution.state());
        } else if self.enabled.is_empty() {
            driver.ended(&mut self.execution);
        } else if let Some(first) = self.first() {
            self.points.add(here, first.strand);
        } else {
            driver.blocked(self.execution.state());
        }
    }

    /// The first candidate that is awake, or the one that is wanted.
    fn first(&mut self) -> Option<Candidate> {
        let candidates = self.points.candidates(self.execution.len());
        let mut awake = candidates.iter().filter(|candidate| !candidate.is_asleep);
        if let Some(wanted) = self.wanted.pop() {
            if let Some(&found) = awake.clone().find(|candidate| candidate.action == wanted) {
                return Some(found);
            }
            self.wanted.clear();
        }
        awake.next().copied()
    }

    /// Goes back until there is an action to be explored; `None` if none is left anywhere.
    fn next(&mut self, driver: &Driver<'_>) -> Option<Action> {
        loop {
            if !driver.is_stopped()
                && let Some(action) = self.points.take(self.sleep_sets)
            {
                if let Some(order) = self.points.wanted() {
                    self.wanted = order;
                }
                return Some(action);
            }
            self.back()?;
        }
    }

    fn back(&mut self) -> Option<()> {
        self.points.pop();
        if self.execution.is_empty() {
            return None;
        }
        self.wanted.clear();
        self.sleep.ascend();
        let (action, footprint) = self.execution.pop();
        if self.sleep_sets {
            self.sleep.put(action, footprint);
        }
        Some(())
    }
}
