//! `mpirun mazurka check`: a search by the ranks of an MPI job, on any number of machines.
//!
//! Rank 0 has the [`Crew`] and coordinates; the other ranks are workers. A worker without a branch
//! asks for one. A worker with a branch reports its progress. Rank 0 only answers. A worker that
//! has sent nothing for [`WORKER_TIMEOUT`] is considered dead, and its branch is given to another
//! worker.
//!
//! MPI itself has no such recovery. By default `mpirun` ends the whole job when a rank dies; with
//! `--enable-recovery` Open MPI lets the other ranks continue. A checkpoint protects the work in
//! both cases: a file in the format of `check --branches`, with the results so far and the open
//! branches. It is written every [`CHECKPOINT`], and the next job continues from it.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::output::Output;
use super::parts::{BEGINNING, Searched, Stored, strays};
use super::post::Post;
use super::progress::Progress;
use super::{Exit, Failure, files, interrupt};
use crate::explore::crew::{self, Crew, Pace, Report, Worker};
use crate::explore::{Branch, Budget, Observer, Outcome, Part, Place, StopReason};
use crate::report::text::shown;
use crate::study::Limits;

/// The rank of the coordinator.
const COORDINATOR: i32 = 0;
/// A worker that has sent nothing for this long is considered dead.
const WORKER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a worker without a branch waits before it asks again.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time between two checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(2);
/// The number of transitions after which a worker splits its branch again.
const SPLIT_AFTER: NonZeroU64 = NonZeroU64::new(1 << 17).expect("not 0");
/// The number of parts for each worker into which the search is cut at the start.
const PARTS_PER_WORKER: u32 = 4;

/// A message from a worker to the coordinator.
#[derive(Serialize, Deserialize)]
enum Message {
    /// The worker has no branch. `knows`: has it received the search task?
    Idle { knows: bool },
    /// Progress or a result of the worker's search.
    Report(Box<Report>),
}

/// The coordinator's answer to a worker.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// The search task.
    Task(Box<Stored>),
    /// A branch to search, and its place.
    Search(Place, Branch),
    /// There is no branch to search at the moment.
    Wait,
    /// The result of the worker's branch is not needed any more.
    Drop,
    /// The search is over. `is_whole`: are all ranks alive?
    End { is_whole: bool },
}

/// The work of a rank other than 0: asks for branches and searches them until the search is over.
pub(super) fn work(mut post: Post) -> Result<Exit, Failure> {
    let mut searched: Option<Searched> = None;
    loop {
        post.send(COORDINATOR, &Message::Idle { knows: searched.is_some() });
        match (answer(&mut post), &searched) {
            (Some(Answer::Task(stored)), _) => searched = Some(stored.searched(Path::new("-"))?),
            (Some(Answer::Search(place, branch)), Some(searched))
                if branch.refusal(&searched.spec.program).is_none() =>
            {
                search(&mut post, searched, (place, &branch));
            }
            (Some(Answer::End { is_whole }), _) => {
                post.close(is_whole);
                return Ok(Exit::Fine);
            }
            (Some(_), _) => thread::sleep(POLL_INTERVAL),
            // Rank 0 is gone, so there will be no result.
            (None, _) => {
                post.close(false);
                return Ok(Exit::Incomplete);
            }
        }
    }
}

/// Waits for the coordinator's answer. An [`Answer::Drop`] for a branch that is already done may
/// arrive late; it is skipped.
fn answer(post: &mut Post) -> Option<Answer> {
    loop {
        match post.wait(6 * WORKER_TIMEOUT)?.1 {
            Answer::Drop => {}
            order => return Some(order),
        }
    }
}

fn search(post: &mut Post, searched: &Searched, piece: (Place, &Branch)) {
    let cancel = Arc::new(AtomicBool::new(false));
    let budget = Budget { cancel: cancel.clone(), ..searched.budget.clone() };
    let mut send = |report: Report| {
        post.send(COORDINATOR, &Message::Report(Box::new(report)));
        while let Some((_, Answer::Drop)) = post.receive() {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let search = (&searched.spec.program, searched.setting);
    crew::search(search, piece, Pace::even(SPLIT_AFTER), budget, &mut send);
}

/// Rank 0, and the workers that are alive.
pub(super) struct Coordinator {
    post: Post,
    /// When each worker that is alive last sent a message.
    heard: BTreeMap<i32, Instant>,
    checkpoint: Option<PathBuf>,
    saved: Instant,
}

impl Coordinator {
    /// A coordinator that writes its checkpoints to this folder.
    pub(super) fn new(post: Post, checkpoint: Option<&Path>) -> Coordinator {
        let now = Instant::now();
        let heard = (1..post.size()).map(|rank| (rank, now)).collect();
        Coordinator {
            post,
            heard,
            checkpoint: checkpoint.map(|dir| dir.join(BEGINNING)),
            saved: now,
        }
    }

    /// The search to continue: the last checkpoint, or else `stored`.
    ///
    /// # Errors
    /// If the checkpoint cannot be read, or is of another search.
    pub(super) fn resume(&self, stored: Stored, output: &Output) -> Result<Stored, Failure> {
        let Some(file) = &self.checkpoint else { return Ok(stored) };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, error))?;
        }
        if !file.exists() {
            return Ok(stored);
        }
        let known = Stored::read(file)?;
        if let Some(why) = known.task.difference(&stored.task) {
            let file = shown(file);
            return Err(Failure::Usage(format!(
                "{file} is the checkpoint of another search: {why}"
            )));
        }
        output.remark(format!("Continues from {}.\n", shown(file)));
        Ok(known)
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
        let hands = NonZeroU32::new(PARTS_PER_WORKER * self.heard.len() as u32)
            .expect("two ranks at least");
        let of = (&searched.spec.program, searched.setting);
        let mut progress = Progress::new(!output.is_quiet());
        let path = Path::new(&stored.task.path);
        let cut = stored.part.cut(of, hands, &budget, &mut progress);
        cut.map_err(|stray| strays(path, stray))?;
        let task = Stored::new(stored.task.clone(), Part::default());
        let mut crew = Crew::new(std::mem::take(&mut stored.part), &budget);
        while !crew.is_over() && ended().is_none() && !self.heard.is_empty() {
            if let Some((rank, message)) = self.post.wait(POLL_INTERVAL) {
                self.handle(&mut crew, (rank, message), &task, searched);
            }
            self.drop_silent(&mut crew, output);
            if self.saved.elapsed() >= CHECKPOINT {
                progress.progress(&crew.stats(), start.elapsed());
                self.save(stored, &crew)?;
            }
        }
        // If all workers are dead, the rest is searched here.
        stored.part = crew.settled();
        let rest = stored.part.go_on(of, &budget, &mut || ended().is_some(), &mut progress);
        rest.map_err(|stray| strays(Path::new(&stored.task.path), stray))?;
        progress.finish();
        self.save(stored, &Crew::new(stored.part.clone(), &budget))?;
        let mut outcome = stored.part.outcome(&budget);
        outcome.elapsed = start.elapsed();
        if outcome.stopped_by == Some(StopReason::Missing) {
            outcome.stopped_by = ended().or(outcome.stopped_by);
        }
        Ok(outcome)
    }

    /// Handles a worker's message and answers it. A branch that does not belong to the program is
    /// dropped: the branch that it was split from is then searched again.
    fn handle(
        &mut self,
        crew: &mut Crew,
        (rank, message): (i32, Message),
        task: &Stored,
        searched: &Searched,
    ) {
        self.heard.insert(rank, Instant::now());
        let worker = rank as Worker;
        match message {
            Message::Idle { knows: false } => {
                crew.lose(worker);
                self.post.send(rank, &Answer::Task(Box::new(task.clone())));
            }
            Message::Idle { knows: true } => {
                let order = crew
                    .give(worker)
                    .map_or(Answer::Wait, |(place, branch)| Answer::Search(place, branch));
                self.post.send(rank, &order);
            }
            Message::Report(report) => {
                let program = &searched.spec.program;
                match *report {
                    Report::Given(_, branch) if branch.refusal(program).is_some() => {}
                    report => crew.hear(worker, report),
                }
                if !crew.is_needed(worker) {
                    self.post.send(rank, &Answer::Drop);
                }
            }
        }
    }

    /// Gives up workers that have sent nothing for [`WORKER_TIMEOUT`].
    fn drop_silent(&mut self, crew: &mut Crew, output: &Output) {
        self.heard.retain(|&rank, heard| {
            let is_alive = heard.elapsed() < WORKER_TIMEOUT;
            if !is_alive {
                crew.lose(rank as Worker);
                output.warn(&format!(
                    "rank {rank} has not answered for {} s: its branch goes to another rank",
                    WORKER_TIMEOUT.as_secs()
                ));
            }
            is_alive
        });
    }

    fn save(&mut self, stored: &mut Stored, crew: &Crew) -> Result<(), Failure> {
        self.saved = Instant::now();
        let Some(file) = &self.checkpoint else { return Ok(()) };
        stored.part = crew.settled();
        stored.note_memory();
        stored.write(file)
    }

    /// Tells all workers that the search is over.
    pub(super) fn dismiss(mut self) {
        let start = Instant::now();
        let is_whole = self.heard.len() as i32 + 1 == self.post.size();
        while !self.heard.is_empty() && start.elapsed() < WORKER_TIMEOUT {
            match self.post.wait(POLL_INTERVAL) {
                Some((rank, Message::Idle { .. })) => {
                    self.post.send(rank, &Answer::End { is_whole });
                    self.heard.remove(&rank);
                }
                Some((rank, Message::Report(_))) => self.post.send(rank, &Answer::Drop),
                None => {}
            }
        }
        self.post.close(is_whole && self.heard.is_empty());
    }
}
