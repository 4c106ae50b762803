//! The races of processes.

use smallvec::SmallVec;

use super::backtrack_candidates::BacktrackCandidates;
use crate::explore::walk::Walk;
use crate::model::{Action, Op, ProcessId, System, dependent};
use crate::trace::race::{self, OpenChoices};
use crate::trace::{BacktrackSets, Execution, Strand};

/// The open choices of an execution, to find the races of processes.
#[derive(Default)]
pub(crate) struct OfProcesses {
    open: OpenChoices,
}

impl OfProcesses {
    /// Handles the races of the next actions of processes. For the process that executed the last
    /// action, and for processes that it started, these are all races; for other processes only
    /// races with the last action.
    pub(crate) fn races<S: System>(
        &mut self,
        walk: &mut Walk<'_, '_, '_, S>,
        backtrack: &mut BacktrackSets,
        e: &mut BacktrackCandidates,
        last: usize,
    ) {
        self.open.truncate(last);
        self.open.push(&walk.execution, |_, _| ());
        let here = walk.execution.len();
        let moved = walk.execution.order().process(last);
        for index in 0..backtrack.candidates(here).len() {
            let candidate = backtrack.candidates(here)[index];
            let process = candidate.action.process;
            let state = walk.execution.state();
            let op = walk.execution.locals.op(state.local(process));
            if !op.is_some_and(|op| state.is_contended(op) || op.may_open()) {
                continue;
            }
            let is_new = state.acted(process) == 0 && state.born(process) == Some(last);
            if process == moved
                || is_new
                || self.races_with_last(&mut walk.execution, last, candidate.action)
            {
                self.all_races(walk, backtrack, e, candidate.action);
            }
        }
        if walk.execution.locals.some_may_return() {
            races_of_awaits(walk, backtrack, e, last);
        }
    }

    /// Handles the immediate races of an enabled action of a process, and its races with open
    /// choices.
    fn all_races<S: System>(
        &mut self,
        walk: &mut Walk<'_, '_, '_, S>,
        backtrack: &mut BacktrackSets,
        e: &mut BacktrackCandidates,
        action: Action,
    ) {
        let next = walk.execution.len();
        // The action is executed for the moment, so that the order has the actions before it.
        walk.execution.push(action);
        for index in (0..walk.execution.order().direct_predecessors(next).len()).rev() {
            let i = walk.execution.order().direct_predecessors(next)[index] as usize;
            let awaited = walk.execution.awaited(next);
            if awaited.is_some_and(|it| walk.execution.order().effect(i).changes(it)) {
                continue; // See `races_of_awaits`.
            }
            if race::is_reversible(&walk.execution, i, next) {
                reverse_before(walk, backtrack, e, i);
            }
        }
        for (position, ()) in self.open.iter() {
            let is_before = walk.execution.order().before(position, next);
            if !is_before && opens(&walk.execution, position, next) {
                reverse_before(walk, backtrack, e, position);
            }
        }
        walk.execution.pop();
    }

    /// Is the last action, or an open choice that it has made, in race with this next action of
    /// another process?
    fn races_with_last<S: System>(
        &self,
        execution: &mut Execution<'_, S>,
        last: usize,
        action: Action,
    ) -> bool {
        let touched = execution.effect(action);
        let order = execution.order();
        let moved = (order.process(last), order.effect(last));
        dependent(moved, (action.process, &touched))
            || execution.op(last).may_open() && may_open(execution, action.process)
            || self.is_open(last) && opens_after(execution, last, action)
    }

    fn is_open(&self, position: usize) -> bool {
        self.open.iter().next_back().is_some_and(|(newest, ())| newest == position)
    }
}

fn may_open<S: System>(execution: &Execution<'_, S>, process: ProcessId) -> bool {
    let op = execution.locals.op(execution.state().local(process));
    op.is_some_and(Op::may_open)
}

/// Would this action, if executed next, make another result of the open choice at `position`
/// possible?
fn opens_after<S: System>(
    execution: &mut Execution<'_, S>,
    position: usize,
    action: Action,
) -> bool {
    let next = execution.len();
    execution.push(action);
    let opens = opens(execution, position, next);
    execution.pop();
    opens
}

/// Does the action at `next` make another result of the open choice at `position` possible?
fn opens<S: System>(execution: &Execution<'_, S>, position: usize, next: usize) -> bool {
    !race::completed_by(execution, position, next).is_empty()
}

/// An access to a register in a loop that may wait ([`crate::trace::spin`]) is in race with an
/// earlier change of the register: the change that ended the newest earlier version at which the
/// access was possible. The access need not be possible now. New races concern the process that
/// moved, the processes that it started, and accesses to a register just changed. A test is in race
/// with the first action that makes it succeed, if its success is left out.
fn races_of_awaits<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    e: &mut BacktrackCandidates,
    last: usize,
) {
    let execution = &walk.execution;
    let (state, moved) = (execution.state(), execution.order().process(last));
    let concerned = state.processes().filter(|&process| {
        let is_new = state.acted(process) == 0 && state.born(process) == Some(last);
        execution.awaits(process).is_some_and(|register| {
            let is_changed = execution.order().effect(last).changes(register);
            process == moved || is_new || is_changed
        })
    });
    for process in concerned.collect::<SmallVec<[ProcessId; 4]>>() {
        if let Some(earlier) = walk.execution.earlier_access(process, None) {
            reverse_await(walk, backtrack, e, process, earlier.overwritten_by);
        }
    }
    let state = walk.execution.state();
    for process in state.processes().collect::<SmallVec<[ProcessId; 8]>>() {
        let state = walk.execution.state();
        let is_new = state.acted(process) == 0 && state.born(process) == Some(last);
        if let Some(race) = race::held_test(&mut walk.execution, process, None)
            && (process == moved || is_new || race.first == last)
        {
            reverse_await(walk, backtrack, e, process, race.first);
        }
    }
}

/// Handles the race of the action at `i` with the next action of a process, which need not be
/// possible now.
fn reverse_await<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    e: &mut BacktrackCandidates,
    process: ProcessId,
    i: usize,
) {
    let acted = walk.execution.order().of_process(process).len();
    let after = walk.execution.previous(process, acted);
    e.clear();
    for j in i + 1..walk.execution.len() {
        let order = walk.execution.order();
        if after.is_some_and(|after| j == after || order.before(j, after)) {
            e.put(walk, i, j);
        }
    }
    if e.is_empty() || !walk.has_sleepers() {
        e.push(Strand::Process(process));
    }
    e.reverse(backtrack, i);
}

/// Handles the race of the action at `i` with the last action.
fn reverse_before<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    e: &mut BacktrackCandidates,
    i: usize,
) {
    let next = walk.execution.len() - 1;
    e.clear();
    for j in i + 1..next {
        if walk.execution.order().before(j, next) {
            e.put(walk, i, j);
        }
    }
    if e.is_empty() || !walk.has_sleepers() {
        e.push(walk.execution.strand_at(next));
    }
    e.reverse(backtrack, i);
}
