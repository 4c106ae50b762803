//! The invariants of the system: evaluated in a state; and which actions may change their value.

use super::Property;
use super::{Objection, Position, When};
use crate::model::{
    CellId, Failure, Invariants as Judgement, LocalId, Locals, MailboxId, May, Part, ProcessId,
    State, System, Touch, Value, View,
};

/// In every state the system's own [`Invariants`](crate::model::Invariants) hold, if it has any.
#[derive(Clone, Copy, Debug)]
pub struct Invariants;

impl Property for Invariants {
    fn when(&self) -> When {
        When::Invariant
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        at.broken_invariant().map(Objection::Wrong)
    }
}

/// The invariants of the system that fail in `state`: number and failure of each.
pub fn broken_invariants<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
) -> Vec<(usize, Failure)> {
    let judged = viewed(locals, state, |invariants, view| {
        let judge = |number| Some((number, invariants.judge(number, view)?));
        (0..invariants.count()).filter_map(judge).collect()
    });
    judged.unwrap_or_default()
}

/// The failure of this invariant in `state`; `None` if it holds.
pub(crate) fn broken_invariant<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariant: usize,
) -> Option<Failure> {
    viewed(locals, state, |invariants, view| invariants.judge(invariant, view))?
}

/// What the invariant with this failure has read in `state`: names and values. `None` if no
/// invariant fails in `state` in this way.
pub(crate) fn invariant_readings<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    failure: &Failure,
) -> Option<Vec<(String, Value)>> {
    let broken = broken_invariants(locals, state);
    let (number, _) = broken.iter().find(|(_, broken)| broken == failure)?;
    viewed(locals, state, |invariants, view| invariants.readings(*number, view))?
}

fn viewed<S: System, T>(
    locals: &Locals<'_, S>,
    state: &State,
    ask: impl FnOnce(&dyn Judgement<S::Local>, &View<'_, S::Local>) -> T,
) -> Option<T> {
    let invariants = locals.system().invariants()?;
    let last = state.processes().map(|p| p.index() + 1).max().unwrap_or(0);
    let here: Vec<_> = (0..last as u32)
        .map(|p| state.local(ProcessId(p)))
        .map(|local| {
            let is_of_program = local != LocalId::ABSENT && local != LocalId::CARRIER;
            is_of_program.then(|| locals.get(local))
        })
        .collect();
    let view = View {
        locals: &here,
        cells: &|cell| state.content_of_declared(locals, cell),
        lengths: &|mailbox| state.length_of_declared(locals, mailbox),
    };
    Some(ask(invariants, &view))
}

/// May the last action of `state` have changed something that this invariant reads?
///
/// # Panics
/// In an initial state, or if the system has no invariants.
pub(crate) fn is_seen<S: System>(locals: &Locals<'_, S>, state: &State, invariant: usize) -> bool {
    let invariants = locals.system().invariants().expect("a system with invariants");
    let last = state.depth() - 1;
    let process = state.action(last).process;
    let (before, after) = (state.before(last), state.local(process));
    if before != after
        && invariants.tells(invariant, process, locals.get(before), locals.get(after))
    {
        return true;
    }
    let mut is_seen = false;
    state.touches(locals, |touch| {
        let Touch { lane, may } = locals.declared(touch);
        is_seen |= match lane.part() {
            Part::Contents => {
                may == May::Change && invariants.sees_cell(invariant, CellId(lane.object()))
            }
            Part::Sends | Part::Receives | Part::Messages | Part::Matches => {
                invariants.sees_mailbox(invariant, MailboxId(lane.object()))
            }
            // Invariants read nothing else of objects.
            _ => false,
        };
    });
    is_seen
}
