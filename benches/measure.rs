//! One measurement, in a child process: so that its peak of memory is its own.
//!
//! The child gets a [`Job`] as JSON in an argument and prints [`Measured`] as JSON. It repeats a short search
//! and reports the fastest run: noise only ever adds time. The peak is read after the first run, before the
//! heap can fragment, and includes the program itself (see [`Bench::idle`]).

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use mazurka::alternatives::{Alternatives, KPartial, Optimal, Varisat};
use mazurka::explore::{
    Budget, Exhaustive, Explorer, K, NoObserver, Outcome, Setting, StopReason, Udpor, explore,
    udpor_with,
};
use mazurka::lang::{Program, compile};
use mazurka::unfolding::{Configuration, EventId, EventStructure};
use serde::{Deserialize, Serialize};

/// Searches that take less than a second are repeated: until they have taken this long altogether, in seconds,
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
    limit: Duration,
}

/// How to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// An explorer by its place in [`EXPLORERS_COMPARED`].
    By(usize),
    /// One that stores states, by its place in [`STORING`].
    Storing(usize),
    /// Nothing at all.
    Nothing,
}

/// Explorers as the command line names them.
pub const EXPLORERS_COMPARED: [&str; 9] = [
    "udpor",
    "udpor:k=1",
    "optimal",
    "source",
    "dpor:sleep-sets",
    "dpor",
    "transdpor",
    "transdpor-tool",
    "sleep",
];

/// Explorers that store states, and for comparison one that does not.
pub const STORING: [&str; 10] = [
    "stateful",
    "s-por",
    "de-s-por",
    "dl-s-por",
    "dl-s-por:order=visited",
    "dl-s-por:without=summaries",
    "de-s-por:without=summaries",
    "dl-s-por:without=safe-sets",
    "stateful:hash-compaction",
    "udpor",
];

impl Job {
    /// UDPOR with full alternatives on `specs/{spec}.maz`, with these constants.
    pub fn new(spec: &str, constants: &[(&str, u32)]) -> Job {
        let constants = constants.iter().map(|&(name, value)| (name.into(), value)).collect();
        let search = Search::Optimal;
        Job { spec: spec.into(), constants, search, keeps_events: false, limit: QUICK_LIMIT }
    }

    /// The same with another search.
    pub fn by(&self, search: Search) -> Job {
        Job { search, ..self.clone() }
    }

    /// The same without ever forgetting an event.
    pub fn keeping_events(&self) -> Job {
        Job { keeps_events: true, ..self.clone() }
    }

    /// Is there a reason not to run it?
    pub fn is_refused(&self) -> bool {
        let Search::By(explorer) = self.search else { return false };
        let setting: Setting = EXPLORERS_COMPARED[explorer].parse().expect("an explorer");
        setting.refusal(&self.compile(), &Budget::default()).is_some()
    }

    /// `dispatcher(5, 2)`
    pub fn name(&self) -> String {
        let program = self.spec.rsplit('/').next().unwrap_or(&self.spec);
        let values: Vec<_> = self.constants.iter().map(|(_, value)| value.to_string()).collect();
        if values.is_empty() { program.into() } else { format!("{program}({})", values.join(", ")) }
    }

    fn compile(&self) -> Program {
        let path = format!("{}/specs/{}.maz", env!("CARGO_MANIFEST_DIR"), self.spec);
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let constants: Vec<_> =
            self.constants.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        compile(&path, &source, &constants)
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    }

    fn explore(&self, program: &Program) -> Outcome {
        let mut budget = Budget { all: true, timeout: Some(self.limit), ..Budget::default() };
        if self.keeps_events {
            budget.keep_events = usize::MAX;
        }
        let nobody = &mut NoObserver;
        let optimal = Optimal::<Varisat>::with_effort;
        match self.search {
            Search::Exhaustive => explore(program, Exhaustive, budget, nobody),
            Search::Partial(k) => {
                explore(program, Udpor { k: K::Partial(k), order: None }, budget, nobody)
            }
            Search::Optimal => explore(program, Udpor::default(), budget, nobody),
            Search::SatAfter(effort) => udpor_with(program, optimal(effort), budget, nobody),
            Search::SatNever => udpor_with(program, KPartial::new(u32::MAX), budget, nobody),
            Search::SpikesAfresh => {
                udpor_with(program, Afresh(Optimal::<Varisat>::new()), budget, nobody)
            }
            Search::Storing(explorer) => {
                let setting: Setting = STORING[explorer].parse().expect("an explorer");
                explore(program, setting, budget, nobody)
            }
            Search::By(explorer) => {
                let setting: Setting = EXPLORERS_COMPARED[explorer].parse().expect("an explorer");
                explore(program, setting, budget, nobody)
            }
            Search::Nothing => {
                let budget = Budget { max_traces: Some(1), ..budget };
                explore(program, Udpor::default(), budget, nobody)
            }
        }
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
    /// Bytes; `None` where the platform does not tell.
    pub peak: Option<u64>,
}

/// The child's part: measures, and prints the figures.
pub fn as_child(job: &str) {
    let job: Job = serde_json::from_str(job).expect("a job from the parent process");
    let program = job.compile();
    let (outcome, mut fastest) = timed(|| job.explore(&program));
    let peak = peak();
    let (mut total, mut runs) = (fastest, 1);
    while fastest < 1.0 && runs < MOST && (total < ENOUGH || runs < LEAST) {
        let (_, seconds) = timed(|| job.explore(&program));
        (fastest, total, runs) = (fastest.min(seconds), total + seconds, runs + 1);
    }
    let stats = &outcome.stats;
    let measured = Measured {
        is_complete: matches!(outcome.stopped_by, None | Some(StopReason::HashCompaction)),
        traces: stats.traces,
        blocked: stats.blocked,
        transitions: stats.transitions,
        events: stats.events.or(stats.events_built).unwrap_or(0),
        is_exact: stats.events.is_some(),
        sat_calls: stats.sat_calls.unwrap_or(0),
        states: stats.states,
        state_bytes: stats.state_bytes,
        seconds: fastest,
        peak,
    };
    println!("{}", serde_json::to_string(&measured).expect("plain data"));
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
        let text = serde_json::to_string(&Job { limit, ..job.clone() }).expect("plain data");
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
