//! Checking a system in a test: `mazurka::check(&system).assert_ok()`.
//!
//! The shortest test that finds the deadlock of the philosophers:
//!
//! ```should_panic
//! use mazurka::systems::{Builder, lock, unlock};
//!
//! let mut system = Builder::new();
//! let fork = system.mutexes("fork", 3);
//! for i in 0..3 {
//!     let (left, right) = (fork[i], fork[(i + 1) % 3]);
//!     let steps = [lock(left), lock(right), unlock(right), unlock(left)];
//!     system.process(format!("Philosopher[{i}]"), steps);
//! }
//! mazurka::check(&system.build()).assert_ok();
//! ```
//!
//! It panics with the counterexample: the steps of the processes until none can move, and which
//! process waits for which. A search has options, and its result is a value:
//!
//! ```
//! use mazurka::explore::{Source, Verdict};
//! use mazurka::systems::{Builder, fetch_add};
//!
//! let mut system = Builder::new();
//! let counter = system.cell("counter", 0);
//! for name in ["A", "B"] {
//!     system.process(name, [fetch_add(counter, 1)]);
//! }
//! system.finally("counter == 2", move |cells| cells(counter) == 2);
//! let system = system.build();
//! let checked = mazurka::check(&system).explorer(Source::default()).all().run();
//! assert_eq!(checked.verdict(), Verdict::Ok);
//! assert_eq!(checked.stats().traces, 2);
//! ```

mod again;
mod beginnings;
mod chosen;
mod memory;
#[cfg(feature = "cli")]
mod saved;

use std::fmt;
use std::num::NonZeroU32;
use std::panic::Location;
#[cfg(feature = "cli")]
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) use chosen::Chosen;
#[cfg(feature = "cli")]
pub(crate) use saved::Checkpoint;

use crate::explore::{
    Budget, Explorer, NoObserver, Observer, Outcome, Stats, StopReason, Verdict, Violation,
    ViolationKind,
};
use crate::model::{AnySystem, System};
use crate::property::{Properties, Property};
use crate::report::text::{Check as Text, Ending, plain};
use crate::report::{CheckReport, FirstGood, Shown, Subject};
use crate::study::Limits;

/// The width of the tables of a counterexample, in columns.
const ROOM: usize = 100;

/// Prepares a search for violations in a system: deadlocks, failed assertions, run-time errors, and
/// further properties that are asked for. The methods of [`Check`] set its options;
/// [`run`](Check::run) and [`assert_ok`](Check::assert_ok) start it.
pub fn check<S: System>(system: &S) -> Check<'_, S> {
    Check { system, how: How::new(Chosen::named("auto")) }
}

/// A search that has not started yet, with its options.
#[must_use = "nothing is explored until `run` or `assert_ok`"]
pub struct Check<'s, S: System> {
    system: &'s S,
    how: How,
}

/// The options of a search.
#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) explorer: Chosen,
    pub(crate) jobs: Option<NonZeroU32>,
    pub(crate) limits: Limits,
    pub(crate) properties: Properties,
    pub(crate) all: bool,
    pub(crate) shortest: bool,
    pub(crate) allow_pending: bool,
    #[cfg(feature = "cli")]
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl How {
    /// A search by this explorer without limits, which stops at the first violation.
    pub(crate) fn new(explorer: Chosen) -> How {
        How {
            explorer,
            jobs: None,
            limits: Limits::default(),
            properties: Properties::default(),
            all: false,
            shortest: false,
            allow_pending: false,
            #[cfg(feature = "cli")]
            checkpoint: None,
        }
    }

    /// Saves the search to this file.
    #[cfg(feature = "cli")]
    #[track_caller]
    pub(crate) fn save(&mut self, file: PathBuf, interval: Duration) {
        self.explorer = self.explorer.clone().in_pieces();
        self.checkpoint = Some(Checkpoint { file, interval, place: Location::caller() });
    }

    /// Explores by this number of threads.
    ///
    /// # Panics
    /// If the number is 0.
    pub(crate) fn set_jobs(&mut self, jobs: u32) {
        self.jobs = Some(NonZeroU32::new(jobs).expect("at least one thread"));
    }

    fn budget(&self) -> Budget {
        let How { all, shortest, .. } = *self;
        Budget { all, shortest, properties: self.judged(), ..self.limits.budget(memory::in_use) }
    }

    /// The properties to judge.
    fn judged(&self) -> Properties {
        match self.allow_pending {
            true => self.properties.clone().allow_pending(true),
            false => self.properties.clone(),
        }
    }

    /// A sentence that says why the system cannot be explored in this way; `None` if it can.
    fn refusal(&self, system: &AnySystem<'_>) -> Option<String> {
        if self.limits.max_memory.is_some() && !memory::is_known() {
            return Some("`max_memory`: the memory in use is not known on this platform".into());
        }
        #[cfg(feature = "cli")]
        if self.checkpoint.is_some()
            && let Some(why) = Checkpoint::refusal(system, self.explorer.setting(), &self.budget())
        {
            return Some(why);
        }
        self.explorer.refusal(system, self.jobs, &self.budget())
    }

    /// Explores, or goes on with a search that was saved; with a new one if it `is_new`.
    fn searched(
        &self,
        system: &AnySystem<'_>,
        (budget, is_new): (Budget, bool),
        observer: &mut dyn Observer,
    ) -> (Outcome, Option<String>) {
        #[cfg(feature = "cli")]
        if let Some((checkpoint, setting)) = self.checkpoint.as_ref().zip(self.explorer.setting()) {
            let search = (&budget, is_new);
            let found = checkpoint.explored(system, (self, setting), search, observer);
            return (found.0, found.1.then(|| checkpoint.name()));
        }
        let _ = is_new;
        (self.explorer.explore(system, self.jobs, budget, observer), None)
    }

    fn explore(&self, system: &AnySystem<'_>) -> Checked {
        let (begun, budget, mut limits) = (Instant::now(), self.budget(), self.limits.clone());
        let explored = |budget: Budget, is_new: bool| {
            let mut nobody = NoObserver;
            let mut first = FirstGood::new(&mut nobody);
            let (outcome, from) = self.searched(system, (budget, is_new), &mut first);
            (outcome, first.found, from)
        };
        let (mut outcome, mut first, mut resumed_from) = explored(budget.clone(), false);
        let is_livelock = |found: &Violation| found.kind == ViolationKind::Livelock;
        while outcome.violations.iter().any(is_livelock) && system.looks_further() {
            (outcome, first, resumed_from) = explored(budget.after(begun.elapsed()), true);
        }
        if outcome.stopped_by == Some(StopReason::Endless)
            && outcome.violations.is_empty()
            && system.foresight().remembers_all()
        {
            let explorer = (&self.explorer, self.jobs);
            let found = beginnings::explored(system, explorer, &budget.after(begun.elapsed()));
            if let Some((depth, up_to)) = found {
                (limits.depth, outcome) = (Some(depth), up_to);
            }
        }
        let first = first.filter(|_| outcome.violations.is_empty());
        let shown = first.map(|schedule| Shown::of(system, &schedule));
        let shown = shown.filter(|shown| !shown.printed.is_empty());
        let subject = Subject::in_rust(self.allow_pending);
        let (instrument, judged) = (self.explorer.instrument(), self.judged());
        let asked = (limits, judged);
        let report = CheckReport::new(subject, system, instrument, asked, &outcome, None);
        let shortest = self.shortest;
        Checked { report: CheckReport { shortest, shown, resumed_from, ..report }, outcome }
    }
}

impl<S: System> Check<'_, S> {
    /// Uses this explorer instead of [`Auto`](crate::explore::Auto): one of
    /// [`explore`](crate::explore), such as `Udpor::default()`; one with options from a text, such
    /// as `"dpor:order=random+seed=7".parse::<Setting>()`; or one's own.
    pub fn explorer(mut self, explorer: impl Explorer + 'static) -> Self {
        self.how.explorer = Chosen::new(explorer);
        self
    }

    /// Runs this number of executions chosen by chance, instead of exploring all of them: for
    /// systems with too many. However many they are, the result is never [`Verdict::Ok`]: see
    /// [`assert_none_found`](Check::assert_none_found).
    ///
    /// # Panics
    /// If the number is 0.
    pub fn random(mut self, executions: u64) -> Self {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.random(executions));
        self
    }

    /// Runs executions by chance, chosen by random priorities of processes that find bugs of this
    /// depth with a certain probability (PCT); their number is set by [`random`](Check::random).
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn pct(mut self, depth: u32) -> Self {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.pct(depth));
        self
    }

    /// Runs executions chosen by chance from this seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.how.explorer = self.how.explorer.by_chance(|setting| setting.seed(seed));
        self
    }

    /// Explores by this number of threads, if the explorer can share its work. The result is the
    /// same for any number.
    ///
    /// # Panics
    /// If the number is 0.
    pub fn jobs(mut self, jobs: u32) -> Self {
        self.how.set_jobs(jobs);
        self
    }

    /// Explores everything instead of stopping at the first violation.
    pub fn all(mut self) -> Self {
        self.how.all = true;
        self
    }

    /// Explores everything, and keeps for each violation the execution with the fewest steps.
    pub fn shortest(mut self) -> Self {
        (self.how.all, self.how.shortest) = (true, true);
        self
    }

    /// Explores only up to this depth, as the explorer measures it.
    pub fn depth(mut self, depth: u32) -> Self {
        self.how.limits.depth = Some(depth);
        self
    }

    /// Explores at most this many complete executions.
    pub fn max_traces(mut self, traces: u64) -> Self {
        self.how.limits.max_traces = Some(traces);
        self
    }

    /// Explores for at most this long.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.how.limits.timeout = Some(time);
        self
    }

    /// Explores as long as this process has no more bytes of memory than this: resident ones, and
    /// those of other tests in the process count, too. Known on Linux only.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.how.limits.max_memory = Some(bytes);
        self
    }

    /// Saves the search to this file in such intervals. If the process is stopped or killed, the
    /// same check goes on from there when it is run again, and its figures are those of a search
    /// that was not interrupted. When the search is over, the file is removed. A file is for one
    /// check.
    ///
    /// The explorer is `parsimonious`, unless [`explorer`](Check::explorer) is called after this.
    ///
    /// # Panics
    /// When the search begins, if the file cannot be written, or is of another search or of another
    /// program.
    #[cfg(feature = "cli")]
    #[track_caller]
    pub fn checkpoint(mut self, file: impl Into<PathBuf>, interval: Duration) -> Self {
        self.how.save(file.into(), interval);
        self
    }

    /// Also judges this property.
    pub fn property(mut self, property: impl Property) -> Self {
        self.how.properties = self.how.properties.with(property);
        self
    }

    /// Does not judge this property, for example [`Deadlocks`](crate::property::Deadlocks).
    pub fn without<P: Property>(mut self) -> Self {
        self.how.properties = self.how.properties.without::<P>();
        self
    }

    /// Does not report a deadlock if all that is left are messages that actors do not take.
    pub fn allow_pending(mut self) -> Self {
        self.how.allow_pending = true;
        self
    }

    /// Explores, and returns the result. If there is no violation, the result also shows what
    /// processes print in the first execution. If an execution of processes that really run may
    /// never end, all executions are explored up to some depth instead.
    ///
    /// # Panics
    /// If the system cannot be explored in this way. The message says why.
    #[track_caller]
    pub fn run(self) -> Checked {
        run(self.system, self.how)
    }

    /// Explores, and panics unless everything was explored without a violation. The last lines of
    /// the message name the environment variables that show the counterexample again, step by step
    /// or as a picture. With `MAZURKA_REPORT=1`, it prints the result if everything is well.
    ///
    /// # Panics
    /// With the counterexample, or with the reason why the search is not complete.
    #[track_caller]
    pub fn assert_ok(self) {
        if let Err(objection) = objection(self.system, self.how, Location::caller(), Checked::is_ok)
        {
            panic!("{objection}");
        }
    }

    /// Explores, and panics if a violation is found. If none is, that proves nothing: a search that
    /// a limit has ended may have missed some, and so may executions by chance.
    ///
    /// # Panics
    /// With the counterexample, as [`assert_ok`](Check::assert_ok) does; or if a process does what
    /// cannot be explored, or a limit has ended the search before any execution came to an end.
    #[track_caller]
    pub fn assert_none_found(self) {
        let place = Location::caller();
        if let Err(objection) = objection(self.system, self.how, place, Checked::has_found_nothing)
        {
            panic!("{objection}");
        }
    }
}

/// Explores a system.
#[track_caller]
pub(crate) fn run<S: System>(system: &S, how: How) -> Checked {
    if let Some(why) = how.refusal(&AnySystem::of(system)) {
        panic!("{why}");
    }
    system.attempt(move |system: &S| how.explore(&AnySystem::of(system)))
}

/// Explores for a test at this place. Objects with a violation, or with a result without one that
/// is not `enough`.
pub(crate) fn objection<S: System>(
    system: &S,
    how: How,
    place: &Location<'_>,
    enough: fn(&Checked) -> bool,
) -> Result<(), String> {
    let subject = Subject::in_rust(how.allow_pending);
    let follow = |schedule| {
        let subject = subject.clone();
        system.attempt(move |system: &S| {
            again::follow(&AnySystem::of(system), subject.clone(), &schedule)
        })
    };
    if let Some(report) = again::wanted(place).and_then(follow) {
        let schedule = report.replay.parse().expect("a schedule that was followed");
        again::draw(&AnySystem::of(system), subject, &schedule);
        let end = plain(Ending(&report, ROOM));
        return if report.violations.is_empty() { Ok(()) } else { Err(end) };
    }
    let checked = run(system, how);
    if let Some(violation) = checked.violations().first() {
        again::draw(&AnySystem::of(system), subject, &violation.schedule);
        let how = again::how(place, &checked.report.violations[0].replay);
        return Err(format!("{checked}\n{how}"));
    }
    if !enough(&checked) {
        return Err(checked.to_string());
    }
    again::report(&checked);
    Ok(())
}

/// The result of a search. `Display` shows it as `mazurka check` does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// Figures and violations.
    pub outcome: Outcome,
    /// The result in the system's own terms, with each counterexample explained.
    pub report: CheckReport,
}

impl Checked {
    /// The verdict in one word.
    pub fn verdict(&self) -> Verdict {
        self.outcome.verdict()
    }

    /// The figures of the search: the numbers of executions, steps and so on.
    pub fn stats(&self) -> &Stats {
        &self.outcome.stats
    }

    /// Was everything explored, without a violation?
    pub fn is_ok(&self) -> bool {
        self.verdict() == Verdict::Ok
    }

    /// Was nothing wrong found, nor anything that cannot be explored, although at least one
    /// execution came to an end, or states or a prefix were explored?
    pub(crate) fn has_found_nothing(&self) -> bool {
        let Outcome { stats, stopped_by, .. } = &self.outcome;
        let ends = stats.traces + stats.blocked + stats.given_up + stats.truncated;
        let has_explored = ends > 0 || stats.states.is_some() || stats.prefix.is_some();
        self.violations().is_empty() && *stopped_by != Some(StopReason::Unsupported) && has_explored
    }

    /// The violations, each with an execution that leads to it.
    pub fn violations(&self) -> &[Violation] {
        &self.outcome.violations
    }

    /// Panics unless everything was explored without a violation.
    ///
    /// # Panics
    /// With the counterexample, or with the reason why the search is not complete.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{self}");
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(Text { report: &self.report, quiet: false, room: ROOM }))
    }
}
