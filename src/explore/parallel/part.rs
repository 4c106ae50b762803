//! A part of a search, as a checkpoint: its finished pieces, each with its result, and its open
//! pieces, each as a [`Branch`]. It can be serialised, so the parts of one search can be in many
//! files, on many machines.
//!
//! ```text
//!   the whole search      open: /
//!   cut                   done: /, /0, /1     open: /3, /2, /1/1, /1/0, /0/1, /0/0
//!   dealt out             open: /3, /0/0      open: /2, /0/1      open: /1/1, /1/0
//!   ... and explored      done: /3, /0/0      done: /2, /0/1      done: /1/1, /1/0
//!   joined                done: all of them
//! ```
//!
//! **Invariant.** If a part has the result of a piece, it also has all branches that this piece has
//! given away, done or open. The result of a piece and the branches that it has given away are
//! recorded together. If the work is lost before that, the piece is open as before.
//!
//! **Coverage.** Parts may come from files, so the invariant is checked. Each result names the
//! branch that was explored, and the places of all pieces that were given away there ([`Done`]).
//! Joined parts are the whole search if the first piece is done, and, recursively, every piece that
//! a finished piece gave away. A piece that was given away and is in no part is missing
//! ([`Part::missing`]). A piece that no piece gave away is a stray ([`Part::stray`]). If a piece is
//! two different branches in two parts, the parts are not of one search ([`Disagreement`]).
//!
//! **The result** of a part combines its finished pieces in order ([`Place`]), up to the first one
//! that ends the search. Later pieces need not be done.
//!
//! A piece can be ended early without loss: it completes only its current execution, and gives away
//! all open work along it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::joined::{Joined, add_to};
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::explorer::{Explorer, explore_branch};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, Stats, StopReason};
use crate::explore::tree::{Branch, Splitter};
use crate::model::{Action, Locals, Refusal, Schedule, System};

/// A part of a search.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Part {
    /// The finished pieces.
    pub done: BTreeMap<Place, Done>,
    /// The open pieces.
    pub open: BTreeMap<Place, Branch>,
}

/// A finished piece; or several, from the beginning of the search on, joined to one.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Done {
    /// The branch that was explored.
    pub branch: Branch,
    /// The places of the pieces that it gave away.
    pub given: BTreeSet<Place>,
    /// Its result.
    pub(crate) outcome: Outcome,
}

/// When and how the state of a search is saved.
pub struct Saving<'s> {
    /// The time between two calls of `save`.
    pub interval: Duration,
    /// Saves the state. Also called when the search ends, for whatever reason.
    pub save: &'s mut dyn FnMut(&Part),
}

/// Two parts are not of one search: they differ in the piece at this place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement(pub Place);

/// The open piece at this place is not a branch of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    pub(crate) place: Place,
    /// What is wrong with the branch.
    pub(crate) why: String,
}

impl Stray {
    /// The explorer with this name refuses the piece at this place.
    pub(super) fn of(name: &str, place: Place) -> Stray {
        Stray { place, why: format!("`{name}` never gives such a branch away") }
    }
}

impl Display for Stray {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "branch {} is not one of this search: {}", self.place, self.why)
    }
}

impl Error for Stray {}

impl Part {
    /// A whole search of which nothing is done.
    pub fn whole() -> Part {
        let open = BTreeMap::from([(Place::default(), Branch::default())]);
        Part { done: BTreeMap::new(), open }
    }

    /// The first piece that ends the search, if one does.
    pub(super) fn last(&self) -> Option<&Place> {
        self.done.iter().find(|(_, done)| done.ends_all()).map(|(place, _)| place)
    }

    /// The open pieces on which the result depends, in order.
    pub fn left(&self) -> impl Iterator<Item = (&Place, &Branch)> {
        let last = self.last();
        self.open.iter().take_while(move |&(place, _)| last.is_none_or(|last| place < last))
    }

    /// The first open piece.
    pub(super) fn next(&self) -> Option<(Place, Branch)> {
        self.left().next().map(|(place, branch)| (place.clone(), branch.clone()))
    }

    /// The places of all unfinished pieces on which the result depends. A place among them that is
    /// not [open](Part::left) here is lost: some piece gave it away, and no part has it.
    pub fn missing(&self) -> BTreeSet<&Place> {
        let last = self.last();
        self.undone().filter(|place| last.is_none_or(|last| *place < last)).collect()
    }

    /// The places of all known pieces that are not done.
    fn undone(&self) -> impl Iterator<Item = &Place> {
        let given = self.done.values().flat_map(|done| &done.given);
        given.chain(self.open.keys()).filter(|place| !self.done.contains_key(*place))
    }

    /// A piece that does not belong to the search, if there is one: the piece that should have
    /// given it away is done, and has not.
    pub fn stray(&self) -> Option<&Place> {
        let given: BTreeSet<_> = self.done.values().flat_map(|done| &done.given).collect();
        let undone: BTreeSet<_> = self.undone().collect();
        let is_stray = |place: &&Place| {
            !place.is_first()
                && !given.contains(place)
                && !place.ancestors().any(|above| undone.contains(&above))
        };
        self.done.keys().chain(self.open.keys()).find(is_stray)
    }

    /// Is the first piece of the search done or open in this part? Only such a part can be the
    /// whole search.
    pub fn has_beginning(&self) -> bool {
        let first = Place::default();
        self.done.contains_key(&first) || self.open.contains_key(&first)
    }

    /// The combined result of the finished pieces. `elapsed` is the sum of their times. `budget` is
    /// the budget of the search.
    pub fn outcome(&self, budget: &Budget) -> Outcome {
        self.clone().into_outcome(budget)
    }

    /// The combined result of the finished pieces, as [`outcome`](Part::outcome) returns it,
    /// without a copy.
    pub(super) fn into_outcome(self, budget: &Budget) -> Outcome {
        let mut joined = Joined::new(budget.shortest);
        let mut elapsed = Duration::ZERO;
        let (is_missing, last) = (!self.missing().is_empty(), self.last().cloned());
        for (place, Done { outcome, .. }) in self.done {
            elapsed = elapsed.saturating_add(outcome.elapsed);
            if last.as_ref().is_none_or(|last| place <= *last) {
                joined.add(outcome);
            }
        }
        let mut all = Outcome { elapsed, ..joined.outcome() };
        if is_missing {
            all.stopped_by = Some(StopReason::Missing);
        }
        all
    }

    /// Joins all finished pieces before the first open one to a single result, stored for the first
    /// piece. So a long search keeps few results. A part without the first piece stays as it is:
    /// what comes before its pieces is elsewhere.
    pub(super) fn join_the_first(&mut self, shortest: bool) {
        let first = Place::default();
        let end = self.open.keys().next();
        let is_before = |place: &Place| end.is_none_or(|end| place < end);
        if !self.done.contains_key(&first) || !self.done.keys().nth(1).is_some_and(is_before) {
            return;
        }
        let mut joined = Joined::new(shortest);
        let mut elapsed = Duration::ZERO;
        let mut ended = false;
        let (mut places, mut given) = (BTreeSet::new(), BTreeSet::new());
        while let Some(entry) = self.done.first_entry()
            && is_before(entry.key())
        {
            places.insert(entry.key().clone());
            let done = entry.remove();
            elapsed = elapsed.saturating_add(done.outcome.elapsed);
            given.extend(done.given);
            if !ended {
                ended = done.outcome.stopped_by.is_some_and(StopReason::ends_all);
                joined.add(done.outcome);
            }
        }
        given.retain(|place| !places.contains(place));
        let outcome = Outcome { elapsed, ..joined.piece() };
        self.done.insert(first, Done { branch: Branch::default(), given, outcome });
    }

    /// Adds another part of the same search. A piece that is done in one of them is not open
    /// afterwards.
    ///
    /// # Errors
    /// If the parts are not of one search, or if a piece was done twice with different results,
    /// because it was split at different places.
    pub fn join(&mut self, other: Part) -> Result<(), Disagreement> {
        for (place, done) in other.done {
            match self.done.get(&place) {
                Some(known) if !known.is_same(&done) => return Err(Disagreement(place)),
                Some(_) => {}
                None => drop(self.done.insert(place, done)),
            }
        }
        for (place, branch) in other.open {
            match self.open.get(&place) {
                Some(known) if *known != branch => return Err(Disagreement(place)),
                _ => self.open.insert(place, branch),
            };
        }
        let is_other = |(place, branch): &(&Place, &Branch)| {
            self.done.get(*place).is_some_and(|done| done.branch != **branch)
        };
        if let Some((place, _)) = self.open.iter().find(is_other) {
            return Err(Disagreement(place.clone()));
        }
        let done = &self.done;
        self.open.retain(|place, _| !done.contains_key(place));
        Ok(())
    }

    /// An open piece whose branch is not one of this system, if there is one. All branches are
    /// replayed. Some errors show only when the explorer runs.
    pub fn refusal<S: System>(&self, system: &S) -> Option<Stray> {
        self.open.iter().find_map(|(place, branch)| {
            let refusal = branch.refusal(system)?;
            Some(Stray { place: place.clone(), why: refusal.to_string() })
        })
    }

    /// Explores the open pieces in order, until one ends the search, or until `is_over`, which is
    /// called now and then, returns true. Then the current piece ends early. The limits of the
    /// budget are for all pieces together; a piece that they end stays open.
    ///
    /// # Errors
    /// If a branch is not one of this search.
    ///
    /// # Panics
    /// If the explorer cannot be split.
    pub fn go_on<S: System, E: Explorer>(
        &mut self,
        (system, explorer): (&S, E),
        budget: &Budget,
        is_over: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Stray> {
        self.refusal(system).map_or(Ok(()), Err)?;
        let start = Instant::now();
        while let Some((place, branch)) = self.next()
            && !is_over()
        {
            let timeout = budget.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let budget = Budget { timeout, ..budget.clone() };
            let (given, until) = (Vec::new(), CHECK_INTERVAL);
            let mut early = EarlyEnd { place: place.clone(), given, until, is_over: &mut *is_over };
            let search = (system, explorer);
            let unfinished =
                self.explore(search, (&place, &branch), &budget, &mut early, observer)?;
            if unfinished.is_some() {
                break;
            }
            let given = early.given;
            self.give(&place, given);
        }
        Ok(())
    }

    /// Records the branches that the finished piece at `place` has given away.
    pub(super) fn give(&mut self, place: &Place, given: Vec<(Place, Branch)>) {
        let done = self.done.get_mut(place).expect("it is done");
        done.given.extend(given.iter().map(|(place, _)| place.clone()));
        self.open.extend(given);
    }

    /// Explores an open piece. If it is done, the caller records the branches that it gave away
    /// ([`Part::give`]). If it is not, returns its result so far, and the piece stays open.
    pub(super) fn explore<S: System, E: Explorer>(
        &mut self,
        (system, explorer): (&S, E),
        (place, branch): (&Place, &Branch),
        budget: &Budget,
        splitter: &mut dyn Splitter,
        observer: &mut dyn Observer,
    ) -> Result<Option<Outcome>, Stray> {
        let mut sum = WithDone { done: &self.done, observer };
        let budget = budget.clone();
        let outcome = explore_branch(system, explorer, branch, splitter, budget, &mut sum);
        if outcome.stopped_by == Some(StopReason::Stray) {
            return Err(Stray::of(explorer.profile().name, place.clone()));
        }
        match outcome.of_piece(place) {
            (outcome, true) => self.finish(place, branch.clone(), outcome),
            (outcome, false) => return Ok(Some(outcome)),
        }
        Ok(None)
    }

    /// Records the result of an open piece, which has given nothing away so far.
    pub(super) fn finish(&mut self, place: &Place, branch: Branch, outcome: Outcome) {
        self.open.remove(place);
        self.done.insert(place.clone(), Done { branch, given: BTreeSet::new(), outcome });
    }
}

impl Done {
    /// Does it end the search, so that later pieces are not needed?
    pub(super) fn ends_all(&self) -> bool {
        self.outcome.stopped_by.is_some_and(StopReason::ends_all)
    }

    /// Is it the same piece with the same result, except for the time?
    fn is_same(&self, other: &Done) -> bool {
        let (own, others) = (&self.outcome, &other.outcome);
        (&self.branch, &self.given, &own.stats) == (&other.branch, &other.given, &others.stats)
            && (&own.violations, &own.leaks, own.stopped_by)
                == (&others.violations, &others.leaks, others.stopped_by)
    }
}

impl Outcome {
    /// Turns the outcome of a search into the result of the piece at this place. Also returns
    /// whether the piece is done.
    pub(super) fn of_piece(mut self, place: &Place) -> (Outcome, bool) {
        if !place.is_first() {
            self.stats.forget_idle();
        }
        let is_done = !self.stopped_by.is_some_and(StopReason::leaves_undone);
        (self, is_done)
    }
}

impl Branch {
    /// Why it is not a branch of this system; `None` if it is one, as far as can be seen without
    /// the explorer.
    pub fn refusal<S: System>(&self, system: &S) -> Option<Refusal> {
        let mut locals = Locals::new(system);
        let state = match self.prefix.replay(&mut locals) {
            Ok(state) => state,
            Err(refusal) => return Some(refusal),
        };
        let firsts = self.wanted.iter().filter_map(|wanted| wanted.first());
        let refused = |action: Action, why: &str| Refusal {
            step: self.prefix.len() + 1,
            why: format!("{} {why}", Schedule::from(vec![action])),
        };
        let mut named = BTreeSet::new();
        for &action in self.elsewhere.iter().chain(firsts) {
            if state.action_named(&locals, action).is_none() {
                return Some(refused(action, "is not enabled"));
            }
        }
        let twice = self.elsewhere.iter().find(|&&action| !named.insert(action));
        twice.map(|&action| refused(action, "is left out twice"))
    }
}

/// Transitions between two calls of `is_over`.
const CHECK_INTERVAL: u32 = 1 << 10;

/// Ends a piece early: once `is_over` has returned true, it gives away all open work.
struct EarlyEnd<'e> {
    place: Place,
    given: Vec<(Place, Branch)>,
    /// Transitions until the next call of `is_over`; 0 once it has returned true.
    until: u32,
    is_over: &'e mut dyn FnMut() -> bool,
}

impl Splitter for EarlyEnd<'_> {
    fn wants_branch(&mut self) -> bool {
        self.until = self.until.saturating_sub(1);
        if self.until == 0 && self.given.is_empty() && !(self.is_over)() {
            self.until = CHECK_INTERVAL;
        }
        self.until == 0
    }

    fn take(&mut self, branch: Branch) {
        let place = self.place.given(self.given.len() as u32);
        self.given.push((place, branch));
    }
}

/// Adds the figures of the pieces done before to the progress that it reports.
struct WithDone<'o> {
    done: &'o BTreeMap<Place, Done>,
    observer: &'o mut dyn Observer,
}

impl Observer for WithDone<'_> {
    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let mut all = Some(stats.clone());
        self.done.values().for_each(|done| add_to(&mut all, &done.outcome.stats));
        self.observer.progress(&all.unwrap_or_default(), elapsed);
    }
}
