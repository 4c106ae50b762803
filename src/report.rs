//! Results as plain data, and their renderers.
//!
//! A report contains everything that is to be shown; a renderer ([`text`], `table`, [`json`],
//! [`dot`], [`svg`], [`html`], [`mci`]) decides how. `--format json` prints a report as it
//! serialises: the field names here are the contract with other programs.

mod alike;
#[cfg(feature = "cli")]
pub(crate) mod ci;
#[cfg(feature = "cli")]
pub mod comparison;
#[cfg(feature = "cli")]
pub(crate) mod count;
pub mod dot;
#[cfg(feature = "cli")]
pub(crate) mod estimate;
mod execution;
mod faster;
#[cfg(feature = "cli")]
pub mod html;
mod instrument;
#[cfg(feature = "json")]
pub mod json;
mod lasso;
pub(crate) mod lint;
mod many;
pub mod mci;
pub mod picture;
mod shown;
mod size;
mod subject;
pub mod svg;
#[cfg(feature = "cli")]
pub(crate) mod table;
pub mod text;
mod variants;
#[cfg(feature = "cli")]
pub mod viewer;

#[cfg(feature = "json")]
use serde::Serialize;

#[cfg(feature = "cli")]
pub(crate) use self::execution::Divergence;
pub use self::execution::ExecutionReport;
pub use self::faster::Faster;
pub use self::instrument::Instrument;
use self::lint::{Level, Warning};
pub use self::shown::{FirstGood, Shown};
pub use self::size::{Size, StatesInAll};
pub use self::subject::Subject;
pub use self::variants::Variants;

use crate::explore::has_none;
use crate::explore::{
    self, CutPoll, Depth, Guarantee, Over, Setting, StopReason, Verdict, Violation, ViolationKind,
};
use crate::model::{Failure, Runs, Schedule, System};
use crate::property::{
    Blocked, Call, Deadlock, Demands, Link, Printed, Properties, Property, Replay, Standing, Step,
    explain_deadlock,
};
use crate::study::{Figures, Limits};
use crate::trace::switches;

/// The version of this crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A count with its noun: `1 step`, `2,000 steps`.
pub(crate) fn plural(n: usize, one: &str) -> String {
    text::plural(n as u64, one, &format!("{one}s"))
}

/// A place in a program: `line 12`, or `src/ring.c:12` if the program has several files.
fn place(file: Option<&str>, line: u32) -> String {
    match file {
        Some(file) => format!("{file}:{line}"),
        None => format!("line {line}"),
    }
}

/// The result of `check`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[non_exhaustive]
pub struct CheckReport {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub subject: Subject,
    /// The name of the algorithm.
    pub explorer: &'static str,
    /// What a complete search guarantees with this algorithm (for `auto`: the one that answered).
    #[cfg_attr(feature = "json", serde(skip))]
    pub guarantee: Guarantee,
    /// Whether the guarantee also holds for executions up to a depth bound.
    #[cfg_attr(feature = "json", serde(skip))]
    pub covers_up_to_depth: bool,
    /// What a depth bound measures.
    #[cfg_attr(feature = "json", serde(skip))]
    pub depth: Depth,
    /// The properties that were checked.
    #[cfg_attr(feature = "json", serde(skip))]
    pub properties: Properties,
    /// The first property that was not fully checked, because it is about states of which the
    /// explorer visits only some.
    #[cfg_attr(feature = "json", serde(skip))]
    pub unanswered: Option<String>,
    /// The k of UDPOR, as on the command line; `None` for other explorers.
    pub k: Option<String>,
    /// The order in which enabled actions were tried, if one was chosen.
    pub order: Option<String>,
    /// The seed, if the order is random, or if executions are chosen by chance.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub seed: Option<u64>,
    /// Whether executions were chosen by chance.
    #[cfg_attr(feature = "json", serde(skip))]
    pub samples: bool,
    /// For `pct`: the depth of the bugs that it was to find.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub bug_depth: Option<u32>,
    /// Whether shortest counterexamples were asked for. Of similar violations the one with the
    /// fewest steps, then the fewest switches, is kept; the shortest comes first.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub shortest: bool,
    /// Whether sleep sets were used in addition to the algorithm.
    pub sleep_sets: bool,
    /// What the search walked along, if that was asked for: `executions` or `configurations`.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub over: Option<&'static str>,
    /// The parts of a stateful explorer that were switched off.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub without: Vec<&'static str>,
    /// Whether a stateful explorer followed the paper to the letter.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub as_printed: bool,
    /// Whether the histories of processes were a part of states.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub histories: bool,
    /// Whether only hashes of states were stored.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub hash_compaction: bool,
    /// For `auto`: the explorer that gave this result.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub answered_by: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the search is complete.
    pub complete: bool,
    /// Why the search is not complete.
    pub stopped_by: Option<StopReason>,
    /// The poll at which the bound on polls cut executions.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub cut_poll: Option<Box<CutPoll>>,
    /// The action of a process that cannot be explored, in a sentence.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub unsupported: Option<String>,
    /// What is not seen of a program of MPI, and why.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub unseen: Option<String>,
    /// After a timeout: an explorer to try instead, if one is known.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub faster: Option<Faster>,
    /// After a limit: about how many classes there are, if that can be estimated.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub estimate: Option<Size>,
    /// The same for states, if they are stored.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub states_in_all: Option<StatesInAll>,
    /// The limits of the search.
    pub limits: Limits,
    /// The statistics of the search.
    pub stats: Figures,
    /// The violations that were found.
    pub violations: Vec<ViolationReport>,
    /// Whether it was judged what must happen in the end.
    #[cfg_attr(feature = "json", serde(skip))]
    pub has_demands: bool,
    /// What the verdict rests on that the program does not promise.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub assumes: Option<String>,
    /// How often processes were run, if they are real processes.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub runs: Option<Runs>,
    /// If nothing is wrong and the output was asked for: an execution with what it prints.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub shown: Option<Shown>,
    /// The files that the result was merged from, if it was merged.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub merged: Option<Merged>,
    /// The file that the search was resumed from, if it was. What that file says to be done is
    /// trusted.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub resumed_from: Option<String>,
    /// Suspicious things that are not violations.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub warnings: Vec<Warning>,
}

/// A violation with its counterexample.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[non_exhaustive]
pub struct ViolationReport {
    /// The kind of violation.
    pub kind: ViolationKind,
    /// The message, a sentence.
    pub message: String,
    /// The number, from 1, of an earlier violation that differs only in the names of processes.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub like: Option<usize>,
    /// Whether an invariant fails.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub invariant: bool,
    /// The process that failed.
    pub process: Option<String>,
    /// The file of the failure: the spec, unless the program has several files.
    pub file: String,
    /// Whether the program has several files.
    #[cfg_attr(feature = "json", serde(skip))]
    pub has_files: bool,
    /// The line of the failure. For a deadlock: where the first process of the cycle waits; without
    /// a cycle, where the first blocked process waits.
    pub line: Option<u32>,
    /// The column of the failure.
    pub column: Option<u32>,
    /// The source text of the operation that failed.
    #[cfg_attr(feature = "json", serde(skip))]
    pub text: String,
    /// The variables of the process that failed, at the time of the failure. For a failed `final`
    /// or `invariant`: what it read. For a property written in Rust: the shared cells.
    pub variables: Vec<Variable>,
    /// The execution that leads to the violation.
    pub schedule: Vec<Step>,
    /// For a demand on endless executions: the number of steps before those that are repeated for
    /// ever. If that is all of them, the execution ends.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub loop_from: Option<usize>,
    /// The number of context switches in the schedule.
    pub switches: usize,
    /// If the shortest counterexample was asked for: whether it is certain that no other order of
    /// these steps has fewer switches.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub has_fewest_switches: Option<bool>,
    /// The calls of procedures, in the order in which they began.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub calls: Vec<Call>,
    /// For a deadlock: the processes that wait.
    pub blocked: Vec<Blocked>,
    /// For a deadlock: the processes that wait for one another in a cycle, if there is a cycle.
    pub cycle: Option<Vec<Link>>,
    /// For a livelock: the blocked processes that repeat a loop for ever.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub spinning: Vec<String>,
    /// For a deadlock: the processes that have run their last statement.
    pub ended: Vec<String>,
    /// For a deadlock: the actors that have handled all their messages.
    pub idle: Vec<String>,
    /// For a deadlock: the waiting daemons that could not wake any of the blocked processes.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub daemons: Vec<String>,
    /// For a deadlock: the processes that stopped on a violation.
    pub failed: Vec<String>,
    /// What real processes have printed.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub printed: Vec<Printed>,
    /// The kind of mistake, for an MPI program.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub slip: Option<&'static str>,
    /// The calls involved in the mistake, as files with lines.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub places: Vec<String>,
    /// The execution as an argument of `--schedule`.
    pub replay: String,
}

/// A variable or a shared cell with its value.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, as the program would write it.
    pub value: String,
}

impl From<(String, String)> for Variable {
    fn from((name, value): (String, String)) -> Self {
        Variable { name, value }
    }
}

/// The files that a result was merged from. All belong to one search: the same source text, options
/// and version.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Merged {
    /// The number of files.
    pub files: usize,
    /// The FNV-1a hash of the source text.
    pub source_hash: String,
}

impl CheckReport {
    /// Whether there is a warning whose level is `deny`.
    pub fn is_denied(&self) -> bool {
        self.warnings.iter().any(|warning| warning.level == Level::Deny)
    }

    /// Describes an outcome in the program's own terms, by replaying each violation on the model
    /// alone.
    ///
    /// # Panics
    /// If the replay of a violation does not end in that violation: this is a bug of the explorer.
    pub fn new<S: System>(
        subject: Subject,
        system: &S,
        instrument: impl Into<Instrument>,
        (limits, properties): (Limits, Properties),
        outcome: &explore::Outcome,
        peak_memory_bytes: Option<u64>,
    ) -> Self {
        let asked: Instrument = instrument.into();
        let options = asked.options();
        let answering = outcome.answered_by.as_ref().map(|name| name.parse::<Setting>());
        let answering = answering.map_or(asked, |read| read.expect("an explorer").into());
        let profile = answering.profile;
        let violations = outcome.violations.iter().map(|violation| {
            let replayed = ViolationReport::replayed(system, &subject.spec, violation, &properties);
            replayed
                .unwrap_or_else(|why| panic!("a violation does not replay: {why}\n{violation:?}"))
        });
        let violations = violations.collect();
        let misses = |property: &&dyn Property| {
            let when = property.when();
            !profile.asks(when) && !has_none(system, when)
        };
        let unanswered = properties.iter().find(misses).map(|property| format!("{property:?}"));
        let mut report = CheckReport {
            explorer: asked.profile.name,
            guarantee: profile.guarantee,
            covers_up_to_depth: profile.guarantee > Guarantee::SomeClasses,
            depth: limits.depth_measure.unwrap_or(profile.depth),
            unanswered: unanswered.filter(|_| profile.guarantee > Guarantee::SomeClasses),
            k: answering.setting.and_then(|setting| setting.k()).map(|k| k.to_string()),
            order: options.order.map(|order| order.to_string()),
            seed: asked.setting.and_then(|setting| setting.seed_used()),
            samples: profile.samples,
            bug_depth: asked.setting.and_then(|setting| setting.bug_depth()),
            shortest: false,
            sleep_sets: options.sleep_sets,
            over: options.over.map(Over::name),
            without: options.without.names().collect(),
            as_printed: options.as_printed,
            histories: options.histories,
            hash_compaction: options.hash_compaction,
            answered_by: outcome.answered_by.clone(),
            verdict: outcome.verdict(),
            complete: outcome.is_complete(),
            stopped_by: outcome.stopped_by,
            cut_poll: outcome.cut_poll.clone(),
            unsupported: None,
            unseen: None,
            faster: None,
            estimate: None,
            states_in_all: None,
            limits,
            stats: Figures::new(outcome, peak_memory_bytes),
            violations,
            has_demands: system.liveness().is_some() && properties.contain::<Demands>(),
            assumes: system.describe().assumes(),
            runs: system.describe().runs(),
            shown: None,
            merged: None,
            resumed_from: None,
            warnings: lint::of_search(&subject, outcome),
            properties,
            subject,
        };
        report.mark_alike();
        report
    }

    /// Marks violations that differ only in the names of processes.
    pub(crate) fn mark_alike(&mut self) {
        alike::mark(&mut self.violations);
    }
}

impl ViolationReport {
    /// Replays a violation on the model. `spec` is the name of the file that the search explored.
    ///
    /// # Errors
    /// If the replay does not end in this violation: then no search of this system has found it.
    pub fn replayed<S: System>(
        system: &S,
        file: &str,
        violation: &Violation,
        properties: &Properties,
    ) -> Result<Self, String> {
        let mut replay = Replay::new(system);
        let steps = replay.follow(&violation.schedule).map_err(|refusal| refusal.to_string())?;
        if let Some(number) = violation.demand {
            return lasso::replayed(&replay, file, violation, number, &steps);
        }
        let process = violation.process;
        if process.is_some_and(|process| !replay.state().processes().any(|p| p == process)) {
            return Err(format!("there is no {process:?} at its end"));
        }
        let is_own = |failure| process.is_none() && replay.is_objected_to(properties, failure);
        let mut variables = None;
        let standing = match violation.failure.clone() {
            None => explain_deadlock(&replay).map(Standing::Deadlock),
            Some(failure) if replay.failures(process).contains(&failure) => {
                Some(Standing::Failed { process, failure })
            }
            Some(failure) if is_own(&failure) => {
                variables = Some(replay.cells().into_iter().map(Variable::from).collect());
                Some(Standing::Failed { process, failure })
            }
            Some(_) => None,
        };
        let report = standing.and_then(|s| ViolationReport::of(&replay, file, &s, &steps));
        match report {
            Some(report) if report.kind == violation.kind => {
                let has_fewest_switches = violation.has_fewest_switches;
                let variables = variables.unwrap_or(report.variables);
                Ok(ViolationReport { has_fewest_switches, variables, ..report })
            }
            Some(report) => Err(format!("its schedule ends in: {}", report.message)),
            None => Err("its schedule ends in nothing wrong".into()),
        }
    }

    /// The violation in the present state of the replay, if there is one.
    pub fn of<S: System>(
        replay: &Replay<'_, S>,
        file: &str,
        standing: &Standing,
        steps: &[Step],
    ) -> Option<Self> {
        let report = ViolationReport::empty(replay, file, steps);
        match standing {
            Standing::Open | Standing::Ended => None,
            Standing::Deadlock(deadlock) => Some(report.with_deadlock(deadlock)),
            Standing::Failed { process, failure } => {
                let seen = match process {
                    Some(_) => None,
                    None => replay.seen_by_invariant(failure),
                };
                let invariant = seen.is_some();
                let variables = match process {
                    Some(process) => replay.variables(*process),
                    None if invariant => seen.unwrap_or_default(),
                    None if replay.final_failure().as_ref() == Some(failure) => {
                        replay.seen_at_the_end()
                    }
                    None => Vec::new(),
                };
                let variables = variables.into_iter().map(Variable::from).collect();
                let process = process.map(|p| replay.name(p).into());
                Some(
                    ViolationReport { variables, invariant, ..report }
                        .with_failure(process, failure),
                )
            }
        }
    }

    /// A report without a violation yet.
    fn empty<S: System>(replay: &Replay<'_, S>, file: &str, steps: &[Step]) -> Self {
        let schedule = Schedule::of(replay.state());
        ViolationReport {
            kind: ViolationKind::Deadlock,
            message: String::new(),
            like: None,
            invariant: false,
            process: None,
            file: file.into(),
            has_files: false,
            line: None,
            column: None,
            text: String::new(),
            variables: Vec::new(),
            schedule: steps.to_vec(),
            loop_from: None,
            switches: switches(&schedule),
            has_fewest_switches: None,
            calls: replay.calls().to_vec(),
            blocked: Vec::new(),
            cycle: None,
            spinning: Vec::new(),
            ended: Vec::new(),
            idle: Vec::new(),
            daemons: Vec::new(),
            failed: Vec::new(),
            printed: replay.printed(),
            slip: None,
            places: Vec::new(),
            replay: schedule.to_string(),
        }
    }

    fn with_deadlock(self, deadlock: &Deadlock) -> Self {
        let first = deadlock.cycle.as_ref().map(|cycle| cycle[0].process.as_str());
        let place = deadlock
            .blocked
            .iter()
            .find(|blocked| first.is_none_or(|first| first == blocked.process))
            .expect("a deadlock has a blocked process");
        ViolationReport {
            message: deadlock.summary(),
            line: place.line,
            column: place.column,
            blocked: deadlock.blocked.clone(),
            cycle: deadlock.cycle.clone(),
            kind: match deadlock.spinning.is_empty() {
                true => ViolationKind::Deadlock,
                false => ViolationKind::Livelock,
            },
            spinning: deadlock.spinning.clone(),
            ended: deadlock.ended.clone(),
            idle: deadlock.idle.clone(),
            daemons: deadlock.daemons.clone(),
            failed: deadlock.failed.clone(),
            ..self.in_file(place.file.as_deref())
        }
    }

    fn in_file(self, file: Option<&str>) -> Self {
        let has_files = file.is_some();
        ViolationReport { file: file.map_or(self.file, String::from), has_files, ..self }
    }

    fn with_failure(self, process: Option<String>, failure: &Failure) -> Self {
        ViolationReport {
            kind: failure.kind.into(),
            message: failure.message.clone(),
            process,
            line: failure.site.as_ref().map(|site| site.line),
            column: failure.site.as_ref().map(|site| site.column),
            text: failure.site.as_ref().map_or(String::new(), |site| site.text.clone()),
            ..self.in_file(failure.site.as_ref().and_then(|site| site.file.as_deref()))
        }
    }
}
