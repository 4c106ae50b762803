//! One measurement, in a child process: so that its peak of memory is its own.
//!
//! The child gets a [`Job`] as JSON in an argument and prints [`Measured`] as JSON. It repeats a
//! short search and reports the fastest run: noise only ever adds time. The peak is read after the
//! first run, before the heap can fragment, and includes the program itself (see [`Bench::idle`]).
//! If the floor is wanted, too, searches and walks on the bare model take turns, so that both see
//! the same load.

use std::fs;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use mazurka::alternatives::{Alternatives, KPartial, Optimal, Varisat};
use mazurka::explore::{
    Budget, Exhaustive, Explorer, K, NoObserver, Observer, Outcome, Setting, StopReason, Udpor,
    explore, udpor_with,
};
use mazurka::lang::{Program, compile};
use mazurka::unfolding::{Configuration, EventId, EventStructure};
use serde::{Deserialize, Serialize};

use crate::tape::{Recorder, Tape};

/// Searches that take less than a second are repeated: until they have taken this long altogether,
/// in seconds,
const ENOUGH: f64 = 0.25;
/// but not more often than this,
const MOST: u32 = 50;
/// nor less often than this.
const LEAST: u32 = 3;
/// A search that takes longer than this is cut short.
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
    /// That of the bench, if there is none.
    limit: Option<Duration>,
}

/// How to explore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Search {
    /// Every interleaving.
    Exhaustive,
    /// UDPOR with k-partial alternatives.
    Partial(u32),
    /// UDPOR as it is by default.
    Optimal,
    /// As `Optimal`, but a question goes to the SAT solver after so many candidates.
    SatAfter(usize),
    /// As `Optimal`, but no question does: combinations are tried for as long as it takes.
    SatNever,
    /// As `Optimal`, but every spike is drawn afresh for every question.
    SpikesAfresh,
    /// An explorer as the command line names it.
    Named(String),
    /// Nothing at all.
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
        let (keeps_events, has_floor, limit) = (false, false, None);
        Job { spec: spec.into(), constants, search, keeps_events, has_floor, limit }
    }

    /// The same with another search.
    pub fn by(&self, search: Search) -> Job {
        Job { search, ..self.clone() }
    }

    /// The same with this explorer, as the command line names it.
    pub fn explorer(&self, name: &str) -> Job {
        self.by(Search::Named(name.into()))
    }

    /// The same, and beside it the walk of the search on the bare model.
    pub fn with_floor(&self) -> Job {
        Job { has_floor: true, ..self.clone() }
    }

    /// Is that wanted?
    pub fn has_floor(&self) -> bool {
        self.has_floor
    }

    /// The same, cut short after this time.
    pub fn within(&self, limit: Duration) -> Job {
        Job { limit: Some(limit), ..self.clone() }
    }

    /// The same without ever forgetting an event.
    pub fn keeping_events(&self) -> Job {
        Job { keeps_events: true, ..self.clone() }
    }

    /// Is there a reason not to run it?
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
        let mut budget = Budget { all: true, timeout: self.limit, ..Budget::default() };
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

    /// The walk of the search, which must be one that ends.
    pub fn record(&self, program: &Program) -> Tape {
        let mut recorder = Recorder::default();
        let whole = Job { limit: None, ..self.clone() };
        let outcome = whole.explore(program, &mut recorder);
        let tape = recorder.tape(program);
        assert_eq!(tape.steps() as u64, outcome.stats.transitions, "{self:?}: every step is known");
        tape
    }
}

/// Alternatives that take nothing from one question to the next.
struct Afresh<T>(T);

impl<T: Alternatives> Alternatives for Afresh<T> {
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool {
        self.0.descend();
        let found = self.0.find(structure, c, disabled, j);
        self.0.ascend();
        found
    }

    fn descend(&mut self) {}

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

/// What a search came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub is_complete: bool,
    pub traces: u64,
    pub blocked: u64,
    pub transitions: u64,
    /// Distinct events of the unfolding, or those built, some of them perhaps more than once.
    pub events: u64,
    /// Is it the former?
    pub is_exact: bool,
    pub sat_calls: u64,
    /// States stored, and the bytes in use for them.
    pub states: Option<u64>,
    pub state_bytes: Option<u64>,
    pub seconds: f64,
    /// The time of the same walk on the bare model, where that was wanted.
    pub floor: Option<f64>,
    /// Bytes; `None` where the platform does not tell.
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

/// The parent: runs jobs, and shows which one is running.
pub struct Bench {
    /// Are the heavy programs wanted, too?
    pub full: bool,
    line: ProgressBar,
}

impl Bench {
    /// Quick unless `full`.
    pub fn new(full: bool) -> Bench {
        Bench { full, line: ProgressBar::new_spinner() }
    }

    /// Measures in a process of its own.
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

    /// The best of several processes: where a heap comes to lie makes some runs slower than others.
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

    /// What a process takes that does next to nothing.
    pub fn idle(&self) -> Option<u64> {
        self.run(&Job::new("mailbox/wait-deadlock", &[]).by(Search::Nothing)).peak
    }

    /// Prints between two measurements.
    pub fn print(&self, text: impl std::fmt::Display) {
        self.line.suspend(|| println!("{text}"));
    }
}
