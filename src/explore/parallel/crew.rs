//! A search by workers that may die: who does what.
//!
//! The workers may be threads here (`threads`), or on other machines. They say what they have done
//! in [`Report`]s, and are given pieces of the search here. A worker cuts its piece again and again
//! ([`search`]), and each branch that it gives away can at once be given to another. A piece is
//! left to do until its result is here. So when a worker is lost, its piece is given to another,
//! who cuts it at the same places: what it gives away then is here already, or done.
//!
//! [`Crew::settled`] is all that is needed to go on at another time, with other workers, which may
//! cut pieces elsewhere. So it leaves out what pieces have given away that are not done. That is
//! not much: a piece gives away what is left to do nearest to where it began, so it is done when it
//! has done that once for each step of an execution.
//!
//! Nobody knows whether one who is silent is dead. Whoever has been lost is not listened to until
//! it asks for work again. So no branch comes back of a piece that has been joined to those before
//! it.

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

/// What a worker says of the piece that it searches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// How far it is.
    Beat(Stats),
    /// It gives this away.
    Given(Place, Branch),
    /// It is done, and has given away so many.
    Done(Place, u32, Outcome),
}

/// The number of a worker.
pub type Worker = u32;

/// The search and its workers.
#[derive(Debug)]
pub struct Crew {
    part: Part,
    /// Of similar violations, is the shortest kept?
    shortest: bool,
    /// Those who search a piece, and how far they are.
    busy: BTreeMap<Worker, (Place, Stats)>,
}

impl Crew {
    /// Nobody works yet on what is left to do in `part`, which is a whole search with this budget.
    pub fn new(part: Part, budget: &Budget) -> Crew {
        Crew { part, shortest: budget.shortest, busy: BTreeMap::new() }
    }

    /// What is done, and what is left to do. Nothing in it was given away by a piece that is left
    /// to do.
    pub fn settled(&self) -> Part {
        let Part { done, open } = &self.part;
        let is_under = |place: &Place| place.ancestors().any(|above| open.contains_key(&above));
        let mut settled = Part { done: done.clone(), open: open.clone() };
        settled.done.retain(|place, _| !is_under(place));
        settled.open.retain(|place, _| !is_under(place));
        settled
    }

    /// All that is done, and left to do; and as done, with what was found there, the pieces that
    /// are done only in part.
    pub(super) fn with_unfinished(self, unfinished: BTreeMap<Place, Outcome>) -> Part {
        let mut part = self.part;
        for (place, outcome) in unfinished {
            let branch = part.open.remove(&place).unwrap_or_default();
            part.done.insert(place, Done { branch, given: BTreeSet::new(), outcome });
        }
        part
    }

    /// The first piece that nobody works on, for a worker that has nothing to do; `None` if there
    /// is none at the moment.
    pub fn give(&mut self, worker: Worker) -> Option<(Place, Branch)> {
        self.lose(worker);
        let is_taken = |place: &Place| self.busy.values().any(|(taken, _)| taken == place);
        let (place, branch) = self.part.left().find(|(place, _)| !is_taken(place))?;
        let (place, branch) = (place.clone(), branch.clone());
        self.busy.insert(worker, (place.clone(), Stats::default()));
        Some((place, branch))
    }

    /// Notes what a worker says.
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
            // Of a piece that it searched before it was lost.
            Report::Given(..) | Report::Done(..) => {}
        }
    }

    /// Notes that the piece at `place` is done, unless something that it gave away has not come
    /// here: then it is left to do.
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

    /// A worker does not work any more: its piece is left to do.
    pub fn lose(&mut self, worker: Worker) {
        self.busy.remove(&worker);
    }

    /// Is the piece that it searches still needed?
    pub fn is_needed(&self, worker: Worker) -> bool {
        let (Some((place, _)), Some(last)) = (self.busy.get(&worker), self.part.last()) else {
            return true;
        };
        place < last
    }

    /// Is everything done?
    pub fn is_over(&self) -> bool {
        self.part.left().next().is_none()
    }

    /// The figures so far.
    pub fn stats(&self) -> Stats {
        let mut all = None;
        let done = self.part.done.values().map(|done| &done.outcome.stats);
        done.chain(self.busy.values().map(|(_, stats)| stats)).for_each(|s| add_to(&mut all, s));
        all.unwrap_or_default()
    }
}

/// When a piece is cut.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// After so many transitions for the first time.
    pub first: NonZeroU64,
    /// And again after so many more.
    pub grain: NonZeroU64,
}

impl Pace {
    /// Always after so many transitions.
    pub fn even(grain: NonZeroU64) -> Pace {
        Pace { first: grain, grain }
    }
}

/// A piece is cut after so many transitions for each action of its prefix, if that is more: going
/// along the prefix is to cost little of the work.
const FOR_EACH: u64 = 8;

/// The part of a worker: searches a piece, and cuts it. It ends when the budget is cancelled, or
/// when the branch turns out not to be one of this search. Then it is not done, and what was found
/// until then is returned.
pub fn search<S: System, E: Explorer>(
    (system, explorer): (&S, E),
    (place, branch): (Place, &Branch),
    pace: Pace,
    budget: Budget,
    tell: &mut dyn FnMut(Report),
) -> Option<Outcome> {
    let tell = RefCell::new(tell);
    let grain = pace.grain.get().max(FOR_EACH * branch.prefix.len() as u64);
    let (of, left) = (place.clone(), grain.max(pace.first.get()));
    let mut regular = Regular { place: of, grain, left, given: 0, tell: &tell };
    let mut beat = Beating { tell: &tell };
    let outcome = explore_branch(system, explorer, branch, &mut regular, budget, &mut beat);
    let (outcome, is_done) = outcome.of_piece(&place);
    if !is_done {
        return Some(outcome);
    }
    tell.borrow_mut()(Report::Done(place, regular.given, outcome));
    None
}

/// What is called with reports, by the one who cuts and the one who counts.
type Tell<'f> = RefCell<&'f mut dyn FnMut(Report)>;

/// Gives a branch away after each so many transitions.
struct Regular<'t, 'f> {
    place: Place,
    grain: u64,
    left: u64,
    given: u32,
    tell: &'t Tell<'f>,
}

impl Splitter for Regular<'_, '_> {
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

struct Beating<'t, 'f> {
    tell: &'t Tell<'f>,
}

impl Observer for Beating<'_, '_> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        self.tell.borrow_mut()(Report::Beat(stats.clone()));
    }
}
