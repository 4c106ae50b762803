//! A walk through the executions of a program: the steps taken so far, and those ahead, which were
//! taken before or belong to a known execution.
//!
//! The present state is always that of a replay which has made exactly the steps taken so far. So
//! the numbers of processes and messages are those of a schedule, and to go back is to replay a
//! shorter part from the start.

use rustc_hash::FxHashMap;

use super::super::Failure;
use super::super::execution::Execution;
use crate::model::{Action, Locals, ProcessId, Schedule, State, System, dependent};
use crate::property::{Standing, Step};
use crate::random::SplitMix64;

/// A walk.
pub(super) struct Walk<'s, S: System> {
    system: &'s S,
    allow_pending: bool,
    /// The steps taken so far.
    pub(super) execution: Execution<'s, S>,
    /// The steps taken so far, and those ahead.
    path: Schedule,
}

/// Something that can happen next.
pub(super) struct Choice {
    pub(super) action: Action,
    /// The process that it belongs to. For the network, that is the process of the message.
    pub(super) process: ProcessId,
    /// The step that it would be.
    pub(super) step: Step,
}

/// Says of actions that can happen next whether their order matters.
pub(super) struct Judge<'s, S: System> {
    locals: Locals<'s, S>,
    state: State,
}

impl<S: System> Judge<'_, S> {
    /// Does the order of these two actions matter? `None` if they are outcomes of one operation, so
    /// that only one of them can happen.
    pub(super) fn depend(&mut self, a: Action, b: Action) -> Option<bool> {
        match (self.in_order(a, b), self.in_order(b, a)) {
            (None, None) => (a.process != b.process).then_some(true),
            (first, second) => Some(first != Some(false) || second != Some(false)),
        }
    }

    /// Are they dependent, the second one after the first? `None` if it is not possible there.
    fn in_order(&mut self, a: Action, b: Action) -> Option<bool> {
        let Judge { locals, state } = self;
        state.step(locals, a);
        let first = state.effect(locals);
        let mut enabled = Vec::new();
        state.enabled(locals, &mut enabled);
        let depend = enabled.contains(&b).then(|| {
            state.step(locals, b);
            let second = state.effect(locals);
            state.undo(locals);
            dependent((a.process, &first), (b.process, &second))
        });
        state.undo(locals);
        depend
    }
}

impl<'s, S: System> Walk<'s, S> {
    /// Begins before the first step.
    pub(super) fn new(system: &'s S, allow_pending: bool) -> Self {
        let execution = Execution::new(system, allow_pending);
        let mut walk = Walk { system, allow_pending, execution, path: Schedule::default() };
        walk.execution.replay.look_for_livelock();
        walk
    }

    /// The number of steps taken so far.
    pub(super) fn position(&self) -> usize {
        self.execution.steps.len()
    }

    /// The number of steps taken so far and ahead.
    pub(super) fn length(&self) -> usize {
        self.path.len()
    }

    /// The first of the steps ahead.
    pub(super) fn next(&self) -> Option<Action> {
        self.path.get(self.position()).copied()
    }

    /// All steps, if they end in a loop and have all been taken.
    pub(super) fn lasso(&self) -> Option<&Schedule> {
        let is_at_end = self.next().is_none() && self.path.loop_from().is_some();
        is_at_end.then_some(&self.path)
    }

    /// Where it stands.
    pub(super) fn standing(&self) -> Standing {
        self.execution.replay.standing()
    }

    /// What can happen next. Each is tried on a copy of the execution.
    pub(super) fn choices(&self) -> Result<Vec<Choice>, Failure> {
        let replay = &self.execution.replay;
        let all = replay.enabled().into_iter().map(|action| {
            let step = self.execution.copy().step(action);
            let step = step.map_err(|refusal| Failure::Usage(refusal.to_string()))?;
            Ok(Choice { action, process: replay.state().served(action.process), step })
        });
        all.collect()
    }

    /// A judge of what can happen next.
    pub(super) fn judge(&self) -> Judge<'s, S> {
        let mut locals = Locals::new(self.system);
        let so_far = Schedule::of(self.execution.replay.state());
        let state = so_far.replay(&mut locals).expect("an execution can be repeated");
        Judge { locals, state }
    }

    /// Takes an action that is enabled. The steps ahead stay if it is the first of them.
    pub(super) fn take(&mut self, action: Action) -> Result<(), Failure> {
        let position = self.position();
        self.execution.take(action)?;
        if self.path.get(position) != Some(&action) {
            self.path.truncate(position);
            self.path = self.path.iter().copied().chain([action]).collect();
        }
        self.execution.replay.look_for_livelock();
        Ok(())
    }

    /// Goes to the place after this number of steps, which is at most the length.
    pub(super) fn go_to(&mut self, position: usize) -> Result<(), Failure> {
        if position < self.position() {
            self.execution = Execution::new(self.system, self.allow_pending);
        }
        for at in self.position()..position {
            self.execution.take(self.path[at])?;
        }
        self.execution.replay.look_for_livelock();
        Ok(())
    }

    /// Has these steps ahead, from the start.
    pub(super) fn load(&mut self, path: Schedule) {
        self.execution = Execution::new(self.system, self.allow_pending);
        self.path = path;
        self.execution.replay.look_for_livelock();
    }

    /// The steps so far, and those of another execution that are not among them. No event of one is
    /// in conflict with an event of the other.
    ///
    /// # Panics
    /// If some are.
    pub(super) fn joined(&self, other: &Schedule) -> Schedule {
        // In one table of local states, processes and messages have the same numbers in both.
        let mut locals = Locals::new(self.system);
        let end = "an execution can be repeated";
        let others: Vec<_> = other.replay(&mut locals).expect(end).schedule().collect();
        let so_far = Schedule::of(self.execution.replay.state());
        let mut state = so_far.replay(&mut locals).expect(end);
        let mut done: FxHashMap<ProcessId, usize> = FxHashMap::default();
        state.schedule().for_each(|action| *done.entry(action.process).or_default() += 1);
        for action in others {
            match done.get_mut(&action.process) {
                Some(count @ 1..) => *count -= 1,
                _ => {
                    let mut is_enabled = false;
                    let process = action.process;
                    state.choices(&locals, process, |choice| is_enabled |= choice == action.choice);
                    assert!(is_enabled, "{action:?} of {other} is possible after {so_far}");
                    state.step(&mut locals, action);
                }
            }
        }
        Schedule::of(&state)
    }

    /// Goes on at random for at most this number of steps, until something goes wrong, nothing can
    /// move, or `stop` is true.
    pub(super) fn at_random(
        &mut self,
        random: &mut SplitMix64,
        steps: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let start = self.position();
        let enabled = self.execution.replay.enabled();
        if self.execution.has_failed() && steps > 0 && !enabled.is_empty() {
            self.execution.take(random.pick(&enabled))?;
        }
        self.execution.at_random(random, start.saturating_add(steps), stop)?;
        if self.position() > start {
            self.path = Schedule::of(self.execution.replay.state());
        }
        self.execution.replay.look_for_livelock();
        Ok(())
    }
}
