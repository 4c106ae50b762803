//! The judgement of states: deadlocks, failures, `final` and invariants.

use rustc_hash::FxHashSet;

use super::Refused;
use super::walk::{Key, Walk};
use crate::model::{
    Contents, Finale, Invariants, LocalId, Locals, Op, ProcessId, State, Status, System, View,
};

/// In more configurations, invariants are not judged.
const MAX_CONFIGURATIONS: usize = 1 << 20;

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) is_deadlocked: bool,
    /// Has a process failed, or does a `final` block?
    pub(super) has_failed: bool,
}

/// Has a process failed?
pub(super) fn has_failure<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
) -> Result<bool, Refused> {
    let mut has_failed = false;
    for process in state.processes() {
        if let Status::Failed(failure) = locals.status(state.local(process)) {
            if failure.is_unsupported() {
                return Err(Refused::new("a process does what is not supported"));
            }
            has_failed = true;
        }
    }
    Ok(has_failed)
}

/// Judges a state in which nothing is enabled, or in which only daemons can move, and wait in
/// loops.
pub(super) fn judge_end<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    allow_pending: bool,
) -> Result<End, Refused> {
    let mut has_failed = has_failure(locals, state)?;
    if state.processes().any(|process| state.waits_at_bound(locals, process)) {
        return Err(Refused::new("a process polls for ever at its end"));
    }
    // A failed process that is unfinished has messages, so it is an actor, too.
    let is_actor =
        |process| matches!(locals.op(state.local(process)), None | Some(Op::Handle { .. }));
    let is_deadlocked = state.stuck(locals).any(|one| !(allow_pending && is_actor(one)));
    if !is_deadlocked && let Some(finale) = locals.system().finale() {
        has_failed |= seen(locals, state, |ends, cells| {
            Finale::judge(finale, ends, cells, &locals.values).is_some()
        });
    }
    Ok(End { is_deadlocked, has_failed })
}

/// Does an invariant fail in the state?
pub(super) fn is_broken<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariants: &dyn Invariants<S::Local>,
) -> bool {
    seen(locals, state, |here, cells| {
        let lengths = |mailbox| state.length_of_declared(locals, mailbox);
        let view = View { locals: here, cells, lengths: &lengths };
        (0..invariants.count()).any(|one| invariants.judge(one, &view).is_some())
    })
}

/// Shows the local states and the cells of the state.
fn seen<S: System, T>(
    locals: &Locals<'_, S>,
    state: &State,
    ask: impl FnOnce(&[Option<&S::Local>], Contents<'_>) -> T,
) -> T {
    let last = state.processes().map(|process| process.index() + 1).max().unwrap_or(0);
    let here: Vec<_> = (0..last as u32)
        .map(|process| state.local(ProcessId(process)))
        .map(|local| {
            let is_of_program = local != LocalId::ABSENT && local != LocalId::CARRIER;
            is_of_program.then(|| locals.get(local))
        })
        .collect();
    ask(&here, &|cell| state.content_of_declared(locals, cell))
}

impl<S: System> Walk<'_, S> {
    /// Goes through all configurations, and returns those in which an invariant fails.
    ///
    /// The states of the program are those of its configurations, whatever the order of their
    /// events. There may be many more of them than classes.
    pub(super) fn broken(&mut self) -> Result<Vec<Key>, Refused> {
        let Some(invariants) = self.locals.system().invariants() else { return Ok(Vec::new()) };
        let (mut broken, mut seen) = (Vec::new(), FxHashSet::default());
        // For each step from the initial state on: what is left to try after it.
        let mut open = vec![self.enabled()];
        if is_broken(&self.locals, &self.state, invariants) {
            broken.push(self.key());
        }
        while let Some(left) = open.last_mut() {
            let Some(action) = left.pop() else {
                open.pop();
                if !open.is_empty() {
                    self.pop();
                }
                continue;
            };
            self.push(action)?;
            if seen.len() == MAX_CONFIGURATIONS {
                return Err(Refused::new("there are too many states to judge invariants in"));
            }
            if !seen.insert(self.key()) {
                self.pop();
                continue;
            }
            if is_broken(&self.locals, &self.state, invariants) {
                broken.push(self.key());
            }
            open.push(self.enabled());
        }
        Ok(broken)
    }
}
