//! Searches of a closure.

use std::panic::Location;
#[cfg(feature = "cli")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::mode::Mode;
use super::system::Threads;
use crate::check::{self, Checked, Chosen, How};
use crate::explore::estimate::{Estimate, estimate};
use crate::explore::{Budget, Explorer, StopReason};
use crate::model::System;

const WEAK: &str = "the program asks for orderings that are weaker than sequential consistency, \
                    and executions that only those allow are not explored";

/// The largest number of samples of an estimate.
const SAMPLES: u32 = 1000;

/// Explores the executions of the closure, one for each class.
///
/// # Panics
/// With a counterexample, or with the reason why the search is not complete.
#[track_caller]
pub fn model(closure: impl Fn() + Send + Sync + 'static) {
    Builder::new().check(closure);
}

/// Options of a search.
#[derive(Clone, Debug)]
#[must_use = "nothing is explored until `check`"]
pub struct Builder {
    how: How,
    spurious: u32,
    failures: u32,
    forgets: bool,
    refuses_weak: bool,
    patience: Duration,
}

impl Default for Builder {
    fn default() -> Builder {
        let how = How::new(Chosen::named("udpor"));
        let patience = Duration::from_secs(10);
        Builder { how, spurious: 0, failures: 0, forgets: false, refuses_weak: false, patience }
    }
}

impl Builder {
    /// A search without limits that stops at the first violation.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Uses this explorer instead of [`Udpor`](crate::explore::Udpor): another one of
    /// [`explore`](crate::explore), such as `Optimal::default()`; one with options from a text,
    /// such as `"udpor:k=1".parse::<Setting>()`; or one's own.
    pub fn explorer(mut self, explorer: impl Explorer + 'static) -> Builder {
        self.how.explorer = Chosen::new(explorer);
        self
    }

    /// Runs this number of executions chosen by chance, instead of exploring all of them: for
    /// programs with too many. They prove nothing, however many they are.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn random(mut self, executions: u64) -> Builder {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.random(executions));
        self
    }

    /// Runs executions by chance, chosen by random priorities of threads that find bugs of this
    /// depth with a certain probability (PCT); their number is set by [`random`](Builder::random).
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn pct(mut self, depth: u32) -> Builder {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.pct(depth));
        self
    }

    /// Runs executions chosen by chance from this seed.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.seed(seed));
        self
    }

    /// Explores by this number of threads, if the explorer can share its work. Each of them runs
    /// the threads of the program. The result is the same for any number.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn jobs(mut self, jobs: u32) -> Builder {
        self.how.set_jobs(jobs);
        self
    }

    /// Explores everything instead of stopping at the first violation.
    pub fn all(mut self) -> Builder {
        self.how.all = true;
        self
    }

    /// Explores everything, and keeps for each violation the execution with the fewest steps.
    pub fn shortest(mut self) -> Builder {
        (self.how.all, self.how.shortest) = (true, true);
        self
    }

    /// Explores at most this many complete executions.
    pub fn max_traces(mut self, traces: u64) -> Builder {
        self.how.limits.max_traces = Some(traces);
        self
    }

    /// Cuts executions after so many steps.
    pub fn depth(mut self, steps: u32) -> Builder {
        self.how.limits.depth = Some(steps);
        self
    }

    /// Explores for at most this long.
    pub fn timeout(mut self, time: Duration) -> Builder {
        self.how.limits.timeout = Some(time);
        self
    }

    /// Explores as long as this process has no more bytes of memory than this: resident ones, and
    /// those of other tests in the process count, too. Known on Linux only.
    pub fn max_memory(mut self, bytes: u64) -> Builder {
        self.how.limits.max_memory = Some(bytes);
        self
    }

    /// Saves the search to this file in such intervals. If the process is stopped or killed, the
    /// same check goes on from there when it is run again, and its figures are those of a search
    /// that was not interrupted. When the search is over, the file is removed. A file is for one
    /// check.
    ///
    /// The explorer is `parsimonious`, unless [`explorer`](Builder::explorer) is called after this.
    ///
    /// # Panics
    /// When the search begins, if the file cannot be written, or is of another search or of another
    /// program.
    #[cfg(feature = "cli")]
    #[track_caller]
    pub fn checkpoint(mut self, file: impl Into<PathBuf>, interval: Duration) -> Builder {
        self.how.save(file.into(), interval);
        self
    }

    /// Lets each thread wake for no reason, so many times: from condition variables, and where it
    /// is parked.
    pub fn spurious_wakeups(self, times: u32) -> Builder {
        Builder { spurious: times, ..self }
    }

    /// Lets each thread's `compare_exchange_weak` fail for no reason, so many times. A verdict says
    /// how often that was.
    pub fn spurious_failures(self, times: u32) -> Builder {
        Builder { failures: times, ..self }
    }

    /// Forgets the stacks of threads whose execution is given up, with all that they own. Otherwise
    /// they are unwound: destructors run in the middle of an execution, as in a panic. Code that
    /// ends the process when it is unwound, or whose destructors lock what the thread has locked,
    /// needs this. It takes memory: at least 8 KiB for each stack.
    pub fn forget_stacks(self) -> Builder {
        Builder { forgets: true, ..self }
    }

    /// Sets how long a thread may compute without an operation, 10 seconds if it is not called. One
    /// that computes for longer hangs: that is a violation. So is a lock of the standard library
    /// that a thread has during an operation, if another thread waits for it.
    ///
    /// # Panics
    /// If the time is 0.
    pub fn step_timeout(self, time: Duration) -> Builder {
        assert!(!time.is_zero(), "a thread needs some time");
        Builder { patience: time, ..self }
    }

    /// [`check`](Builder::check) panics if the program asks for an ordering that is weaker than
    /// sequential consistency, because executions that only that allows are not explored.
    pub fn refuse_weak_orderings(self) -> Builder {
        Builder { refuses_weak: true, ..self }
    }

    /// Explores the executions of the closure.
    ///
    /// # Panics
    /// With a counterexample, or with the reason why the search is not complete. Executions by
    /// chance are never complete: for them only with a counterexample, if a thread does what cannot
    /// be explored, or if a limit ends them before any has come to an end.
    #[track_caller]
    pub fn check(self, closure: impl Fn() + Send + Sync + 'static) {
        let enough = match self.how.explorer.profile().samples {
            true => Checked::has_found_nothing,
            false => Checked::is_ok,
        };
        self.require(enough, Arc::new(closure), Location::caller());
    }

    /// Explores the executions of the closure, and returns the result.
    ///
    /// # Panics
    /// If the explorer cannot be used in this way. The message says why.
    #[track_caller]
    pub fn run(self, closure: impl Fn() + Send + Sync + 'static) -> Checked {
        self.checked(Arc::new(closure))
    }

    /// Estimates the number of classes of executions of the closure within about this time: how
    /// large is the search?
    ///
    /// # Errors
    /// What ended an execution of the first sample: see [`estimate`](estimate()).
    #[track_caller]
    pub fn estimate(
        self,
        time: Duration,
        closure: impl Fn() + Send + Sync + 'static,
    ) -> Result<Estimate, StopReason> {
        let budget = Budget { timeout: Some(time), ..Budget::default() };
        self.search(Arc::new(closure), |threads| {
            let budget = budget.clone();
            threads.attempt(move |threads| estimate(threads, &budget, (SAMPLES, 0)))
        })
    }

    /// Explores for a test at this place, and panics with a violation, or with a result without one
    /// that is not `enough`.
    #[track_caller]
    pub(super) fn require(&self, enough: fn(&Checked) -> bool, main: Main, place: &Location<'_>) {
        let objection = self.search(main, |threads| {
            check::objection(threads, self.how.clone(), place, enough)?;
            let is_weak = self.refuses_weak && threads.is_weak();
            if is_weak { Err(WEAK.to_string()) } else { Ok(()) }
        });
        if let Err(objection) = objection {
            panic!("{objection}");
        }
    }

    #[track_caller]
    fn checked(&self, closure: Main) -> Checked {
        self.search(closure, |threads| check::run(threads, self.how.clone()))
    }

    /// The mode in which a search that was saved goes on, if there is one.
    #[cfg(feature = "cli")]
    fn noted_mode(&self) -> Option<Mode> {
        Mode::noted(&self.how.checkpoint.as_ref()?.noted()?)
    }

    #[cfg(not(feature = "cli"))]
    fn noted_mode(&self) -> Option<Mode> {
        None
    }

    /// Searches; once more if the program turns out to have mutexes or channels that are tried,
    /// cells, handles that have to be counted, or locks that are healed; and once more to report a
    /// thread that does not do the same again.
    fn search<T>(&self, closure: Main, run: impl Fn(&Threads) -> T) -> T {
        let Builder { spurious, failures, forgets, .. } = *self;
        let first = Mode { spurious, failures, forgets, ..Mode::default() };
        let mut mode = self.noted_mode().filter(|noted| noted.extends(&first)).unwrap_or(first);
        loop {
            let threads = Threads::new(closure.clone(), mode.clone(), self.patience);
            let mut result = run(&threads);
            let differs = threads.mode() == mode && threads.attempt(Threads::differs);
            let again = threads.mode();
            if again == mode {
                if differs {
                    result = run(&threads);
                }
                return result;
            }
            mode = again;
        }
    }
}

/// The program.
pub(super) type Main = Arc<dyn Fn() + Send + Sync>;
