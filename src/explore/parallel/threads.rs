//! A search in pieces, several at a time: threads are the workers of a [`Crew`].
//!
//! A search that has made a certain number of transitions gives away what is left to do where it
//! began, as a [`Branch`]; then again after each further so many. The pieces do the same. So where
//! a search is cut depends on nothing but the system and the explorer. Whoever is idle takes the
//! first piece that nobody works on.
//!
//! Pieces have an order ([`Place`]). The result is that of all pieces up to the first one that ends
//! the search: that has a violation, if one is enough. What comes after it is given up at once;
//! what comes before it goes on. So figures, verdict and counterexamples are the same for any
//! number of jobs; unless a limit or a signal ends the search.
//!
//! A search that is done before it is cut is one piece, and no thread is started for it.
//!
//! **Which explorers gain.** A piece of `exhaustive`, `sleep` or `parsimonious` goes through
//! exactly what the whole search would go through there, so the pieces together make as many
//! transitions as the whole. Those of the others do not know what the rest of the search has found
//! out. They go through classes that are no classes of the program until they see that an event of
//! [`Branch::elsewhere`] is missing, and are blocked. In pieces of 8,192 transitions, `optimal`
//! makes no more transitions than the whole on `memory/writers.maz` and `mutex/philosophers.maz`,
//! 1.2 times as many on `mailbox/rmq-receiving.maz`, 1.4 times on `memory/lastzero.maz` and 14
//! times on `mutex/dispatcher.maz`. So only the first three offer `jobs`.
//!
//! The others would need pieces that tell one another of the races that they find, and more than
//! which branch is somebody's work: where the wakeup tree of `optimal` says that a pending branch
//! stands for a continuation, the continuation has to be inserted below that branch. Left out,
//! because the branch would be explored anyway, it is lost: in the branch, the action of the one
//! before it sleeps, and with it sleep the executions in which the race would be found again.
//! `memory/lastzero.maz` loses one of 5 classes in this way, `actor/primary-backup.maz` 4,952 of
//! 5,870. So a branch cannot be finished before those to its left are.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::crew::{self, Crew, Pace, Report, Worker};
use super::part::Part;
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::result::{Outcome, StopReason};
use crate::explore::tree::Branch;
use crate::model::System;

/// Most programs need fewer transitions.
const FIRST: NonZeroU64 = NonZeroU64::new(1 << 17).unwrap();
/// Enough for a piece to be worth a new beginning.
const GRAIN: NonZeroU64 = NonZeroU64::new(1 << 12).unwrap();
/// Time between two looks at the limits.
const GLANCE: Duration = Duration::from_millis(10);

/// An explorer that makes its search in pieces, if it can be split, by this many threads. It visits
/// what the explorer visits. Observers are told of progress only.
///
/// A search is made in one piece if the number of executions is limited, or if it is a piece
/// itself.
#[derive(Clone, Copy, Debug)]
pub struct InPieces<E> {
    /// What explores the pieces.
    pub explorer: E,
    /// How many at a time.
    pub jobs: NonZeroU32,
    /// After so many transitions a search is cut for the first time.
    pub first: NonZeroU64,
    /// After so many more it is cut again; and so are its pieces.
    pub grain: NonZeroU64,
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
        outcome.elapsed = start.elapsed();
        driver.adopt(outcome);
    }
}

/// The search, and the threads that are its workers.
struct Team<'s, S, E> {
    system: &'s S,
    how: &'s InPieces<E>,
    budget: Budget,
    work: Mutex<Work>,
    /// Told of when there are other pieces.
    changed: Condvar,
}

/// Who does what.
struct Work {
    crew: Crew,
    /// Ends the work of each who has a piece.
    stops: BTreeMap<Worker, Arc<AtomicBool>>,
    /// What was found in the pieces that ended early.
    unfinished: BTreeMap<Place, Outcome>,
    /// Nothing is begun any more.
    is_over: bool,
}

/// A piece, and what ends the work on it.
type Piece = (Place, Branch, Arc<AtomicBool>);

impl<'s, S: System, E: Explorer> Team<'s, S, E> {
    fn new(system: &'s S, how: &'s InPieces<E>, driver: &Driver<'_>) -> Self {
        // The limits are kept by the driver of the whole search.
        let budget = Budget { timeout: None, max_memory: None, ..driver.budget().clone() };
        let work = Mutex::new(Work {
            crew: Crew::new(Part::whole(), &budget),
            stops: BTreeMap::new(),
            unfinished: BTreeMap::new(),
            is_over: false,
        });
        Team { system, how, budget, work, changed: Condvar::new() }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first piece is explored here. When it is cut, other threads begin.
    fn run(self, driver: &mut Driver<'_>) -> Outcome {
        let team = &self;
        thread::scope(|scope| {
            let _guard = Guard(team);
            let begin = |worker| {
                scope.spawn(move || {
                    let _guard = Guard(team);
                    while let Some(piece) = team.next(worker, Arc::default()) {
                        team.search(worker, piece, team.how.grain, &mut |_| {});
                    }
                });
            };
            let stop = driver.signal().clone().into();
            let mut others = 1..team.how.jobs.get();
            let mut after = |is_given| match is_given {
                true => others.by_ref().for_each(begin),
                false => {
                    let stats = team.work().crew.stats();
                    driver.progress(&stats);
                }
            };
            let whole = team.next(0, stop).expect("the piece that the search begins with");
            team.search(0, whole, team.how.first, &mut after);
            if !team.work().is_done() {
                begin(0);
                team.watch(driver);
            }
        });
        let Work { crew, unfinished, .. } =
            self.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut outcome = crew.with_unfinished(unfinished).into_outcome(&self.budget);
        if let Some(StopReason::Missing | StopReason::Interrupted) = outcome.stopped_by {
            outcome.stopped_by = driver.limit_reached().or(Some(StopReason::Interrupted));
        }
        outcome
    }

    /// Waits for the end, and ends all work when a limit is reached.
    fn watch(&self, driver: &mut Driver<'_>) {
        let mut work = self.work();
        while !work.is_done() {
            if driver.signal().is_raised() {
                work.end();
            }
            let stats = work.crew.stats();
            drop(work);
            driver.progress(&stats);
            work = self.work();
            if !work.is_done() {
                let waited = self.changed.wait_timeout(work, GLANCE);
                work = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// A piece for a worker; waits until there is one. `None` if there will be none any more.
    fn next(&self, worker: Worker, stop: Arc<AtomicBool>) -> Option<Piece> {
        let mut work = self.work();
        while !work.is_over && !work.crew.is_over() {
            if let Some((place, branch)) = work.crew.give(worker) {
                work.stops.insert(worker, stop.clone());
                return Some((place, branch, stop));
            }
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Searches a piece, cutting it for the first time after so many transitions. Calls `after`
    /// with whether something is given away, and now and then.
    fn search(
        &self,
        worker: Worker,
        (place, branch, stop): Piece,
        first: NonZeroU64,
        after: &mut dyn FnMut(bool),
    ) {
        let budget = Budget { cancel: stop, ..self.budget.clone() };
        let pace = Pace { first, grain: self.how.grain };
        let search = (self.system, self.how.explorer);
        let mut tell = |report| {
            let is_given = matches!(report, Report::Given(..));
            self.work().crew.hear(worker, report);
            if is_given {
                self.changed.notify_one();
            }
            after(is_given);
        };
        let found = crew::search(search, (place.clone(), &branch), pace, budget, &mut tell);
        let mut work = self.work();
        work.stops.remove(&worker);
        if let Some(outcome) = found {
            let is_stray = outcome.stopped_by == Some(StopReason::Stray);
            assert!(!is_stray, "{branch} was cut off this search");
            // Only a limit or a signal ends what is needed.
            if work.crew.is_needed(worker) {
                work.end();
            }
            work.crew.lose(worker);
            work.unfinished.insert(place, outcome);
        }
        work.end_what_is_not_needed();
        drop(work);
        self.changed.notify_all();
    }
}

impl Work {
    fn is_done(&self) -> bool {
        self.crew.is_over() || self.is_over && self.stops.is_empty()
    }

    /// Ends all work.
    fn end(&mut self) {
        self.is_over = true;
        self.stops.values().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }

    fn end_what_is_not_needed(&self) {
        for (&worker, stop) in &self.stops {
            if !self.crew.is_needed(worker) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Ends the search if one of its threads panics: the others would wait for it for ever.
struct Guard<'g, 's, S: System, E: Explorer>(&'g Team<'s, S, E>);

impl<S: System, E: Explorer> Drop for Guard<'_, '_, S, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut work = self.0.work();
            work.end();
            work.stops.clear();
            drop(work);
            self.0.changed.notify_all();
        }
    }
}
