//! A part of a search: the pieces of it that are done, each with its result, and those that are left to do, each as a
//! [`Branch`]. It can be written down and read again, so the parts of one search can be in many files, on many machines.
//!
//! ```text
//!   the whole search      open: /
//!   cut                   done: /, /0, /1     open: /3, /2, /1/1, /1/0, /0/1, /0/0
//!   dealt out             open: /3, /0/0      open: /2, /0/1      open: /1/1, /1/0
//!   ... and gone on with  done: /3, /0/0      done: /2, /0/1      done: /1/1, /1/0
//!   joined                done: all of them
//! ```
//!
//! **Invariant.** Everything that a piece has given away is in the part that has its result, done or open. So a piece that
//! is open somewhere and done nowhere is all that can be missing when parts are joined. Whoever explores a piece writes down
//! its result and what it has given away at once. If the work is lost before that, the piece is open as before.
//!
//! **The result** of a part is that of its pieces in order ([`Place`]) up to the first one that ends the search. What comes
//! after that one need not be done.
//!
//! A piece can be ended early and nothing is lost: it goes on to the end of its execution only, and gives away all that is left
//! to do along it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::explorer::{Explorer, explore_branch};
use super::joined::{Joined, add_to};
use super::observer::Observer;
use super::place::Place;
use super::result::{Outcome, Stats, StopReason};
use super::tree::{Branch, Splitter};
use crate::model::{Locals, Refusal, Schedule, System};

/// A part of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// The results of the pieces that are done.
    pub done: BTreeMap<Place, Outcome>,
    /// The pieces that are left to do.
    pub open: BTreeMap<Place, Branch>,
}

/// Two parts do not belong together: they differ in what is at this place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement(pub Place);

impl Part {
    /// All of a search, nothing of it done.
    pub fn whole() -> Part {
        let open = BTreeMap::from([(Place::default(), Branch::default())]);
        Part { done: BTreeMap::new(), open }
    }

    /// The first piece that ends the search, if one does.
    pub(super) fn last(&self) -> Option<&Place> {
        let ends = |outcome: &Outcome| outcome.stopped_by.is_some_and(StopReason::ends_all);
        self.done.iter().find(|(_, outcome)| ends(outcome)).map(|(place, _)| place)
    }

    /// The pieces that are left to do, as far as the result depends on them.
    pub fn missing(&self) -> impl Iterator<Item = (&Place, &Branch)> {
        let last = self.last();
        self.open.iter().take_while(move |&(place, _)| last.is_none_or(|last| place < last))
    }

    /// The first of them.
    fn next(&self) -> Option<(Place, Branch)> {
        self.missing().next().map(|(place, branch)| (place.clone(), branch.clone()))
    }

    /// Does it have the result of the piece that the search begins with, or is that piece left to do? Only then it can be the
    /// whole search.
    pub fn has_beginning(&self) -> bool {
        let first = Place::default();
        self.done.contains_key(&first) || self.open.contains_key(&first)
    }

    /// The result of all that is done. Its time is that of all pieces together. `budget` is the one of the search.
    pub fn outcome(&self, budget: &Budget) -> Outcome {
        let mut joined = Joined::new(budget.shortest);
        let mut elapsed = Duration::ZERO;
        let last = self.last();
        for (place, outcome) in &self.done {
            elapsed += outcome.elapsed;
            if last.is_none_or(|last| place <= last) {
                joined.add(outcome.clone());
            }
        }
        let mut all = Outcome { elapsed, ..joined.outcome() };
        if self.missing().next().is_some() {
            all.stopped_by = Some(StopReason::Missing);
        }
        all
    }

    /// Joins the results from the beginning of the search up to where something is left to do, to the result of the piece that it
    /// begins with. So a long search has few results.
    pub(super) fn join_the_first(&mut self, shortest: bool) {
        let first = Place::default();
        let end = self.open.keys().next();
        let is_before = |place: &Place| end.is_none_or(|end| place < end);
        if end == Some(&first) || !self.done.keys().nth(1).is_some_and(is_before) {
            return;
        }
        let mut joined = Joined::new(shortest);
        let mut elapsed = Duration::ZERO;
        let mut ended = false;
        while let Some(entry) = self.done.first_entry()
            && is_before(entry.key())
        {
            let outcome = entry.remove();
            elapsed += outcome.elapsed;
            if !ended {
                ended = outcome.stopped_by.is_some_and(StopReason::ends_all);
                joined.add(outcome);
            }
        }
        self.done.insert(first, Outcome { elapsed, ..joined.piece() });
    }

    /// Adds another part of the same search. What is done in one of them is left to do in neither.
    ///
    /// # Errors
    /// If the parts are not of one search, or a piece was done twice in different ways: cut at different places.
    pub fn join(&mut self, other: Part) -> Result<(), Disagreement> {
        for (place, outcome) in other.done {
            let known = self.done.entry(place);
            if let Entry::Occupied(known) = &known
                && !is_same(known.get(), &outcome)
            {
                return Err(Disagreement(known.key().clone()));
            }
            known.or_insert(outcome);
        }
        for (place, branch) in other.open {
            match self.open.get(&place) {
                Some(known) if *known != branch => return Err(Disagreement(place)),
                _ => self.open.insert(place, branch),
            };
        }
        let done = &self.done;
        self.open.retain(|place, _| !done.contains_key(place));
        Ok(())
    }

    /// Why its branches are none of this system; `None` if they are.
    pub fn refusal<S: System>(&self, system: &S) -> Option<Refusal> {
        self.open.values().find_map(|branch| branch.refusal(system))
    }

    /// Explores what is left to do, in order, until a piece ends the search, or until `is_over` says so: it is asked now and then.
    /// Then the piece under way ends early.
    /// The limits of the budget are for all of it; a piece that they end is left to do.
    ///
    /// # Panics
    /// If the explorer cannot be split, or the branches are not of this system ([`Part::refusal`]).
    pub fn go_on<S: System, E: Explorer>(
        &mut self,
        (system, explorer): (&S, E),
        budget: &Budget,
        is_over: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) {
        let start = Instant::now();
        while let Some((place, branch)) = self.next()
            && !is_over()
        {
            let timeout = budget.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let budget = Budget { timeout, ..budget.clone() };
            let (given, until) = (Vec::new(), LOOK);
            let mut early = Early { place: place.clone(), given, until, is_over: &mut *is_over };
            let search = (system, explorer);
            if self.explore(search, (&place, &branch), &budget, &mut early, observer) {
                self.open.extend(early.given);
            } else {
                return;
            }
        }
    }

    /// Explores a piece that is left to do. Is it done then? Whatever it gives away is added by the caller.
    pub(super) fn explore<S: System, E: Explorer>(
        &mut self,
        (system, explorer): (&S, E),
        (place, branch): (&Place, &Branch),
        budget: &Budget,
        splitter: &mut dyn Splitter,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut sum = Sum { done: &self.done, observer };
        let budget = budget.clone();
        let outcome = explore_branch(system, explorer, branch, splitter, budget, &mut sum);
        let Some(outcome) = outcome.of_piece(place) else { return false };
        self.open.remove(place);
        self.done.insert(place.clone(), outcome);
        true
    }
}

impl Outcome {
    /// It is the result of the piece at this place; `None` if the piece is not done, because a limit or a signal ended it.
    pub(super) fn of_piece(mut self, place: &Place) -> Option<Outcome> {
        if !place.is_first() {
            self.stats.forget_idle();
        }
        Some(self).filter(|outcome| !outcome.stopped_by.is_some_and(StopReason::is_external))
    }
}

/// Are two results the same, but for the time that they took?
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    (&one.stats, &one.violations, &one.leaks, one.stopped_by)
        == (&other.stats, &other.violations, &other.leaks, other.stopped_by)
}

impl Branch {
    /// Why it is no branch of this system; `None` if it is one.
    pub fn refusal<S: System>(&self, system: &S) -> Option<Refusal> {
        let mut locals = Locals::new(system);
        let state = match self.prefix.replay(&mut locals) {
            Ok(state) => state,
            Err(refusal) => return Some(refusal),
        };
        let is_stray = |&action: &_| state.action_named(&locals, action).is_none();
        self.elsewhere.iter().copied().find(is_stray).map(|action| Refusal {
            step: self.prefix.len() + 1,
            why: format!("{} is not enabled", Schedule::from(vec![action])),
        })
    }
}

/// Transitions between two looks whether a piece is to end.
const LOOK: u32 = 1 << 10;

/// Ends a piece early: gives away everything from then on.
struct Early<'e> {
    place: Place,
    given: Vec<(Place, Branch)>,
    /// Transitions until the next look; 0 when it is over.
    until: u32,
    is_over: &'e mut dyn FnMut() -> bool,
}

impl Splitter for Early<'_> {
    fn wants_branch(&mut self) -> bool {
        self.until = self.until.saturating_sub(1);
        if self.until == 0 && self.given.is_empty() && !(self.is_over)() {
            self.until = LOOK;
        }
        self.until == 0
    }

    fn take(&mut self, branch: Branch) {
        let place = self.place.given(self.given.len() as u32);
        self.given.push((place, branch));
    }
}

/// Tells of the pieces done before as well.
struct Sum<'o> {
    done: &'o BTreeMap<Place, Outcome>,
    observer: &'o mut dyn Observer,
}

impl Observer for Sum<'_> {
    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let mut all = Some(stats.clone());
        self.done.values().for_each(|outcome| add_to(&mut all, &outcome.stats));
        self.observer.progress(&all.unwrap_or_default(), elapsed);
    }
}
