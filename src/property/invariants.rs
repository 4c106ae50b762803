//! The invariants of the system: evaluated in a state; and which actions may change their value.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
    let count = locals.system().invariants().map_or(0, Judgement::count);
    broken_among(locals, state, 0..count)
}

/// Those of these invariants that fail in `state`.
pub(crate) fn broken_among<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    mut all: impl ExactSizeIterator<Item = usize>,
) -> Vec<(usize, Failure)> {
    if all.len() == 0 {
        return Vec::new();
    }
    let judged = viewed(locals, state, |invariants, view| {
        let judge = |number| Some((number, invariants.judge(number, view)?));
        all.by_ref().filter_map(judge).collect()
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
    Some(with_view(locals, state, |view| ask(invariants, view)))
}

/// Shows `state` to a judge of states.
pub(super) fn with_view<S: System, T>(
    locals: &Locals<'_, S>,
    state: &State,
    ask: impl FnOnce(&View<'_, S::Local>) -> T,
) -> T {
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
    ask(&view)
}

/// May the last action of `state` have changed something that this invariant reads?
///
/// # Panics
/// In an initial state, or if the system has no invariants.
pub(crate) fn is_seen<S: System>(locals: &Locals<'_, S>, state: &State, invariant: usize) -> bool {
    Changed::by_last(locals, state).is_seen_by(locals, invariant)
}

/// What an action may have changed that invariants read.
pub(crate) struct Changed {
    process: ProcessId,
    /// The local states of the process before and after the action.
    locals: [LocalId; 2],
    cells: SmallVec<[CellId; 2]>,
    /// Mailboxes, of which the length may have changed.
    mailboxes: SmallVec<[MailboxId; 2]>,
}

impl Changed {
    /// What the last action of `state` may have changed.
    ///
    /// # Panics
    /// In an initial state.
    pub(crate) fn by_last<S: System>(locals: &Locals<'_, S>, state: &State) -> Changed {
        let last = state.depth() - 1;
        let process = state.action(last).process;
        let (mut cells, mut mailboxes) = (SmallVec::new(), SmallVec::new());
        state.touches(locals, |touch| {
            let Touch { lane, may } = locals.declared(touch);
            match lane.part() {
                Part::Contents if may == May::Change => cells.push(CellId(lane.object())),
                Part::Sends | Part::Receives | Part::Messages | Part::Matches => {
                    mailboxes.push(MailboxId(lane.object()));
                }
                // Invariants read nothing else of objects.
                _ => {}
            }
        });
        let locals = [state.before(last), state.local(process)];
        Changed { process, locals, cells, mailboxes }
    }

    /// Does this invariant read something of that?
    ///
    /// # Panics
    /// If the system has no invariants.
    pub(crate) fn is_seen_by<S: System>(&self, locals: &Locals<'_, S>, invariant: usize) -> bool {
        let invariants = judgement(locals);
        self.is_length_seen_by(locals, invariant)
            || self.cells.iter().any(|&cell| invariants.sees_cell(invariant, cell))
            || tells(locals, invariant, self.process, self.locals)
    }

    /// Does this invariant read a length that may have changed?
    pub(crate) fn is_length_seen_by<S: System>(
        &self,
        locals: &Locals<'_, S>,
        invariant: usize,
    ) -> bool {
        let invariants = judgement(locals);
        self.mailboxes.iter().any(|&mailbox| invariants.sees_mailbox(invariant, mailbox))
    }

    /// The cells that may have changed and that this invariant reads.
    pub(crate) fn cells_seen_by<S: System>(
        &self,
        locals: &Locals<'_, S>,
        invariant: usize,
    ) -> impl Iterator<Item = CellId> {
        let invariants = judgement(locals);
        self.cells.iter().copied().filter(move |&cell| invariants.sees_cell(invariant, cell))
    }
}

/// Which invariants read what, as far as it was asked for. There may be hundreds of invariants, of
/// which a step concerns few.
#[derive(Default)]
pub(crate) struct Readers {
    processes: FxHashMap<ProcessId, Vec<usize>>,
    cells: FxHashMap<CellId, Vec<usize>>,
    mailboxes: FxHashMap<MailboxId, Vec<usize>>,
}

impl Readers {
    /// The invariants that read something of what has changed, in ascending order.
    ///
    /// # Panics
    /// If the system has no invariants.
    pub(crate) fn of<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        changed: &Changed,
    ) -> SmallVec<[usize; 4]> {
        let invariants = judgement(locals);
        let those = |sees: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..invariants.count()).filter(|&one| sees(one)).collect()
        };
        let mut all = SmallVec::new();
        let Changed { process, locals: [before, after], .. } = *changed;
        if before != after {
            let may_tell = |one| invariants.may_tell(one, process, locals.get(before));
            let readers = self.processes.entry(process).or_insert_with(|| those(&may_tell));
            let tells = |&&one: &&usize| tells(locals, one, process, [before, after]);
            all.extend(readers.iter().filter(tells).copied());
        }
        for &cell in &changed.cells {
            let sees = |one| invariants.sees_cell(one, cell);
            all.extend_from_slice(self.cells.entry(cell).or_insert_with(|| those(&sees)));
        }
        for &mailbox in &changed.mailboxes {
            let sees = |one| invariants.sees_mailbox(one, mailbox);
            all.extend_from_slice(self.mailboxes.entry(mailbox).or_insert_with(|| those(&sees)));
        }
        all.sort_unstable();
        all.dedup();
        debug_assert!({
            let sees = |one| changed.is_seen_by(locals, one);
            those(&sees).as_slice() == all.as_slice()
        });
        all
    }
}

fn judgement<'l, S: System>(locals: &Locals<'l, S>) -> &'l dyn Judgement<S::Local> {
    locals.system().invariants().expect("a system with invariants")
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
    let invariants = judgement(locals);
    one != other && invariants.tells(invariant, process, locals.get(one), locals.get(other))
}
