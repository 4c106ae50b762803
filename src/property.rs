//! What is wrong with an execution, and how to explain it.
//!
//! Explorers only judge, by [`Properties`]. They rest on `process_failure`, `oversubscription`,
//! `is_deadlock`, `is_livelock` and `final_failure`, which say whether a state violates
//! something. Explaining is separate and slower: a [`Replay`] repeats a schedule on the model
//! alone, and describes each step in the program's own terms.
//!
//! | item | meaning |
//! |---|---|
//! | [`Replay`] | an execution repeated action by action; each action is checked and described as a [`Step`] |
//! | [`Property`] | what is judged, and when; a search has [`Properties`] |
//! | [`Position`] | where a search is, in the program's own terms |
//! | [`Call`] | a call of a procedure, its result and its steps |
//! | [`Change`] | what a step changed |
//! | `Arrow`, `Hold` | what one step provided for another; which locks a process held, and how long |
//! | [`Fact`] | a part of a state: where a process is, what an object holds |
//! | [`Standing`] | the state of an execution: open, ended, deadlocked, failed |
//! | [`Deadlock`] | what each process waits for, which processes could help, and cycles of the wait-for graph |
//! | `Why` | why a process cannot move, while others can |
//! | [`Leak`] | what an execution leaves behind although nothing goes wrong in it |
//! | [`Spin`] | a process that repeats a loop without changing anything; if all that can move do, it is a livelock |

mod arrows;
mod calls;
mod changes;
mod deadlock;
mod invariants;
mod leaks;
mod livelock;
mod liveness;
mod objects;
mod position;
mod properties;
mod replay;
mod snapshot;
mod suppliers;
#[cfg(feature = "cli")]
mod why;

#[cfg(test)]
pub(crate) mod scripts;

pub use calls::Call;
pub use changes::Change;
pub use deadlock::{Blocked, Deadlock, Link, explain_deadlock};
pub use invariants::{Invariants, broken_invariants};
pub use leaks::{Leak, LeakKind};
pub use livelock::{Motion, Spin, Watch, polling};
pub use position::Position;
pub use properties::{
    CrowdedBarriers, Deadlocks, Demands, Failures, FinalStates, Livelocks, Objection, Properties,
    Property, When,
};
#[cfg(feature = "cli")]
pub use replay::Recorded;
pub use replay::{Printed, Replay, Standing, Step};
pub use snapshot::{Fact, FactKind};

pub(crate) use arrows::{Arrow, ArrowKind, Hold};
pub(crate) use deadlock::list;
pub(crate) use invariants::{
    Changed, Readers, broken_among, broken_invariant, invariant_readings, is_seen, tells,
};
pub(crate) use leaks::Leaks;
pub(crate) use livelock::{before_misses, is_lasting, is_livelock, may_spin};
pub(crate) use liveness::{
    StrongAction, StrongActions, failed_proposition, fairness, goal_readings, judge_lasso,
    propositions, strong_actions,
};
pub(crate) use objects::oversubscription;
pub(crate) use replay::Ending;
#[cfg(feature = "cli")]
pub(crate) use why::{AtRest, Waiting, Why};

use crate::model::{
    Contents, Failure, Finale, LocalId, Locals, Op, ProcessId, State, Status, System, Value,
};

/// The violation that stopped `process`, if any.
pub(crate) fn process_failure<'l, S: System>(
    locals: &'l Locals<'_, S>,
    state: &State,
    process: ProcessId,
) -> Option<&'l Failure> {
    match locals.status(state.local(process)) {
        Status::Failed(failure) => Some(failure),
        Status::At(_) | Status::Done => None,
    }
}

/// Is the terminal `state` a deadlock? It is if some process that is not a daemon is neither done
/// nor failed. So it is if some actor has pending messages, unless `allow_pending`.
pub(crate) fn is_deadlock<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    allow_pending: bool,
) -> bool {
    // A failed process that is unfinished has messages, so it is an actor, too.
    let is_actor =
        |process| matches!(locals.op(state.local(process)), None | Some(Op::Handle { .. }));
    state.stuck(locals).any(|process| !(allow_pending && is_actor(process)))
}

/// What the program's `final` block objects to in a terminal state that is not a deadlock.
pub(crate) fn final_failure<S: System>(locals: &Locals<'_, S>, state: &State) -> Option<Failure> {
    at_the_end(locals, state, |finale, ends, cells| finale.judge(ends, cells, &locals.values))
}

/// What the `final` block that objects to a terminal state has read there: names and values.
pub(crate) fn final_readings<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
) -> Option<Vec<(String, Value)>> {
    at_the_end(locals, state, |finale, ends, cells| finale.readings(ends, cells, &locals.values))
}

/// The answer of `ask` about the local states and the cells of a terminal state; `None` if there is
/// no `final` block.
fn at_the_end<S: System, T>(
    locals: &Locals<'_, S>,
    state: &State,
    ask: impl FnOnce(&dyn Finale<S::Local>, &[Option<&S::Local>], Contents<'_>) -> Option<T>,
) -> Option<T> {
    let finale = locals.system().finale()?;
    let last = state.processes().map(|p| p.index() + 1).max().unwrap_or(0);
    let ends: Vec<_> = (0..last as u32)
        .map(|p| state.local(ProcessId(p)))
        .map(|local| {
            let is_of_program = local != LocalId::ABSENT && local != LocalId::CARRIER;
            is_of_program.then(|| locals.get(local))
        })
        .collect();
    ask(finale, &ends, &|cell| state.content_of_declared(locals, cell))
}
