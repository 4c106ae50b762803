//! Coordinates a search by workers that may die: assigns pieces and collects results.
//!
//! The workers are threads of this process (`threads`), or run on other machines. They send
//! [`Report`]s, and get pieces of the search. A worker splits its piece again and again
//! ([`search`]), and each branch that it gives away can at once be assigned to another worker. A
//! piece is open until its result has arrived. So if a worker is lost, its piece is assigned to
//! another worker, which splits it at the same places: the branches that it gives away are known
//! already, or done.
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

use serde::{Deserialize, Serialize};

use super::joined::add_to;
use super::part::{Done, Part};
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::explorer::{Explorer, explore_branch};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, Stats};
use crate::explore::tree::{Branch, Splitter};
use crate::model::System;

/// What a worker reports about its piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The figures of its search so far.
    Beat(Stats),
    /// It gives a branch away, which becomes the piece at this place.
    Given(Place, Branch),
    /// The piece at this place is done: the number of branches that it has given away, and its
    /// result.
    Done(Place, u32, Outcome),
}

/// The number of a worker.
pub type Worker = u32;

/// The state of a search by several workers.
#[derive(Debug)]
pub struct Crew {
    part: Part,
    /// Of similar violations, is the shortest kept?
    shortest: bool,
    /// The workers that have a piece, with their figures so far.
    busy: BTreeMap<Worker, (Place, Stats)>,
}

impl Crew {
    /// Begins or continues the search that is recorded in `part`, with this budget. No worker has a
    /// piece yet.
    pub fn new(part: Part, budget: &Budget) -> Crew {
        Crew { part, shortest: budget.shortest, busy: BTreeMap::new() }
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
    pub fn give(&mut self, worker: Worker) -> Option<(Place, Branch)> {
        self.lose(worker);
        let is_taken = |place: &Place| self.busy.values().any(|(taken, _)| taken == place);
        let (place, branch) = self.part.left().find(|(place, _)| !is_taken(place))?;
        let (place, branch) = (place.clone(), branch.clone());
        self.busy.insert(worker, (place.clone(), Stats::default()));
        Some((place, branch))
    }

    /// Processes a report of a worker.
    pub fn hear(&mut self, worker: Worker, report: Report) {
        let Some((place, stats)) = self.busy.get_mut(&worker) else { return };
        match report {
            Report::Beat(now) => *stats = now,
            Report::Given(child, branch) if child.is_given_by(place) => {
                if !self.part.done.contains_key(&child) {
                    self.part.open.insert(child, branch);
                }
            }
            Report::Done(done, given, outcome) if done == *place => {
                self.busy.remove(&worker);
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
            done.insert(place.clone(), Done { branch, given: places.collect(), outcome });
            self.part.join_the_first(self.shortest);
        }
    }

    /// Records that a worker is lost: its piece is open again.
    pub fn lose(&mut self, worker: Worker) {
        self.busy.remove(&worker);
    }

    /// Has the worker a piece?
    pub(super) fn is_busy(&self, worker: Worker) -> bool {
        self.busy.contains_key(&worker)
    }

    /// Does the result still depend on the piece of this worker? True for a worker without a piece.
    pub(crate) fn is_needed(&self, worker: Worker) -> bool {
        let (Some((place, _)), Some(last)) = (self.busy.get(&worker), self.part.last()) else {
            return true;
        };
        place < last
    }

    /// Are all pieces done on which the result depends?
    pub fn is_over(&self) -> bool {
        self.part.left().next().is_none()
    }

    /// The figures so far.
    pub(crate) fn stats(&self) -> Stats {
        let mut all = None;
        let done = self.part.done.values().map(|done| &done.outcome.stats);
        done.chain(self.busy.values().map(|(_, stats)| stats)).for_each(|s| add_to(&mut all, s));
        all.unwrap_or_default()
    }
}

/// The numbers of transitions after which a search is split.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Transitions before the first split.
    pub(crate) first: NonZeroU64,
    /// Transitions between later splits.
    pub(crate) grain: NonZeroU64,
}

impl Pace {
    /// The same number of transitions before every split.
    pub fn even(grain: NonZeroU64) -> Pace {
        Pace { first: grain, grain }
    }
}

/// A piece makes at least this many transitions between splits for each action of its prefix, so
/// that replaying prefixes costs little of the work.
const TRANSITIONS_PER_PREFIX_ACTION: u64 = 8;

/// The work of a worker: searches a piece, splits it, and calls `tell` with reports. Returns `None`
/// when the piece is done. If the budget is cancelled, or if the branch is not one of this search,
/// the piece is not done, and the result so far is returned.
pub fn search<S: System, E: Explorer>(
    (system, explorer): (&S, E),
    (place, branch): (Place, &Branch),
    pace: Pace,
    budget: Budget,
    tell: &mut dyn FnMut(Report),
) -> Option<Outcome> {
    let tell = RefCell::new(tell);
    let grain = pace.grain.get().max(TRANSITIONS_PER_PREFIX_ACTION * branch.prefix.len() as u64);
    let (of, left) = (place.clone(), grain.max(pace.first.get()));
    let mut regular = RegularSplitter { place: of, grain, left, given: 0, tell: &tell };
    let mut beat = ProgressReporter { tell: &tell };
    let outcome = explore_branch(system, explorer, branch, &mut regular, budget, &mut beat);
    let (outcome, is_done) = outcome.of_piece(&place);
    if !is_done {
        return Some(outcome);
    }
    tell.borrow_mut()(Report::Done(place, regular.given, outcome));
    None
}

/// The callback for reports. The splitter and the observer share it.
type Tell<'f> = RefCell<&'f mut dyn FnMut(Report)>;

/// Gives a branch away after every `grain` transitions.
struct RegularSplitter<'t, 'f> {
    place: Place,
    grain: u64,
    left: u64,
    given: u32,
    tell: &'t Tell<'f>,
}

impl Splitter for RegularSplitter<'_, '_> {
    fn wants_branch(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.grain;
        true
    }

    fn take(&mut self, branch: Branch) {
        let place = self.place.given(self.given);
        self.given += 1;
        self.tell.borrow_mut()(Report::Given(place, branch));
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
