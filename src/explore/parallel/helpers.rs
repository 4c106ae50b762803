//! One search, and threads that explore pieces ahead of it.
//!
//! A depth-first search with wakeup trees or backtrack sets knows continuations that it will
//! explore later, and what will be asleep then: all that is to the left. New continuations are only
//! added to the right, and one that the path to a leaf covers is dropped. So
//!
//! - a continuation that is a leaf stays one, and will be explored, unless the search ends before;
//! - what is asleep where it begins is known already;
//! - its exploration needs nothing else from the search that it is a piece of.
//!
//! ```text
//!          ∅ ── e ── … ──▶    the search is here
//!          ├── p ── q         a leaf: a piece for another thread; e is asleep after ∅
//!          └── r              the next one; e and p are asleep after ∅
//! ```
//!
//! A thread without work is given such a piece. It explores it, and keeps what its races demand of
//! states before it. The search, when it gets there, adds the result of the piece to its own, and
//! meets its demands in the order in which they were found. Then it is in the state in which it
//! would be if it had explored the piece itself. So **figures, verdict and counterexamples are
//! those of one thread**, whatever the number of threads and their speed, unless a limit or a
//! signal ends the search. (Where local states have the numbers of created processes, and no
//! places, similar deadlocks may be told apart in another way.)
//!
//! A piece that nobody has begun when the search gets there is taken back. For one that is being
//! explored the search waits, and meets demands meanwhile. Others help the search of a piece, too.
//! So while there are pieces, as many threads run at any time as the search has jobs.
//!
//! **Where it helps.** `source` has large pieces: an action to try, and all that follows. In
//! `optimal`, a leaf is at the end of a whole continuation v, which has everything that does not
//! happen after the race. Where most events conflict, v is short, and pieces are large. Where most
//! are independent, v leads almost to the end of an execution, and its piece has few transitions.
//! So the threads are asked less and less often while pieces are small.
//!
//! The demands of a piece that the search has not reached are kept. A piece with more than
//! [`MOST_KEPT`] events in them waits until it is claimed.
//!
//! **Why not all branches at once?** It is not enough to know that somebody explores a branch of a
//! wakeup tree. Where a branch that is no leaf covers a continuation, the continuation has to be
//! inserted below it. If it is dropped, it is lost: in the branch, the first action of the branch
//! to its left sleeps, and so do the executions in which the race would be found again. In this way
//! `memory/lastzero.maz` loses one of 5 classes, and `actor/primary-backup.maz` 4,952 of 5,870. So
//! a branch that is no leaf cannot be explored before those to its left are.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use super::ahead::{Ahead, Claim, Demand, Helpers, Pace, Piece};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, run};
use crate::explore::observer::Observer;
use crate::explore::result::{Outcome, Stats};
use crate::model::System;
use crate::trace::Ticket;

/// The most events in the demands that are kept of a piece which the search has not reached.
const MOST_KEPT: usize = 1 << 22;
/// Time between two looks of a waiting search at its limits.
const GLANCE: Duration = Duration::from_millis(10);

/// Explores `system` as `driver` asks, with up to `jobs` threads that run at the same time.
pub(crate) fn explore<S: System, E: Explorer>(
    (system, explorer): (&S, E),
    (jobs, pace): (NonZeroU32, Pace),
    driver: &mut Driver<'_>,
) {
    // The driver of the whole search enforces these limits.
    let budget = Budget { timeout: None, max_memory: None, ..driver.budget().clone() };
    let team = Team {
        search: (system, explorer),
        budget: budget.clone(),
        jobs: jobs.get() as usize,
        pace,
        table: Mutex::new(Table { running: 1, ..Table::default() }),
        changed: Condvar::new(),
        are_idle: AtomicBool::new(jobs.get() > 1),
    };
    let outcome = thread::scope(|scope| {
        let hands = Hands { team: &team, scope };
        let _end = End(&team);
        let alarm = driver.alarm();
        let whole = Driver::new(system, budget, &mut *driver.observer).on_behalf_of(alarm);
        let mut whole = whole.with_help(Ahead::new(&hands, pace));
        explorer.explore(system, &mut whole);
        whole.finish()
    });
    driver.adopt(outcome);
}

/// What the threads share.
struct Team<'s, S, E> {
    search: (&'s S, E),
    budget: Budget,
    /// The number of threads that may run at the same time.
    jobs: usize,
    pace: Pace,
    table: Mutex<Table>,
    /// Notified when the table changes.
    changed: Condvar,
    /// Could another thread run, if there were a piece for it?
    are_idle: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// The pieces that nobody has begun, in the order in which they were offered.
    open: VecDeque<Offer>,
    /// The pieces that were begun, and not claimed to their end.
    begun: BTreeMap<Ticket, Begun>,
    /// The number of pieces offered so far.
    offered: u32,
    /// The number of searches that run, and do not wait.
    running: usize,
    /// The number of threads that wait for a piece.
    waiting: usize,
    is_over: bool,
}

/// A piece that nobody has begun.
struct Offer {
    ticket: Ticket,
    /// The piece whose search has offered it, if that is a piece itself.
    of: Option<Ticket>,
    piece: Piece,
}

/// A piece that was begun.
#[derive(Default)]
struct Begun {
    of: Option<Ticket>,
    /// Ends its search.
    stop: Arc<AtomicBool>,
    /// Its demands that were not met yet, and the number of events in them.
    demands: Vec<Demand>,
    events: usize,
    /// Has the search got there?
    is_claimed: bool,
    /// Its figures so far.
    stats: Stats,
    outcome: Option<Box<Outcome>>,
}

impl<S, E> Team<'_, S, E> {
    /// The table, to change it. Whoever has changed it tells the others ([`Team::tell`]).
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the table back after a change.
    fn tell(&self, table: MutexGuard<'_, Table>) {
        let are_idle = !table.is_over && table.running + table.open.len() < self.jobs;
        self.are_idle.store(are_idle, Ordering::Relaxed);
        drop(table);
        self.changed.notify_all();
    }

    /// Waits for a change of the table.
    fn wait<'t>(&'t self, table: MutexGuard<'t, Table>) -> MutexGuard<'t, Table> {
        let waited = self.changed.wait_timeout(table, GLANCE);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Table {
    /// Drops the pieces of this piece, whose search has ended without them.
    fn drop_parts(&mut self, of: Ticket) {
        self.open.retain(|offer| offer.of != Some(of));
        self.begun.retain(|_, part| part.of != Some(of) || part.outcome.is_none());
        for part in self.begun.values().filter(|part| part.of == Some(of)) {
            part.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Is there news of this piece for the search that claims it?
    fn has_news(&self, ticket: Ticket) -> bool {
        let has_news = |piece: &Begun| !piece.demands.is_empty() || piece.outcome.is_some();
        self.begun.get(&ticket).is_none_or(has_news)
    }
}

/// The team, with the scope in which it starts threads.
struct Hands<'scope, 'env, S, E> {
    team: &'scope Team<'env, S, E>,
    scope: &'scope Scope<'scope, 'env>,
}

impl<S, E> Clone for Hands<'_, '_, S, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, E> Copy for Hands<'_, '_, S, E> {}

impl<S: System, E: Explorer> Hands<'_, '_, S, E> {
    /// The work of a thread: explores one piece after the other.
    fn work(self) {
        let team = self.team;
        let _end = EndOnPanic(team);
        let mut table = team.table();
        loop {
            if table.is_over {
                return;
            }
            if table.running < team.jobs
                && let Some(Offer { ticket, of, piece }) = table.open.pop_front()
            {
                let stop = Arc::default();
                let begun = Begun { of, stop: Arc::clone(&stop), ..Begun::default() };
                table.begun.insert(ticket, begun);
                table.running += 1;
                team.tell(table);
                let outcome = self.explore(ticket, piece, stop);
                table = team.table();
                table.running -= 1;
                table.drop_parts(ticket);
                match table.begun.get_mut(&ticket) {
                    Some(piece) if !piece.stop.load(Ordering::Relaxed) => {
                        piece.outcome = Some(Box::new(outcome));
                    }
                    _ => {
                        table.begun.remove(&ticket);
                    }
                }
                team.tell(table);
                table = team.table();
            } else {
                table.waiting += 1;
                table = team.wait(table);
                table.waiting -= 1;
            }
        }
    }

    fn explore(self, ticket: Ticket, piece: Piece, stop: Arc<AtomicBool>) -> Outcome {
        let Team { search: (system, explorer), budget, pace, .. } = self.team;
        let budget = Budget { cancel: stop, ..budget.clone() };
        let mut reporter = Reporter { team: self.team, ticket };
        let ahead = Ahead::new(&self, *pace).of(ticket, piece);
        let driver = Driver::new(*system, budget.clone(), &mut reporter).with_help(ahead);
        run(*system, *explorer, explorer.refusal(*system, &budget), driver)
    }

    /// Waits until `is_enough`, while another thread runs in place of this one.
    fn pause<'t>(
        &'t self,
        mut table: MutexGuard<'t, Table>,
        goes_on: &mut dyn FnMut() -> bool,
        is_enough: impl Fn(&Table) -> bool,
    ) -> MutexGuard<'t, Table> {
        let team = self.team;
        table.running -= 1;
        team.tell(table);
        table = team.table();
        while !is_enough(&table) {
            drop(table);
            let goes_on = goes_on();
            table = team.table();
            if !goes_on || table.is_over || is_enough(&table) {
                break;
            }
            table = team.wait(table);
        }
        table.running += 1;
        table
    }
}

impl<S: System, E: Explorer> Helpers for Hands<'_, '_, S, E> {
    fn are_idle(&self) -> bool {
        self.team.are_idle.load(Ordering::Relaxed)
    }

    fn offer(&self, of: Option<Ticket>, piece: Piece) -> Ticket {
        let mut table = self.team.table();
        let ticket = Ticket(table.offered);
        table.offered += 1;
        table.open.push_back(Offer { ticket, of, piece });
        if table.waiting < table.open.len() {
            let hands = *self;
            self.scope.spawn(move || hands.work());
        }
        self.team.tell(table);
        ticket
    }

    fn claim(&self, ticket: Ticket, goes_on: &mut dyn FnMut() -> bool) -> Claim {
        let mut table = self.team.table();
        if let Some(place) = table.open.iter().position(|offer| offer.ticket == ticket) {
            table.open.remove(place);
            self.team.tell(table);
            return Claim::Own;
        }
        if let Some(piece) = table.begun.get_mut(&ticket) {
            piece.is_claimed = true;
        }
        if !table.has_news(ticket) {
            table = self.pause(table, goes_on, |table| table.has_news(ticket));
        }
        let claim = match table.begun.get_mut(&ticket) {
            Some(piece) if !piece.demands.is_empty() => {
                piece.events = 0;
                Claim::Demands(std::mem::take(&mut piece.demands))
            }
            Some(piece) if piece.outcome.is_some() => {
                let outcome = piece.outcome.take().expect("it is done");
                table.begun.remove(&ticket);
                Claim::Done(outcome)
            }
            _ => Claim::Over,
        };
        self.team.tell(table);
        claim
    }

    fn send(&self, ticket: Ticket, demands: Vec<Demand>, goes_on: &mut dyn FnMut() -> bool) {
        let mut table = self.team.table();
        let Some(piece) = table.begun.get_mut(&ticket) else { return };
        piece.events += demands.iter().map(|demand| demand.events.len()).sum::<usize>();
        piece.demands.extend(demands);
        if piece.events > MOST_KEPT && !piece.is_claimed {
            let is_claimed = |table: &Table| table.begun.get(&ticket).is_none_or(|p| p.is_claimed);
            table = self.pause(table, goes_on, is_claimed);
        }
        self.team.tell(table);
    }

    fn add_figures(&self, stats: &mut Stats) {
        let table = self.team.table();
        table.begun.values().for_each(|piece| stats.add(&piece.stats));
    }
}

/// Notes the figures of a piece.
struct Reporter<'t, 's, S, E> {
    team: &'t Team<'s, S, E>,
    ticket: Ticket,
}

impl<S: System, E: Explorer> Observer for Reporter<'_, '_, S, E> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        if let Some(piece) = self.team.table().begun.get_mut(&self.ticket) {
            piece.stats = stats.clone();
        }
    }
}

/// Ends the work of the threads when the search has ended.
struct End<'t, 's, S, E>(&'t Team<'s, S, E>);

impl<S, E> Drop for End<'_, '_, S, E> {
    fn drop(&mut self) {
        let mut table = self.0.table();
        table.is_over = true;
        table.begun.values().for_each(|piece| piece.stop.store(true, Ordering::Relaxed));
        self.0.tell(table);
    }
}

/// Ends the work of all threads if one of them panics. Otherwise the search would wait for it for
/// ever. (The panic goes on when all have ended.)
struct EndOnPanic<'t, 's, S, E>(&'t Team<'s, S, E>);

impl<S, E> Drop for EndOnPanic<'_, '_, S, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(End(self.0));
        }
    }
}
