//! What went from one step of an execution to another, and who held what for a while.
//!
//! An arrow goes from the step that provided something to the step that has it, not to the request.
//! What provided it is known from what the effects of the steps need and see ([`Effect`]); the
//! words of the operation say which of that is worth an arrow. They are asked when the execution is
//! over, so that they can see what became of a post later.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::objects::words;
use super::replay::Replay;
use crate::model::{Effect, Lane, Mode, Need, Object, Part, ProcessId, System};
use crate::trace::HappensBefore;

/// Something that goes from one step to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Arrow {
    /// The earlier step.
    pub(crate) from: usize,
    /// The later one.
    pub(crate) to: usize,
    pub(crate) kind: ArrowKind,
}

impl Arrow {
    /// Arrows of one kind to one step.
    pub(super) fn all(
        from: impl IntoIterator<Item = usize>,
        to: usize,
        kind: ArrowKind,
    ) -> Vec<Arrow> {
        from.into_iter().map(|from| Arrow { from, to, kind }).collect()
    }
}

/// What goes from one step to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArrowKind {
    /// A message, to the step that takes it.
    Message,
    /// From a receive that was there first to the send that it is paired with, if nobody has waited
    /// for that send yet.
    Pairing,
    /// A mutex or a unit of a semaphore, to the step that has it now.
    Handover,
    /// The last arrival at a barrier, to a step that passes it.
    Barrier,
    /// A spawn, to the first step of the process.
    Spawn,
    /// The last step of a process, to a join.
    Join,
    /// A write to a shared cell, to the next access of another process that sees it.
    Content,
}

/// A step from which on, or up to which, its process holds a mutex or a lock through its request at
/// this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// From this step on.
    Begins(Object, u32),
    /// Up to this step.
    Ends(Object, u32),
}

/// An execution that is over, with what each of its steps did.
pub(super) struct Past<'r, 's, S: System> {
    pub(super) replay: &'r Replay<'s, S>,
    order: HappensBefore,
    /// Who added to a lane under a key.
    added: FxHashMap<(Lane, u32), Vec<usize>>,
    /// The first step with a need.
    first: FxHashMap<Need, usize>,
}

impl<S: System> Past<'_, '_, S> {
    /// What a step did.
    pub(super) fn effect(&self, step: usize) -> &Effect {
        self.order.effect(step)
    }

    /// The steps that a step needed, in the order of its needs.
    pub(super) fn needed(&self, step: usize) -> Vec<usize> {
        self.effect(step).needs.iter().flat_map(|&need| self.providers(need, step)).collect()
    }

    /// What a need of a step asks for; of a process its last step. More may be added later, where
    /// too many come to a barrier.
    pub(super) fn providers(&self, need: Need, step: usize) -> Vec<usize> {
        match need {
            Need::Event(position) => vec![position as usize],
            Need::At(lane, place) => vec![self.change(lane, place)],
            Need::All(lane, _) if lane.part() == Part::Process => {
                let steps = self.order.of_process(ProcessId(lane.object()));
                steps.last().map(|&last| last as usize).into_iter().collect()
            }
            Need::All(lane, key) => {
                let added = self.added.get(&(lane, key)).into_iter().flatten();
                added.copied().filter(|&at| at < step).collect()
            }
        }
    }

    /// The change at this place of a lane.
    pub(super) fn change(&self, lane: Lane, place: u32) -> usize {
        self.order.changes(lane)[place as usize] as usize
    }

    /// The first step that needed this.
    pub(super) fn first_with(&self, need: Need) -> Option<usize> {
        self.first.get(&need).copied()
    }

    /// The last change of a lane before a step.
    pub(super) fn last_change(&self, lane: Lane, step: usize) -> Option<usize> {
        let changes = self.order.changes(lane);
        let before = changes.partition_point(|&change| (change as usize) < step);
        before.checked_sub(1).map(|last| changes[last] as usize)
    }

    /// What steps of other processes handed over.
    pub(super) fn handover_of_others(
        &self,
        from: impl IntoIterator<Item = usize>,
        to: usize,
    ) -> Vec<Arrow> {
        let others = from.into_iter().filter_map(|from| self.of_others(Some(from), to));
        Arrow::all(others, to, ArrowKind::Handover)
    }

    /// The step that provided something, unless it is of the same process as the step that has it.
    pub(super) fn of_others(&self, from: Option<usize>, to: usize) -> Option<usize> {
        from.filter(|&from| self.order.process(from) != self.order.process(to))
    }
}

impl<S: System> Replay<'_, S> {
    /// What went from one step so far to another, by the later one.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let order = self.order();
        let (mut added, mut first) = (FxHashMap::<_, Vec<_>>::default(), FxHashMap::default());
        for step in 0..order.len() {
            let Effect { acts, needs, .. } = order.effect(step);
            for act in acts {
                if let Mode::Add(key) = act.mode {
                    added.entry((act.lane, key)).or_default().push(step);
                }
            }
            needs.iter().for_each(|&need| _ = first.entry(need).or_insert(step));
        }
        let past = Past { replay: self, order, added, first };
        (0..past.order.len()).flat_map(|step| past.arrows_to(step)).collect()
    }

    fn order(&self) -> HappensBefore {
        let mut past = self.state.clone();
        let mut effects = Vec::new();
        while past.depth() > 0 {
            effects.push(past.effect(&self.locals));
            past.undo(&self.locals);
        }
        let mut order = HappensBefore::default();
        let steps = self.state.schedule().zip(effects.into_iter().rev());
        steps.for_each(|(action, effect)| order.push(action.process, effect));
        order
    }

    /// What the process of the last step has begun or ended to hold in it.
    pub(crate) fn hold(&self) -> Option<Hold> {
        let step = self.state.depth().checked_sub(1)?;
        let op = self.locals.op(self.state.before(step)).expect("a process that moved");
        words(op, |words| words.hold(self, self.state.action(step)))
    }
}

impl<S: System> Past<'_, '_, S> {
    fn arrows_to(&self, step: usize) -> Vec<Arrow> {
        let Replay { state, locals, .. } = self.replay;
        let process = self.order.process(step);
        let is_first = self.order.of_process(process)[0] as usize == step;
        let born = state.born(process).filter(|_| is_first);
        let mut arrows = Arrow::all(born, step, ArrowKind::Spawn);
        let op = locals.op(state.before(step)).expect("a process that moved");
        arrows.extend(words(op, |words| words.arrows(self, step)));
        arrows
    }
}
