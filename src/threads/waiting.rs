//! Threads that wait in a loop, as [`waiting`] describes it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ask::Start;
use super::system::Shared;
use super::token::Updating;
use super::world::World;
use crate::model::Value;
use crate::systems::history::tree::NodeId;
use crate::systems::history::waiting::{self, ROUNDS, last_round};
use crate::systems::history::{Asked, Reply, Told};

impl Shared {
    /// If the thread with this history makes the same round again and again whenever it observes
    /// the same, and has just made it twice with this observation: the history before the last one.
    pub(super) fn back(self: &Arc<Self>, node: NodeId, told: &Told) -> Option<NodeId> {
        let round = last_round(&self.tree(), node, told, is_again)?;
        let start = round[round.len() - 1].then;
        let mut world = World::at(self, start)?;
        let repeats = (0..ROUNDS).all(|_| round.iter().all(|step| world.repeats(start, step)));
        if repeats {
            self.has_cut.store(true, Ordering::Relaxed);
        }
        repeats.then_some(start)
    }

    /// Is the thread at a question that it has asked before, with nothing but observations since?
    pub(super) fn may_wait(&self, node: NodeId) -> bool {
        waiting::may_wait(&self.tree(), node, is_again)
    }

    /// What verdicts rest on.
    pub(super) fn assumptions(&self) -> Option<String> {
        let order = self.is_weak.load(Ordering::Relaxed);
        let loops = self.has_cut.load(Ordering::Relaxed).then(waiting::assumption);
        let all: Vec<String> =
            order.then(|| "sequential consistency".into()).into_iter().chain(loops).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

/// Are these questions the same, at the same place? An update names the history in which it was
/// asked for; apart from that.
pub(super) fn is_again(one: &Reply<Start>, other: &Reply<Start>) -> bool {
    let updating = |value: &Value| match value {
        Value::Opaque(value) => {
            value.get::<Updating>().map(|update| Updating { by: 0, ..update.clone() })
        }
        _ => None,
    };
    let asks_again = match (&one.asked, &other.asked) {
        (Asked::Op { op, values }, Asked::Op { op: other, values: others }) => {
            let same = |(one, other)| {
                one == other || updating(one).is_some_and(|it| updating(other) == Some(it))
            };
            op == other && values.len() == others.len() && values.iter().zip(others).all(same)
        }
        (asked, other) => asked == other,
    };
    asks_again && one.site == other.site
}
