//! Measurements in child processes, so that each peak of memory belongs to one search.
//!
//! The child gets a [`Job`] as JSON in an argument and prints [`Measured`] as JSON. It repeats a
//! short search and reports the fastest run, because noise only adds time. The peak is read after
//! the first run, before the heap can fragment, and includes the program itself (see
//! [`Bench::idle`]). If the floor is measured, too, searches and walks on the bare model alternate,
//! so that both run under the same load.

use std::fs;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use mazurka::alternatives::{Alternatives, KPartial, Optimal, Varisat};
use mazurka::explore::{
    Budget, Exhaustive, Explorer, K, NoObserver, Observer, Outcome, PrefixFigures, Setting,
    StopReason, Udpor, explore, udpor_with,
};
use mazurka::lang::{Program, compile};
use mazurka::unfolding::{Configuration, EventId, EventStructure};
use serde::{Deserialize, Serialize};

use crate::tape::{Recorder, Tape};

/// Searches that take less than a second are repeated until they have taken this time altogether,
/// in seconds,
const ENOUGH: f64 = 0.25;
/// but at most this number of times,
const MOST: u32 = 50;
/// and at least this number of times.
const LEAST: u32 = 3;
/// A search that takes longer than this is stopped.
const QUICK_LIMIT: Duration = Duration::from_secs(20);
const FULL_LIMIT: Duration = Duration::from_secs(900);

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    spec: String,
    constants: Vec<(String, u32)>,
    search: Search,
    keeps_events: bool,
    has_floor: bool,
    /// The search ends after this number of classes.
    max_traces: Option<u64>,
    /// The time limit; `None` for that of the bench.
    limit: Option<Duration>,
}

/// How to explore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Search {
    /// Every interleaving.
    Exhaustive,
    /// UDPOR with k-partial alternatives.
    Partial(u32),
    /// UDPOR with its default options.
    Optimal,
    /// Default UDPOR, but a query goes to the SAT solver after this number of candidates.
    SatAfter(usize),
    /// Default UDPOR, but no query goes to the SAT solver: combinations are tried without a limit.
    SatNever,
    /// Default UDPOR, but every spike is computed anew for every query.
    SpikesAfresh,
    /// An explorer with options, as on the command line.
    Named(String),
    /// Only one execution, to measure an idle process.
    Nothing,
}

impl Search {
    fn setting(&self) -> Option<Setting> {
        let Search::Named(name) = self else { return None };
        Some(name.parse().unwrap_or_else(|error| panic!("{error}")))
    }
}

impl Job {
    /// UDPOR with full alternatives on `specs/{spec}.maz`, with these constants.
    pub fn new(spec: &str, constants: &[(&str, u32)]) -> Job {
        let constants = constants.iter().map(|&(name, value)| (name.into(), value)).collect();
        let search = Search::Optimal;
        let (keeps_events, has_floor, max_traces, limit) = (false, false, None, None);
        Job { spec: spec.into(), constants, search, keeps_events, has_floor, max_traces, limit }
    }

    /// The job with another search.
    pub fn by(&self, search: Search) -> Job {
        Job { search, ..self.clone() }
    }

    /// The job with this explorer, as on the command line.
    pub fn explorer(&self, name: &str) -> Job {
        self.by(Search::Named(name.into()))
    }

    /// The job, with the walk of the search on the bare model in addition.
    pub fn with_floor(&self) -> Job {
        Job { has_floor: true, ..self.clone() }
    }

    /// Is the walk on the bare model measured?
    pub fn has_floor(&self) -> bool {
        self.has_floor
    }

    /// The job, stopped after this time.
    pub fn within(&self, limit: Duration) -> Job {
        Job { limit: Some(limit), ..self.clone() }
    }

    /// The job, stopped after this number of classes.
    pub fn up_to(&self, max_traces: u64) -> Job {
        Job { max_traces: Some(max_traces), ..self.clone() }
    }

    /// The job without discarding events.
    pub fn keeping_events(&self) -> Job {
        Job { keeps_events: true, ..self.clone() }
    }

    /// Does the explorer refuse the program?
    pub fn is_refused(&self) -> bool {
        let refusal = |setting: Setting| setting.refusal(&self.compile(), &Budget::default());
        self.search.setting().and_then(refusal).is_some()
    }

    /// `dispatcher(5, 2)`
    pub fn name(&self) -> String {
        let program = self.spec.rsplit('/').next().unwrap_or(&self.spec);
        let values: Vec<_> = self.constants.iter().map(|(_, value)| value.to_string()).collect();
        if values.is_empty() { program.into() } else { format!("{program}({})", values.join(", ")) }
    }

    /// The program.
    pub fn compile(&self) -> Program {
        let path = format!("{}/specs/{}.maz", env!("CARGO_MANIFEST_DIR"), self.spec);
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let constants: Vec<_> =
            self.constants.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        compile(&path, &source, &constants)
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    }

    /// One search.
    pub fn explore(&self, program: &Program, observer: &mut dyn Observer) -> Outcome {
        let (max_traces, timeout) = (self.max_traces, self.limit);
        let mut budget = Budget { all: true, max_traces, timeout, ..Budget::default() };
        if self.keeps_events {
            budget.keep_events = usize::MAX;
        }
        let optimal = Optimal::<Varisat>::with_effort;
        match &self.search {
            Search::Exhaustive => explore(program, Exhaustive, budget, observer),
            Search::Partial(k) => {
                explore(program, Udpor { k: K::Partial(*k), order: None }, budget, observer)
            }
            Search::Optimal => explore(program, Udpor::default(), budget, observer),
            Search::SatAfter(effort) => udpor_with(program, optimal(*effort), budget, observer),
            Search::SatNever => udpor_with(program, KPartial::new(u32::MAX), budget, observer),
            Search::SpikesAfresh => {
                udpor_with(program, Afresh(Optimal::<Varisat>::new()), budget, observer)
            }
            Search::Named(_) => {
                let setting = self.search.setting().expect("a name");
                explore(program, setting, budget, observer)
            }
            Search::Nothing => {
                let budget = Budget { max_traces: Some(1), ..budget };
                explore(program, Udpor::default(), budget, observer)
            }
        }
    }

    /// The walk of the search, which must be a complete one.
    pub fn record(&self, program: &Program) -> Tape {
        let mut recorder = Recorder::default();
        let whole = Job { limit: None, ..self.clone() };
        let outcome = whole.explore(program, &mut recorder);
        let tape = recorder.tape(program);
        assert_eq!(tape.steps() as u64, outcome.stats.transitions, "{self:?}: every step is known");
        tape
    }
}

/// Alternatives that keep no spikes from one query to the next.
struct Afresh<T>(T);

impl<T: Alternatives> Alternatives for Afresh<T> {
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool {
        self.0.descend(c);
        let found = self.0.find(structure, c, disabled, j);
        self.0.ascend();
        found
    }

    fn descend(&mut self, _: &Configuration) {}

    fn ascend(&mut self) {}

    fn forget(&mut self) {
        self.0.forget();
    }

    fn are_full(&self) -> bool {
        self.0.are_full()
    }

    fn sat_calls(&self) -> u64 {
        self.0.sat_calls()
    }
}

/// The figures of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub is_complete: bool,
    pub traces: u64,
    pub blocked: u64,
    pub transitions: u64,
    /// Distinct events of the unfolding, or else the events built, some of them perhaps more than
    /// once.
    pub events: u64,
    /// Are they distinct events?
    pub is_exact: bool,
    pub sat_calls: u64,
    /// States stored, and the bytes in use for them.
    pub states: Option<u64>,
    pub state_bytes: Option<u64>,
    pub prefix: Option<PrefixFigures>,
    pub seconds: f64,
    /// The time of the same walk on the bare model, if it was measured.
    pub floor: Option<f64>,
    /// The peak of memory in bytes; `None` if the platform does not report it.
    pub peak: Option<u64>,
}

/// The child's part: measures, and prints the figures.
pub fn as_child(job: &str) {
    let job: Job = serde_json::from_str(job).expect("a job from the parent process");
    let program = job.compile();
    let search = || timed(|| job.explore(&program, &mut NoObserver));
    let (outcome, mut fastest) = search();
    let peak = peak();
    let tape = (job.has_floor && is_complete(&outcome)).then(|| job.record(&program));
    let walk = || tape.as_ref().map(|tape| timed(|| black_box(tape.play(&program))).1);
    let mut floor = walk();
    let (mut total, mut runs) = (fastest, 1);
    while fastest < 1.0 && runs < MOST && (total < ENOUGH || runs < LEAST) {
        let (_, seconds) = search();
        (fastest, total, runs) = (fastest.min(seconds), total + seconds, runs + 1);
        floor = floor.zip(walk()).map(|(floor, seconds)| floor.min(seconds));
    }
    let stats = &outcome.stats;
    let measured = Measured {
        is_complete: is_complete(&outcome),
        traces: stats.traces,
        blocked: stats.blocked,
        transitions: stats.transitions,
        events: stats.events.or(stats.events_built).unwrap_or(0),
        is_exact: stats.events.is_some(),
        sat_calls: stats.sat_calls.unwrap_or(0),
        states: stats.states,
        state_bytes: stats.state_bytes,
        prefix: stats.prefix,
        seconds: fastest,
        floor,
        peak,
    };
    println!("{}", serde_json::to_string(&measured).expect("plain data"));
}

fn is_complete(outcome: &Outcome) -> bool {
    matches!(outcome.stopped_by, None | Some(StopReason::HashCompaction))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The most memory that this process has ever had.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The parent process: runs jobs, and shows which one is running.
pub struct Bench {
    /// Are the heavy programs measured, too?
    pub full: bool,
    line: ProgressBar,
}

impl Bench {
    /// Quick unless `full`.
    pub fn new(full: bool) -> Bench {
        Bench { full, line: ProgressBar::new_spinner() }
    }

    /// Measures a job in a process of its own.
    pub fn run(&self, job: &Job) -> Measured {
        self.line.set_message(format!("{} by {:?}", job.name(), job.search));
        self.line.tick();
        let limit = if self.full { FULL_LIMIT } else { QUICK_LIMIT };
        let job = &job.within(job.limit.unwrap_or(limit));
        let text = serde_json::to_string(job).expect("plain data");
        let itself = std::env::current_exe().expect("the path of this program");
        let child =
            Command::new(itself).args(["--measure", &text]).stderr(Stdio::inherit()).output();
        let output = child.expect("this program starts again");
        assert!(output.status.success(), "{job:?} failed: {}", output.status);
        serde_json::from_slice(&output.stdout).expect("the figures of a child process")
    }

    /// The fastest of several processes: the placement of the heap makes some runs slower than
    /// others.
    pub fn best(&self, job: &Job) -> Measured {
        let mut best = self.run(job);
        for _ in 1..LEAST {
            if best.seconds < 1.0 {
                let other = self.run(job);
                best.seconds = best.seconds.min(other.seconds);
            }
        }
        best
    }

    /// The peak of memory of a process that does next to nothing.
    pub fn idle(&self) -> Option<u64> {
        self.run(&Job::new("mailbox/wait-deadlock", &[]).by(Search::Nothing)).peak
    }

    /// Prints between two measurements.
    pub fn print(&self, text: impl std::fmt::Display) {
        self.line.suspend(|| println!("{text}"));
    }
}
