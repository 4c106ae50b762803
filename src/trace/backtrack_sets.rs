//! Backtrack sets along an execution: which enabled actions of each state are to be explored.
//!
//! This is what DPOR remembers of each state: its *backtrack set*, which part of the set is
//! explored, and with sleep sets what is asleep there. A backtrack set starts with a single strand
//! and grows as races are found. It becomes a persistent set (Flanagan, Godefroid, POPL 2005) or a
//! *source set*: every complete continuation that is not explored elsewhere has an element of the
//! set among its weak initials (Abdulla, Aronis, Jonsson, Sagonas, J. ACM 64(4), 2017, section 4).
//!
//! A set holds strands, as in the papers: a process is in it with all its choices, which exclude
//! one another. But the search explores actions. Everything lies in two stacks with a mark per
//! state, so a step allocates nothing, and dropping a state is truncating. Invariants: a strand is
//! in the set iff all its candidates are `chosen`, except those asleep; the queue holds, in the
//! order in which they were added, the chosen candidates that were awake then.

use rustc_hash::FxHashMap;

use super::Strand;
use crate::model::Action;

/// An enabled action of a state.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// The strand it belongs to.
    pub strand: Strand,
    /// It is in the backtrack set.
    pub is_chosen: bool,
    /// Every continuation that begins with it is explored elsewhere.
    pub is_asleep: bool,
    /// This place in the queue of the state: which candidate is there.
    queued: u32,
}

impl Candidate {
    /// It is not in the backtrack set.
    #[inline]
    pub fn new(action: Action, strand: Strand, is_asleep: bool) -> Self {
        Candidate { action, strand, is_chosen: false, is_asleep, queued: 0 }
    }

    /// In the backtrack set, or asleep?
    pub fn is_covered(&self) -> bool {
        self.is_chosen || self.is_asleep
    }
}

/// A state.
#[derive(Debug)]
struct Point {
    /// Where its candidates begin.
    first: usize,
    /// How many are queued.
    queued: usize,
    /// How many of those are taken.
    taken: usize,
    is_frozen: bool,
    /// An execution through it was cut.
    is_cut: bool,
}

/// The states along an execution. State number i is the one before the action at position i.
#[derive(Debug, Default)]
pub struct BacktrackSets {
    points: Vec<Point>,
    /// What is enabled in each, in the order in which it is tried. What is to be explored from each
    /// is a queue, by place among all candidates, with space for as many as there are candidates.
    candidates: Vec<Candidate>,
    /// How to go on after a candidate, by its place, where that is wanted.
    orders: FxHashMap<usize, Vec<Action>>,
}

impl BacktrackSets {
    /// Adds a state with these candidates.
    pub fn push(&mut self, candidates: impl Iterator<Item = Candidate>) {
        let first = self.candidates.len();
        self.candidates.extend(candidates);
        self.points.push(Point { first, queued: 0, taken: 0, is_frozen: false, is_cut: false });
    }

    /// Drops the last state.
    pub fn pop(&mut self) {
        let point = self.points.pop().expect("a state to drop");
        self.candidates.truncate(point.first);
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let end = self.points.get(at + 1).map_or(self.candidates.len(), |next| next.first);
        self.points[at].first..end
    }

    /// The enabled actions of state `at`.
    pub fn candidates(&self, at: usize) -> &[Candidate] {
        &self.candidates[self.range(at)]
    }

    /// A candidate of this strand, if it is enabled in state `at`: the first awake one, or else
    /// any.
    pub fn find(&self, at: usize, strand: Strand) -> Option<Candidate> {
        let of_strand =
            || self.candidates(at).iter().filter(|candidate| candidate.strand == strand);
        let awake = of_strand().find(|candidate| !candidate.is_asleep);
        awake.or_else(|| of_strand().next()).copied()
    }

    /// Begins the backtrack set of the last state with the first strand that is not asleep, if
    /// there is one.
    pub fn start(&mut self) -> bool {
        let at = self.points.len() - 1;
        let first = self.candidates(at).iter().find(|candidate| !candidate.is_asleep);
        first.copied().inspect(|first| self.add(at, first.strand)).is_some()
    }

    /// Is `action`, enabled in state `at`, in the backtrack set there, or asleep?
    pub fn covers(&self, at: usize, action: Action) -> bool {
        self.candidates(at).iter().find(|c| c.action == action).is_some_and(Candidate::is_covered)
    }

    /// Is any action of this strand, enabled in state `at`, in the backtrack set there, or asleep?
    pub fn covers_strand(&self, at: usize, strand: Strand) -> bool {
        self.candidates(at).iter().any(|c| c.strand == strand && c.is_covered())
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

    /// Notes that the execution is cut in the last state: adds everything enabled to the backtrack
    /// sets of all others.
    pub fn cut(&mut self) {
        let mut at = self.points.len() - 1;
        // Where an execution was cut through a state, it was cut through the states before it, too.
        while at > 0 && !self.points[at - 1].is_cut {
            at -= 1;
            self.points[at].is_cut = true;
            self.add_all(at);
        }
    }

    #[inline]
    fn choose(&mut self, at: usize, place: usize) {
        let (point, candidate) = (&mut self.points[at], &mut self.candidates[place]);
        if candidate.is_chosen {
            return;
        }
        candidate.is_chosen = true;
        if !candidate.is_asleep {
            self.candidates[point.first + point.queued].queued = place as u32;
            point.queued += 1;
        }
    }

    /// Removes from the backtrack set of state `at` what was added last. It must not have been
    /// explored yet.
    pub fn drop_last(&mut self, at: usize) {
        let point = &mut self.points[at];
        debug_assert!(point.queued > point.taken, "what was added last is explored");
        point.queued -= 1;
        let dropped = self.candidates[point.first + point.queued].queued as usize;
        self.candidates[dropped].is_chosen = false;
    }

    /// Sets the actions to be tried after the action that was just added to state `at`.
    pub fn want(&mut self, at: usize, order: Vec<Action>) {
        let point = &self.points[at];
        let added = self.candidates[point.first + point.queued - 1].queued as usize;
        self.orders.insert(added, order);
    }

    /// The actions to be tried after the action just taken.
    pub fn wanted(&mut self) -> Option<Vec<Action>> {
        let point = self.points.last()?;
        self.orders.remove(&(self.candidates[point.first + point.taken - 1].queued as usize))
    }

    /// Takes the action to be explored next from the last state, the first in the order of trying.
    /// This is for a search with sleep sets that has no order of its own.
    pub fn take_first(&mut self) -> Option<Action> {
        let first = self.points.last().expect("a state").first;
        let mut candidates = self.candidates[first..].iter_mut();
        let next = candidates.find(|c| c.is_chosen && !c.is_asleep)?;
        next.is_asleep = true;
        Some(next.action)
    }

    /// Takes from the last state the action that was added first, of those not explored yet. From
    /// now on it is asleep there, if there are sleep sets, and the state is not frozen any more.
    pub fn take(&mut self, sleep_sets: bool) -> Option<Action> {
        let point = self.points.last_mut().expect("a state");
        if point.taken == point.queued {
            return None;
        }
        let next = self.candidates[point.first + point.taken].queued as usize;
        let candidate = &mut self.candidates[next];
        point.taken += 1;
        point.is_frozen = false;
        candidate.is_asleep |= sleep_sets;
        Some(candidate.action)
    }

    /// Is the backtrack set of state `at` frozen, so that nothing is added to it for now?
    pub fn is_frozen(&self, at: usize) -> bool {
        self.points[at].is_frozen
    }

    /// Freezes the backtrack set of state `at`: nothing is added to it until the next action from
    /// there is taken.
    pub fn freeze(&mut self, at: usize) {
        self.points[at].is_frozen = true;
    }
}
