//! Barriers: which processes have arrived, and how many are missing.

use rustc_hash::FxHashSet;

use super::{Arrow, ArrowKind, Named, Past, Replay, Wait, Words, listed};
use crate::model::{
    Action, BarrierId, Failure, FailureKind, Locals, May, ProcessId, Response, State, System, Touch,
};

pub(super) enum Use {
    Arrive { barrier: BarrierId, round: u32 },
    Wait { barrier: BarrierId, round: u32 },
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Arrive { .. } => "async_barrier",
            Use::Wait { .. } => "barrier_wait",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Arrive { barrier, round } => {
                let (name, barrier) = (at.locals.name_of(barrier), at.state.barrier(barrier));
                let arrived = barrier.arrived(round).len();
                format!("{arrived} of {} have arrived at {name}", barrier.size)
            }
            Use::Wait { barrier, .. } => format!("passes {}", at.locals.name_of(barrier)),
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Arrive { barrier, round } | Use::Wait { barrier, round }) = *self;
        vec![arrivals(at, barrier, round)]
    }

    fn wait(&self, at: &Replay<'_, S>, _: ProcessId) -> Option<Wait> {
        let &Use::Wait { barrier, round } = self else { return None };
        Some(wait_for_arrivals(at, barrier, round))
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let last = past.needed(to).into_iter().max();
        Arrow::all(past.of_others(last, to), to, ArrowKind::Barrier)
    }
}

fn wait_for_arrivals<S: System>(at: &Replay<'_, S>, barrier: BarrierId, round: u32) -> Wait {
    let (name, size) = (at.locals.name_of(barrier), at.state.barrier(barrier).size as usize);
    let arrived = at.state.barrier(barrier).arrived(round);
    let words = format!("barrier {name}: {} of {size} have arrived", arrived.len());
    let first = at.state.barrier(barrier).arrived(0);
    let [is_here, took_part] = [arrived, first].map(|them| them.iter().collect::<FxHashSet<_>>());
    let may = |p: &ProcessId| {
        // All participants arrive in the first round, so they are known when it is full.
        !is_here.contains(p) && (first.len() < size || took_part.contains(p))
    };
    let mut helpers = at.suppliers(Touch::new(barrier.lane(), May::Add));
    helpers.retain(may);
    Wait::for_several(words, (helpers, at.stands_still()), size - arrived.len(), "arrive")
}

/// The processes that have arrived in the latest round.
pub(super) fn now<S: System>(at: &Replay<'_, S>, barrier: BarrierId) -> Vec<Named> {
    let round = at.state.barrier(barrier).rounds.len().saturating_sub(1);
    vec![arrivals(at, barrier, round as u32)]
}

fn arrivals<S: System>(at: &Replay<'_, S>, barrier: BarrierId, round: u32) -> Named {
    let name = at.locals.name_of(barrier);
    let arrived = at.state.barrier(barrier).arrived(round).iter();
    let arrived = arrived.map(|&p| at.name(p).to_owned()).collect();
    (format!("arrived at {name} (round {})", round + 1), listed(arrived, "nobody"))
}

/// More processes have arrived at a barrier than take part.
pub(super) fn crowded<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    barrier: BarrierId,
) -> Failure {
    let (name, size) = (locals.name_of(barrier), state.barrier(barrier).size);
    let arrive = if size == 1 { "process arrives" } else { "processes arrive" };
    let message = format!("more than {size} {arrive} at barrier {name}, which is for {size}");
    Failure { kind: FailureKind::Error, message, site: None }
}
