//! A search in pieces by several threads: the threads are the workers of a [`Crew`].
//!
//! After [`first`](InPieces::first) transitions, a search gives away the open work of the state
//! where it began, as a [`Branch`](crate::explore::tree::Branch); it does so again after every
//! further [`grain`](InPieces::grain) transitions, and so do its pieces. So the places where a
//! search is split depend only on the system and the explorer. An idle thread takes the first piece
//! that no thread works on.
//!
//! Pieces are ordered ([`Place`]). The result combines all pieces up to the first one that ends the
//! search, for example by a violation if one is enough. Later pieces are abandoned at once; earlier
//! ones are finished. So figures, verdict and counterexamples are the same for any number of
//! threads, unless a limit or a signal ends the search.
//!
//! A search that is done before the first split is one piece, and no thread is started for it.
//!
//! **Which explorers gain.** A piece of `exhaustive`, `sleep` or `parsimonious` explores exactly
//! what the whole search would explore there, so the pieces together make as many transitions as
//! the whole. `optimal` and `source` are helped in another way ([`super::helpers`]).
//!
//! The pieces of other explorers do not know the races and sets of the rest of the search. They
//! explore executions that an event of [`elsewhere`](crate::explore::tree::Branch::elsewhere) would
//! have to complete, and are blocked only when nothing else is enabled. So they offer no `jobs`: in
//! pieces of 8,192 transitions, `optimal` makes 1.2 times the transitions of the whole on
//! `mailbox/rmq-receiving.maz`, and 14 times on `mutex/dispatcher.maz`.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::ahead::Pace;
use super::crew::{self, Assignment, Crew, Report, Worker};
use super::helpers;
use super::part::Part;
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::result::{Outcome, StopReason};
use crate::model::System;

/// The default of [`InPieces::first`]. Most programs need fewer transitions.
const FIRST: NonZeroU64 = NonZeroU64::new(1 << 17).unwrap();
/// The default of [`InPieces::grain`]: enough work to pay for the replay of a prefix.
const GRAIN: NonZeroU64 = NonZeroU64::new(1 << 12).unwrap();
/// Time between two checks of the limits.
const GLANCE: Duration = Duration::from_millis(10);

/// An explorer that splits its search among `jobs` threads, if it can be split. It visits the same
/// executions. Observers receive only [`progress`](crate::explore::observer::Observer::progress).
///
/// A search stays in one piece if the number of executions is limited, or if it is a piece itself.
#[derive(Clone, Copy, Debug)]
pub struct InPieces<E> {
    /// The explorer of the pieces.
    pub explorer: E,
    /// The number of threads.
    pub jobs: NonZeroU32,
    /// Transitions before the search is split for the first time.
    pub first: NonZeroU64,
    /// Transitions between later splits, and between the splits of pieces.
    pub grain: NonZeroU64,
}

impl<E> InPieces<E> {
    /// A search by `jobs` threads, with the default split intervals.
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
        let (profile, budget) = (self.explorer.profile(), driver.budget());
        let is_alone = driver.can_split() || budget.max_traces.is_some();
        if is_alone || !(profile.takes_help || profile.can_split(budget.depth)) {
            return self.explorer.explore(system, driver);
        }
        if profile.takes_help {
            let pace = Pace { first: self.first.get(), grain: self.grain.get() };
            return helpers::explore((system, self.explorer), (self.jobs, pace), driver);
        }
        let outcome = Team::new(system, self, driver).run(driver);
        driver.adopt(outcome);
    }
}

/// The search, and the threads that are its workers.
struct Team<'s, S, E> {
    system: &'s S,
    how: &'s InPieces<E>,
    budget: Budget,
    work: Mutex<Work>,
    /// Notified when the set of open pieces changes.
    changed: Condvar,
}

/// The shared state of the threads.
struct Work {
    crew: Crew,
    /// For each worker that has a piece: the flag that stops it.
    stops: BTreeMap<Worker, Arc<AtomicBool>>,
    /// The results of pieces that ended early.
    unfinished: BTreeMap<Place, Outcome>,
    /// Is the search over, so that no piece is begun any more?
    is_over: bool,
}

/// A piece, and the flag that stops the work on it.
type Piece = (Assignment, Arc<AtomicBool>);

impl<'s, S: System, E: Explorer> Team<'s, S, E> {
    fn new(system: &'s S, how: &'s InPieces<E>, driver: &Driver<'_>) -> Self {
        // The driver of the whole search enforces these limits.
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

    /// Runs the search. This thread explores the first piece; the other threads start when it is
    /// split.
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

    /// Waits for the end. Stops all workers when a limit is reached.
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

    /// Waits for an open piece and assigns it to the worker; `None` if there will be no more.
    fn next(&self, worker: Worker, stop: Arc<AtomicBool>) -> Option<Piece> {
        let mut work = self.work();
        while !work.is_over && !work.crew.is_over() {
            if let Some(piece) = work.crew.give(worker) {
                work.stops.insert(worker, stop.clone());
                return Some((piece, stop));
            }
            work = self.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Searches a piece, which is split for the first time after `first` transitions. Calls `after`
    /// for each report; the argument is true if a branch was given away.
    fn search(
        &self,
        worker: Worker,
        (piece, stop): Piece,
        first: NonZeroU64,
        after: &mut dyn FnMut(bool),
    ) {
        let budget = Budget { cancel: stop, ..self.budget.clone() };
        let pace = crew::Pace { first, grain: self.how.grain };
        let search = (self.system, self.how.explorer);
        let mut tell = |report| {
            let is_given = matches!(report, Report::Given(..));
            self.work().crew.hear(worker, report);
            if is_given {
                self.changed.notify_one();
            }
            after(is_given);
        };
        let found = crew::search(search, &piece, (pace, &mut |steps| steps > 0), budget, &mut tell);
        let mut work = self.work();
        work.stops.remove(&worker);
        if let Some(outcome) = found {
            let is_stray = outcome.stopped_by == Some(StopReason::Stray);
            assert!(!is_stray, "{} was cut off this search", piece.branch);
            // If a needed piece ends early, the cause is a limit or a signal.
            if work.crew.is_needed(worker) {
                work.end();
            }
            work.crew.lose(worker);
            work.unfinished.insert(piece.place, outcome);
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

    /// Stops all workers.
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

/// Ends the search if one of its threads panics. Otherwise the others would wait for it for ever.
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
