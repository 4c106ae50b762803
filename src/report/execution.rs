//! An execution that was taken step by step, as a report.

use super::{ExecutionReport, Subject, ViolationReport, lint};
use crate::explore::Verdict;
use crate::model::{ProcessId, Schedule, System};
use crate::property::{Replay, Standing, Step};

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
            violations: violation.into_iter().collect(),
            warnings: lint::of_execution(&subject, replay),
            subject,
        }
    }
}
