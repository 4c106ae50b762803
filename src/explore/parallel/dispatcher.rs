//! The protocol of a search by workers that send messages: what each message changes, and which
//! answers it gets. The messages are carried by others: by MPI (`mpirun mazurka check`), by pipes,
//! or by a simulation (`examples/many_machines`). So there is no clock here: who calls says what
//! time it is.
//!
//! ```text
//!   worker                                  dispatcher
//!     ── Idle ──────────────────────────────►   no piece is free: the worker waits
//!     ◄──────────────── Search(place, branch) ──  as soon as one is
//!     ── Report(Given(place/0, branch)) ────►   goes to the next worker that waits
//!     ── Report(Done(place, 1)) ────────────►   the worker has no piece any more, as after Idle
//!     ◄──────────────── Search(place, branch) ──
//! ```
//!
//! **Who waits** does not ask again: a thousand workers would ask all the time. They only show now
//! and then that they are alive ([`Message::Waiting`]).
//!
//! **Who splits.** Somebody has to give a branch away when others wait. The dispatcher asks for it
//! ([`Answer::Split`]): the workers that have their pieces longest are asked first. It does so a
//! little before it is needed, until there is a free piece for every second worker. Each branch
//! costs the dispatcher time, so none is asked for that nobody will need soon. Unasked, a worker
//! splits its piece only after [`SPLIT_AFTER`] steps, so that a checkpoint has something to hold.
//!
//! **Who is alive.** A worker that has sent nothing for [`TIMEOUT`] is lost ([`Crew::lose`]). So
//! each worker sends something at least every [`HEARTBEAT`].

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::Duration;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::crew::{Assignment, Crew, Pace, Report, Worker};
use super::part::Part;
use crate::explore::budget::Budget;
use crate::explore::result::Stats;

/// A worker that has sent nothing for this long is considered dead.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// A worker sends something at least this often.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// The number of steps after which a worker splits its piece unasked.
pub const SPLIT_AFTER: u64 = 1 << 20;

/// The most branches that a worker is asked for at once.
const MOST_ASKED: u32 = 16;

/// The steps after which a worker looks whether it is to split its piece: about a millisecond of a
/// spec.
pub fn pace() -> Pace {
    Pace::even(NonZeroU64::new(1 << 10).expect("not 0"))
}

/// A message from a worker.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub enum Message {
    /// The worker has no piece, and waits for one.
    Idle,
    /// It still waits.
    Waiting,
    /// Progress or a result of its search. After [`Report::Done`] it waits for another piece.
    Report(Box<Report>),
}

/// A message to a worker.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub enum Answer {
    /// A piece to search.
    Search(Assignment),
    /// So many branches of the piece are to be given away, as soon as there are any.
    Split(u32),
    /// The result of the worker's piece is not needed any more.
    Drop,
    /// There is nothing to do at the moment.
    Wait,
}

/// Answers and the workers that they are for.
pub type Answers = Vec<(Worker, Answer)>;

/// The state of the search, and of the workers as far as it is known.
#[derive(Debug)]
pub struct Dispatcher {
    crew: Crew,
    /// The workers that wait for a piece.
    waiting: BTreeSet<Worker>,
    /// The workers that can be asked for a branch, those that were asked longest ago first.
    askable: Queue,
    /// The workers that were asked, and how many branches they have not given yet.
    asked: BTreeMap<Worker, u32>,
    /// The sum of these numbers.
    outstanding: u32,
    /// When each worker that is alive last sent a message.
    heard: BTreeMap<Worker, Duration>,
}

impl Dispatcher {
    /// Begins or continues the search that is recorded in `part`. The workers count as alive until
    /// they have been silent for too long.
    pub fn new(
        part: Part,
        budget: &Budget,
        workers: impl IntoIterator<Item = Worker>,
    ) -> Dispatcher {
        Dispatcher {
            crew: Crew::new(part, budget),
            waiting: BTreeSet::new(),
            askable: Queue::default(),
            asked: BTreeMap::new(),
            outstanding: 0,
            heard: workers.into_iter().map(|worker| (worker, Duration::ZERO)).collect(),
        }
    }

    /// Processes a message that arrives at this time.
    pub fn hear(&mut self, now: Duration, worker: Worker, message: Message) -> Answers {
        self.heard.insert(worker, now);
        let mut answers = Vec::new();
        match message {
            Message::Idle => {
                self.take_from(worker);
                self.waiting.insert(worker);
            }
            // If it has a piece by now, the piece is on its way.
            Message::Waiting if self.crew.is_busy(worker) => {}
            Message::Waiting => {
                self.waiting.insert(worker);
                answers.push((worker, Answer::Wait));
            }
            Message::Report(report) => {
                let (is_done, is_given) =
                    (matches!(*report, Report::Done(..)), matches!(*report, Report::Given(..)));
                self.crew.hear(worker, *report);
                if is_done {
                    self.take_from(worker);
                    self.waiting.insert(worker);
                } else if !self.crew.is_needed(worker) {
                    answers.push((worker, Answer::Drop));
                } else if is_given {
                    self.given_by(worker);
                }
            }
        }
        self.assign(&mut answers);
        answers
    }

    /// Gives up the workers that have been silent for too long. Returns them, and the answers to
    /// those who get their pieces.
    pub fn lose_silent(&mut self, now: Duration) -> (Vec<Worker>, Answers) {
        let is_silent = |heard: &Duration| now.saturating_sub(*heard) >= TIMEOUT;
        let silent = self.heard.iter().filter(|(_, heard)| is_silent(heard));
        let lost: Vec<Worker> = silent.map(|(&worker, _)| worker).collect();
        for worker in &lost {
            self.heard.remove(worker);
            self.take_from(*worker);
            self.waiting.remove(worker);
        }
        let mut answers = Vec::new();
        self.assign(&mut answers);
        (lost, answers)
    }

    /// Records that the worker has no piece.
    fn take_from(&mut self, worker: Worker) {
        self.crew.lose(worker);
        self.outstanding -= self.asked.remove(&worker).unwrap_or_default();
        self.askable.remove(worker);
    }

    /// Records that the worker has given a branch away.
    fn given_by(&mut self, worker: Worker) {
        let Some(left) = self.asked.get_mut(&worker) else { return };
        *left -= 1;
        self.outstanding -= 1;
        if *left == 0 {
            self.asked.remove(&worker);
            self.askable.push(worker);
        }
    }

    /// Gives free pieces to workers that wait, and asks for branches if more will be needed.
    fn assign(&mut self, answers: &mut Answers) {
        while let Some(&worker) = self.waiting.first()
            && let Some(piece) = self.crew.give(worker)
        {
            self.waiting.remove(&worker);
            self.askable.push(worker);
            answers.push((worker, Answer::Search(piece)));
        }
        let wanted = self.waiting.len() + self.heard.len() / 2;
        let needed = wanted.saturating_sub(self.crew.free());
        // Some of those who are asked have nothing to give.
        let mut left = (2 * needed as u32).saturating_sub(self.outstanding);
        while left > 0
            && let Some(worker) = self.askable.pop()
        {
            let share = left.div_ceil(self.askable.len() as u32 + 1).min(MOST_ASKED);
            self.asked.insert(worker, share);
            self.outstanding += share;
            answers.push((worker, Answer::Split(share)));
            left -= share;
        }
    }

    /// Are all pieces done on which the result depends?
    pub fn is_over(&self) -> bool {
        self.crew.is_over()
    }

    /// The workers that are alive.
    pub fn alive(&self) -> impl Iterator<Item = Worker> {
        self.heard.keys().copied()
    }

    /// The workers that wait for a piece.
    pub fn waiting(&self) -> impl Iterator<Item = Worker> {
        self.waiting.iter().copied()
    }

    /// The figures so far.
    pub fn stats(&self) -> Stats {
        self.crew.stats()
    }

    /// A checkpoint of the search ([`Crew::settled`]).
    pub fn settled(&self) -> Part {
        self.crew.settled()
    }
}

/// A queue of workers from which each can be removed.
#[derive(Debug, Default)]
struct Queue {
    order: BTreeMap<u64, Worker>,
    numbers: BTreeMap<Worker, u64>,
    next: u64,
}

impl Queue {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn push(&mut self, worker: Worker) {
        self.remove(worker);
        self.order.insert(self.next, worker);
        self.numbers.insert(worker, self.next);
        self.next += 1;
    }

    fn pop(&mut self) -> Option<Worker> {
        let (_, worker) = self.order.pop_first()?;
        self.numbers.remove(&worker);
        Some(worker)
    }

    fn remove(&mut self, worker: Worker) {
        if let Some(number) = self.numbers.remove(&worker) {
            self.order.remove(&number);
        }
    }
}
