//! Backtrack sets along an execution: the enabled actions of each state that must be explored.
//!
//! DPOR stores for each state its *backtrack set*, which part of the set is explored, and with
//! sleep sets which actions are asleep there. A backtrack set starts with a single strand and grows
//! as races are found. It becomes a persistent set (Flanagan, Godefroid, POPL 2005) or a *source
//! set*: every complete continuation that is not explored elsewhere has an element of the set among
//! its weak initials (Abdulla, Aronis, Jonsson, Sagonas, J. ACM 64(4), 2017, section 4).
//!
//! A set contains strands, as in the papers: a process is in it with all its choices, which exclude
//! one another. But the search explores actions. All data lie in two stacks with a mark for each
//! state, so a step allocates nothing, and a state is dropped by truncation. Invariants: a strand
//! is in the set iff all its candidates are `chosen`, except those asleep; the queue holds, in the
//! order in which they were added, the chosen candidates that were awake then.

use rustc_hash::FxHashMap;

use super::{Strand, Ticket};
use crate::model::Action;

/// An enabled action of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) action: Action,
    pub(crate) strand: Strand,
    /// Is it in the backtrack set?
    pub(crate) is_chosen: bool,
    /// Is it asleep, because every continuation that begins with it is explored elsewhere?
    pub(crate) is_asleep: bool,
    /// The queue of the state lies in these fields: this is the entry of the queue at this place,
    /// the index of a candidate.
    queued: u32,
    /// If it was given away: the name of what was given.
    ticket: Option<Ticket>,
}

impl Candidate {
    /// A candidate that is not in the backtrack set.
    #[inline]
    pub(crate) fn new(action: Action, strand: Strand, is_asleep: bool) -> Self {
        Candidate { action, strand, is_chosen: false, is_asleep, queued: 0, ticket: None }
    }

    /// Is it in the backtrack set, or asleep?
    pub(crate) fn is_covered(&self) -> bool {
        self.is_chosen || self.is_asleep
    }
}

/// The data of one state.
#[derive(Debug)]
struct Point {
    /// The index of its first candidate.
    first: usize,
    /// The number of candidates queued so far.
    queued: usize,
    /// The number of queued candidates that are explored.
    taken: usize,
    is_frozen: bool,
    /// Was an execution through it cut?
    is_cut: bool,
}

/// The backtrack sets of the states along an execution. State number i is the state before the
/// action at position i.
#[derive(Debug, Default)]
pub(crate) struct BacktrackSets {
    points: Vec<Point>,
    /// The enabled actions of all states, in the order in which they are tried. The candidates to
    /// explore from a state form a queue, stored in the field `queued` of its candidates.
    candidates: Vec<Candidate>,
    /// For the index of a candidate, the actions that should follow it, if such an order was set.
    orders: FxHashMap<usize, Vec<Action>>,
}

impl BacktrackSets {
    /// Adds a state with these candidates.
    pub(crate) fn push(&mut self, candidates: impl Iterator<Item = Candidate>) {
        let first = self.candidates.len();
        self.candidates.extend(candidates);
        self.points.push(Point { first, queued: 0, taken: 0, is_frozen: false, is_cut: false });
    }

    /// Drops the last state.
    pub(crate) fn pop(&mut self) {
        let point = self.points.pop().expect("a state to drop");
        self.candidates.truncate(point.first);
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let end = self.points.get(at + 1).map_or(self.candidates.len(), |next| next.first);
        self.points[at].first..end
    }

    /// The enabled actions of state `at`.
    pub(crate) fn candidates(&self, at: usize) -> &[Candidate] {
        &self.candidates[self.range(at)]
    }

    /// A candidate of this strand, if it is enabled in state `at`: the first awake one, or else
    /// any.
    pub(crate) fn find(&self, at: usize, strand: Strand) -> Option<Candidate> {
        let of_strand =
            || self.candidates(at).iter().filter(|candidate| candidate.strand == strand);
        let awake = of_strand().find(|candidate| !candidate.is_asleep);
        awake.or_else(|| of_strand().next()).copied()
    }

    /// Begins the backtrack set of the last state with the first strand that is not asleep, if
    /// there is one.
    pub(crate) fn start(&mut self) -> bool {
        let at = self.points.len() - 1;
        let first = self.candidates(at).iter().find(|candidate| !candidate.is_asleep);
        first.copied().inspect(|first| self.add(at, first.strand)).is_some()
    }

    /// Is `action`, enabled in state `at`, in the backtrack set there, or asleep?
    pub(crate) fn covers(&self, at: usize, action: Action) -> bool {
        self.candidates(at).iter().find(|c| c.action == action).is_some_and(Candidate::is_covered)
    }

    /// Is any action of this strand, enabled in state `at`, in the backtrack set there, or asleep?
    pub(crate) fn covers_strand(&self, at: usize, strand: Strand) -> bool {
        self.candidates(at).iter().any(|c| c.strand == strand && c.is_covered())
    }

    /// Adds a strand to the backtrack set of state `at`.
    pub(crate) fn add(&mut self, at: usize, strand: Strand) {
        for place in self.range(at) {
            if self.candidates[place].strand == strand {
                self.choose(at, place);
            }
        }
    }

    /// Adds all enabled strands to the backtrack set of state `at`.
    pub(crate) fn add_all(&mut self, at: usize) {
        for place in self.range(at) {
            self.choose(at, place);
        }
    }

    /// Called when the execution is cut in the last state: adds all enabled strands to the
    /// backtrack sets of all earlier states.
    pub(crate) fn cut(&mut self) {
        let mut at = self.points.len() - 1;
        // If a state is marked as cut, all states before it are marked, too.
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

    /// Removes from the backtrack set of state `at` the strand that was added last. It must not
    /// have been explored yet.
    pub(crate) fn drop_last(&mut self, at: usize) {
        let point = &mut self.points[at];
        debug_assert!(point.queued > point.taken, "what was added last is explored");
        point.queued -= 1;
        let dropped = self.candidates[point.first + point.queued].queued as usize;
        self.candidates[dropped].is_chosen = false;
    }

    /// Sets the actions that should follow the action that was just added to state `at`.
    pub(crate) fn want(&mut self, at: usize, order: Vec<Action>) {
        let point = &self.points[at];
        let added = self.candidates[point.first + point.queued - 1].queued as usize;
        self.orders.insert(added, order);
    }

    /// The actions that should follow the action just taken, if they were set.
    pub(crate) fn wanted(&mut self) -> Option<Vec<Action>> {
        let point = self.points.last()?;
        self.orders.remove(&(self.candidates[point.first + point.taken - 1].queued as usize))
    }

    /// Takes the next action to explore from the last state: the one that was added first. From
    /// then on the state is no longer frozen.
    pub(crate) fn take(&mut self) -> Option<Action> {
        let point = self.points.last_mut().expect("a state");
        if point.taken == point.queued {
            return None;
        }
        let next = self.candidates[point.first + point.taken].queued as usize;
        point.taken += 1;
        point.is_frozen = false;
        Some(self.candidates[next].action)
    }

    /// The actions that are to be explored from state `at` and were not begun, in order, each with
    /// its place in the queue.
    fn waiting(&self, at: usize) -> impl Iterator<Item = (usize, &Candidate)> {
        let Point { first, queued, taken, .. } = self.points[at];
        let index = move |place: usize| self.candidates[first + place].queued as usize;
        (taken..queued).map(move |place| (place, &self.candidates[index(place)]))
    }

    /// The first action that is to be explored from state `at` and was neither begun nor given
    /// away, with its place in the queue; and the actions that will be explored before it.
    pub(crate) fn first_waiting(&self, at: usize) -> Option<(usize, Vec<Action>, Action)> {
        let (place, next) = self.waiting(at).find(|(_, candidate)| candidate.ticket.is_none())?;
        let before = self.waiting(at).take_while(|&(other, _)| other < place);
        Some((place, before.map(|(_, candidate)| candidate.action).collect(), next.action))
    }

    /// Notes that the action at this place of the queue of state `at` was given away.
    pub(crate) fn give(&mut self, at: usize, place: usize, ticket: Ticket) {
        let index = self.candidates[self.points[at].first + place].queued as usize;
        self.candidates[index].ticket = Some(ticket);
    }

    /// If the action that was taken last from the last state was given away: the name of what was
    /// given.
    pub(crate) fn given(&self) -> Option<Ticket> {
        let Point { first, taken, .. } = *self.points.last()?;
        let index = self.candidates[first + taken.checked_sub(1)?].queued as usize;
        self.candidates[index].ticket
    }

    /// Is the backtrack set of state `at` frozen, so that nothing is added to it for now?
    pub(crate) fn is_frozen(&self, at: usize) -> bool {
        self.points[at].is_frozen
    }

    /// Freezes the backtrack set of state `at`: nothing is added to it until the next action from
    /// there is taken.
    pub(crate) fn freeze(&mut self, at: usize) {
        self.points[at].is_frozen = true;
    }
}
