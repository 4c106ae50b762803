//! One execution, as `run` and `replay` show it.

#[cfg(feature = "cli")]
use std::fmt;

#[cfg(feature = "json")]
use serde::Serialize;

#[cfg(feature = "cli")]
use super::lasso;
use super::lint::{self, Warning};
#[cfg(feature = "cli")]
use super::plural;
use super::{Subject, ViolationReport};
use crate::explore::Verdict;
use crate::model::{ProcessId, Schedule, System};
use crate::property::{Call, Printed, Replay, Standing, Step};

/// One execution, random or scripted.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct ExecutionReport {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub(crate) subject: Subject,
    /// The seed, if choices were random.
    pub(crate) seed: Option<u64>,
    /// How it ended, as a verdict of `check`; `incomplete` if something is still enabled.
    pub verdict: Verdict,
    /// Whether nothing is enabled at its end.
    pub complete: bool,
    /// The daemons that wait at the end of an execution that ends well.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) daemons: Vec<String>,
    /// The processes that have an enabled action at its end.
    pub(crate) enabled: Vec<String>,
    /// Its steps.
    pub(crate) schedule: Vec<Step>,
    /// The calls of procedures, in the order in which they began.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) calls: Vec<Call>,
    /// The execution as an argument of `--schedule`.
    pub(crate) replay: String,
    /// What real processes have printed.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) printed: Vec<Printed>,
    /// The violation at its end, if there is one.
    pub(crate) violations: Vec<ViolationReport>,
    /// Where it differs from the recorded execution that was to be followed, if it does.
    #[cfg(feature = "cli")]
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) divergence: Option<Divergence>,
    /// What it leaves behind, although nothing is wrong (leaks).
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub(crate) warnings: Vec<Warning>,
}

/// How an execution differs from the one that was recorded for another version of the program.
#[cfg(feature = "cli")]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Divergence {
    /// The first step that differs, from 1.
    pub(crate) step: usize,
    /// Its process, its operation and the line, as they were recorded.
    pub(crate) process: String,
    pub(crate) action: String,
    pub(crate) line: Option<u32>,
    /// Where this process is now; `None` if there is none of this name.
    pub(crate) now: Option<String>,
    /// The steps from there on that were found by their names, and those that were left out because
    /// they are not possible.
    pub(crate) found: usize,
    pub(crate) left_out: usize,
    /// The steps between them that were not recorded.
    pub(crate) added: usize,
}

#[cfg(feature = "cli")]
impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence { step, process, action, line, now, found, left_out, added } = self;
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        let now = match now {
            Some(now) => format!("{now} now"),
            None => format!("there is no {process} now"),
        };
        writeln!(
            f,
            "The program has changed. Step {step} was `{action}` ({process}{line}), and {now}."
        )?;
        let between = match added {
            0 => String::new(),
            added => format!(", with {} between them", plural(*added, "new step")),
        };
        writeln!(
            f,
            "From there on operations were looked for by name: {found} of {} were possible{between}.",
            found + left_out
        )
    }
}

impl ExecutionReport {
    /// Adds the demand that the execution violates, as it goes round the loop of this schedule for
    /// ever.
    ///
    /// # Errors
    /// If it violates none. Says why.
    #[cfg(feature = "cli")]
    pub(crate) fn add_loop<S: System>(
        &mut self,
        replay: &Replay<'_, S>,
        schedule: &Schedule,
    ) -> Result<(), String> {
        let found = lasso::violated(replay, &self.subject.spec, schedule, &self.schedule)?;
        (self.verdict, self.replay) = (found.kind.into(), found.replay.clone());
        self.violations = vec![found];
        Ok(())
    }

    /// The number of steps before those that are repeated for ever, if there is a loop.
    #[cfg(feature = "cli")]
    pub(crate) fn loop_from(&self) -> Option<usize> {
        self.violations.first()?.loop_from
    }

    /// The report of an execution that was taken step by step.
    pub(crate) fn new<S: System>(
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
            #[cfg(feature = "cli")]
            divergence: None,
            violations: violation.into_iter().collect(),
            warnings: lint::of_execution(&subject, replay),
            subject,
        }
    }
}
