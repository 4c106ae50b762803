//! Coordinates a search by workers that may die: assigns pieces and collects results.
//!
//! The workers are threads of this process (`threads`), or run on other machines. They send
//! [`Report`]s, and get pieces of the search. A worker splits its piece again and again
//! ([`search`]), and each branch that it gives away can at once be assigned to another worker. A
//! piece is open until its result has arrived. So if a worker is lost, its piece is assigned to
//! another worker, which is told where it was split, and splits it at the same places: the branches
//! that it gives away are known already, or done.
//!
//! [`Crew::settled`] is a checkpoint, with which the search can continue at another time. Then
//! other workers may split pieces at other places. So the checkpoint excludes branches that an
//! unfinished piece has given away. Little is lost: a piece always gives away the open work nearest
//! to its beginning, so it ends after at most one branch for each step of an execution.
//!
//! A worker that does not report may be dead or only slow. Once it is lost, its reports are ignored
//! until it asks for work again. So no branch can arrive late from a piece that has been joined to
//! the pieces before it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::Duration;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::joined::add_to;
use super::part::{Done, Part};
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::explorer::{Explorer, explore_branch};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, Stats, StopReason};
use crate::explore::tree::{Branch, Splitter};
use crate::model::System;

/// What a worker reports about its piece.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub enum Report {
    /// The figures of its search so far.
    Beat(Stats),
    /// After so many steps it gives a branch away, which becomes the piece at this place.
    Given(Place, Branch, u64),
    /// The piece at this place is done: the number of branches that it has given away, and its
    /// result.
    Done(Place, u32, Outcome),
}

/// The number of a worker.
pub type Worker = u32;

/// A piece that is assigned to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Assignment {
    /// Its place.
    pub place: Place,
    /// Its branch.
    pub branch: Branch,
    /// The steps after which another worker, which is lost, has split it.
    pub splits: Vec<u64>,
}

/// The state of a search by several workers.
#[derive(Debug)]
pub struct Crew {
    part: Part,
    /// Of similar violations, is the shortest kept?
    shortest: bool,
    /// The workers that have a piece, with their figures so far.
    busy: BTreeMap<Worker, (Place, Stats)>,
    /// The open pieces that no worker has. There may be thousands of both pieces and workers, so
    /// they are not searched for.
    free: BTreeSet<Place>,
    /// The first finished piece that ends the search, if one does ([`Part::last`]).
    last: Option<Place>,
    /// For each open piece, after how many of its steps each branch was given away.
    splits: BTreeMap<Place, Vec<u64>>,
}

impl Crew {
    /// Begins or continues the search that is recorded in `part`, with this budget. No worker has a
    /// piece yet.
    pub fn new(part: Part, budget: &Budget) -> Crew {
        let (free, last) = (part.open.keys().cloned().collect(), part.last().cloned());
        Crew {
            part,
            shortest: budget.shortest,
            busy: BTreeMap::new(),
            free,
            last,
            splits: BTreeMap::new(),
        }
    }

    /// A checkpoint of the search. It excludes the subtrees of unfinished pieces, which will be
    /// given away again.
    pub fn settled(&self) -> Part {
        let Part { done, open } = &self.part;
        let is_under = |place: &Place| place.ancestors().any(|above| open.contains_key(&above));
        let mut settled = Part { done: done.clone(), open: open.clone() };
        settled.done.retain(|place, _| !is_under(place));
        settled.open.retain(|place, _| !is_under(place));
        settled
    }

    /// All finished and open pieces. The pieces in `unfinished`, which ended early, count as done
    /// with these results.
    pub(super) fn with_unfinished(self, unfinished: BTreeMap<Place, Outcome>) -> Part {
        let mut part = self.part;
        for (place, outcome) in unfinished {
            let branch = part.open.remove(&place).unwrap_or_default();
            part.done.insert(place, Done { branch, given: BTreeSet::new(), outcome });
        }
        part
    }

    /// Assigns the first open piece that no worker has; `None` if there is none at the moment. A
    /// piece that the worker had before is open again.
    pub fn give(&mut self, worker: Worker) -> Option<Assignment> {
        self.lose(worker);
        let place = self.free.first().filter(|place| self.is_before_last(place))?.clone();
        self.free.remove(&place);
        let branch = self.part.open.get(&place).expect("it is open").clone();
        self.busy.insert(worker, (place.clone(), Stats::default()));
        let splits = self.splits.get(&place).cloned().unwrap_or_default();
        Some(Assignment { place, branch, splits })
    }

    /// Processes a report of a worker.
    pub fn hear(&mut self, worker: Worker, report: Report) {
        let Some((place, stats)) = self.busy.get_mut(&worker) else { return };
        match report {
            Report::Beat(now) => *stats = now,
            Report::Given(child, branch, step) if child.is_given_by(place) => {
                let splits = self.splits.entry(place.clone()).or_default();
                // It is known if another worker has had the piece. And if a branch has not arrived,
                // those after it do not count.
                if child == place.given(splits.len() as u32) {
                    splits.push(step);
                    let Part { done, open } = &mut self.part;
                    if !done.contains_key(&child) && open.insert(child.clone(), branch).is_none() {
                        self.free.insert(child);
                    }
                }
            }
            Report::Done(done, given, outcome) if done == *place => {
                self.lose(worker);
                self.finish(done, given, outcome);
            }
            // It concerns a piece that the worker had before it was lost.
            Report::Given(..) | Report::Done(..) => {}
        }
    }

    /// Records that the piece at `place` is done. If a branch that it gave away has not arrived,
    /// the piece stays open.
    fn finish(&mut self, place: Place, given: u32, outcome: Outcome) {
        let Part { done, open } = &mut self.part;
        let has_come = |given: &Place| done.contains_key(given) || open.contains_key(given);
        let places = (0..given).map(|number| place.given(number));
        if places.clone().all(|place| has_come(&place))
            && let Some(branch) = open.remove(&place)
        {
            self.free.remove(&place);
            self.splits.remove(&place);
            if outcome.stopped_by.is_some_and(StopReason::ends_all)
                && self.last.as_ref().is_none_or(|last| place < *last)
            {
                self.last = Some(place.clone());
            }
            done.insert(place.clone(), Done { branch, given: places.collect(), outcome });
            self.part.join_the_first(self.shortest);
        }
    }

    /// Records that a worker is lost: its piece is open again.
    pub fn lose(&mut self, worker: Worker) {
        if let Some((place, _)) = self.busy.remove(&worker)
            && self.part.open.contains_key(&place)
        {
            self.free.insert(place);
        }
    }

    /// The number of open pieces that no worker has.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Has the worker a piece?
    pub(super) fn is_busy(&self, worker: Worker) -> bool {
        self.busy.contains_key(&worker)
    }

    /// Does the result still depend on the piece of this worker? True for a worker without a piece.
    pub(crate) fn is_needed(&self, worker: Worker) -> bool {
        self.busy.get(&worker).is_none_or(|(place, _)| self.is_before_last(place))
    }

    /// Does the result depend on the piece at this place?
    fn is_before_last(&self, place: &Place) -> bool {
        self.last.as_ref().is_none_or(|last| place < last)
    }

    /// Are all pieces done on which the result depends?
    pub fn is_over(&self) -> bool {
        !self.part.open.keys().next().is_some_and(|place| self.is_before_last(place))
    }

    /// The figures so far.
    pub(crate) fn stats(&self) -> Stats {
        let mut all = None;
        let done = self.part.done.values().map(|done| &done.outcome.stats);
        done.chain(self.busy.values().map(|(_, stats)| stats)).for_each(|s| add_to(&mut all, s));
        all.unwrap_or_default()
    }
}

/// How often a search can be split.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Transitions before the first split.
    pub(crate) first: NonZeroU64,
    /// Transitions between later splits.
    pub(crate) grain: NonZeroU64,
    /// Transitions between two looks at whether it is to be split before that.
    pub(crate) look: NonZeroU64,
}

impl Pace {
    /// The same number of transitions before every split.
    pub fn even(grain: NonZeroU64) -> Pace {
        Pace { first: grain, grain, look: grain }
    }
}

/// Is a search to be split now? The argument is the number of steps since it was split last: with 0
/// the question is whether it is to be split once more, after the next step.
pub type IsAsked<'a> = &'a mut dyn FnMut(u64) -> bool;

/// A piece makes at least this many transitions between splits for each action of its prefix, so
/// that replaying prefixes costs little of the work.
const TRANSITIONS_PER_PREFIX_ACTION: u64 = 8;

/// The work of a worker: searches a piece, splits it, and calls `tell` with reports. Where `pace`
/// allows a split, `is_asked` decides. Returns `None` when the piece is done. If the budget is
/// cancelled, or if the branch is not one of this search, the piece is not done, and the result so
/// far is returned.
pub fn search<S: System, E: Explorer>(
    (system, explorer): (&S, E),
    piece: &Assignment,
    (pace, is_asked): (Pace, IsAsked<'_>),
    budget: Budget,
    tell: &mut dyn FnMut(Report),
) -> Option<Outcome> {
    let Assignment { place, branch, splits } = piece;
    let tell = RefCell::new(tell);
    let grain = pace.grain.get().max(TRANSITIONS_PER_PREFIX_ACTION * branch.prefix.len() as u64);
    let mut splitter = PacedSplitter {
        place,
        known: splits,
        grain,
        look: pace.look.get(),
        step: 0,
        next: splits.first().copied().unwrap_or(grain.max(pace.first.get())),
        last: 0,
        given: 0,
        is_asked,
        tell: &tell,
    };
    let mut beat = ProgressReporter { tell: &tell };
    let outcome = explore_branch(system, explorer, branch, &mut splitter, budget, &mut beat);
    let (outcome, is_done) = outcome.of_piece(place);
    if !is_done {
        return Some(outcome);
    }
    tell.borrow_mut()(Report::Done(place.clone(), splitter.given, outcome));
    None
}

/// The callback for reports. The splitter and the observer share it.
type Tell<'f> = RefCell<&'f mut dyn FnMut(Report)>;

/// Gives a branch away where the piece was split before, and then where it is asked to.
struct PacedSplitter<'t, 'f> {
    place: &'t Place,
    /// The steps after which it was split before.
    known: &'t [u64],
    grain: u64,
    look: u64,
    /// The number of steps so far.
    step: u64,
    /// The step after which it may be split next, and that after which it was split last.
    next: u64,
    last: u64,
    given: u32,
    is_asked: IsAsked<'t>,
    tell: &'t Tell<'f>,
}

impl Splitter for PacedSplitter<'_, '_> {
    fn wants_branch(&mut self) -> bool {
        self.step += 1;
        if self.step < self.next {
            let looks = self.look < self.grain && self.step.is_multiple_of(self.look);
            return looks && self.known.len() <= self.given as usize && (self.is_asked)(0);
        }
        self.next = self.step + self.grain;
        self.known.len() > self.given as usize || (self.is_asked)(self.step - self.last)
    }

    fn take(&mut self, branch: Branch) {
        let place = self.place.given(self.given);
        self.given += 1;
        self.last = self.step;
        self.tell.borrow_mut()(Report::Given(place, branch, self.step));
        match self.known.get(self.given as usize) {
            Some(&next) => self.next = next,
            None if (self.is_asked)(0) => self.next = self.step + 1,
            None => {}
        }
    }
}

struct ProgressReporter<'t, 'f> {
    tell: &'t Tell<'f>,
}

impl Observer for ProgressReporter<'_, '_> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        self.tell.borrow_mut()(Report::Beat(stats.clone()));
    }
}
