//! `mpirun mazurka check`: a search by the ranks of an MPI job, on any number of machines.
//!
//! Rank 0 has the [`Crew`], and the others search the pieces that they are given. All of them ask:
//! one that has nothing to do asks for work, one that works tells how far it is, and rank 0 only
//! answers. So a rank is known to be alive by what it says. When one has been silent for some time,
//! its piece is given to another.
//!
//! MPI itself knows no such thing. By default `mpirun` ends the whole job when a rank dies; with
//! `--enable-recovery` Open MPI leaves the other ranks alone. Either way nothing is lost with a
//! checkpoint: a file like those of `check --branches`, with what is done and what is left to do.
//! It is written every few seconds, and the next job begins with it.

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

/// Rank 0.
const FIRST: i32 = 0;
/// Who says nothing for so long is taken for dead.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one who has nothing to do waits before it asks again.
const PAUSE: Duration = Duration::from_millis(10);
/// Time between two checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(2);
/// A piece is cut again after so many transitions.
const GRAIN: NonZeroU64 = NonZeroU64::new(1 << 17).expect("not 0");
/// Parts for each rank that the search is cut into before it begins.
const HANDS: u32 = 4;

/// What a worker says.
#[derive(Serialize, Deserialize)]
enum Word {
    /// It has nothing to do. Does it know what is searched?
    Idle {
        knows: bool,
    },
    Tell(Box<Report>),
}

/// What rank 0 answers.
#[derive(Serialize, Deserialize)]
enum Order {
    /// This is searched.
    Learn(Box<Stored>),
    Search(Place, Branch),
    /// There is nothing to do now.
    Wait,
    /// The piece is not needed any more.
    Drop,
    /// Everything is done. Are all ranks alive?
    End {
        is_whole: bool,
    },
}

/// What a rank other than 0 does.
pub(super) fn work(mut post: Post) -> Result<Exit, Failure> {
    let mut searched: Option<Searched> = None;
    loop {
        post.send(FIRST, &Word::Idle { knows: searched.is_some() });
        match (answer(&mut post), &searched) {
            (Some(Order::Learn(stored)), _) => searched = Some(stored.searched(Path::new("-"))?),
            (Some(Order::Search(place, branch)), Some(searched))
                if branch.refusal(&searched.spec.program).is_none() =>
            {
                search(&mut post, searched, (place, &branch));
            }
            (Some(Order::End { is_whole }), _) => {
                post.close(is_whole);
                return Ok(Exit::Fine);
            }
            (Some(_), _) => thread::sleep(PAUSE),
            // Nobody is there any more who could tell a result.
            (None, _) => {
                post.close(false);
                return Ok(Exit::Incomplete);
            }
        }
    }
}

/// The answer of rank 0. That a piece is not needed may be heard when it is done already.
fn answer(post: &mut Post) -> Option<Order> {
    loop {
        match post.wait(6 * PATIENCE)?.1 {
            Order::Drop => {}
            order => return Some(order),
        }
    }
}

fn search(post: &mut Post, searched: &Searched, piece: (Place, &Branch)) {
    let cancel = Arc::new(AtomicBool::new(false));
    let budget = Budget { cancel: cancel.clone(), ..searched.budget.clone() };
    let mut tell = |report: Report| {
        post.send(FIRST, &Word::Tell(Box::new(report)));
        while let Some((_, Order::Drop)) = post.receive() {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let search = (&searched.spec.program, searched.setting);
    crew::search(search, piece, Pace::even(GRAIN), budget, &mut tell);
}

/// Rank 0 and what it knows of the others.
pub(super) struct Coordinator {
    post: Post,
    /// When each of the others was last heard of. Those that are lost are not in it.
    heard: BTreeMap<i32, Instant>,
    checkpoint: Option<PathBuf>,
    saved: Instant,
}

impl Coordinator {
    /// With checkpoints in this folder.
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

    /// The task, with all that the last checkpoint has of it.
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
        output.remark(format!("Goes on from {}.\n", shown(file)));
        Ok(known)
    }

    /// Has the search done, within these limits.
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
        let hands = NonZeroU32::new(HANDS * self.heard.len() as u32).expect("two ranks at least");
        let of = (&searched.spec.program, searched.setting);
        let mut progress = Progress::new(!output.is_quiet());
        let path = Path::new(&stored.task.path);
        let cut = stored.part.cut(of, hands, &budget, &mut progress);
        cut.map_err(|stray| strays(path, stray))?;
        let task = Stored::new(stored.task.clone(), Part::default());
        let mut crew = Crew::new(std::mem::take(&mut stored.part), &budget);
        while !crew.is_over() && ended().is_none() && !self.heard.is_empty() {
            if let Some((rank, word)) = self.post.wait(PAUSE) {
                self.hear(&mut crew, (rank, word), &task, searched);
            }
            self.miss(&mut crew, output);
            if self.saved.elapsed() >= CHECKPOINT {
                progress.progress(&crew.stats(), start.elapsed());
                self.save(stored, &crew)?;
            }
        }
        // If nobody else is left, it is done here.
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

    /// Hears a worker and answers it. A branch that is not one of the program never came: the piece
    /// that it is said to come from is then searched again.
    fn hear(
        &mut self,
        crew: &mut Crew,
        (rank, word): (i32, Word),
        task: &Stored,
        searched: &Searched,
    ) {
        self.heard.insert(rank, Instant::now());
        let worker = rank as Worker;
        match word {
            Word::Idle { knows: false } => {
                crew.lose(worker);
                self.post.send(rank, &Order::Learn(Box::new(task.clone())));
            }
            Word::Idle { knows: true } => {
                let order = crew
                    .give(worker)
                    .map_or(Order::Wait, |(place, branch)| Order::Search(place, branch));
                self.post.send(rank, &order);
            }
            Word::Tell(report) => {
                let program = &searched.spec.program;
                match *report {
                    Report::Given(_, branch) if branch.refusal(program).is_some() => {}
                    report => crew.hear(worker, report),
                }
                if !crew.is_needed(worker) {
                    self.post.send(rank, &Order::Drop);
                }
            }
        }
    }

    /// Gives up those who have been silent for too long.
    fn miss(&mut self, crew: &mut Crew, output: &Output) {
        self.heard.retain(|&rank, heard| {
            let is_alive = heard.elapsed() < PATIENCE;
            if !is_alive {
                crew.lose(rank as Worker);
                output.warn(&format!(
                    "rank {rank} has said nothing for {} s: its branch goes to another one",
                    PATIENCE.as_secs()
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

    /// Sends all ranks home.
    pub(super) fn dismiss(mut self) {
        let start = Instant::now();
        let is_whole = self.heard.len() as i32 + 1 == self.post.size();
        while !self.heard.is_empty() && start.elapsed() < PATIENCE {
            match self.post.wait(PAUSE) {
                Some((rank, Word::Idle { .. })) => {
                    self.post.send(rank, &Order::End { is_whole });
                    self.heard.remove(&rank);
                }
                Some((rank, Word::Tell(_))) => self.post.send(rank, &Order::Drop),
                None => {}
            }
        }
        self.post.close(is_whole && self.heard.is_empty());
    }
}
