//! The states along an execution, each with what is enabled there and what of that is to be explored.
//!
//! This is what DPOR keeps of the past: for each state its *backtrack set*, with what of it is done, and,
//! with sleep sets, what is asleep there. Everything lies in two stacks with a mark per state, so a step
//! allocates nothing, and dropping a state is truncating.
//!
//! A backtrack set holds strands, as in the papers: a process is in it with all its choices. What is explored
//! is actions. Invariants: a strand is in the set iff all its candidates are `chosen`; the queue holds, in
//! the order in which they were added, the chosen candidates that were awake then.

use rustc_hash::FxHashMap;

use crate::model::Action;
use crate::trace::Strand;

/// An enabled action of a state.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// What it belongs to.
    pub strand: Strand,
    /// In the backtrack set.
    pub is_chosen: bool,
    /// Whatever begins with it was, or will have been, explored elsewhere.
    pub is_asleep: bool,
}

/// A state.
#[derive(Debug)]
struct Point {
    /// Where its candidates, and the places for its queue, begin.
    first: usize,
    /// How many are queued.
    queued: usize,
    /// How many of those are taken.
    taken: usize,
    is_frozen: bool,
    /// An execution through it was cut.
    is_cut: bool,
}

/// The states along an execution; the state before the action at position i is number i.
#[derive(Debug, Default)]
pub struct Points {
    points: Vec<Point>,
    /// What is enabled in each, in the order in which it is tried.
    candidates: Vec<Candidate>,
    /// What is to be explored from each, by place among all candidates; as many places as candidates.
    queue: Vec<usize>,
    /// How to go on after a candidate, by its place, where that is wanted.
    orders: FxHashMap<usize, Vec<Action>>,
}

impl Points {
    /// A further state, with these candidates.
    pub fn push(&mut self, candidates: impl Iterator<Item = Candidate>) {
        let first = self.candidates.len();
        self.candidates.extend(candidates);
        self.queue.resize(self.candidates.len(), 0);
        self.points.push(Point { first, queued: 0, taken: 0, is_frozen: false, is_cut: false });
    }

    /// Drops the last state.
    pub fn pop(&mut self) {
        let point = self.points.pop().expect("a state to drop");
        self.candidates.truncate(point.first);
        self.queue.truncate(point.first);
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let end = self.points.get(at + 1).map_or(self.candidates.len(), |next| next.first);
        self.points[at].first..end
    }

    /// What is enabled in state `at`.
    pub fn candidates(&self, at: usize) -> &[Candidate] {
        &self.candidates[self.range(at)]
    }

    /// A candidate of this strand, if it is enabled in state `at`: the first awake one, or else any.
    pub fn find(&self, at: usize, strand: Strand) -> Option<Candidate> {
        let of_strand =
            || self.candidates(at).iter().filter(|candidate| candidate.strand == strand);
        let awake = of_strand().find(|candidate| !candidate.is_asleep);
        awake.or_else(|| of_strand().next()).copied()
    }

    /// Adds a strand to the backtrack set of state `at`.
    pub fn add(&mut self, at: usize, strand: Strand) {
        for place in self.range(at) {
            if self.candidates[place].strand == strand {
                self.choose(at, place);
            }
        }
    }

    /// Adds everything enabled to the backtrack set of state `at`.
    pub fn add_all(&mut self, at: usize) {
        for place in self.range(at) {
            self.choose(at, place);
        }
    }

    /// The execution is cut in the last state: adds everything enabled to the backtrack set of every other.
    pub fn cut(&mut self) {
        let mut at = self.points.len() - 1;
        // Of a state through which an execution was cut the states before are so, too.
        while at > 0 && !self.points[at - 1].is_cut {
            at -= 1;
            self.points[at].is_cut = true;
            self.add_all(at);
        }
    }

    fn choose(&mut self, at: usize, place: usize) {
        let (point, candidate) = (&mut self.points[at], &mut self.candidates[place]);
        if candidate.is_chosen {
            return;
        }
        candidate.is_chosen = true;
        if !candidate.is_asleep {
            self.queue[point.first + point.queued] = place;
            point.queued += 1;
        }
    }

    /// Takes what was added last to the backtrack set of state `at`, and is not explored yet, out again.
    pub fn drop_last(&mut self, at: usize) {
        let point = &mut self.points[at];
        debug_assert!(point.queued > point.taken, "what was added last is explored");
        point.queued -= 1;
        self.candidates[self.queue[point.first + point.queued]].is_chosen = false;
    }

    /// After the action just added to state `at`, these are to be tried.
    pub fn want(&mut self, at: usize, order: Vec<Action>) {
        let point = &self.points[at];
        let added = self.queue[point.first + point.queued - 1];
        self.orders.insert(added, order);
    }

    /// What is to be tried after the action just taken.
    pub fn wanted(&mut self) -> Option<Vec<Action>> {
        let point = self.points.last()?;
        self.orders.remove(&self.queue[point.first + point.taken - 1])
    }

    /// Takes the next action to be explored from the last state. From now on it is asleep there, if
    /// there are sleep sets; and the state is not frozen any more.
    pub fn take(&mut self, sleep_sets: bool) -> Option<Action> {
        let point = self.points.last_mut().expect("a state");
        if point.taken == point.queued {
            return None;
        }
        let candidate = &mut self.candidates[self.queue[point.first + point.taken]];
        point.taken += 1;
        point.is_frozen = false;
        candidate.is_asleep |= sleep_sets;
        Some(candidate.action)
    }

    /// Is nothing to be added to the backtrack set of state `at` for now?
    pub fn is_frozen(&self, at: usize) -> bool {
        self.points[at].is_frozen
    }

    /// Nothing is to be added to the backtrack set of state `at` until the next action from there is taken.
    pub fn freeze(&mut self, at: usize) {
        self.points[at].is_frozen = true;
    }
}
