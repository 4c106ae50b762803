//! `mpirun mazurka check`: a search by the ranks of an MPI job, on any number of machines.
//!
//! Rank 0 has the [`Dispatcher`] and coordinates; the other ranks are workers. A worker without a
//! branch waits for one. A worker with a branch reports its progress, and gives branches away when
//! rank 0 asks for them. A worker that has sent nothing for [`TIMEOUT`] is considered dead, and its
//! branch is given to another worker.
//!
//! MPI itself has no such recovery. By default `mpirun` ends the whole job when a rank dies; with
//! `--enable-recovery` Open MPI lets the other ranks continue. A checkpoint protects the work in
//! both cases: a file in the format of `check --branches`, with the results so far and the open
//! branches. It is written every [`CHECKPOINT`], and the next job continues from it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::output::Output;
use super::parts::{BEGINNING, Searched, strays};
use super::post::Post;
use super::progress::Progress;
use super::{Exit, Failure, checkpoint, interrupt};
use crate::explore::crew::{self, Assignment, Report, Worker};
use crate::explore::dispatcher::{
    self, Answers, Dispatcher, HEARTBEAT, Message, SPLIT_AFTER, TIMEOUT, pace,
};
use crate::explore::{Budget, Observer, Outcome, Part, StopReason};
use crate::study::{Limits, Stored};

/// The rank of the coordinator.
const COORDINATOR: i32 = 0;
/// How long rank 0 waits for a message before it sees to other things.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time between two looks for silent workers.
const GLANCE: Duration = Duration::from_millis(100);
/// Time between two checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(2);
/// What a worker sends to the coordinator.
#[derive(Serialize, Deserialize)]
enum ToCoordinator {
    /// The worker has not received the search task yet.
    New,
    /// A message of the search.
    Of(Message),
}

/// What the coordinator sends to a worker.
#[derive(Serialize, Deserialize)]
enum ToWorker {
    /// The search task.
    Task(Box<Stored>),
    /// An answer of the search.
    Of(dispatcher::Answer),
    /// The search is over. `is_whole`: are all ranks alive?
    End { is_whole: bool },
}

/// The work of a rank other than 0: searches branches until the search is over.
pub(super) fn work(mut post: Post) -> Result<Exit, Failure> {
    let mut searched: Option<Searched> = None;
    post.send(COORDINATOR, &ToCoordinator::New);
    loop {
        match (order(&mut post, searched.is_some()), &searched) {
            (Some(ToWorker::Task(stored)), None) => {
                searched = Some(stored.searched(Path::new("-"))?);
                post.send(COORDINATOR, &ToCoordinator::Of(Message::Idle));
            }
            (Some(ToWorker::Of(dispatcher::Answer::Search(piece))), Some(searched)) => {
                let is_fit = piece.branch.refusal(&searched.spec.program).is_none();
                if !is_fit || search(&mut post, searched, &piece) {
                    post.send(COORDINATOR, &ToCoordinator::Of(Message::Idle));
                }
            }
            (Some(ToWorker::End { is_whole }), _) => {
                post.close(is_whole);
                return Ok(Exit::Fine);
            }
            // What was asked of it concerns a branch that is done already.
            (Some(_), _) => {}
            // Rank 0 is gone, so there will be no result.
            (None, _) => {
                post.close(false);
                return Ok(Exit::Incomplete);
            }
        }
    }
}

/// Waits for the coordinator's order, and shows now and then that this rank is alive. `None` if the
/// coordinator is silent. `knows`: has this rank received the search task?
fn order(post: &mut Post, knows: bool) -> Option<ToWorker> {
    let mut heard = Instant::now();
    while heard.elapsed() < 6 * TIMEOUT {
        match post.wait(HEARTBEAT) {
            Some((_, ToWorker::Of(dispatcher::Answer::Wait))) => heard = Instant::now(),
            Some((_, order)) => return Some(order),
            None if knows => post.send(COORDINATOR, &ToCoordinator::Of(Message::Waiting)),
            None => post.send(COORDINATOR, &ToCoordinator::New),
        }
    }
    None
}

/// Searches a branch. Returns whether its result is not needed any more, so that it was given up.
fn search(post: &mut Post, searched: &Searched, piece: &Assignment) -> bool {
    let cancel = Arc::new(AtomicBool::new(false));
    let budget = Budget { cancel: cancel.clone(), ..searched.budget.clone() };
    let (post, asked) = (RefCell::new(post), Cell::new(0));
    let read = || {
        while let Some((_, order)) = post.borrow_mut().receive() {
            match order {
                ToWorker::Of(dispatcher::Answer::Split(count)) => asked.set(count),
                ToWorker::Of(dispatcher::Answer::Drop) => cancel.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
    };
    let mut told = Instant::now();
    let mut tell = |report: Report| {
        read();
        match report {
            Report::Beat(_) if told.elapsed() < HEARTBEAT => return,
            Report::Given(..) => asked.set(asked.get().saturating_sub(1)),
            _ => {}
        }
        told = Instant::now();
        let message = ToCoordinator::Of(Message::Report(Box::new(report)));
        post.borrow().send(COORDINATOR, &message);
    };
    let mut is_to_split = |steps| {
        read();
        asked.get() > 0 || steps >= SPLIT_AFTER
    };
    let of = (&searched.spec.program, searched.setting);
    crew::search(of, piece, (pace(), &mut is_to_split), budget, &mut tell).is_some()
}

/// Rank 0.
pub(super) struct Coordinator {
    post: Post,
    /// The workers that are alive, and those among them that wait for a branch.
    alive: BTreeSet<Worker>,
    waiting: BTreeSet<Worker>,
    checkpoint: Option<PathBuf>,
    saved: Instant,
}

impl Coordinator {
    /// A coordinator that writes its checkpoints to this file, or to one in this folder.
    pub(super) fn new(post: Post, checkpoint: Option<&Path>) -> Coordinator {
        Coordinator {
            alive: (1..post.size() as Worker).collect(),
            waiting: BTreeSet::new(),
            post,
            checkpoint: checkpoint.map(|file| match file.is_dir() {
                true => file.join(BEGINNING),
                false => file.to_owned(),
            }),
            saved: Instant::now(),
        }
    }

    /// The search to continue, and the file that it is resumed from: the last checkpoint, or else
    /// `stored`.
    ///
    /// # Errors
    /// If the checkpoint cannot be read, or is of another search.
    pub(super) fn resume(&self, stored: Stored) -> Result<(Stored, Option<String>), Failure> {
        match &self.checkpoint {
            Some(file) => checkpoint::known(file, stored),
            None => Ok((stored, None)),
        }
    }

    /// Lets the workers search, within these limits, and returns the result.
    pub(super) fn search(
        &mut self,
        stored: &mut Stored,
        searched: &Searched,
        limits: &Limits,
        output: &Output,
    ) -> Result<Outcome, Failure> {
        let start = Instant::now();
        let flag = interrupt::flag()?;
        let ended = || match () {
            () if flag.load(Ordering::Relaxed) => Some(StopReason::Interrupted),
            () if limits.timeout.is_some_and(|time| start.elapsed() >= time) => {
                Some(StopReason::Timeout)
            }
            () => None,
        };
        let budget = Budget { cancel: flag.clone(), ..searched.budget.clone() };
        let of = (&searched.spec.program, searched.setting);
        let mut progress = Progress::new(!output.is_quiet());
        let path = Path::new(&stored.task.path);
        stored.part.refusal(of.0).map_or(Ok(()), |stray| Err(strays(path, stray)))?;
        let task = Stored::new(stored.task.clone(), Part::default());
        let part = std::mem::take(&mut stored.part);
        let mut dispatcher = Dispatcher::new(part, &budget, self.alive.iter().copied());
        let mut glanced = Instant::now();
        while !dispatcher.is_over() && ended().is_none() && dispatcher.alive().next().is_some() {
            if let Some((rank, message)) = self.post.wait(POLL_INTERVAL) {
                let now = start.elapsed();
                let answers = self.hear(&mut dispatcher, (now, rank), message, &task, searched);
                self.send(answers);
            }
            if glanced.elapsed() >= GLANCE {
                glanced = Instant::now();
                let (lost, answers) = dispatcher.lose_silent(start.elapsed());
                lost.into_iter().for_each(|rank| warn_of(rank, output));
                self.send(answers);
            }
            if self.saved.elapsed() >= CHECKPOINT {
                progress.progress(&dispatcher.stats(), start.elapsed());
                self.save(stored, || dispatcher.settled())?;
            }
        }
        self.alive = dispatcher.alive().collect();
        self.waiting = dispatcher.waiting().collect();
        // If all workers are dead, the rest is searched here.
        stored.part = dispatcher.settled();
        let rest = stored.part.go_on(of, &budget, &mut || ended().is_some(), &mut progress);
        rest.map_err(|stray| strays(Path::new(&stored.task.path), stray))?;
        progress.finish();
        let part = stored.part.clone();
        self.save(stored, || part)?;
        let mut outcome = stored.part.outcome(&budget);
        outcome.elapsed = start.elapsed();
        if outcome.stopped_by == Some(StopReason::Missing) {
            outcome.stopped_by = ended().or(outcome.stopped_by);
        }
        Ok(outcome)
    }

    /// Takes a worker's message. A branch that does not belong to the program is dropped: the
    /// branch that it was split from is then searched again.
    fn hear(
        &mut self,
        dispatcher: &mut Dispatcher,
        (now, rank): (Duration, i32),
        message: ToCoordinator,
        task: &Stored,
        searched: &Searched,
    ) -> Answers {
        let ToCoordinator::Of(message) = message else {
            self.post.send(rank, &ToWorker::Task(Box::new(task.clone())));
            return Answers::new();
        };
        if let Message::Report(report) = &message
            && let Report::Given(_, branch, _) = &**report
            && branch.refusal(&searched.spec.program).is_some()
        {
            return Answers::new();
        }
        dispatcher.hear(now, rank as Worker, message)
    }

    fn send(&self, answers: Answers) {
        for (worker, answer) in answers {
            self.post.send(worker as i32, &ToWorker::Of(answer));
        }
    }

    /// Writes a checkpoint, if any are wanted.
    fn save(&mut self, stored: &mut Stored, part: impl FnOnce() -> Part) -> Result<(), Failure> {
        self.saved = Instant::now();
        let Some(file) = &self.checkpoint else { return Ok(()) };
        stored.part = part();
        stored.note_memory();
        stored.write(file)
    }

    /// Tells all workers that the search is over: those that wait at once, the others when they
    /// have given up what they do.
    pub(super) fn dismiss(mut self) {
        let start = Instant::now();
        let is_whole = self.alive.len() as i32 + 1 == self.post.size();
        for worker in std::mem::take(&mut self.waiting) {
            self.end(worker, is_whole);
        }
        while !self.alive.is_empty() && start.elapsed() < TIMEOUT {
            match self.post.wait(POLL_INTERVAL) {
                Some((rank, ToCoordinator::Of(Message::Report(report))))
                    if !matches!(*report, Report::Done(..)) =>
                {
                    self.post.send(rank, &ToWorker::Of(dispatcher::Answer::Drop));
                }
                Some((rank, _)) => self.end(rank as Worker, is_whole),
                None => {}
            }
        }
        self.post.close(is_whole && self.alive.is_empty());
    }

    /// Tells this worker that the search is over, unless it was told before.
    fn end(&mut self, worker: Worker, is_whole: bool) {
        if self.alive.remove(&worker) {
            self.post.send(worker as i32, &ToWorker::End { is_whole });
        }
    }
}

fn warn_of(rank: Worker, output: &Output) {
    output.warn(&format!(
        "rank {rank} has not answered for {} s: its branch goes to another rank",
        TIMEOUT.as_secs()
    ));
}
