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
//! **Who waits.** A worker that waits does not ask again: a thousand of them would ask all the
//! time. It only shows now and then that it is alive ([`Message::Waiting`]).
//!
//! **Who is alive.** A worker that has sent nothing for [`TIMEOUT`] is lost ([`Crew::lose`]). So
//! each worker sends something at least every [`HEARTBEAT`].

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::crew::{Crew, Report, Worker};
use super::part::Part;
use super::place::Place;
use crate::explore::budget::Budget;
use crate::explore::result::Stats;
use crate::explore::tree::Branch;

/// A worker that has sent nothing for this long is considered dead.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// A worker sends something at least this often.
pub const HEARTBEAT: Duration = Duration::from_secs(1);

/// A message from a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The worker has no piece, and waits for one.
    Idle,
    /// It still waits.
    Waiting,
    /// Progress or a result of its search. After [`Report::Done`] it waits for another piece.
    Report(Box<Report>),
}

/// A message to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// A piece to search: its place, its branch, and the number of transitions after which it is
    /// split again and again.
    Search(Place, Branch, NonZeroU64),
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
    /// The transitions after which a piece is split.
    grain: NonZeroU64,
    /// The workers that wait for a piece.
    waiting: BTreeSet<Worker>,
    /// When each worker that is alive last sent a message.
    heard: BTreeMap<Worker, Duration>,
}

impl Dispatcher {
    /// Begins or continues the search that is recorded in `part`. The workers count as alive until
    /// they have been silent for too long.
    pub fn new(
        part: Part,
        budget: &Budget,
        grain: NonZeroU64,
        workers: impl IntoIterator<Item = Worker>,
    ) -> Dispatcher {
        let heard = workers.into_iter().map(|worker| (worker, Duration::ZERO)).collect();
        Dispatcher { crew: Crew::new(part, budget), grain, waiting: BTreeSet::new(), heard }
    }

    /// Processes a message that arrives at this time.
    pub fn hear(&mut self, now: Duration, worker: Worker, message: Message) -> Answers {
        self.heard.insert(worker, now);
        let mut answers = Vec::new();
        match message {
            Message::Idle => {
                self.crew.lose(worker);
                self.waiting.insert(worker);
            }
            // If it has a piece by now, the piece is on its way.
            Message::Waiting if self.crew.is_busy(worker) => {}
            Message::Waiting => {
                self.waiting.insert(worker);
                answers.push((worker, Answer::Wait));
            }
            Message::Report(report) => {
                let is_done = matches!(*report, Report::Done(..));
                self.crew.hear(worker, *report);
                if is_done {
                    self.crew.lose(worker);
                    self.waiting.insert(worker);
                } else if !self.crew.is_needed(worker) {
                    answers.push((worker, Answer::Drop));
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
            self.crew.lose(*worker);
            self.waiting.remove(worker);
        }
        let mut answers = Vec::new();
        self.assign(&mut answers);
        (lost, answers)
    }

    /// Gives free pieces to workers that wait.
    fn assign(&mut self, answers: &mut Answers) {
        while let Some(&worker) = self.waiting.first()
            && let Some((place, branch)) = self.crew.give(worker)
        {
            self.waiting.remove(&worker);
            answers.push((worker, Answer::Search(place, branch, self.grain)));
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
