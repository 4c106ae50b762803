//! Loops that wait: a thread looks again and again at what others may change.
//!
//! Followed step by step, such a loop never ends, though its rounds change nothing. So it is cut: a
//! thread that has made the same round twice, and would make it again and again, is back where the
//! last round began. Whether it would is tried out: the same observations are delivered
//! [`ROUNDS`] times more. A loop that gives up before that is followed to its end. One that gives
//! up later cannot be told from one that waits, so a verdict says if it rests on that
//! ([`Shared::assumptions`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::ask::Start;
use super::system::Shared;
use super::token::Updating;
use super::world::World;
use crate::model::Value;
use crate::systems::history::tree::{NodeId, Tree};
use crate::systems::history::{Asked, Reply, Told};

/// How often a round is repeated to see whether the loop gives up.
const ROUNDS: usize = 100;

/// The most observations in a round.
const LONGEST: usize = 32;

impl Shared {
    /// If the thread with this history makes the same round again and again whenever it observes
    /// the same, and has just made it twice with this observation: the history before the last one.
    pub(super) fn back(self: &Arc<Self>, node: NodeId, told: &Told) -> Option<NodeId> {
        let round = last_round(&self.tree(), node, told)?;
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
        let tree = self.tree();
        let before = |&node: &NodeId| tree.parent(node).filter(|&node| is_observation(&tree, node));
        let mut all = std::iter::successors(Some(node), before).take(LONGEST + 1).skip(1);
        is_observation(&tree, node) && all.any(|earlier| is_same(&tree, earlier, node))
    }

    /// What verdicts rest on.
    pub(super) fn assumptions(&self) -> Option<String> {
        let order = self.is_weak.load(Ordering::Relaxed);
        let loops =
            || format!("the assumption that a loop which waits for {ROUNDS} rounds waits for ever");
        let loops = self.has_cut.load(Ordering::Relaxed).then(loops);
        let all: Vec<String> =
            order.then(|| "sequential consistency".into()).into_iter().chain(loops).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

/// A step of a round.
pub(super) struct Step {
    /// What is observed.
    pub(super) told: Told,
    /// The history with the next question.
    pub(super) then: NodeId,
}

/// The shortest round that ends with this observation, if the one before was the same. It leads
/// back to the history in which it began.
fn last_round(tree: &Tree<Start>, node: NodeId, told: &Told) -> Option<Vec<Step>> {
    // The last observations, the newest first, with the histories before them.
    is_observation(tree, node).then_some(())?;
    let mut steps = SmallVec::<[(NodeId, &Told); 4]>::from_slice(&[(node, told)]);
    for length in 1..=LONGEST {
        while steps.len() < 2 * length {
            let last = steps[steps.len() - 1].0;
            let before = tree.parent(last).filter(|&before| is_observation(tree, before))?;
            steps.push((before, tree.told(last)));
        }
        let (now, before) = steps.split_at(length);
        let mut pairs = now.iter().zip(before);
        if pairs.all(|(one, other)| one.1 == other.1 && is_same(tree, one.0, other.0)) {
            let histories = now.iter().rev().map(|step| step.0).cycle().skip(1);
            let round = now.iter().rev().zip(histories);
            return Some(round.map(|(step, then)| Step { told: step.1.clone(), then }).collect());
        }
    }
    None
}

/// Is the question after this history a read, an update that may fail, or an attempt?
fn is_observation(tree: &Tree<Start>, node: NodeId) -> bool {
    let asked = tree.reply(node).map(|reply| &reply.asked);
    matches!(asked, Some(Asked::Op { op, .. }) if op.may_observe())
}

/// Are the questions after these histories the same, at the same place?
fn is_same(tree: &Tree<Start>, one: NodeId, other: NodeId) -> bool {
    matches!((tree.reply(one), tree.reply(other)), (Some(one), Some(other)) if is_again(one, other))
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
