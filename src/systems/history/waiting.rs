//! Loops that wait: a process looks again and again at what others may change.
//!
//! Followed step by step, such a loop never ends, though its rounds change nothing. So it is cut: a
//! process that has made the same round twice, and would make it again and again, is back where the
//! last round began. Whether it would is tried out: the same observations are delivered
//! [`ROUNDS`] times more. A loop that gives up before that is followed to its end. One that gives
//! up later cannot be told from one that waits, so a verdict says if it rests on that
//! ([`Loops::assumption`]).
//!
//! A livelock must not rest on it: before one is reported, the loops are tried for [`MORE`] rounds.
//! If one of them gives up, the search is done again with that many.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::History;
use super::live::Live;
use super::runner::{Asked, Reply, Runner, Told};
use super::tree::{NodeId, Tree};

/// How often a round is repeated to see whether the loop gives up.
const ROUNDS: usize = 100;

/// The same, if a livelock was found.
const MORE: usize = 10_000;

/// The most loops that are tried for so long.
const SOME: usize = 32;

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

/// What a process does again and again.
pub(crate) struct Round {
    pub(crate) steps: Vec<Step>,
    /// The birth of the history in which it began, and of the one in which the round before did.
    begins: u64,
    before: u64,
}

impl Round {
    /// The history in which it began.
    pub(crate) fn start(&self) -> NodeId {
        self.steps[self.steps.len() - 1].then
    }
}

/// The shortest round that ends with this observation, if the one before was the same. It leads
/// back to the history in which it began.
pub(crate) fn last_round<S: Clone>(
    tree: &Tree<S>,
    node: NodeId,
    told: &Told,
    is_again: IsAgain<S>,
) -> Option<Round> {
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
            let steps = round.map(|(step, then)| Step { told: step.1.clone(), then }).collect();
            let [begins, before] = [now, before].map(|half| tree.birth(half[length - 1].0));
            return Some(Round { steps, begins, before });
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

/// The loops of a system that were cut, and those that give up.
pub(crate) struct Loops {
    /// How often a round is repeated.
    rounds: AtomicUsize,
    /// The same, for the loops of a livelock.
    in_livelocks: AtomicUsize,
    has_cut: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Loops that were cut, at different places: a history, and what leads back from there.
    cut: Vec<(NodeId, Told)>,
    /// How many rounds more a process makes that is at the beginning of one, by the birth of its
    /// history.
    giving_up: FxHashMap<u64, usize>,
}

impl Default for Loops {
    fn default() -> Loops {
        let [rounds, in_livelocks] = [ROUNDS; 2].map(AtomicUsize::new);
        Loops { rounds, in_livelocks, has_cut: AtomicBool::new(false), known: Mutex::default() }
    }
}

impl Loops {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process has made this round twice. Does it go on for ever? `tries` returns how many rounds
    /// more it makes, up to a number.
    pub(crate) fn cuts(&self, round: &Round, tries: impl FnOnce(&Round, usize) -> usize) -> bool {
        let before = self.known().giving_up.get(&round.before).copied();
        let rounds = self.rounds.load(Ordering::Relaxed);
        let more = match before {
            Some(more) => more - 1,
            None => tries(round, rounds),
        };
        let goes_on = before.is_none() && more == rounds;
        match goes_on {
            true => self.has_cut.store(true, Ordering::Relaxed),
            false if more > 0 => _ = self.known().giving_up.insert(round.begins, more),
            false => {}
        }
        goes_on
    }

    /// Notes that a loop was cut: after this history, this observation leads back. Returns whether
    /// the history has to be kept.
    pub(crate) fn note<S: Clone>(&self, tree: &Tree<S>, node: NodeId, told: &Told) -> bool {
        let place = |node| tree.reply(node).and_then(|reply| reply.site.as_ref());
        let cut = &mut self.known().cut;
        let is_new = cut.len() < SOME && cut.iter().all(|(known, _)| place(*known) != place(node));
        if is_new {
            cut.push((node, told.clone()));
        }
        is_new
    }

    /// Tries the loops that were noted for longer: `tries` returns how many rounds a process makes
    /// after a history and an observation, up to a number. Returns whether one of them gives up.
    /// Then the search has to be done again, with loops that are tried for so long.
    pub(crate) fn give_up(&self, mut tries: impl FnMut(NodeId, &Told, usize) -> usize) -> bool {
        let cut = self.known().cut.clone();
        let made = cut.iter().map(|(node, told)| tries(*node, told, MORE));
        let longest = made.filter(|&made| made < MORE).max();
        let Some(longest) = longest else {
            self.in_livelocks.store(MORE, Ordering::Relaxed);
            return false;
        };
        self.rounds.store(longest + 1, Ordering::Relaxed);
        self.has_cut.store(false, Ordering::Relaxed);
        *self.known() = Known::default();
        true
    }

    /// How loops are cut, as a text.
    pub(crate) fn noted(&self) -> String {
        let [rounds, longer] =
            [&self.rounds, &self.in_livelocks].map(|rounds| rounds.load(Ordering::Relaxed));
        format!("{rounds} {longer} {}", u8::from(self.has_cut.load(Ordering::Relaxed)))
    }

    /// Cuts loops in the same way as the search that has noted this. Returns whether it was noted
    /// by a search.
    pub(crate) fn recall(&self, noted: &str) -> bool {
        let numbers: Option<Vec<usize>> = noted.split(' ').map(|word| word.parse().ok()).collect();
        let Some([rounds, longer, has_cut]) = numbers.as_deref() else { return false };
        if !(ROUNDS..=MORE).contains(rounds) || !(ROUNDS..=MORE).contains(longer) {
            return false;
        }
        self.rounds.store(*rounds, Ordering::Relaxed);
        self.in_livelocks.store(*longer, Ordering::Relaxed);
        self.has_cut.fetch_or(*has_cut != 0, Ordering::Relaxed);
        true
    }

    /// What a verdict rests on, if a loop was cut.
    pub(crate) fn assumption(&self) -> Option<String> {
        let load = |rounds: &AtomicUsize| rounds.load(Ordering::Relaxed);
        let rounds = load(&self.rounds).max(load(&self.in_livelocks));
        let text = || {
            format!(
                "the assumption that a loop which waits for {rounds} rounds does not count them"
            )
        };
        self.has_cut.load(Ordering::Relaxed).then(text)
    }
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
        let tries = |round: &Round, most| self.rounds_made(live, node, told, round, most);
        let is_cut = self.shared.loops.cuts(&round, tries);
        let tree = self.tree();
        if is_cut && self.shared.loops.note(&tree, node, told) {
            tree.hold(node);
        }
        is_cut.then_some(round.start())
    }

    /// The number of rounds that a process makes after this history and this observation, up to
    /// this number.
    fn rounds_made(
        &self,
        live: &mut Live<R::Live>,
        node: NodeId,
        told: &Told,
        round: &Round,
        most: usize,
    ) -> usize {
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
        let mut goes_on = asks(round.start(), &mut replies);
        let mut made = 0;
        while goes_on && made < most {
            goes_on = round.steps.iter().all(|step| {
                let told = std::slice::from_ref(&step.told);
                self.deliver_each(live, &mut process, told, &mut replies);
                asks(step.then, &mut replies)
            });
            made += usize::from(goes_on);
        }
        self.end_turn(live);
        made
    }

    /// See [`System::looks_further`](crate::model::System::looks_further).
    pub(super) fn gives_up(&self) -> bool {
        let mut live = self.live();
        let gives_up = self.shared.loops.give_up(|node, told, most| {
            let round = last_round(&self.tree(), node, told, is_again);
            let round = round.expect("a loop that was cut");
            self.rounds_made(&mut live, node, told, &round, most)
        });
        live.put_back(self.shared.number);
        if gives_up {
            self.tree_mut().forget_returns();
        }
        gives_up
    }
}
