//! Turns: several searches of one system, each in a thread of its own, go on one after the other.
//!
//! ```text
//! round   searches, with the number of steps that each may make
//!   0                                                                        udpor 131,072
//!   1     prefix 3,145,728    dl-s-por 21,845      stateful 262,144          udpor  43,690
//!   2     prefix 1,048,576    dl-s-por 21,845      stateful 786,432          udpor  43,690
//!   3     prefix 1,048,576    dl-s-por 65,536      stateful 262,144          udpor  43,690
//! ```
//!
//! The last search starts alone. Then there are rounds, in which each search gets a share of steps
//! in the order of its number. A search that has made its steps waits in [`Seat::next_turn`] and
//! keeps its state. The first round with an answer is the last one. The answer of the search with
//! the lowest number counts, so searches with higher numbers need no turn any more.
//!
//! **Shares** are counted in time units: a search has a weight, which is the number of steps that
//! it makes in one unit. The search with the least rest, as it expects itself ([`Course`]), gets
//! half of a round, and the others have equal parts of the other half. If weights were exact,
//! an answer by one of four searches would take twice as long as alone where the estimate is right,
//! and six times where it is wrong. But what a step costs differs up to tenfold between programs.
//! The first rounds take twice as long as the start, later ones an eighth of all that was before,
//! so that little time passes between an answer and the end of its round. What a search does beyond
//! its share, because it cannot stop earlier, is taken from the next ones.
//!
//! Several searches may go on at once, but only within a round. Whether a search has an answer
//! within its share depends only on its own steps, since every search is deterministic and makes
//! the same steps wherever it is told to wait. Estimates are compared only between rounds. So who
//! wins depends neither on time nor on how many searches go on at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::course::Course;
use super::result::Stats;
use crate::model::StopSignal;

/// Time between two looks at the stop signal while a search waits.
const GLANCE: Duration = Duration::from_millis(10);

/// The searches, and whose turn it is.
pub(super) struct Turns {
    table: Mutex<Table>,
    /// Notified when the table changes.
    changed: Condvar,
}

struct Table {
    statuses: Vec<Status>,
    shares: Shares,
    /// The most searches that go on at once.
    jobs: usize,
    /// The figures of the search that reported last.
    latest: Stats,
    /// The number of rounds that may still begin, if they are limited.
    rounds: Option<u32>,
    /// After the last of these rounds, the search with the least rest.
    least: Option<usize>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// It has no turn any more in this round.
    Rests,
    /// It will have a turn in this round.
    Waits,
    /// It is its turn.
    Runs,
    /// It has ended with an answer.
    Answers,
    /// It has ended without one.
    Out,
}

impl Turns {
    /// Turns for searches with these weights, of which the last starts alone with `first` steps.
    pub(super) fn new(weights: Vec<u64>, first: u64, jobs: usize) -> Turns {
        let mut statuses = vec![Status::Rests; weights.len()];
        *statuses.last_mut().expect("a search") = Status::Runs;
        let shares = Shares::new(weights, first);
        let latest = Stats::default();
        let (rounds, least) = (None, None);
        let table = Table { statuses, shares, jobs, latest, rounds, least, is_over: false };
        Turns { table: Mutex::new(table), changed: Condvar::new() }
    }

    /// The same, for this number of rounds.
    pub(super) fn limited(self, rounds: Option<u32>) -> Turns {
        self.table().rounds = rounds;
        self
    }

    /// The search that expected the least rest when the last of the rounds was over.
    pub(super) fn least(&self) -> Option<usize> {
        self.table().least
    }

    /// Stores figures for [`Seat::next_turn`] to tell.
    pub(super) fn note(&self, stats: &Stats) {
        self.table().latest.clone_from(stats);
    }

    /// Records that this search has ended, with an answer or without.
    pub(super) fn end(&self, number: usize, answers: bool) {
        let status = if answers { Status::Answers } else { Status::Out };
        drop(self.set(number, status));
    }

    /// Waits until no search is needed any more. Tells the latest figures meanwhile. Ends early if
    /// the signal is raised.
    pub(super) fn wait(&self, stop: &StopSignal, tell: &mut dyn FnMut(&Stats)) {
        self.wait_for(stop, tell, |table| table.is_over.then_some(()));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, number: usize, status: Status) -> MutexGuard<'_, Table> {
        let mut table = self.table();
        table.statuses[number] = status;
        table.settle();
        self.changed.notify_all();
        table
    }

    fn wait_for<T>(
        &self,
        stop: &StopSignal,
        tell: &mut dyn FnMut(&Stats),
        look: impl Fn(&Table) -> Option<T>,
    ) -> Option<T> {
        let mut table = self.table();
        while !stop.is_raised() {
            let seen = look(&table);
            if seen.is_some() {
                return seen;
            }
            let latest = table.latest.clone();
            drop(table);
            tell(&latest);
            table = self.table();
            if look(&table).is_none() {
                let waited = self.changed.wait_timeout(table, GLANCE);
                table = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        None
    }
}

impl Table {
    /// Decides what comes next, after a status has changed.
    fn settle(&mut self) {
        let answer = self.statuses.iter().position(|&status| status == Status::Answers);
        let all = self.statuses.len();
        let needed = &mut self.statuses[..answer.unwrap_or(all)];
        let is_open = |status: &Status| matches!(status, Status::Waits | Status::Runs);
        if !needed.iter().any(is_open) {
            self.is_over |= answer.is_some() || !needed.contains(&Status::Rests);
            if self.is_over {
                return;
            }
            needed.iter_mut().filter(|s| **s == Status::Rests).for_each(|s| *s = Status::Waits);
            let waits = |&number: &usize| needed[number] == Status::Waits;
            let waiting: Vec<_> = (0..needed.len()).filter(waits).collect();
            if self.rounds == Some(0) {
                self.least = self.shares.least(&waiting);
                self.is_over = true;
                return;
            }
            self.rounds = self.rounds.map(|rounds| rounds - 1);
            self.shares.divide(&waiting);
        }
        let running = needed.iter().filter(|&&status| status == Status::Runs).count();
        let next = needed.iter_mut().filter(|status| **status == Status::Waits);
        next.take(self.jobs.saturating_sub(running)).for_each(|status| *status = Status::Runs);
    }

    /// Does the result still depend on this search?
    fn needs(&self, number: usize) -> bool {
        !self.is_over && !self.statuses[..number].contains(&Status::Answers)
    }
}

/// How the searches share the rounds.
struct Shares {
    /// For each search the number of steps that it makes in one unit.
    weights: Vec<u64>,
    /// For each search the steps that it may have left, as far as is known.
    rests: Vec<u64>,
    /// For each search the steps that it may make in this round.
    steps: Vec<u64>,
    /// The units of all rounds so far, the start included.
    total: u64,
    /// The least units of half of a round.
    least: u64,
    /// The length of the first execution of the search that starts, if that is known when its first
    /// turn ends.
    length: Option<u64>,
}

/// A round takes at least 1/`PART` of the time of all those before it.
const PART: u64 = 8;

impl Shares {
    fn new(weights: Vec<u64>, first: u64) -> Shares {
        let (rests, steps) = (vec![0; weights.len()], vec![0; weights.len()]);
        let least = (first / weights.last().expect("a search")).max(1);
        Shares { weights, rests, steps, total: least, least, length: None }
    }

    /// The one of these searches that expects the least rest.
    fn least(&self, numbers: &[usize]) -> Option<usize> {
        let rest = |&number: &usize| self.rests[number] / self.weights[number];
        numbers.iter().copied().min_by_key(rest)
    }

    /// Gives each of these searches a share of the next round.
    fn divide(&mut self, numbers: &[usize]) {
        let half = self.least.max(self.total / (2 * PART));
        self.total = self.total.saturating_add(2 * half);
        let Some(first) = self.least(numbers) else { return };
        let others = numbers.len() as u64 - 1;
        for &number in numbers {
            let all = half.saturating_mul(self.weights[number]);
            let steps = if number == first { all } else { all / others };
            self.steps[number] = steps.max(1);
        }
    }
}

/// The place of one search among those that take turns.
pub(super) struct Seat<'t> {
    turns: &'t Turns,
    number: usize,
    /// Starts the other searches, when the first turn of this one is over.
    start_others: Option<&'t mut dyn FnMut()>,
}

impl<'t> Seat<'t> {
    /// The place of the search with this number.
    pub(super) fn new(turns: &'t Turns, number: usize) -> Seat<'t> {
        Seat { turns, number, start_others: None }
    }

    /// The place of the search that starts alone. `start_others` starts the other searches when its
    /// first turn is over.
    pub(super) fn first(turns: &'t Turns, start_others: &'t mut dyn FnMut()) -> Seat<'t> {
        let number = turns.table().statuses.len() - 1;
        Seat { turns, number, start_others: Some(start_others) }
    }

    /// Ends a turn after so many steps in all, and waits for the next one. Tells the latest figures
    /// meanwhile. Returns the number of steps of the next turn; `None` if the search is not needed
    /// any more, or if the signal is raised.
    pub(super) fn next_turn(
        &mut self,
        (course, steps): (&Course, u64),
        stop: &StopSignal,
        tell: &mut dyn FnMut(&Stats),
    ) -> Option<u64> {
        let number = self.number;
        let mut table = self.turns.table();
        if self.start_others.is_some() {
            table.shares.length = course.length();
        }
        table.shares.rests[number] = course.rest(steps, table.shares.length);
        drop(table);
        drop(self.turns.set(number, Status::Rests));
        if let Some(start) = self.start_others.take() {
            start();
        }
        self.wait_for_turn(stop, tell)
    }

    /// Waits for a turn, as [`next_turn`](Seat::next_turn) does.
    pub(super) fn wait_for_turn(
        &self,
        stop: &StopSignal,
        tell: &mut dyn FnMut(&Stats),
    ) -> Option<u64> {
        let look = |table: &Table| match table.statuses[self.number] {
            _ if !table.needs(self.number) => Some(None),
            Status::Runs => Some(Some(table.shares.steps[self.number])),
            _ => None,
        };
        self.turns.wait_for(stop, tell, look).flatten()
    }

    /// Does the result still depend on this search?
    pub(super) fn is_needed(&self) -> bool {
        self.turns.table().needs(self.number)
    }
}

/// Ends all searches if one of them panics. Otherwise the others would wait for it for ever.
pub(super) struct Guard<'t>(pub(super) &'t Turns);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.table().is_over = true;
            self.0.changed.notify_all();
        }
    }
}
