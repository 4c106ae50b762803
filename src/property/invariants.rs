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
    broken_among(locals, state, |_| true)
}

/// Those of them that are to be judged.
pub(crate) fn broken_among<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    is_to_judge: impl Fn(usize) -> bool,
) -> Vec<(usize, Failure)> {
    let count = locals.system().invariants().map_or(0, Judgement::count);
    let mut open = (0..count).filter(|&number| is_to_judge(number)).peekable();
    if open.peek().is_none() {
        return Vec::new();
    }
    let judged = viewed(locals, state, |invariants, view| {
        let judge = |number| Some((number, invariants.judge(number, view)?));
        open.filter_map(judge).collect()
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
    let last = state.depth() - 1;
    let process = state.action(last).process;
    if tells(locals, invariant, process, [state.before(last), state.local(process)]) {
        return true;
    }
    let mut is_seen = false;
    each_seen(locals, state, invariant, |_| is_seen = true);
    is_seen
}

/// What an invariant reads of an object.
enum Seen {
    Cell(CellId),
    Length,
}

/// Calls `each` with what this invariant reads of objects and the last action of `state` may have
/// changed.
fn each_seen<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariant: usize,
    mut each: impl FnMut(Seen),
) {
    let invariants = locals.system().invariants().expect("a system with invariants");
    state.touches(locals, |touch| {
        let Touch { lane, may } = locals.declared(touch);
        match lane.part() {
            Part::Contents => {
                let cell = CellId(lane.object());
                if may == May::Change && invariants.sees_cell(invariant, cell) {
                    each(Seen::Cell(cell));
                }
            }
            Part::Sends | Part::Receives | Part::Messages | Part::Matches => {
                if invariants.sees_mailbox(invariant, MailboxId(lane.object())) {
                    each(Seen::Length);
                }
            }
            // Invariants read nothing else of objects.
            _ => {}
        }
    });
}

/// The cells that this invariant reads and the last action of `state` may have changed; `None` if
/// it may have changed a length that the invariant reads.
pub(crate) fn seen_cells<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    invariant: usize,
) -> Option<Vec<CellId>> {
    let mut cells = Some(Vec::new());
    each_seen(locals, state, invariant, |seen| match seen {
        Seen::Cell(cell) => cells.iter_mut().for_each(|cells| cells.push(cell)),
        Seen::Length => cells = None,
    });
    cells
}

/// Does this invariant distinguish these local states of a process?
///
/// # Panics
/// If the system has no invariants.
pub(crate) fn tells<S: System>(
    locals: &Locals<'_, S>,
    invariant: usize,
    process: ProcessId,
    [one, other]: [LocalId; 2],
) -> bool {
    let invariants = locals.system().invariants().expect("a system with invariants");
    one != other && invariants.tells(invariant, process, locals.get(one), locals.get(other))
}
