//! The explorers `random` and `pct`.

use std::num::{NonZeroU32, NonZeroU64};

use super::chooser::Chooser;
use super::coverage::{ClassHash, Coverage};
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::result::StopReason;
use crate::explore::settings::options::{Options, Takes};
use crate::model::{Action, System};
use crate::trace::Execution;

/// The number of executions, if nothing else limits the search.
const EXECUTIONS: u64 = 10_000;
/// The depth of the bugs that `pct` is to find, if none is given.
const BUG_DEPTH: u32 = 3;

/// Runs executions that are chosen by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByChance {
    /// The number of executions, complete or cut. `None` for 10,000, or for as many as there is
    /// time for, if the time or the number of complete executions is limited.
    pub executions: Option<NonZeroU64>,
    /// The seed of all choices. The same seed gives the same executions.
    pub seed: u64,
    /// The depth of the bugs that priorities of processes are to find; `None` for a uniform choice.
    pub bug_depth: Option<NonZeroU32>,
}

impl ByChance {
    /// The explorer that chooses uniformly among the enabled actions, with these options.
    pub fn uniform(options: &Options) -> ByChance {
        let Options { executions, seed, .. } = *options;
        ByChance { executions, seed: seed.unwrap_or(0), bug_depth: None }
    }

    /// The explorer that chooses by priorities of processes, with these options.
    pub fn by_priorities(options: &Options) -> ByChance {
        let bug_depth = options.bug_depth.or(NonZeroU32::new(BUG_DEPTH));
        ByChance { bug_depth, ..ByChance::uniform(options) }
    }

    /// The number of executions within this budget.
    fn number(&self, budget: &Budget) -> u64 {
        let is_limited = budget.timeout.is_some() || budget.max_traces.is_some();
        let otherwise = if is_limited { u64::MAX } else { EXECUTIONS };
        self.executions.map_or(otherwise, NonZeroU64::get)
    }
}

impl Explorer for ByChance {
    fn profile(&self) -> Profile {
        let uniform = Profile {
            name: "random",
            summary: "executions by chance, each step picked uniformly among the enabled actions; counts their classes",
            takes: Takes { options: &["executions", "seed"], ..Takes::NOTHING },
            depth: Depth::Length,
            samples: true,
            ..Profile::default()
        };
        match self.bug_depth {
            None => uniform,
            Some(_) => Profile {
                name: "pct",
                summary: "executions by chance, by random priorities of processes that change at a few steps; \
                          counts their classes",
                source: "Burckhardt, Kothari, Musuvathi, Nagarakatte (ASPLOS 2010)",
                takes: Takes { options: &["executions", "bug-depth", "seed"], ..Takes::NOTHING },
                ..uniform
            },
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let mut sample = Sample::new(system, self, driver);
        let (locals, state) = sample.execution.parts();
        driver.started(locals, state);
        sample.tell(driver);
        for _ in 0..self.number(driver.budget()) {
            if driver.is_stopped() {
                break;
            }
            sample.run(driver);
            sample.go_back(driver);
        }
        if !driver.is_stopped() {
            driver.stop(StopReason::Sampled);
        }
    }
}

/// A sample of executions.
struct Sample<'s, S: System> {
    /// E
    execution: Execution<'s, S>,
    chooser: Chooser,
    class: ClassHash,
    coverage: Coverage,
    /// Longer executions are cut.
    max_length: usize,
    /// The actions enabled after E.
    enabled: Vec<Action>,
}

impl<'s, S: System> Sample<'s, S> {
    fn new(system: &'s S, how: &ByChance, driver: &Driver<'_>) -> Self {
        let execution = Execution::new(system);
        let mut execution = match driver.depth() {
            Some(_) => execution.literal(),
            None => execution,
        };
        execution.locals.keep_few(driver.budget().keep_locals);
        Sample {
            execution,
            chooser: Chooser::new(how.seed, how.bug_depth.map(NonZeroU32::get)),
            class: ClassHash::default(),
            coverage: Coverage::default(),
            max_length: driver.depth_bound() as usize,
            enabled: Vec::new(),
        }
    }

    /// Runs an execution to its end, or until it is cut.
    fn run(&mut self, driver: &mut Driver<'_>) {
        self.chooser.begin(driver.stats.max_depth as usize);
        while !driver.is_stopped() {
            self.enabled.clear();
            self.execution.enabled(&mut self.enabled);
            if self.enabled.is_empty() {
                return self.end(driver);
            }
            let length = self.execution.len();
            if length >= self.max_length {
                driver.is_of_class(self.class.class());
                return driver.cut(&self.execution.locals, self.execution.state());
            }
            let action = self.chooser.choose(&self.enabled, length + 1);
            self.execution.push(action);
            self.class.push(self.execution.order(), action);
            let (locals, state) = self.execution.parts();
            driver.moved(locals, state, action);
        }
    }

    /// Reports that nothing is enabled, and counts the class if that completes the execution.
    fn end(&mut self, driver: &mut Driver<'_>) {
        driver.is_of_class(self.class.class());
        if driver.ended(&mut self.execution) {
            self.coverage.count(self.class.class());
            self.tell(driver);
        }
    }

    /// Tells the driver how many classes have been seen.
    fn tell(&self, driver: &mut Driver<'_>) {
        driver.stats.classes = Some(self.coverage.classes());
        driver.stats.classes_seen_once = Some(self.coverage.once());
    }

    /// Goes back to the initial state.
    fn go_back(&mut self, driver: &mut Driver<'_>) {
        while !self.execution.is_empty() {
            self.execution.pop();
        }
        self.class.clear();
        if self.execution.locals.are_many() {
            self.execution.forget(|needed| driver.tell_needed(needed));
        }
    }
}
