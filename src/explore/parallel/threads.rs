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
use std::mem;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use super::ahead::Pace;
use super::crew::{self, Assignment, Crew, Report, Worker};
use super::helpers;
use super::part::{Part, Saving, Stray};
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, StopReason};
use crate::model::System;

/// The default of [`InPieces::first`]. Most programs need fewer transitions.
const FIRST: NonZeroU64 = NonZeroU64::new(1 << 17).unwrap();
/// The default of [`InPieces::grain`]: enough work to pay for the replay of a prefix.
pub(super) const GRAIN: NonZeroU64 = NonZeroU64::new(1 << 12).unwrap();
/// Time between two checks of the limits.
const GLANCE: Duration = Duration::from_millis(10);
/// How long a search that is saved may go on after a limit, to give away what its pieces have left.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

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
    /// Transitions between two looks at whether a piece has to give away all that it has left.
    pub look: NonZeroU64,
}

impl<E> InPieces<E> {
    /// A search by `jobs` threads, with the default split intervals.
    pub fn new(explorer: E, jobs: NonZeroU32) -> InPieces<E> {
        InPieces { explorer, jobs, first: FIRST, grain: GRAIN, look: GRAIN }
    }
}

impl<E: Explorer> InPieces<E> {
    /// Goes on with a search that is recorded in `part`, and saves it now and then. Its branches
    /// must be ones of this system ([`Part::refusal`]). Returns the result so far.
    ///
    /// # Errors
    /// If a branch is not one of this search.
    pub(super) fn go_on<S: System>(
        &self,
        system: &S,
        part: &mut Part,
        budget: &Budget,
        saving: Saving<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Stray> {
        let mut driver = Driver::new(system, budget.clone(), observer);
        let team = Team::new((system, self), mem::take(part), &driver);
        let (kept, result) = team.go_on(saving, &mut driver);
        *part = kept;
        result
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
        let outcome = Team::new((system, self), Part::whole(), driver).run(driver);
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
    /// How often workers were asked to give away all that is left of their pieces.
    asked: AtomicU64,
}

/// The shared state of the threads.
struct Work {
    crew: Crew,
    /// For each worker that has a piece: the flag that stops it.
    stops: BTreeMap<Worker, Arc<AtomicBool>>,
    /// For each worker that has a piece: how often it had been asked for everything before.
    asked: BTreeMap<Worker, u64>,
    /// The results of pieces that ended early.
    unfinished: BTreeMap<Place, Outcome>,
    /// A branch that is not one of this search, if one was found.
    stray: Option<Stray>,
    /// Is the search over, so that no piece is begun any more?
    is_over: bool,
}

/// A piece, and the flag that stops the work on it.
type Piece = (Assignment, Arc<AtomicBool>);

impl<'s, S: System, E: Explorer> Team<'s, S, E> {
    /// A team that goes on with the search that is recorded in `part`.
    fn new((system, how): (&'s S, &'s InPieces<E>), part: Part, driver: &Driver<'_>) -> Self {
        // The driver of the whole search enforces these limits.
        let budget = Budget { timeout: None, max_memory: None, ..driver.budget().clone() };
        let work = Mutex::new(Work {
            crew: Crew::new(part, &budget),
            stops: BTreeMap::new(),
            asked: BTreeMap::new(),
            unfinished: BTreeMap::new(),
            stray: None,
            is_over: false,
        });
        Team { system, how, budget, work, changed: Condvar::new(), asked: AtomicU64::new(0) }
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
            let stop = driver.signal().clone().into();
            let mut others = 1..team.how.jobs.get();
            let mut after = |is_given| match is_given {
                true => others.by_ref().for_each(|worker| team.begin(scope, worker)),
                false => {
                    let stats = team.work().crew.stats();
                    driver.progress(&stats);
                }
            };
            let whole = team.next(0, stop).expect("the piece that the search begins with");
            team.search(0, whole, team.how.first, &mut after);
            if !team.work().is_done() {
                team.begin(scope, 0);
                team.watch(driver, None);
            }
        });
        self.result(driver).unwrap_or_else(|stray| panic!("{stray}"))
    }

    /// Starts a worker.
    fn begin<'t>(&'t self, scope: &'t Scope<'t, '_>, worker: Worker) {
        scope.spawn(move || {
            let _guard = Guard(self);
            while let Some(piece) = self.next(worker, Arc::default()) {
                self.search(worker, piece, self.how.grain, &mut |_| {});
            }
        });
    }

    /// Goes on with the search by all threads, and saves it now and then. Returns its state and its
    /// result so far.
    fn go_on(
        self,
        mut saving: Saving<'_>,
        driver: &mut Driver<'_>,
    ) -> (Part, Result<Outcome, Stray>) {
        let team = &self;
        thread::scope(|scope| {
            let _guard = Guard(team);
            (0..team.how.jobs.get()).for_each(|worker| team.begin(scope, worker));
            team.watch(driver, Some(&mut saving));
        });
        let part = team.work().crew.settled();
        (saving.save)(&part);
        (part, self.result(driver))
    }

    /// The result so far.
    fn result(self, driver: &Driver<'_>) -> Result<Outcome, Stray> {
        let Work { crew, unfinished, stray, .. } =
            self.work.into_inner().unwrap_or_else(PoisonError::into_inner);
        stray.map_or(Ok(()), Err)?;
        let mut outcome = crew.with_unfinished(unfinished).into_outcome(&self.budget);
        if let Some(StopReason::Missing | StopReason::Interrupted) = outcome.stopped_by {
            outcome.stopped_by = driver.limit_reached().or(Some(StopReason::Interrupted));
        }
        Ok(outcome)
    }

    /// Waits for the end. Stops all workers when a limit is reached. A search that is saved first
    /// asks them to give away what they have left, so that nothing is lost.
    fn watch(&self, driver: &mut Driver<'_>, mut saving: Option<&mut Saving<'_>>) {
        let mut work = self.work();
        let (mut saved, mut limit_reached) = (Instant::now(), None);
        let mut is_save_due = false;
        while !work.is_done() {
            if driver.signal().is_raised() {
                let since = *limit_reached.get_or_insert_with(|| {
                    self.ask_for_all();
                    Instant::now()
                });
                work.is_over = true;
                self.changed.notify_all();
                if saving.is_none() || since.elapsed() >= GRACE_PERIOD {
                    work.end();
                }
            }
            if let Some(saving) = &mut saving
                && saved.elapsed() >= saving.interval
            {
                if !is_save_due {
                    self.ask_for_all();
                    is_save_due = true;
                } else if work.have_given_all(self.asked.load(Ordering::Relaxed))
                    || saved.elapsed() >= saving.interval + GRACE_PERIOD
                {
                    let settled = work.crew.settled();
                    drop(work);
                    (saving.save)(&settled);
                    (saved, is_save_due) = (Instant::now(), false);
                    work = self.work();
                }
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

    /// Asks all workers to end their pieces, and to give away what is left of them.
    fn ask_for_all(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for an open piece and assigns it to the worker; `None` if there will be no more.
    fn next(&self, worker: Worker, stop: Arc<AtomicBool>) -> Option<Piece> {
        let mut work = self.work();
        while !work.is_over && !work.crew.is_over() {
            if let Some(piece) = work.crew.give(worker) {
                work.stops.insert(worker, stop.clone());
                work.asked.insert(worker, self.asked.load(Ordering::Relaxed));
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
        let pace = crew::Pace { first, grain: self.how.grain, look: self.how.look };
        let search = (self.system, self.how.explorer);
        let mut tell = |report| {
            let is_given = matches!(report, Report::Given(..));
            self.work().crew.hear(worker, report);
            if is_given {
                self.changed.notify_one();
            }
            after(is_given);
        };
        let before = self.work().asked.get(&worker).copied().unwrap_or(0);
        let mut is_asked = |steps| steps > 0 || self.asked.load(Ordering::Relaxed) > before;
        let found = crew::search(search, &piece, (pace, &mut is_asked), budget, &mut tell);
        let mut work = self.work();
        work.stops.remove(&worker);
        work.asked.remove(&worker);
        if let Some(outcome) = found {
            if outcome.stopped_by == Some(StopReason::Stray) {
                let name = self.how.explorer.profile().name;
                work.stray = Some(Stray::of(name, piece.place.clone()));
            }
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

    /// Have all workers ended the pieces that they had when they were asked for the last time?
    fn have_given_all(&self, asked: u64) -> bool {
        self.asked.values().all(|&before| before == asked)
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
            work.asked.clear();
            drop(work);
            self.0.changed.notify_all();
        }
    }
}
