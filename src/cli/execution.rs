//! What `run` and `replay` share: one execution of a program.

use super::Failure;
use super::bounds::Bounds;
use super::output::Output;
use crate::model::{Action, Schedule, System};
use crate::property::{Change, Replay, Standing, Step};
use crate::report::{ExecutionReport, Subject};

/// An execution so far: its steps, and what each of them changed.
pub(super) struct Execution<'s, S: System> {
    pub(super) replay: Replay<'s, S>,
    pub(super) steps: Vec<Step>,
    pub(super) changes: Vec<Vec<Change>>,
}

impl<'s, S: System> Execution<'s, S> {
    pub(super) fn new(system: &'s S, allow_pending: bool) -> Self {
        let mut replay = Replay::new(system);
        replay.allow_pending(allow_pending);
        Execution { replay, steps: Vec::new(), changes: Vec::new() }
    }

    /// Executes an action, and notes what it changed and printed.
    pub(super) fn take(&mut self, action: Action) -> Result<(), Failure> {
        let step = self.replay.step_with_changes(action);
        let (step, changes) = step.map_err(|refusal| Failure::Usage(refusal.to_string()))?;
        let printed = self.replay.just_printed().map(|printed| Change {
            what: format!("{} prints", printed.process),
            before: None,
            after: Some(printed.text.trim_end().into()),
        });
        self.steps.push(step);
        self.changes.push(changes.into_iter().chain(printed).collect());
        Ok(())
    }

    /// Executes these actions in order, until a limit is reached.
    pub(super) fn follow(&mut self, actions: &[Action], bounds: &Bounds) -> Result<(), Failure> {
        for &action in actions {
            if bounds.reached().is_some() {
                break;
            }
            self.take(action)?;
        }
        Ok(())
    }

    /// Did the last step end in a violation (of its process, or of an invariant)?
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.replay.failure_of_last_step(), Some(Standing::Failed { .. }))
            || self.replay.broken_invariant().is_some()
    }

    /// Judges the loop of a schedule that was followed to its end, and adds the demand that it
    /// violates to the report.
    pub(super) fn judge_loop(
        &self,
        schedule: &Schedule,
        report: &mut ExecutionReport,
    ) -> Result<(), Failure> {
        let found = report.add_loop(&self.replay, schedule);
        found
            .map_err(|why| Failure::Usage(format!("the loop of the schedule shows nothing: {why}")))
    }

    pub(super) fn report(&mut self, subject: Subject, seed: Option<u64>) -> ExecutionReport {
        self.replay.look_for_livelock();
        ExecutionReport::new(subject, &self.replay, self.steps.clone(), seed)
    }
}

/// Prints a note if a limit has cut the execution.
pub(super) fn note_limit(reached: Option<&str>, output: &Output) {
    if let Some(limit) = reached {
        output.remark(format!("The execution was cut: {limit} was reached.\n"));
    }
}
