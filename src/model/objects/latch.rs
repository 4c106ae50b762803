//! Latches: a count that goes down to zero, which processes wait for (`std::latch` of C++,
//! `CountDownLatch` of Java).
//!
//! **Which actions commute.** Counts commute, as arrivals at a barrier do. A wait is over when all
//! counts have come, so it depends on each of them. That is one set of causes only because more
//! counts than the latch has are an error: if there could be more, *which* counts had come first
//! would depend on their order. C++ demands the same.

use super::{ObjectId, Operation, Place, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Effect, Lane, LatchId, Locals, Mode, Need, Needs, Part, PartSet, ProcessId, Response, System,
    Values,
};

impl LatchId {
    /// The lane of the counts.
    pub(crate) fn lane(self) -> Lane {
        Lane::new(Part::Counts, self.0)
    }
}

impl ObjectId for LatchId {
    type Declared = u32;
    type Start = u32;

    const PARTS: &'static [Part] = &[Part::Counts];
    const IS_ALONE: bool = true;

    fn start(&declared: &u32, _: &mut Values) -> u32 {
        declared
    }

    fn begin(state: &mut State, size: u32) {
        state.latches.push(Latch { size, counted: Vec::new() });
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, _: &mut Parts) -> u32 {
        match state.latch(self).counted.len() {
            0 => Parts::EMPTY,
            counted => Parts::plain(counted as u32),
        }
    }

    fn has_open_requests(self, _: &State) -> bool {
        false
    }

    fn misused(state: &State) -> Option<LatchId> {
        let index = state.latches.iter().position(Latch::is_overrun);
        index.map(|index| LatchId(index as u32))
    }
}

/// A latch, with its past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Latch {
    /// Number of counts that open it.
    pub(crate) size: u32,
    /// The process of each count so far.
    pub(crate) counted: Vec<ProcessId>,
}

impl Latch {
    /// The number of missing counts.
    pub(crate) fn count(&self) -> u32 {
        self.size.saturating_sub(self.counted.len() as u32)
    }

    /// Have there been more counts than `size`?
    pub(crate) fn is_overrun(&self) -> bool {
        self.counted.len() > self.size as usize
    }
}

impl State {
    pub(crate) fn latch(&self, id: LatchId) -> &Latch {
        &self.latches[id.index()]
    }
}

/// count_down.
pub(in crate::model) struct CountDown(pub(in crate::model) LatchId);

impl Operation for CountDown {
    fn gathers(&self) -> Option<Lane> {
        Some(self.0.lane())
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        state.latches[self.0.index()].counted.push(done.action.process);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, _: &Done) {
        state.latches[self.0.index()].counted.pop();
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.0.lane(), Mode::Add(0))
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// The wait for a latch.
pub(in crate::model) struct Wait(pub(in crate::model) LatchId);

impl Operation for Wait {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        needs.push(Need::All(self.0.lane(), 0));
        (at.state.latch(self.0).count() == 0).then_some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Counts.alone()
    }

    fn may_observe(&self) -> bool {
        true
    }
}
