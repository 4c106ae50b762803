//! Threads that wait in a loop, as [`waiting`] describes it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ask::Start;
use super::system::Shared;
use super::token::{Repointing, Updating};
use super::world::World;
use crate::model::{Opaque, Value};
use crate::systems::history::tree::NodeId;
use crate::systems::history::waiting::{self, Round, last_round};
use crate::systems::history::{Asked, Reply, Told};

impl Shared {
    /// If the thread with this history makes the same round again and again whenever it observes
    /// the same, and has just made it twice with this observation: the history before the last one.
    pub(super) fn back(self: &Arc<Self>, node: NodeId, told: &Told) -> Option<NodeId> {
        let round = last_round(&self.tree(), node, told, is_again)?;
        let is_cut = self.loops.cuts(&round, |round, most| self.rounds_made(round, most));
        if is_cut {
            self.loops.note(&self.tree(), node, told);
        }
        is_cut.then_some(round.start())
    }

    /// The number of rounds that the thread makes after this one, up to this number.
    fn rounds_made(self: &Arc<Self>, round: &Round, most: usize) -> usize {
        let start = round.start();
        let Some(mut world) = World::at(self, start) else { return 0 };
        let repeats = |_: &usize| round.steps.iter().all(|step| world.repeats(step));
        (0..most).take_while(repeats).count()
    }

    /// See [`System::looks_further`](crate::model::System::looks_further).
    pub(super) fn gives_up(self: &Arc<Self>) -> bool {
        let gives_up = self.loops.give_up(|node, told, most| {
            let round = last_round(&self.tree(), node, told, is_again);
            self.rounds_made(&round.expect("a loop that was cut"), most)
        });
        if gives_up {
            self.forget_returns();
        }
        gives_up
    }

    /// Is the thread at a question that it has asked before, with nothing but observations since?
    pub(super) fn may_wait(&self, node: NodeId) -> bool {
        waiting::may_wait(&self.tree(), node, is_again)
    }

    /// What verdicts rest on.
    pub(super) fn assumptions(&self) -> Option<String> {
        let order = self.is_weak.load(Ordering::Relaxed);
        let order = order.then(|| "sequential consistency".to_string());
        let is_exchanged = self.is_exchanged_weakly.load(Ordering::Relaxed);
        let exchanges = is_exchanged.then(|| {
            let most = self.mode.failures;
            let what = "the assumption that a `compare_exchange_weak` fails for no reason";
            format!("{what} at most {most} times in each thread")
        });
        let all: Vec<String> =
            [order, exchanges, self.loops.assumption()].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

/// Are these questions the same, at the same place? An update names the history in which it was
/// asked for; apart from that. What is done to a pointer is in memory, where
/// [`World::repeats`] looks.
pub(super) fn is_again(one: &Reply<Start>, other: &Reply<Start>) -> bool {
    let asks_again = match (&one.asked, &other.asked) {
        (Asked::Op { op, values }, Asked::Op { op: other, values: others }) => {
            let same = |(one, other)| one == other || is_same_update(one, other);
            op == other && values.len() == others.len() && values.iter().zip(others).all(same)
        }
        (asked, other) => asked == other,
    };
    asks_again && one.site == other.site
}

fn is_same_update(one: &Value, other: &Value) -> bool {
    let (Value::Opaque(one), Value::Opaque(other)) = (one, other) else { return false };
    if let (Some(one), Some(other)) = (one.get::<Updating>(), other.get::<Updating>()) {
        return Updating { by: 0, ..one.clone() } == Updating { by: 0, ..other.clone() };
    }
    let expects = |value: &Opaque| value.get::<Repointing>().map(|update| update.expects);
    expects(one).is_some_and(|it| expects(other) == Some(it))
}
