//! Livelocks: nobody can do anything but go round a loop that waits.
//!
//! A process *spins* in a state if all that it can do there, alone, leaves every object as it was and leads back to
//! local states that it has been in: it reads the same again and again. If every process that can move at all spins,
//! nothing will ever change. That is a livelock, or an endless program that does nothing more. (How such loops
//! are kept out of executions is told in [`crate::trace::spin`].)

use crate::model::{Action, Choice, LocalId, Locals, Op, ProcessId, State, System};

/// A loop with more local states than this is taken for one that goes somewhere.
const LONGEST_CIRCLE: usize = 10_000;

/// A process that goes round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// Who.
    pub process: ProcessId,
    /// The local states that it passes through, from the present one on.
    pub circle: Vec<LocalId>,
}

/// The processes that can move, if each of them spins; `None` if some process can do something else. Empty in a
/// terminal state. `state` is as before when this returns.
pub fn spins<S: System>(locals: &mut Locals<'_, S>, state: &mut State) -> Option<Vec<Spin>> {
    let mut all = Vec::new();
    for process in state.processes().collect::<Vec<_>>() {
        if state.can_move(locals, process) {
            let circle = circle(locals, state, process)?;
            all.push(Spin { process, circle });
        }
    }
    Some(all)
}

/// The local states that the process passes through, alone, if it spins.
fn circle<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    process: ProcessId,
) -> Option<Vec<LocalId>> {
    if !may_spin(locals, state.local(process)) {
        return None;
    }
    let start = state.depth();
    let mut met = vec![state.local(process)];
    let mut pending: Vec<(usize, Choice)> = Vec::new();
    state.choices(locals, process, |choice| pending.push((start, choice)));
    let mut does_spin = true;
    while does_spin && let Some((depth, choice)) = pending.pop() {
        while state.depth() > depth {
            state.undo(locals);
        }
        state.step(locals, Action { process, choice });
        does_spin = state.footprint(locals).is_observation() && met.len() < LONGEST_CIRCLE;
        let local = state.local(process);
        if does_spin && !met.contains(&local) {
            met.push(local);
            let (known, here) = (pending.len(), state.depth());
            state.choices(locals, process, |choice| pending.push((here, choice)));
            does_spin = pending.len() > known && may_spin(locals, local);
        }
    }
    while state.depth() > start {
        state.undo(locals);
    }
    does_spin.then_some(met)
}

/// May a process in this local state go on without changing anything, and come back to it?
fn may_spin<S: System>(locals: &Locals<'_, S>, local: LocalId) -> bool {
    locals.may_return(local) && locals.op(local).is_some_and(Op::may_observe)
}
