//! The explorers `random` and `pct`.

use std::num::{NonZeroU32, NonZeroU64};

use super::chooser::Chooser;
use super::coverage::{ClassHash, Coverage};
use crate::explore::budget::{Budget, Depth};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::result::StopReason;
use crate::explore::settings::options::{Options, Takes};
use crate::model::{Action, Choice, ProcessId, System};
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
                let Some(found) = self.poll_later() else { return self.end(driver) };
                self.take(found, driver);
                continue;
            }
            let length = self.execution.len();
            if length >= self.max_length {
                driver.is_of_class(self.class.class());
                return driver.cut(&self.execution.locals, self.execution.state());
            }
            let action = self.chooser.choose(&self.enabled, length + 1);
            self.take(action, driver);
        }
    }

    fn take(&mut self, action: Action, driver: &mut Driver<'_>) {
        self.execution.push(action);
        self.class.push(self.execution.order(), action);
        let (locals, state) = self.execution.parts();
        driver.moved(locals, state, action);
    }

    /// Nothing is enabled. If a process has polled too early, makes it the execution in which the
    /// process has not polled yet, and returns the action by which it finds something.
    ///
    /// The last actions of the process are polls that found nothing. Without some of them this is
    /// an execution, too: nothing depends on them. And what the process then finds is there.
    /// (Otherwise hardly an execution of a program with many loops that poll would come to an end.)
    fn poll_later(&mut self) -> Option<Action> {
        let (execution, mut enabled) = (&mut self.execution, Vec::new());
        let all: Vec<ProcessId> = execution.state().processes().collect();
        let (process, first) = all.into_iter().find_map(|process| {
            let own = execution.order().of_process(process).iter().rev().map(|&at| at as usize);
            let (locals, state) = (&execution.locals, execution.state());
            let is_in_vain = |&at: &usize| {
                let is_poll = |op| state.is_poll(process, op);
                state.action(at).choice == Choice::NOTHING
                    && locals.op(state.before(at)).is_some_and(is_poll)
            };
            let mut misses = own.take_while(is_in_vain);
            let first = misses.find(|&at| state.polls_on(locals, process, &[state.before(at)]));
            Some((process, first?))
        })?;
        let all = (0..execution.len()).map(|at| (at, execution.action(at)));
        let is_kept = |&(at, action): &(usize, Action)| at < first || action.process != process;
        let kept: Vec<Action> = all.filter(is_kept).map(|(_, action)| action).collect();
        while !execution.is_empty() {
            execution.pop();
        }
        self.class.clear();
        for action in kept {
            execution.push(action);
            self.class.push(execution.order(), action);
        }
        execution.enabled(&mut enabled);
        enabled.retain(|action| action.process == process && action.choice != Choice::NOTHING);
        (!enabled.is_empty()).then(|| self.chooser.choose(&enabled, execution.len() + 1))
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
