//! A search in pieces, several at a time.
//!
//! A search that has made a certain number of transitions gives away what is left to do where it began, as a [`Branch`]; then
//! again after each further so many. The pieces do the same. So where a search is cut depends on nothing but the
//! system and the explorer. Whoever is idle takes the first piece that nobody works on.
//!
//! Pieces have an order ([`Place`]). The result is that of all pieces up to the first one that ends the search: that has a
//! violation, if one is enough. What comes after it is given up at once; what comes before it goes on. So figures, verdict and
//! counterexamples are the same for any number of jobs; unless a limit or a signal ends the search.
//!
//! A search that is done before it is cut is one piece, and no thread is started for it.
//!
//! **Which explorers gain.** A piece of `exhaustive`, `sleep` or `parsimonious` goes through exactly what the whole search would go
//! through there, so the pieces together make as many transitions as the whole. Those of the others do not know what the rest of the search has found out. They go through
//! classes that are no classes of the program until they see that an event of [`Branch::elsewhere`] is missing, and are blocked. In
//! pieces of 8,192 transitions, `optimal` makes no more transitions than the whole on `memory/writers.maz` and
//! `mutex/philosophers.maz`, 1.2 times as many on `mailbox/rmq-receiving.maz`, 1.4 times on `memory/lastzero.maz` and 14
//! times on `mutex/dispatcher.maz`. So only the first three offer `jobs`.
//!
//! The others would need pieces that tell one another of the races that they find, and more than which branch is somebody's work:
//! where the wakeup tree of `optimal` says that a pending branch stands for a continuation, the continuation has to be inserted
//! below that branch. Left out, because the branch would be explored anyway, it is lost: in the branch, the action of the
//! one before it sleeps, and with it sleep the executions in which the race would be found again. `memory/lastzero.maz` loses one
//! of 5 classes in this way, `actor/primary-backup.maz` 4,952 of 5,870. So a branch cannot be finished before those to its left are.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::driver::Driver;
use super::explorer::{Explorer, Profile, explore_branch};
use super::joined::{Joined, add_to};
use super::observer::Observer;
use super::place::Place;
use super::result::{Outcome, Stats, StopReason};
use super::tree::{Branch, Splitter};
use crate::model::System;

/// Most programs need fewer transitions.
const FIRST: u64 = 1 << 17;
/// Enough for a piece to be worth a new beginning.
const GRAIN: u64 = 1 << 12;
/// A piece is cut after so many transitions for each action of its prefix, if that is more: going along the prefix is to cost
/// little of the work.
const FOR_EACH: u64 = 8;
/// Time between two looks at the limits.
const GLANCE: Duration = Duration::from_millis(10);

/// An explorer that makes its search in pieces, if it can be split, by this many threads. It visits what the
/// explorer visits. Observers are told of progress only.
///
/// A search is made in one piece if the number of executions is limited, or if it is a piece itself.
#[derive(Clone, Copy, Debug)]
pub struct InPieces<E> {
    /// What explores the pieces.
    pub explorer: E,
    /// How many at a time.
    pub jobs: NonZeroU32,
    /// After so many transitions a search is cut for the first time.
    pub first: u64,
    /// After so many more it is cut again; and so are its pieces.
    pub grain: u64,
}

impl<E> InPieces<E> {
    /// So many at a time.
    pub fn new(explorer: E, jobs: NonZeroU32) -> InPieces<E> {
        InPieces { explorer, jobs, first: FIRST, grain: GRAIN }
    }
}

impl<E: Explorer> Explorer for InPieces<E> {
    fn profile(&self) -> Profile {
        Profile { may_block: true, ..self.explorer.profile() }
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        self.explorer.refusal(system, budget)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let budget = driver.budget();
        let is_piece = driver.can_split();
        if is_piece
            || budget.max_traces.is_some()
            || !self.explorer.profile().can_split(budget.depth)
        {
            return self.explorer.explore(system, driver);
        }
        let start = Instant::now();
        let mut outcome = Team::new(system, self, driver).run(driver);
        if outcome.stopped_by == Some(StopReason::Interrupted) {
            outcome.stopped_by = driver.limit_reached().or(outcome.stopped_by);
        }
        outcome.elapsed = start.elapsed();
        driver.adopt(outcome);
    }
}

/// A piece that somebody works on.
struct Running {
    /// Ends the work.
    stop: Arc<AtomicBool>,
    /// How far it is.
    stats: Stats,
}

/// The pieces.
struct Pieces {
    open: BTreeMap<Place, Branch>,
    running: BTreeMap<Place, Running>,
    /// The results that come after one which is not there yet.
    done: BTreeMap<Place, Outcome>,
    /// The results that come before.
    joined: Joined,
    /// The piece that ends the search. Nothing after it counts.
    last: Option<Place>,
    /// Nothing is begun any more.
    is_over: bool,
}

/// Those who explore the pieces.
struct Team<'s, S, E> {
    system: &'s S,
    how: &'s InPieces<E>,
    budget: Budget,
    pieces: Mutex<Pieces>,
    /// Told of when there are other pieces.
    changed: Condvar,
}

impl<'s, S: System, E: Explorer> Team<'s, S, E> {
    fn new(system: &'s S, how: &'s InPieces<E>, driver: &Driver<'_>) -> Self {
        // The limits are kept by the driver of the whole search.
        let budget = Budget { timeout: None, max_memory: None, ..driver.budget().clone() };
        let pieces = Mutex::new(Pieces {
            open: BTreeMap::new(),
            running: BTreeMap::new(),
            done: BTreeMap::new(),
            joined: Joined::new(budget.shortest),
            last: None,
            is_over: false,
        });
        Team { system, how, budget, pieces, changed: Condvar::new() }
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first piece is explored here. When it is cut, other threads begin.
    fn run(self, driver: &mut Driver<'_>) -> Outcome {
        let stop: Arc<AtomicBool> = driver.signal().clone().into();
        thread::scope(|scope| {
            let work = || {
                let _guard = Guard(&self);
                while let Some((place, branch, stop)) = self.next() {
                    self.explore(place, &branch, stop, self.how.grain, &mut || {}, &mut |_| {});
                }
            };
            let mut others = self.how.jobs.get() - 1;
            let mut begin = || {
                while others > 0 {
                    scope.spawn(work);
                    others -= 1;
                }
            };
            let running = Running { stop: stop.clone(), stats: Stats::default() };
            self.pieces().running.insert(Place::default(), running);
            let guard = Guard(&self);
            let mut tell = |stats: &Stats| driver.progress(stats);
            let first = self.how.first;
            self.explore(Place::default(), &Branch::default(), stop, first, &mut begin, &mut tell);
            if !self.pieces().are_all_done() {
                scope.spawn(work);
                self.watch(driver);
            }
            drop(guard);
        });
        let mut pieces = self.pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
        pieces.join();
        let is_over = pieces.is_over;
        let mut outcome = pieces.joined.outcome();
        if is_over {
            // Perhaps all pieces that were worked on came to their end, but others were not begun.
            outcome.stopped_by.get_or_insert(StopReason::Interrupted);
        }
        outcome
    }

    /// Waits for the end, and ends all work when a limit is reached.
    fn watch(&self, driver: &mut Driver<'_>) {
        let mut pieces = self.pieces();
        while !pieces.are_all_done() {
            if driver.signal().is_raised() {
                pieces.end();
            }
            let stats = pieces.stats();
            drop(pieces);
            driver.progress(&stats);
            pieces = self.pieces();
            if !pieces.are_all_done() {
                let waited = self.changed.wait_timeout(pieces, GLANCE);
                pieces = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// The first piece that nobody works on; waits until there is one. `None` if there will be none any more.
    fn next(&self) -> Option<(Place, Branch, Arc<AtomicBool>)> {
        let mut pieces = self.pieces();
        loop {
            if pieces.is_over {
                return None;
            }
            if let Some((place, branch)) = pieces.open.pop_first() {
                let stop = Arc::new(AtomicBool::new(false));
                let running = Running { stop: stop.clone(), stats: Stats::default() };
                pieces.running.insert(place.clone(), running);
                return Some((place, branch, stop));
            }
            if pieces.running.is_empty() {
                return None;
            }
            pieces = self.changed.wait(pieces).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Explores a piece, cutting it for the first time after so many transitions. Calls `begin` when it is cut, and `tell` now
    /// and then.
    fn explore(
        &self,
        place: Place,
        branch: &Branch,
        stop: Arc<AtomicBool>,
        first: u64,
        begin: &mut dyn FnMut(),
        tell: &mut dyn FnMut(&Stats),
    ) {
        let grain = self.how.grain.max(FOR_EACH * branch.prefix.len() as u64);
        let (left, given) = (first.max(grain), 0);
        let (of, budget) = (place.clone(), Budget { cancel: stop, ..self.budget.clone() });
        let mut cutter = Cutter { team: self, place: of, grain, left, given, begin };
        let mut teller = Teller { team: self, place: place.clone(), tell };
        let (system, explorer) = (self.system, self.how.explorer);
        let outcome = explore_branch(system, explorer, branch, &mut cutter, budget, &mut teller);
        assert!(outcome.stopped_by != Some(StopReason::Stray), "{branch} was cut off this search");
        self.pieces().finish(place, outcome);
        self.changed.notify_all();
    }
}

impl Pieces {
    fn are_all_done(&self) -> bool {
        self.running.is_empty() && (self.is_over || self.open.is_empty())
    }

    /// Ends all work.
    fn end(&mut self) {
        self.is_over = true;
        self.open.clear();
        self.running.values().for_each(|running| running.stop.store(true, Ordering::Relaxed));
    }

    fn finish(&mut self, place: Place, mut outcome: Outcome) {
        self.running.remove(&place);
        if self.last.as_ref().is_some_and(|last| *last < place) {
            return;
        }
        if !place.is_first() {
            outcome.stats.forget_idle();
        }
        if outcome.stopped_by.is_some_and(StopReason::ends_all) {
            self.end_after(&place);
        }
        self.done.insert(place, outcome);
        self.join();
    }

    /// Gives up what comes after this piece.
    fn end_after(&mut self, place: &Place) {
        let is_after = |other: &Place| other > place;
        self.open.retain(|other, _| !is_after(other));
        self.done.retain(|other, _| !is_after(other));
        for running in self.running.iter().filter(|(other, _)| is_after(other)) {
            running.1.stop.store(true, Ordering::Relaxed);
        }
        self.last = Some(place.clone());
    }

    /// Joins the results that come before everything that is not done.
    fn join(&mut self) {
        loop {
            let Some((first, _)) = self.done.first_key_value() else { return };
            let is_before = |other: Option<&Place>| other.is_none_or(|other| first < other);
            let is_next = is_before(self.open.first_key_value().map(|(place, _)| place))
                && is_before(self.running.first_key_value().map(|(place, _)| place));
            if !is_next {
                return;
            }
            let (_, outcome) = self.done.pop_first().expect("one is there");
            self.joined.add(outcome);
        }
    }

    /// The figures so far.
    fn stats(&self) -> Stats {
        let mut all = self.joined.stats.clone();
        let done = self.done.values().map(|outcome| &outcome.stats);
        let parts = done.chain(self.running.values().map(|running| &running.stats));
        parts.for_each(|part| add_to(&mut all, part));
        all.unwrap_or_default()
    }
}

/// Cuts a piece.
struct Cutter<'c, 's, S, E> {
    team: &'c Team<'s, S, E>,
    place: Place,
    grain: u64,
    /// Transitions until it is cut again.
    left: u64,
    /// How many pieces it has given away.
    given: u32,
    begin: &'c mut dyn FnMut(),
}

impl<S: System, E: Explorer> Splitter for Cutter<'_, '_, S, E> {
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
        let mut pieces = self.team.pieces();
        let is_late = pieces.last.as_ref().is_some_and(|last| *last < place);
        if !is_late && !pieces.is_over {
            pieces.open.insert(place, branch);
        }
        drop(pieces);
        (self.begin)();
        self.team.changed.notify_one();
    }
}

/// Notes how far a piece is.
struct Teller<'t, 's, S, E> {
    team: &'t Team<'s, S, E>,
    place: Place,
    tell: &'t mut dyn FnMut(&Stats),
}

impl<S: System, E: Explorer> Observer for Teller<'_, '_, S, E> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        let mut pieces = self.team.pieces();
        if let Some(running) = pieces.running.get_mut(&self.place) {
            running.stats.clone_from(stats);
        }
        let all = pieces.stats();
        drop(pieces);
        (self.tell)(&all);
    }
}

/// Ends the search if one of its threads panics: the others would wait for it for ever.
struct Guard<'g, 's, S: System, E: Explorer>(&'g Team<'s, S, E>);

impl<S: System, E: Explorer> Drop for Guard<'_, '_, S, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut pieces = self.0.pieces();
            pieces.end();
            pieces.running.clear();
            drop(pieces);
            self.0.changed.notify_all();
        }
    }
}
