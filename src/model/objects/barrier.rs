//! Barriers: the processes that have arrived, by round.

use super::{ObjectId, Operation, Place, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    BarrierId, Effect, Lane, Locals, Mode, Need, Needs, Part, PartSet, ProcessId, Response, System,
    Values,
};

impl BarrierId {
    /// The lane of the arrivals.
    pub fn lane(self) -> Lane {
        Lane::new(Part::Arrivals, self.0)
    }
}

impl ObjectId for BarrierId {
    type Declared = u32;
    type Start = u32;

    const PARTS: &'static [Part] = &[Part::Arrivals];
    const IS_ALONE: bool = true;

    fn start(&declared: &u32, _: &mut Values) -> u32 {
        declared
    }

    fn begin(state: &mut State, size: u32) {
        state.barriers.push(Barrier { size, rounds: Vec::new() });
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        let rounds = state.barrier(self).rounds.iter();
        parts.list(rounds.map(|arrived| arrived.len() as u32))
    }

    fn has_open_requests(self, _: &State) -> bool {
        false
    }

    fn misused(state: &State) -> Option<BarrierId> {
        let index = state.barriers.iter().position(Barrier::is_oversubscribed);
        index.map(|index| BarrierId(index as u32))
    }
}

/// A barrier: the processes that have arrived, per round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Number of arrivals that end a round.
    pub(crate) size: u32,
    /// Arrivals per round; a process arrives once a round.
    pub rounds: Vec<Vec<ProcessId>>,
}

impl Barrier {
    /// The processes that have arrived in `round`.
    pub(crate) fn arrived(&self, round: u32) -> &[ProcessId] {
        self.rounds.get(round as usize).map_or(&[], Vec::as_slice)
    }

    /// Have more processes arrived than take part? The first arrival of each process is in round 0.
    pub(crate) fn is_oversubscribed(&self) -> bool {
        self.arrived(0).len() > self.size as usize
    }
}

impl State {
    /// A barrier.
    pub fn barrier(&self, id: BarrierId) -> &Barrier {
        &self.barriers[id.index()]
    }
}

/// async_barrier.
pub(in crate::model) struct Arrive {
    pub(in crate::model) barrier: BarrierId,
    pub(in crate::model) round: u32,
}

impl Operation for Arrive {
    fn gathers(&self) -> Option<Lane> {
        Some(self.barrier.lane())
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let rounds = &mut state.barriers[self.barrier.index()].rounds;
        if rounds.len() == self.round as usize {
            rounds.push(Vec::new());
        }
        rounds[self.round as usize].push(done.action.process);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, _: &Done) {
        let rounds = &mut state.barriers[self.barrier.index()].rounds;
        rounds[self.round as usize].pop();
        // A round begins with its first arrival.
        rounds.pop_if(|arrived| arrived.is_empty());
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.barrier.lane(), Mode::Add(self.round))
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// barrier_wait.
pub(in crate::model) struct Pass {
    pub(in crate::model) barrier: BarrierId,
    pub(in crate::model) round: u32,
}

impl Operation for Pass {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let barrier = at.state.barrier(self.barrier);
        needs.push(Need::All(self.barrier.lane(), self.round));
        let have_come = barrier.arrived(self.round).len() >= barrier.size as usize;
        have_come.then_some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Arrivals.alone()
    }

    fn may_observe(&self) -> bool {
        true
    }
}
