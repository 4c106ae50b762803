//! Loops that wait: a process looks again and again at what others may change.
//!
//! Followed step by step, such a loop never ends, though its rounds change nothing. So it is cut: a
//! process that has made the same round twice, and would make it again and again, is back where the
//! last round began. Whether it would is tried out: the same observations are delivered
//! [`ROUNDS`] times more. A loop that gives up before that is followed to its end. One that gives
//! up later cannot be told from one that waits, so a verdict says if it rests on that
//! ([`assumption`]).

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::History;
use super::live::Live;
use super::runner::{Asked, Reply, Runner, Told};
use super::tree::{NodeId, Tree};

/// How often a round is repeated to see whether the loop gives up.
pub(crate) const ROUNDS: usize = 100;

/// The most observations in a round.
const LONGEST: usize = 32;

/// Are these questions the same, at the same place?
pub(crate) type IsAgain<S> = fn(&Reply<S>, &Reply<S>) -> bool;

/// A step of a round.
pub(crate) struct Step {
    /// What is observed.
    pub(crate) told: Told,
    /// The history with the next question.
    pub(crate) then: NodeId,
}

/// The shortest round that ends with this observation, if the one before was the same. It leads
/// back to the history in which it began.
pub(crate) fn last_round<S: Clone>(
    tree: &Tree<S>,
    node: NodeId,
    told: &Told,
    is_again: IsAgain<S>,
) -> Option<Vec<Step>> {
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
        if pairs.all(|(one, other)| one.1 == other.1 && is_same(tree, one.0, other.0, is_again)) {
            let histories = now.iter().rev().map(|step| step.0).cycle().skip(1);
            let round = now.iter().rev().zip(histories);
            return Some(round.map(|(step, then)| Step { told: step.1.clone(), then }).collect());
        }
    }
    None
}

/// Is the process at a question that it has asked before, with nothing but observations since?
pub(crate) fn may_wait<S: Clone>(tree: &Tree<S>, node: NodeId, is_again: IsAgain<S>) -> bool {
    let before = |&node: &NodeId| tree.parent(node).filter(|&node| is_observation(tree, node));
    let mut all = std::iter::successors(Some(node), before).take(LONGEST + 1).skip(1);
    is_observation(tree, node) && all.any(|earlier| is_same(tree, earlier, node, is_again))
}

/// What a verdict rests on if a loop was cut.
pub(crate) fn assumption() -> String {
    format!("the assumption that a loop which waits for {ROUNDS} rounds does not count them")
}

/// Is the question after this history a read, an update that may fail, or an attempt?
fn is_observation<S: Clone>(tree: &Tree<S>, node: NodeId) -> bool {
    let asked = tree.reply(node).map(|reply| &reply.asked);
    matches!(asked, Some(Asked::Op { op, .. }) if op.may_observe())
}

fn is_same<S: Clone>(tree: &Tree<S>, one: NodeId, other: NodeId, is_again: IsAgain<S>) -> bool {
    matches!((tree.reply(one), tree.reply(other)), (Some(one), Some(other)) if is_again(one, other))
}

/// Are these questions the same, at the same place?
pub(super) fn is_again<S: PartialEq>(one: &Reply<S>, other: &Reply<S>) -> bool {
    one.asked == other.asked && one.site == other.site
}

impl<R: Runner> History<R> {
    /// If the process with this history makes the same round again and again whenever it observes
    /// the same, and has just made it twice with this observation: the history before the last one.
    pub(super) fn round_of(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        told: &Told,
    ) -> Option<NodeId> {
        if !self.runner().waits() {
            return None;
        }
        let round = last_round(&self.tree(), node, told, is_again)?;
        let start = round[round.len() - 1].then;
        let rounds = std::iter::repeat_n(&round, ROUNDS).flatten();
        self.begin_turn(live, node, Some(told));
        let (mut process, mut replies, _) = self.run_anew(live, node, told);
        let asks = |then: NodeId, replies: &mut Vec<Reply<R::Start>>| {
            let tree = self.tree();
            let known = tree.reply(then);
            let goes_on =
                replies.pop().zip(known).is_some_and(|(again, known)| is_again(known, &again));
            replies.clear();
            goes_on
        };
        let mut repeats = asks(start, &mut replies);
        for step in rounds {
            if !repeats {
                break;
            }
            self.deliver_each(live, &mut process, std::slice::from_ref(&step.told), &mut replies);
            repeats = asks(step.then, &mut replies);
        }
        self.end_turn(live);
        if repeats {
            self.shared.has_cut.store(true, Ordering::Relaxed);
        }
        repeats.then_some(start)
    }
}
