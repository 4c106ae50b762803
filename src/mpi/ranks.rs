//! The ranks of a program, as processes that a search can run.

mod noted;
mod questions;
mod spawned;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::programs::Program;
use super::servers::{Process, Servers};
use super::slip::Slip;
use super::source::Source;
use super::uses::Uses;
use super::wire::{Parts, Put};
use crate::explore::{Outcome, StopReason};
use crate::model::{
    Envelope, Failure, FailureKind, MailboxId, May, Objects, Op, Part, Probing, Remark, RemarkKind,
    Semantics, Site, StopSignal, Touch,
};
use crate::systems::history::{Asked, Reply, Runner, Told};

pub(super) use questions::Trouble;
use questions::{Names, objects};
pub(super) use spawned::Origin;
use spawned::Spawned;

/// The signal that reports a system call: see `c/calls.c`.
const SIGSYS: i32 = 31;
/// The signal that ends a process when the system has no memory left. If a rank sends it to itself,
/// that is reported before (`c/processes.c`).
const SIGKILL: i32 = 9;

/// The bit of a question's kind that says: if the rank waits there for ever, the execution is
/// explored elsewhere (`c/threads.c`).
const IN_VAIN: u8 = 0x80;

/// The default for the advance of a rank's clock whenever the rank reads it.
pub const TICK: Duration = Duration::from_micros(1);

/// The default for the memory that a rank may have, in bytes.
pub const RANK_MEMORY: u64 = 4_000_000_000;

/// A program, and the way in which it is run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program: one that `mazurka mpicc` has made; or one that is compiled for the ABI of
    /// MPI 5.0, or a script. Of such a program accesses to memory are not seen.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
    /// The number of ranks.
    pub size: u32,
    /// What the MPI standard leaves to implementations.
    pub semantics: Semantics,
    /// The time limit for a rank between two calls of MPI. A rank that exceeds it hangs.
    pub step_timeout: Duration,
    /// The advance of a rank's clock whenever the rank reads it.
    pub tick: Duration,
    /// The memory that a rank may have, in bytes. A rank that needs more is not decided.
    pub rank_memory: u64,
    /// Where changes of files go.
    pub files: Files,
    /// Paths below this folder are shown without it.
    pub base: PathBuf,
    /// The working directory of the ranks; `None` for that of this process.
    pub folder: Option<PathBuf>,
}

impl Launch {
    /// This program with so many ranks and no arguments, and the default for everything else. A
    /// rank may compute for 10 seconds between two calls.
    pub fn new(program: &Path, size: u32) -> Launch {
        Launch {
            program: program.to_owned(),
            arguments: Vec::new(),
            size,
            semantics: Semantics::default(),
            step_timeout: Duration::from_secs(10),
            tick: TICK,
            rank_memory: RANK_MEMORY,
            files: Files::default(),
            base: PathBuf::new(),
            folder: None,
        }
    }
}

/// Where the changes that ranks make to files go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// To copies of the process, which are deleted when it ends.
    #[default]
    Own,
    /// To the real files, each time that a rank is run.
    Real,
}

/// The ranks of a program.
pub struct Ranks {
    launch: Launch,
    objects: Objects,
    servers: Arc<Servers>,
    /// Of the program that is launched.
    code: Code,
    spawned: Mutex<Spawned>,
    names: Mutex<Names>,
    uses: Mutex<Uses>,
    unexplored: Mutex<Unexplored>,
    /// Whether any rank has asked for anything but its end.
    calls: AtomicBool,
}

/// The source of a program, and how far from its addresses it is loaded, once that is known.
struct Code {
    source: Source,
    bias: OnceLock<u64>,
}

impl Code {
    fn site(&self, address: u64, call: &str) -> Option<Site> {
        self.source.site(address.wrapping_sub(*self.bias.get()?), call)
    }
}

/// What ranks did that cannot be explored.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Unexplored {
    /// The first reason why a search had to end, in a sentence.
    end: Option<String>,
    /// The ranks that have started threads.
    threads: BTreeSet<u32>,
    /// The ranks in which a thread has left a loop that was taken to wait, and where.
    loops: BTreeMap<u32, Option<String>>,
    /// The ranks in which threads wait in MPI at the same time in different ways, and where.
    waits: BTreeMap<u32, Option<String>>,
    /// The ranks that share memory with others.
    sharers: BTreeSet<u32>,
    /// By part of a window: the ranks that need a shared lock of it only after other calls, and
    /// where.
    late_locks: BTreeMap<String, BTreeMap<u32, Option<String>>>,
    /// By part of a window: the ranks that lock it alone.
    exclusive_locks: BTreeMap<String, BTreeSet<u32>>,
}

impl Ranks {
    /// Starts the program once for each rank; it stops before `main`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn new(launch: Launch) -> Result<Ranks, String> {
        let Program { file, before, is_foreign } = Program::find(&launch.program)?;
        if !Path::new("/proc/self/exe").exists() {
            return Err("ranks cannot be run without /proc".into());
        }
        let name = launch.program.display().to_string();
        let arguments = before.into_iter().chain(launch.arguments).collect();
        let launch = Launch { program: file, arguments, ..launch };
        let servers = Servers::start(&launch, is_foreign);
        let servers = Arc::new(servers.map_err(|error| format!("{name}: {error}"))?);
        let bias = servers.bias(0, None).map_err(|error| error.to_string())?;
        Ok(Ranks::of(launch, servers, bias))
    }

    /// Ranks that are not started yet.
    #[cfg(test)]
    pub(super) fn unstarted(launch: Launch) -> Ranks {
        let servers = Servers::start(&Launch { size: 0, ..launch.clone() }, false);
        Ranks::of(launch, Arc::new(servers.expect("nothing is started")), 0)
    }

    fn of(launch: Launch, servers: Arc<Servers>, bias: u64) -> Ranks {
        let code =
            Code { source: Source::new(&launch.program, launch.base.clone()), bias: bias.into() };
        let objects = objects(&launch);
        let names = Mutex::new(Names::of_the_world());
        let (spawned, uses, unexplored, calls) = Default::default();
        Ranks { launch, objects, servers, code, spawned, names, uses, unexplored, calls }
    }

    /// The program, and the way in which it is run.
    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    /// What is not seen, if some program was not made by `mazurka mpicc`: a sentence.
    pub(crate) fn unseen(&self) -> Option<&'static str> {
        let what = "accesses to memory, and the types of buffers: not compiled by `mazurka mpicc`";
        self.servers.are_foreign().then_some(what)
    }

    /// Corrects the outcome of a search of these ranks. It is not complete if ranks did what cannot
    /// be explored; [`Ranks::reservation`] has the reason.
    pub(crate) fn judged(&self, mut outcome: Outcome) -> Outcome {
        let reserved = self.reservation().map(|_| StopReason::Unsupported);
        outcome.stopped_by = outcome.stopped_by.or(reserved);
        outcome
    }

    /// What ranks did that cannot be explored, in a sentence.
    pub(crate) fn reservation(&self) -> Option<String> {
        let unexplored = self.unexplored();
        let leaves = || unexplored.loops.first_key_value();
        let waits = || unexplored.waits.first_key_value();
        unexplored
            .end
            .clone()
            .or_else(|| leaves().map(|(rank, place)| leaves_loop(&self.called(*rank), place)))
            .or_else(|| waits().map(|(rank, place)| waits_apart(&self.called(*rank), place)))
            .or_else(|| {
                let (rank, place, other) = unexplored.late_lock()?;
                Some(locks_late(&self.called(rank), place, &self.called(other)))
            })
            .or_else(|| self.uses().apart())
    }

    /// Whether any rank has called MPI. If one does, it ends with `MPI_Finalize`, which is a
    /// question.
    pub(crate) fn have_called(&self) -> bool {
        self.calls.load(Ordering::Relaxed)
    }

    fn unexplored(&self) -> MutexGuard<'_, Unexplored> {
        self.unexplored.lock().expect("no thread panics while it has it")
    }

    /// The next question of a rank.
    fn reply(&self, rank: &mut Rank) -> Reply<u32> {
        let process = &mut rank.process;
        let frame = match process.connection.receive(self.launch.step_timeout) {
            Ok(frame) => frame,
            Err(error) => {
                let failure = match error.kind() {
                    ErrorKind::TimedOut => self.hang(process),
                    _ => self.crash(process),
                };
                return Reply::new(Asked::Failed(failure), None);
            }
        };
        self.understood((process.rank, process.key), &frame, &mut rank.ledger).unwrap_or_else(
            |trouble| {
                let failure = match trouble {
                    Trouble::Protocol | Trouble::TooMany(..) | Trouble::Unstartable(_) => self
                        .unsupported(
                            process.rank,
                            "the program was made by another version of `mazurka mpicc`",
                            None,
                        ),
                    Trouble::Forged => failure(
                        "forged: the rank writes to the connection of the library to the verifier",
                        None,
                    ),
                };
                Reply::new(Asked::Failed(failure), None)
            },
        )
    }

    /// Decodes a frame that begins with this key, from a rank with this ledger.
    pub(super) fn understood(
        &self,
        (rank, key): (u32, u64),
        frame: &[u8],
        ledger: &mut Ledger,
    ) -> Result<Reply<u32>, Trouble> {
        let parts = &mut Parts(frame);
        if parts.u64().ok() != Some(key) {
            return Err(Trouble::Forged);
        }
        let (kind, call) = (parts.u8()?, parts.text()?);
        let (kind, in_vain) = (kind & !IN_VAIN, kind & IN_VAIN != 0);
        self.calls.fetch_or(kind != b'D', Ordering::Relaxed);
        let (addresses, printed) = (parts.u64s()?, parts.text()?);
        let clash = self.note_uses(rank, parts, &mut ledger.files)?;
        let site = self.site(rank, &addresses, &call);
        let asked = match clash {
            Some(clash) => Asked::Failed(clash),
            None => match self.asked(rank, kind, parts, &site) {
                Err(Trouble::TooMany(what, most)) => {
                    let what = format!("there are more than {most} {what}");
                    Asked::Failed(self.unsupported(rank, &what, Some(site.clone())))
                }
                Err(Trouble::Unstartable(what)) => {
                    Asked::Failed(self.unsupported(rank, &what, Some(site.clone())))
                }
                other => other?,
            },
        };
        let mut back = 0;
        if let Asked::Op { op, .. } = &asked {
            if is_poll(op) {
                back = parts.u32()?;
            }
            if !ledger.asks(op) || !ledger.comes_back(back) {
                return Err(Trouble::Forged);
            }
        }
        if let Asked::Spawn(_) = asked {
            ledger.spawns();
        }
        if let Asked::Failed(failure) = &asked {
            self.note_end(rank, failure);
        }
        let printed = Some(printed.into_boxed_str()).filter(|text| !text.is_empty());
        let remarks = match asked {
            Asked::Done => {
                self.uses().end(&self.user(rank), &mut ledger.files);
                self.remarks(rank, parts)?
            }
            _ => None,
        };
        Ok(Reply { printed, remarks, back, in_vain, ..Reply::new(asked, Some(Arc::new(site))) })
    }

    /// The remarks of a rank at its end.
    fn remarks(&self, rank: u32, parts: &mut Parts<'_>) -> Result<Option<Arc<[Remark]>>, Trouble> {
        let count = parts.u32()?;
        let one = |_| {
            let text = parts.text()?;
            let site = Some(self.site(rank, &[parts.u64()?], "")).filter(|site| site.line > 0);
            if text.starts_with("exit code ") {
                return Ok(Remark { kind: RemarkKind::Status, object: text.into(), site: None });
            }
            if text == Slip::Threads.name() {
                let object = "MPI_THREAD_SINGLE".into();
                return Ok(Remark { kind: RemarkKind::Threads, object, site });
            }
            let object = Slip::named(&text).and_then(Slip::unfreed).ok_or(Trouble::Protocol)?;
            Ok(Remark { kind: RemarkKind::Unfreed, object: object.into(), site })
        };
        let remarks = (0..count).map(one).collect::<Result<Vec<_>, Trouble>>()?;
        Ok((!remarks.is_empty()).then(|| remarks.into()))
    }

    /// The place of a call: the first of these addresses that is in the program, if possible not in
    /// a system header.
    fn site(&self, rank: u32, addresses: &[u64], call: &str) -> Site {
        let found = |&address: &u64| self.site_at(rank, address, call);
        let mut sites: Vec<Site> = addresses.iter().filter_map(found).collect();
        let own = sites.iter().position(|site| !Source::is_of_system(site));
        match sites.is_empty() {
            true => Site { file: None, line: 0, column: 0, text: call.into() },
            false => sites.swap_remove(own.unwrap_or(0)),
        }
    }

    fn hang(&self, process: &mut Process) -> Failure {
        process.end();
        if StopSignal::is_raised_here() {
            return failure("hang: the search has ended before the rank called MPI", None);
        }
        let time = humantime::format_duration(self.launch.step_timeout);
        if self.unexplored().sharers.contains(&process.rank) {
            let what = format!(
                "the rank makes no call of MPI for {time}, and may wait for what others store in the memory of a window"
            );
            return self.unsupported(process.rank, &what, None);
        }
        if self.unexplored().threads.contains(&process.rank) {
            let what = format!(
                "the rank has threads, and no step of one of them for {time} (--step-timeout): it may wait in a way that is not followed"
            );
            return self.unsupported(process.rank, &what, None);
        }
        failure(&format!("hang: the rank makes no call of MPI for {time} (--step-timeout)"), None)
    }

    /// The failure of a rank that has ended without a message.
    fn crash(&self, process: &mut Process) -> Failure {
        let rank = process.rank;
        match process.ended() {
            Some(-1) => {
                self.unsupported(rank, "the rank closes the connection of the library", None)
            }
            Some(status) if status & 0x7f == SIGSYS => {
                self.unsupported(rank, "the rank makes a system call that cannot be followed", None)
            }
            Some(status) if status & 0x7f == SIGKILL => {
                let what = "the system has ended the rank by SIGKILL, as it does when no memory is left (--rank-memory)";
                self.unsupported(rank, what, None)
            }
            Some(status) if status & 0x7f != 0 => {
                let signal = status & 0x7f;
                failure(&format!("crash: the rank was ended by signal {signal}"), None)
            }
            Some(status) => {
                let code = status >> 8 & 0xff;
                failure(&format!("exit: the rank ended by _exit({code})"), None)
            }
            None => self.unsupported(rank, "the server of the rank has ended", None),
        }
    }

    /// The failure for an action, of a rank or on a rank, that cannot be followed.
    fn unsupported(&self, rank: u32, what: &str, site: Option<Site>) -> Failure {
        let known = site.filter(|site| site.line > 0);
        let failure = failure(&format!("{}: {what}", Slip::Unsupported), known);
        self.note_end(rank, &failure);
        failure
    }

    /// Records the reason if the search has to end here.
    fn note_end(&self, rank: u32, failure: &Failure) {
        let Some((Slip::Unsupported, what)) = Slip::of(&failure.message) else { return };
        let place = failure.site.as_ref().and_then(place);
        let place = place.map_or(String::new(), |at| format!(", {at}"));
        self.unexplored()
            .end
            .get_or_insert_with(|| format!("{what} ({}{place})", self.called(rank)));
    }

    /// Adds the next question. Returns whether the rank waits for an answer.
    fn read(&self, rank: &mut Rank, replies: &mut Vec<Reply<u32>>) -> bool {
        let reply = self.reply(rank);
        let waits = !reply.asked.is_end();
        replies.push(reply);
        waits
    }

    /// Adds the question after each of these observations, up to the end of the rank.
    fn read_each(&self, rank: &mut Rank, told: &[Told], replies: &mut Vec<Reply<u32>>) {
        for told in told {
            rank.ledger.observes(told);
            if !self.read(rank, replies) {
                return;
            }
        }
    }
}

/// A running rank. Questions are accepted only if they begin with the key, which the library
/// received before the rank began, because the program could write to the wire as well. This
/// detects accidents; a program that searches the memory of the library can find the key.
pub struct Rank {
    process: Process,
    ledger: Ledger,
}

pub(super) fn failure(message: &str, site: Option<Site>) -> Failure {
    let kind = match Slip::of(message) {
        Some((Slip::Assertion, _)) => FailureKind::Assertion,
        Some((Slip::Unsupported, _)) => FailureKind::Unsupported,
        _ => FailureKind::Error,
    };
    Failure { kind, message: message.into(), site }
}

/// A list of answers.
fn answers(told: &[Told]) -> Vec<u8> {
    let mut list = Vec::new();
    for told in told {
        let mut one = Vec::new();
        one.put_observation(told);
        list.put_block(&one);
    }
    list
}

/// Whether the operation may find nothing, whatever messages there are.
fn is_poll(op: &Op) -> bool {
    matches!(op, Op::TestAny(_) | Op::Probe { form: Probing::Test, .. })
}

/// A place: `a.c:7`.
fn place(site: &Site) -> Option<String> {
    let file = site.file.as_deref()?;
    Some(format!("{file}:{}", site.line))
}

/// The place, if it is known, behind what happens there.
fn in_brackets(place: &Option<String>) -> String {
    place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
}

fn waits_apart(rank: &str, place: &Option<String>) -> String {
    let place = in_brackets(place);
    format!(
        "all threads of {rank} wait in calls of MPI{place}, one of them not for a request: whether that is for ever is not explored"
    )
}

fn locks_late(rank: &str, place: &Option<String>, other: &str) -> String {
    let place = in_brackets(place);
    format!(
        "{rank} has a shared lock of a window that it needs only after other calls{place}, and {other} locks the same part alone: MPI may take the shared lock where it is needed, and that is not explored"
    )
}

fn leaves_loop(rank: &str, place: &Option<String>) -> String {
    let place = in_brackets(place);
    format!(
        "{rank} leaves a loop in which a thread looks for a change that has not come{place}: when it may leave is not explored"
    )
}

impl Runner for Ranks {
    /// The number of the process (`c/dynamic.h`): the rank in `MPI_COMM_WORLD`, if it is there from
    /// the start.
    type Start = u32;
    type Live = Option<Rank>;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn processes(&self) -> Vec<u32> {
        (0..self.launch.size).collect()
    }

    fn name(&self, rank: &u32) -> String {
        self.called(*rank)
    }

    fn start(&self, &rank: &u32, told: &[Told], replies: &mut Vec<Reply<u32>>) -> Option<Rank> {
        let origin = self.origin(rank);
        let begun = self.servers.run(rank, origin.as_deref()).and_then(|mut process| {
            process.connection.send(&answers(told), self.launch.step_timeout)?;
            Ok(Rank { process, ledger: Ledger::default() })
        });
        match begun {
            Ok(mut rank) => {
                if self.read(&mut rank, replies) {
                    self.read_each(&mut rank, told, replies);
                }
                Some(rank)
            }
            Err(error) => {
                let asked = Asked::Failed(match StopSignal::is_raised_here() {
                    true => failure("hang: the search has ended before the rank has begun", None),
                    false => {
                        let what = format!("the rank cannot be run: {error}");
                        self.unsupported(rank, &what, None)
                    }
                });
                replies.push(Reply::new(asked, None));
                None
            }
        }
    }

    fn tell(&self, live: &mut Option<Rank>, told: &[Told], replies: &mut Vec<Reply<u32>>) {
        let Some(rank) = live else { return };
        if told.is_empty() {
            return;
        }
        // If sending fails, the rank has ended: reading will report that.
        let _ = rank.process.connection.send(&answers(told), self.launch.step_timeout);
        self.read_each(rank, told, replies);
    }

    /// A mailbox is read only by the rank that it belongs to.
    fn may_touch(&self, &rank: &u32, touch: Touch) -> bool {
        match (touch.lane.part(), touch.may) {
            (Part::Matches, May::Add) | (Part::Receives, May::Change) => {
                let (communicator, member) = self.address(MailboxId(touch.lane.object()));
                self.may_be(rank, communicator, member)
            }
            _ => true,
        }
    }

    /// The source of a message is the rank that sends it.
    fn may_send(&self, &rank: &u32, mailbox: MailboxId, pattern: Envelope) -> bool {
        let (communicator, _) = self.address(mailbox);
        pattern.src.is_none_or(|source| self.may_be(rank, communicator, source as u32))
    }

    fn may_cancel(&self) -> bool {
        false
    }

    fn noted(&self) -> Option<String> {
        Some(self.notes())
    }

    fn recall(&self, noted: &str) -> bool {
        self.take_notes(noted).is_ok()
    }

    fn may_return(&self, op: Option<&Op>) -> bool {
        op.is_none_or(is_poll)
    }
}
