//! Results as plain data, and their renderers.
//!
//! A report says everything that is to be shown; a renderer ([`text`], [`json`]) decides how. Reports
//! serialise to what `--format json` prints: the field names here are the contract with other programs.

pub mod json;
pub mod text;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::explore::{self, Guarantee, Info, K, StopReason, Verdict, Violation, ViolationKind};
use crate::model::{Failure, FailureKind, ProcessId, System};
use crate::property::{
    Blocked, Deadlock, Link, Replay, Standing, Step, explain_deadlock, schedule,
};

/// The program that a report is about.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// This crate's version.
    pub mazurka: &'static str,
    /// The path of the spec, `-` for standard input.
    pub spec: String,
    /// The constants of the spec with the values that they had.
    pub constants: BTreeMap<String, serde_json::Value>,
    /// What counts as an action, if not an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<&'static str>,
    /// The source text.
    #[serde(skip)]
    pub source: String,
    /// The constants that were set on the command line, as they were set there.
    #[serde(skip)]
    pub defines: Vec<String>,
}

/// What `check` found out.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// About what.
    #[serde(flatten)]
    pub subject: Subject,
    /// The algorithm.
    pub explorer: &'static str,
    /// What a complete search with it promises.
    #[serde(skip)]
    pub guarantee: Guarantee,
    /// UDPOR's k as on the command line; `None` for other explorers.
    pub k: Option<String>,
    /// The result in one word.
    #[serde(serialize_with = "verdict_word")]
    pub verdict: Verdict,
    /// Everything was visited.
    pub complete: bool,
    /// Why not.
    #[serde(serialize_with = "reason_word")]
    pub stopped_by: Option<StopReason>,
    /// The limits of the search.
    pub limits: Limits,
    /// The figures.
    pub stats: Figures,
    /// What was found.
    pub violations: Vec<ViolationReport>,
}

/// The limits of a search; `None` for those that were not set.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Limits {
    /// Actions in an execution.
    pub depth: Option<u32>,
    /// Complete executions.
    pub max_traces: Option<u64>,
    /// Time.
    #[serde(rename = "timeout_seconds", serialize_with = "seconds")]
    pub timeout: Option<Duration>,
    /// Memory.
    #[serde(rename = "max_memory_bytes")]
    pub max_memory: Option<u64>,
}

/// The figures of a search; `None` for those that the explorer has not.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Complete executions visited.
    pub traces: u64,
    /// Those that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Explorations cut because everything enabled was asleep or disabled.
    pub blocked: u64,
    /// Executions cut by the depth bound.
    pub truncated: u64,
    /// Actions executed.
    pub transitions: u64,
    /// Distinct events of the unfolding; null too if too many were forgotten to tell.
    pub events: Option<u64>,
    /// Events built, those twice that were forgotten and met again.
    pub events_built: Option<u64>,
    /// Distinct states stored.
    pub states: Option<u64>,
    /// Mazurkiewicz classes of the executions visited.
    pub classes: Option<u64>,
    /// Length of the longest execution.
    pub max_depth: u64,
    /// Queries to the SAT solver.
    pub sat_calls: Option<u64>,
    /// Time of the search.
    pub wall_seconds: f64,
    /// The most memory that the process ever had.
    pub peak_memory_bytes: Option<u64>,
}

/// A violation with its counterexample.
#[derive(Clone, Debug, Serialize)]
pub struct ViolationReport {
    /// Which kind.
    #[serde(serialize_with = "kind_word")]
    pub kind: ViolationKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The process that failed.
    pub process: Option<String>,
    /// The spec.
    pub file: String,
    /// Where it failed; for a deadlock, where the first process of the cycle, or else of all, waits.
    pub line: Option<u32>,
    /// The column there.
    pub column: Option<u32>,
    /// The source text there.
    #[serde(skip)]
    pub text: String,
    /// The variables of the process that failed, as they were then; for `final` the shared cells.
    pub variables: Vec<Variable>,
    /// The execution that leads to it.
    pub schedule: Vec<Step>,
    /// The processes that wait, for a deadlock.
    pub blocked: Vec<Blocked>,
    /// The processes that wait in a circle, if some do.
    pub cycle: Option<Vec<Link>>,
    /// The processes that have run their last statement, for a deadlock.
    pub ended: Vec<String>,
    /// Of a deadlock: the actors that have taken all their messages.
    pub idle: Vec<String>,
    /// The processes that stopped on a violation, for a deadlock.
    pub failed: Vec<String>,
    /// The execution as a string for `--schedule`.
    pub replay: String,
}

/// A variable or a shared cell with its value.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, as the program writes it.
    pub value: String,
}

/// One execution, random or scripted.
#[derive(Clone, Debug, Serialize)]
pub struct ExecutionReport {
    /// Of what.
    #[serde(flatten)]
    pub subject: Subject,
    /// The seed of the random choices, if there were any.
    pub seed: Option<u64>,
    /// How it ended, in the words of `check`; `incomplete` if something is still enabled.
    #[serde(serialize_with = "verdict_word")]
    pub verdict: Verdict,
    /// Nothing is enabled at its end.
    pub complete: bool,
    /// The processes that can move at its end.
    pub enabled: Vec<String>,
    /// Its steps.
    pub schedule: Vec<Step>,
    /// The execution as a string for `--schedule`.
    pub replay: String,
    /// What is wrong at its end: one or none.
    pub violations: Vec<ViolationReport>,
}

impl CheckReport {
    /// Puts an outcome into the program's own terms, by replaying each violation on the bare model.
    ///
    /// # Panics
    /// If a violation does not replay to what it was reported as: that is a bug of the explorer.
    pub fn new<S: System>(
        subject: Subject,
        system: &S,
        (explorer, k): (&Info, Option<K>),
        limits: Limits,
        outcome: &explore::Outcome,
        peak_memory_bytes: Option<u64>,
    ) -> Self {
        let stats = &outcome.stats;
        let violations = outcome
            .violations
            .iter()
            .map(|violation| ViolationReport::replayed(system, &subject.spec, violation));
        CheckReport {
            explorer: explorer.name,
            guarantee: explorer.guarantee,
            k: k.map(|k| match k {
                K::Partial(k) => k.to_string(),
                K::Optimal => "optimal".into(),
            }),
            verdict: outcome.verdict(),
            complete: outcome.is_complete(),
            stopped_by: outcome.stopped_by,
            limits,
            stats: Figures {
                traces: stats.traces,
                deadlocked_traces: stats.deadlocked_traces,
                blocked: stats.blocked,
                truncated: stats.truncated,
                transitions: stats.transitions,
                events: stats.events,
                events_built: stats.events_built,
                states: stats.states,
                classes: stats.classes,
                max_depth: stats.max_depth,
                sat_calls: stats.sat_calls,
                wall_seconds: outcome.elapsed.as_secs_f64(),
                peak_memory_bytes,
            },
            violations: violations.collect(),
            subject,
        }
    }
}

impl ViolationReport {
    fn replayed<S: System>(system: &S, file: &str, violation: &Violation) -> Self {
        let mut replay = Replay::new(system);
        let steps = replay.follow(&violation.schedule).unwrap_or_else(|refusal| {
            panic!("the schedule of a violation does not replay: {refusal}\n{violation:?}")
        });
        let failed = violation.failure.clone().map(|failure| {
            let process = violation.process;
            (replay.failures(process).contains(&failure), Standing::Failed { process, failure })
        });
        let standing = match failed {
            None => explain_deadlock(&replay).map(Standing::Deadlock),
            Some((did_fail, standing)) => Some(standing).filter(|_| did_fail),
        };
        let report = standing.and_then(|s| ViolationReport::of(&replay, file, &s, &steps));
        match report {
            Some(report) if report.kind == violation.kind => report,
            other => panic!("a violation replays to something else: {other:?}\n{violation:?}"),
        }
    }

    /// What is wrong where the replay stands, if anything.
    pub fn of<S: System>(
        replay: &Replay<'_, S>,
        file: &str,
        standing: &Standing,
        steps: &[Step],
    ) -> Option<Self> {
        let schedule: Vec<_> = replay.state().schedule().collect();
        let report = ViolationReport {
            kind: ViolationKind::Deadlock,
            message: String::new(),
            process: None,
            file: file.into(),
            line: None,
            column: None,
            text: String::new(),
            variables: Vec::new(),
            schedule: steps.to_vec(),
            blocked: Vec::new(),
            cycle: None,
            ended: Vec::new(),
            idle: Vec::new(),
            failed: Vec::new(),
            replay: schedule::format(&schedule),
        };
        match standing {
            Standing::Open | Standing::Ended => None,
            Standing::Deadlock(deadlock) => Some(report.with_deadlock(deadlock)),
            Standing::Failed { process, failure } => {
                let variables = match process {
                    Some(process) => replay.variables(*process),
                    None if failure.kind == FailureKind::Assertion => replay.cells(),
                    None => Vec::new(),
                };
                let variable = |(name, value)| Variable { name, value };
                let variables = variables.into_iter().map(variable).collect();
                let process = process.map(|p| replay.name(p).into());
                Some(ViolationReport { variables, ..report }.with_failure(process, failure))
            }
        }
    }

    fn with_deadlock(self, deadlock: &Deadlock) -> Self {
        let first = deadlock.cycle.as_ref().map(|cycle| cycle[0].process.as_str());
        let place = deadlock
            .blocked
            .iter()
            .find(|blocked| first.is_none_or(|first| first == blocked.process))
            .expect("somebody is blocked in a deadlock");
        ViolationReport {
            message: deadlock.summary(),
            line: place.line,
            column: place.column,
            blocked: deadlock.blocked.clone(),
            cycle: deadlock.cycle.clone(),
            ended: deadlock.ended.clone(),
            idle: deadlock.idle.clone(),
            failed: deadlock.failed.clone(),
            ..self
        }
    }

    fn with_failure(self, process: Option<String>, failure: &Failure) -> Self {
        ViolationReport {
            kind: failure.kind.into(),
            message: failure.message.clone(),
            process,
            line: failure.site.as_ref().map(|site| site.line),
            column: failure.site.as_ref().map(|site| site.column),
            text: failure.site.as_ref().map_or(String::new(), |site| site.text.clone()),
            ..self
        }
    }
}

impl ExecutionReport {
    /// Tells an execution that was taken step by step.
    pub fn new<S: System>(
        subject: Subject,
        replay: &Replay<'_, S>,
        steps: Vec<Step>,
        seed: Option<u64>,
    ) -> Self {
        let standing = replay.standing();
        let violation = ViolationReport::of(replay, &subject.spec, &standing, &steps);
        let mut movers: Vec<ProcessId> = replay.enabled().iter().map(|a| a.process).collect();
        movers.dedup();
        let schedule: Vec<_> = replay.state().schedule().collect();
        ExecutionReport {
            seed,
            verdict: match &violation {
                Some(violation) => violation.kind.into(),
                None if standing == Standing::Open => Verdict::Incomplete,
                None => Verdict::Ok,
            },
            complete: movers.is_empty(),
            enabled: movers.into_iter().map(|p| replay.name(p).into()).collect(),
            schedule: steps,
            replay: schedule::format(&schedule),
            violations: violation.into_iter().collect(),
            subject,
        }
    }
}

/// The word for a verdict in JSON.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Deadlock => "deadlock",
        Verdict::Assertion => "assertion",
        Verdict::Error => "error",
        Verdict::Incomplete => "incomplete",
    }
}

fn verdict_word<S: Serializer>(value: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict(*value))
}

fn kind_word<S: Serializer>(kind: &ViolationKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict((*kind).into()))
}

fn reason_word<S: Serializer>(
    reason: &Option<StopReason>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let word = reason.map(|reason| match reason {
        StopReason::Violation => "violation",
        StopReason::MaxTraces => "max-traces",
        StopReason::Timeout => "timeout",
        StopReason::MaxMemory => "max-memory",
        StopReason::Interrupted => "interrupted",
        StopReason::Depth => "depth",
        StopReason::Oversubscribed => "oversubscribed",
    });
    word.serialize(serializer)
}

fn seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}
