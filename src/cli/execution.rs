//! What `run` and `replay` share: one execution of a program.

use super::Failure;
use super::bounds::Bounds;
use super::output::Output;
use crate::model::{Action, Schedule, System};
use crate::property::{Change, Recorded, Replay, Standing, Step};
use crate::random::SplitMix64;
use crate::report::{Divergence, ExecutionReport, Subject};

/// Before a recorded step there may be this many steps that were not recorded.
const MOST_NEW_STEPS: usize = 64;
/// The number of steps between two checks for a livelock.
const LIVELOCK_CHECK_INTERVAL: usize = 64;

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

    /// Executes the actions of a schedule that was recorded with the names of its steps, until a
    /// limit is reached. If the program has changed, so that a step is not possible or another one
    /// now, follows the steps from there on by their names, and leaves out those that are not
    /// possible. Then returns how the execution differs.
    pub(super) fn follow_recorded(
        &mut self,
        schedule: &[Action],
        recorded: &[Recorded],
        bounds: &Bounds,
    ) -> Result<Option<Divergence>, Failure> {
        if recorded.len() != schedule.len() {
            return self.follow(schedule, bounds).map(|()| None);
        }
        for (step, (&action, known)) in schedule.iter().zip(recorded).enumerate() {
            if bounds.reached().is_some() {
                break;
            }
            let is_as_recorded =
                self.replay.enabled().contains(&action) && self.replay.is_recorded(action, known);
            if !is_as_recorded {
                return self.follow_by_name(step, &recorded[step..], bounds).map(Some);
            }
            self.take(action)?;
        }
        Ok(None)
    }

    fn follow_by_name(
        &mut self,
        step: usize,
        recorded: &[Recorded],
        bounds: &Bounds,
    ) -> Result<Divergence, Failure> {
        let Recorded { process, action, line, .. } = recorded[0].clone();
        let now = self.replay.whereabouts(&process);
        let (mut found, mut added, mut left_out) = (0, 0, 0);
        for (place, known) in recorded.iter().enumerate() {
            let path = self.path_to(known, &recorded[place..]).unwrap_or_default();
            added += path.len();
            self.follow(&path, bounds)?;
            let possible = self.replay.enabled_as(known);
            match self.with_outcome(&possible, known) {
                Some(action) if bounds.reached().is_none() => {
                    self.take(action)?;
                    found += 1;
                }
                _ => left_out += 1,
            }
        }
        Ok(Divergence { step: step + 1, process, action, line, now, found, added, left_out })
    }

    /// New steps that lead to a recorded step, if there are some before it: of its process, and of
    /// others while it waits. None if its next operation is that of a later recorded step, in
    /// `rest`.
    fn path_to(&self, known: &Recorded, rest: &[Recorded]) -> Option<Vec<Action>> {
        let process = self.replay.process_named(&known.process)?;
        let is_next = |recorded: &Recorded| !self.replay.enabled_as(recorded).is_empty();
        if rest.iter().filter(|later| later.process == known.process).any(is_next) {
            return None;
        }
        let mut ahead = self.copy();
        let mut path = Vec::new();
        while path.len() < MOST_NEW_STEPS {
            let enabled = ahead.enabled();
            let is_own = |action: &&Action| action.process == process;
            let is_new = |action: &&Action| {
                !rest.iter().any(|recorded| ahead.is_recorded(**action, recorded))
            };
            let own = enabled.iter().find(is_own);
            let action = *own.or_else(|| enabled.iter().find(is_new))?;
            ahead.step(action).ok()?;
            path.push(action);
            if !ahead.enabled_as(known).is_empty() {
                return Some(path);
            }
        }
        None
    }

    /// Goes on at random, until it has this number of steps, something goes wrong, nothing can
    /// move, or `stop` is true.
    pub(super) fn at_random(
        &mut self,
        random: &mut SplitMix64,
        length: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        while !self.has_failed() && self.steps.len() < length && !stop() {
            if self.steps.len() % LIVELOCK_CHECK_INTERVAL == LIVELOCK_CHECK_INTERVAL - 1 {
                self.replay.look_for_livelock();
            }
            let enabled = self.replay.enabled();
            if self.replay.is_at_end() || enabled.is_empty() {
                break;
            }
            self.take(random.pick(&enabled))?;
        }
        Ok(())
    }

    /// The same execution once more.
    pub(super) fn copy(&self) -> Replay<'s, S> {
        let mut copy = Replay::new(self.replay.locals().system());
        let done = copy.follow(&Schedule::of(self.replay.state()));
        done.expect("an execution can be repeated");
        copy
    }

    /// Of these enabled actions, one with the recorded outcome; the first one if none has it.
    fn with_outcome(&self, possible: &[Action], recorded: &Recorded) -> Option<Action> {
        let first = *possible.first()?;
        if possible.len() == 1 {
            return Some(first);
        }
        let has_outcome = |&&action: &&Action| {
            self.copy().step(action).is_ok_and(|step| step.outcome == recorded.outcome)
        };
        Some(possible.iter().find(has_outcome).copied().unwrap_or(first))
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
