//! One execution, as `run` and `replay` show it.

use serde::Serialize;

use super::lint::{self, Warning};
use super::{Subject, ViolationReport};
use crate::explore::Verdict;
use crate::model::{ProcessId, Schedule, System};
use crate::property::{Call, Printed, Replay, Standing, Step};

/// One execution, random or scripted.
#[derive(Clone, Debug, Serialize)]
pub struct ExecutionReport {
    /// The program.
    #[serde(flatten)]
    pub subject: Subject,
    /// The seed of the random choices, if there were any.
    pub seed: Option<u64>,
    /// How it ended, in the words of `check`; `incomplete` if something is still enabled.
    pub verdict: Verdict,
    /// Nothing is enabled at its end.
    pub complete: bool,
    /// The daemons that wait at its end, if it ends well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daemons: Vec<String>,
    /// The processes that can move at its end.
    pub enabled: Vec<String>,
    /// Its steps.
    pub schedule: Vec<Step>,
    /// The calls of procedures, in the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The execution as a string for `--schedule`.
    pub replay: String,
    /// What processes that really run have printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// What is wrong at its end: one or none.
    pub violations: Vec<ViolationReport>,
    /// What it leaves behind, although nothing is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
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
        movers.extend(replay.pollers());
        let schedule = Schedule::of(replay.state());
        ExecutionReport {
            seed,
            verdict: match &violation {
                Some(violation) => violation.kind.into(),
                None if standing == Standing::Open => Verdict::Incomplete,
                None => Verdict::Ok,
            },
            complete: movers.is_empty() || replay.is_at_end(),
            daemons: match standing {
                Standing::Ended => {
                    replay.waiting_daemons().map(|p| replay.name(p).into()).collect()
                }
                _ => Vec::new(),
            },
            enabled: movers.into_iter().map(|p| replay.name(p).into()).collect(),
            schedule: steps,
            calls: replay.calls().to_vec(),
            replay: schedule.to_string(),
            printed: replay.printed(),
            violations: violation.into_iter().collect(),
            warnings: lint::of_execution(&subject, replay),
            subject,
        }
    }
}
