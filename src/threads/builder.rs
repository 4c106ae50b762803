//! Searches of a closure.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::system::{Mode, Threads};
use crate::check::{self, Checked};
use crate::explore::{Explorer, Setting};

const WEAK: &str = "the program asks for orderings that are weaker than sequential consistency, \
                    and executions that only those allow are not explored";

/// Explores the executions of the closure, one for each class.
///
/// # Panics
/// With a counterexample, or with the reason why the search is not complete.
#[track_caller]
pub fn model(closure: impl Fn() + Send + Sync + 'static) {
    Builder::new().check(closure);
}

/// Options of a search.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is explored until `check`"]
pub struct Builder {
    setting: Option<Setting>,
    all: bool,
    shortest: bool,
    timeout: Option<Duration>,
    max_traces: Option<u64>,
    depth: Option<u32>,
    spurious: u32,
    refuses_weak: bool,
}

impl Builder {
    /// A search without limits that stops at the first violation.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Uses this explorer, for example `"optimal".parse()`.
    pub fn explorer(self, setting: Setting) -> Builder {
        Builder { setting: Some(setting), ..self }
    }

    /// Runs this number of executions chosen by chance, instead of exploring all of them: for
    /// programs with too many. They prove nothing, however many they are.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn random(self, executions: u64) -> Builder {
        let setting = self.setting().random(executions);
        self.explorer(setting)
    }

    /// Runs executions by chance, chosen by random priorities of threads that find bugs of this
    /// depth with a certain probability (PCT); their number is set by [`random`](Builder::random).
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn pct(self, depth: u32) -> Builder {
        let setting = self.setting().pct(depth);
        self.explorer(setting)
    }

    /// Runs executions chosen by chance from this seed.
    pub fn seed(self, seed: u64) -> Builder {
        let setting = self.setting().seed(seed);
        self.explorer(setting)
    }

    /// Explores everything instead of stopping at the first violation.
    pub fn all(self) -> Builder {
        Builder { all: true, ..self }
    }

    /// Explores everything, and keeps for each violation the execution with the fewest steps.
    pub fn shortest(self) -> Builder {
        Builder { shortest: true, ..self }
    }

    /// Explores at most this many complete executions.
    pub fn max_traces(self, traces: u64) -> Builder {
        Builder { max_traces: Some(traces), ..self }
    }

    /// Cuts executions after so many steps.
    pub fn depth(self, steps: u32) -> Builder {
        Builder { depth: Some(steps), ..self }
    }

    /// Explores for at most this long.
    pub fn timeout(self, time: Duration) -> Builder {
        Builder { timeout: Some(time), ..self }
    }

    /// Lets each thread wake from condition variables for no reason, so many times.
    pub fn spurious_wakeups(self, times: u32) -> Builder {
        Builder { spurious: times, ..self }
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
    /// chance are never complete: for them only with a counterexample, or if a thread does what
    /// cannot be explored.
    #[track_caller]
    pub fn check(self, closure: impl Fn() + Send + Sync + 'static) {
        let place = Location::caller();
        let enough: fn(&Checked) -> bool = match self.setting().profile().samples {
            true => Checked::has_found_nothing,
            false => Checked::is_ok,
        };
        let refuses = self.refuses_weak;
        let objection = self.search(Arc::new(closure), |check, threads| {
            check.objection(place, enough)?;
            if refuses && threads.is_weak() { Err(WEAK.to_string()) } else { Ok(()) }
        });
        if let Err(objection) = objection {
            panic!("{objection}");
        }
    }

    /// Explores the executions of the closure, and returns the result.
    #[track_caller]
    pub fn run(self, closure: impl Fn() + Send + Sync + 'static) -> Checked {
        self.search(Arc::new(closure), |check, _| check.run())
    }

    /// Searches; once more if the program turns out to have mutexes that are tried, or cells; and
    /// once more to report a thread that does not do the same again.
    fn search<T>(
        self,
        closure: Arc<dyn Fn() + Send + Sync>,
        run: impl Fn(check::Check<'_, Threads>, &Threads) -> T,
    ) -> T {
        let mut mode = Mode { spurious: self.spurious, ..Mode::default() };
        loop {
            let threads = Threads::new(closure.clone(), mode.clone());
            let mut result = run(self.set_up(&threads), &threads);
            let differs = threads.mode() == mode && threads.differs();
            let again = threads.mode();
            if again == mode {
                if differs {
                    result = run(self.set_up(&threads), &threads);
                }
                return result;
            }
            mode = again;
        }
    }

    fn setting(&self) -> Setting {
        self.setting.unwrap_or_else(|| "udpor".parse().expect("an explorer"))
    }

    fn set_up<'s>(&self, threads: &'s Threads) -> check::Check<'s, Threads> {
        let mut check = check::check(threads).explorer(self.setting());
        if self.all {
            check = check.all();
        }
        if self.shortest {
            check = check.shortest();
        }
        if let Some(traces) = self.max_traces {
            check = check.max_traces(traces);
        }
        if let Some(steps) = self.depth {
            check = check.depth(steps);
        }
        if let Some(time) = self.timeout {
            check = check.timeout(time);
        }
        check
    }
}
