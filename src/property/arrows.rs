//! What one step of an execution provided for a later one, and which locks a process held from
//! which step to which.
//!
//! An arrow goes from the step that provided something to the step that obtained it, not to the
//! request. The [`Effect`] of a step says what the step needed; the
//! [`Words`](super::objects::Words) of its operation say which of its needs are drawn as arrows.
//! They are asked at the end of the execution, when it is known whether a post was received.

use rustc_hash::FxHashMap;
#[cfg(feature = "json")]
use serde::Serialize;

use super::objects::words;
use super::replay::Replay;
use crate::model::{Effect, Lane, Mode, Need, Object, Part, ProcessId, System};
use crate::trace::HappensBefore;

/// An arrow from a step to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub(crate) struct Arrow {
    /// The earlier step.
    pub(crate) from: usize,
    /// The later step.
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

/// What an earlier step provided for a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub(crate) enum ArrowKind {
    /// A message, to the step that takes it.
    Message,
    /// From a receive that was posted first to the send that it is paired with, if no process has
    /// waited for that send yet.
    Pairing,
    /// A mutex or a unit of a semaphore, to the step that obtains it.
    Handover,
    /// The last arrival at a barrier, to a step that passes it.
    Barrier,
    /// A spawn, to the first step of the process.
    Spawn,
    /// The last step of a process, to the join of that process.
    Join,
    /// A write to a shared cell, to the next access of another process that sees it.
    Content,
}

/// The process of a step begins or ends to hold a mutex or a reader-writer lock in it. The number
/// is the position of its request in the log of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It holds the object from this step on.
    Begins(Object, u32),
    /// It holds the object up to this step.
    Ends(Object, u32),
}

/// A complete execution with the effects of its steps.
pub(super) struct Past<'r, 's, S: System> {
    pub(super) replay: &'r Replay<'s, S>,
    order: HappensBefore,
    /// The steps that added something to a lane under a key.
    added: FxHashMap<(Lane, u32), Vec<usize>>,
    /// The first step with a need.
    first: FxHashMap<Need, usize>,
}

impl<S: System> Past<'_, '_, S> {
    /// The effect of a step.
    pub(super) fn effect(&self, step: usize) -> &Effect {
        self.order.effect(step)
    }

    /// The steps that a step needed, in the order of its needs.
    pub(super) fn needed(&self, step: usize) -> Vec<usize> {
        self.effect(step).needs.iter().flat_map(|&need| self.providers(need, step)).collect()
    }

    /// The steps that provide what a step needs. If it needs the end of a process, that is the last
    /// step of the process. (Where too many processes arrive at a barrier, some add to the lane
    /// after the step: these are left out.)
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

    /// The first step that has this need.
    pub(super) fn first_with(&self, need: Need) -> Option<usize> {
        self.first.get(&need).copied()
    }

    /// The last change of a lane before a step.
    pub(super) fn last_change(&self, lane: Lane, step: usize) -> Option<usize> {
        let changes = self.order.changes(lane);
        let before = changes.partition_point(|&change| (change as usize) < step);
        before.checked_sub(1).map(|last| changes[last] as usize)
    }

    /// An arrow from each of these steps that is of another process.
    pub(super) fn handover_of_others(
        &self,
        from: impl IntoIterator<Item = usize>,
        to: usize,
    ) -> Vec<Arrow> {
        let others = from.into_iter().filter_map(|from| self.of_others(Some(from), to));
        Arrow::all(others, to, ArrowKind::Handover)
    }

    /// `from`, unless it is a step of the same process as `to`.
    pub(super) fn of_others(&self, from: Option<usize>, to: usize) -> Option<usize> {
        from.filter(|&from| self.order.process(from) != self.order.process(to))
    }
}

impl<S: System> Replay<'_, S> {
    /// All arrows of the execution so far, ordered by the step that they lead to.
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

    /// The lock that the process of the last step has obtained or released in it.
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
