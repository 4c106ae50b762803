//! The ranks of a program, as processes that a search can run: questions of the library become operations of the model.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::ledger::Ledger;
use super::servers::{Process, Servers};
use super::slip::Slip;
use super::source::Source;
use super::uses::{Use, Uses};
use super::wire::{self, Data, Parts, Put, Short};
use crate::explore::{Outcome, StopReason};
use crate::model::{
    Access, Asking, Buffering, Call, CellId, CollectiveId, CollectiveKind, Delivery, End, Envelope,
    Failure, FailureKind, Handle, Hold, Leaving, MailboxId, MutexId, Objects, Op, Polls, Probing,
    Request, RwLockId, Semantics, Site, Touch, Value,
};
use crate::systems::history::{Asked, Reply, Runner, Told};

/// How many communicators a search may meet.
const MAX_COMMUNICATORS: u32 = 4096;

/// How many windows.
const MAX_WINDOWS: u32 = 1024;

/// The signal that stands for a system call: see `c/calls.c`.
const SIGSYS: i32 = 31;

/// How far the clock of a rank usually goes on when it looks at it.
pub const TICK: Duration = Duration::from_micros(1);

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, made by `mazurka mpicc`.
    pub program: PathBuf,
    /// What it is called with.
    pub arguments: Vec<OsString>,
    /// The number of ranks.
    pub size: u32,
    /// What MPI leaves to its implementations.
    pub semantics: Semantics,
    /// A rank that computes for longer than this without a call of MPI hangs.
    pub step_timeout: Duration,
    /// How far the clock of a rank goes on whenever it looks at it.
    pub tick: Duration,
    /// Whose files ranks change.
    pub files: Files,
    /// Paths below this folder are shown without it.
    pub base: PathBuf,
}

/// Whose files ranks change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// Each process changes copies of its own, which go when it ends.
    #[default]
    Own,
    /// Those that are there, each time that a rank is run.
    Real,
}

/// The ranks of a program.
pub struct Ranks {
    launch: Launch,
    objects: Objects,
    servers: Arc<Servers>,
    source: Source,
    bias: u64,
    names: Mutex<Names>,
    uses: Mutex<Uses>,
    /// Why nothing can be said about the program, where that was found first.
    reservation: Mutex<Option<String>>,
}

/// Numbers for what the library calls by names: communicators, and what ranks have to agree on in a collective.
#[derive(Default)]
struct Names {
    communicators: HashMap<String, u32>,
    calls: HashMap<String, u32>,
    members: HashMap<MailboxId, u32>,
    windows: HashMap<String, u32>,
}

fn number(names: &mut HashMap<String, u32>, name: String) -> u32 {
    let next = names.len() as u32;
    *names.entry(name).or_insert(next)
}

/// Why a rank cannot be understood or go on.
pub(super) enum Trouble {
    /// The library and this crate do not agree.
    Protocol,
    /// There are more of these than a search may meet.
    TooMany(&'static str, u32),
    /// The library did not send this.
    Forged,
}

impl From<Short> for Trouble {
    fn from(Short: Short) -> Self {
        Trouble::Protocol
    }
}

impl Ranks {
    /// Starts the program, once for each rank; it stops before its `main`.
    ///
    /// # Errors
    /// If it cannot be started, or is no program made by `mazurka mpicc`.
    pub fn new(launch: Launch) -> Result<Ranks, String> {
        let name = launch.program.display();
        let text = std::fs::read(&launch.program).map_err(|error| format!("{name}: {error}"))?;
        let mark = b"MAZURKA_SOCKET";
        if !text.windows(mark.len()).any(|part| part == mark) {
            return Err(format!("{name}: it was not made by `mazurka mpicc`"));
        }
        let program = launch.program.canonicalize().map_err(|error| format!("{name}: {error}"))?;
        let launch = Launch { program, ..launch };
        let servers = Servers::start(&launch).map_err(|error| format!("{name}: {error}"));
        let servers = Arc::new(servers?);
        let source = Source::new(&launch.program, launch.base.clone());
        let mut names = Names::default();
        number(&mut names.communicators, "MPI_COMM_WORLD".into());
        let (objects, bias) = (objects(&launch), servers.bias());
        let names = Mutex::new(names);
        let (uses, reservation) = Default::default();
        Ok(Ranks { launch, objects, servers, source, bias, names, uses, reservation })
    }

    /// Ranks none of which is started.
    #[cfg(test)]
    pub(super) fn unstarted(launch: Launch) -> Ranks {
        let servers = Servers::start(&Launch { size: 0, ..launch.clone() });
        let servers = Arc::new(servers.expect("nothing is started"));
        let source = Source::new(&launch.program, launch.base.clone());
        let mut names = Names::default();
        number(&mut names.communicators, "MPI_COMM_WORLD".into());
        let objects = objects(&launch);
        let (uses, reservation) = Default::default();
        let names = Mutex::new(names);
        Ranks { launch, objects, servers, source, bias: 0, names, uses, reservation }
    }

    /// What is run, and how.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// What a search of them comes to: it is not complete if ranks did what cannot be explored. Then [`Ranks::reservation`] says
    /// why.
    pub fn judged(&self, outcome: Outcome) -> Outcome {
        let reserved = self.reservation().map(|_| StopReason::Unsupported);
        Outcome { stopped_by: outcome.stopped_by.or(reserved), ..outcome }
    }

    /// What ranks did that cannot be explored, in a sentence.
    pub fn reservation(&self) -> Option<String> {
        self.reservation.lock().expect("no thread panics while it has it").clone()
    }

    fn reserve(&self, why: impl FnOnce() -> String) {
        self.reservation.lock().expect("no thread panics while it has it").get_or_insert_with(why);
    }

    /// What ranks have said as they entered a collective, by its number as an operator.
    pub(super) fn description(&self, operator: u32) -> String {
        let names = self.names.lock().expect("no thread panics while it has the names");
        let found = names.calls.iter().find(|(_, number)| **number == operator);
        found.map(|(description, _)| description.clone()).unwrap_or_default()
    }

    fn communicator(&self, name: String) -> Result<u32, Trouble> {
        let mut names = self.names.lock().expect("no thread panics while it has the names");
        let found = number(&mut names.communicators, name);
        if found < MAX_COMMUNICATORS {
            Ok(found)
        } else {
            Err(Trouble::TooMany("communicators", MAX_COMMUNICATORS))
        }
    }

    /// Which rank of all receives at this mailbox, as somebody has said.
    fn note_member(&self, mailbox: MailboxId, rank: u32) {
        let mut names = self.names.lock().expect("no thread panics while it has the names");
        names.members.insert(mailbox, rank);
    }

    /// The rank among all of rank `member` in the communicator with this number, if somebody has said so.
    pub(super) fn world_rank(&self, communicator: u32, member: u32) -> Option<u32> {
        if communicator == 0 {
            return Some(member);
        }
        let names = self.names.lock().expect("no thread panics while it has the names");
        names.members.get(&MailboxId(communicator * self.launch.size + member)).copied()
    }

    /// May this rank of all be rank `member` in the communicator with this number?
    fn may_be(&self, rank: u32, communicator: u32, member: u32) -> bool {
        self.world_rank(communicator, member).is_none_or(|known| known == rank)
    }

    /// The number of the communicator that a mailbox belongs to, and the rank in it that receives there.
    pub(super) fn address(&self, mailbox: MailboxId) -> (u32, u32) {
        (mailbox.0 / self.launch.size, mailbox.0 % self.launch.size)
    }

    fn mailbox(&self, communicator: String, rank: i32) -> Result<MailboxId, Trouble> {
        let communicator = self.communicator(communicator)?;
        Ok(MailboxId(communicator * self.launch.size + self.member(rank)?))
    }

    /// A rank, if there is such a one.
    fn member(&self, rank: i32) -> Result<u32, Trouble> {
        u32::try_from(rank).ok().filter(|&rank| rank < self.launch.size).ok_or(Trouble::Forged)
    }

    /// What a rank asks with the rest of a frame.
    fn asked(&self, kind: u8, parts: &mut Parts<'_>, site: &Site) -> Result<Asked<u32>, Trouble> {
        Ok(match kind {
            b'S' => self.send(parts)?,
            b'R' => {
                let mailbox = self.mailbox(parts.text()?, parts.i32()?)?;
                Asked::op(Op::Receive { mailbox, pattern: pattern(parts)? })
            }
            b'P' => {
                let mailbox = self.mailbox(parts.text()?, parts.i32()?)?;
                let pattern = pattern(parts)?;
                let form = match parts.u8()? {
                    b'w' => Probing::Wait,
                    b't' => Probing::Test,
                    _ => Probing::Take,
                };
                Asked::op(Op::Probe { mailbox, pattern, form })
            }
            b'E' => self.enter(parts)?,
            b'W' => Asked::op(Op::WaitAny(handles(parts)?)),
            b'T' => Asked::op(Op::TestAny(handles(parts)?)),
            b'O' => self.window(parts)?,
            b'C' => Asked::op(Op::Cancel(Handle(parts.u32()?))),
            b'c' => Asked::op(Op::CancelOutcome(Handle(parts.u32()?))),
            b'D' => Asked::Done,
            b'F' => {
                let (class, message) = (parts.text()?, parts.text()?);
                let message = self.source.with_places(&message, self.bias);
                let known = Some(site).filter(|site| site.line > 0);
                Asked::Failed(failure(&format!("{class}: {message}"), known.cloned()))
            }
            _ => return Err(Trouble::Protocol),
        })
    }

    fn send(&self, parts: &mut Parts<'_>) -> Result<Asked<u32>, Trouble> {
        let mailbox = self.mailbox(parts.text()?, parts.i32()?)?;
        self.note_member(mailbox, parts.u32()?);
        let envelope = Envelope { src: Some(parts.i32()?.into()), tag: Some(parts.i32()?.into()) };
        let is_synchronous = match parts.u8()? {
            1 => true,
            2 => false,
            _ => self.launch.semantics.buffering == Buffering::Zero,
        };
        let message = Data::message(parts.block()?)?;
        Ok(Asked::with(message, |value| Op::Send { mailbox, envelope, value, is_synchronous }))
    }

    fn enter(&self, parts: &mut Parts<'_>) -> Result<Asked<u32>, Trouble> {
        let communicator = self.communicator(parts.text()?)?;
        let (size, rank) = (parts.u32()?, parts.u32()?);
        if size > self.launch.size || rank >= size {
            return Err(Trouble::Forged);
        }
        let kind = *CollectiveKind::ALL.get(parts.u8()? as usize).ok_or(Trouble::Protocol)?;
        let root = u32::try_from(parts.i32()?).ok();
        if root.is_some_and(|root| root >= size) {
            return Err(Trouble::Forged);
        }
        let description = parts.text()?;
        let operator = {
            let mut names = self.names.lock().expect("no thread panics while it has the names");
            Some(number(&mut names.calls, description))
        };
        let call = Call { kind, root, operator };
        // The first one is that of all ranks.
        let collective = match communicator {
            0 => CollectiveId(0),
            other => CollectiveId(1 + (size - 1) * MAX_COMMUNICATORS + other),
        };
        let is_synchronizing = self.launch.semantics.leaving == Leaving::Synchronizing;
        let given = Data::value(parts.block()?);
        Ok(Asked::with(given, |value| Op::Enter {
            collective,
            rank,
            call,
            value,
            is_synchronizing,
        }))
    }

    /// A question about what belongs to a rank's part of a window: its content, a mutex on that, and a lock.
    fn window(&self, parts: &mut Parts<'_>) -> Result<Asked<u32>, Trouble> {
        let form = parts.u8()?;
        let window = {
            let mut names = self.names.lock().expect("no thread panics while it has the names");
            number(&mut names.windows, parts.text()?)
        };
        if window >= MAX_WINDOWS {
            return Err(Trouble::TooMany("windows", MAX_WINDOWS));
        }
        let object = window * self.launch.size + self.member(parts.i32()?)?;
        let (cell, mutex, lock) = (CellId(object), MutexId(object), RwLockId(object));
        if form == b'w' {
            let content = Data::value(parts.block()?);
            return Ok(Asked::with(content, |value| Op::Access(cell, Access::Write(value))));
        }
        if form == b'r' {
            return Ok(Asked::op(Op::Access(cell, Access::Read)));
        }
        let handle = Handle(parts.u32()?);
        let request = Request { mutex, handle };
        Ok(Asked::op(match form {
            b'l' => Op::AsyncLock(mutex),
            b'm' => Op::MutexWaitAny(Box::new([request])),
            b'u' => Op::Unlock(request),
            b'q' => Op::RwRequest { lock, hold: Hold::Shared },
            b'Q' => Op::RwRequest { lock, hold: Hold::Exclusive },
            b'W' => Op::RwWait { lock, handle },
            b'x' => Op::RwUnlock { lock, handle },
            _ => return Err(Trouble::Protocol),
        }))
    }

    /// The next question of a rank.
    fn reply(&self, rank: &mut Rank) -> Reply<u32> {
        let process = &mut rank.process;
        let frame = match wire::receive(&mut process.wire) {
            Ok(frame) => frame,
            Err(error) => {
                let failure = match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => self.hang(process),
                    _ => crash(process),
                };
                return Reply { asked: Asked::Failed(failure), site: None, printed: None };
            }
        };
        self.understood((process.rank, rank.key), &frame, &mut rank.ledger).unwrap_or_else(
            |trouble| {
                let message = match trouble {
                    Trouble::Protocol => {
                        "the program was made by another version of `mazurka mpicc`".into()
                    }
                    Trouble::TooMany(what, most) => format!("there are more than {most} {what}"),
                    Trouble::Forged => {
                        "forged: the rank writes to the connection of the library to the verifier"
                            .into()
                    }
                };
                let asked = Asked::Failed(failure(&message, None));
                Reply { asked, site: None, printed: None }
            },
        )
    }

    /// What a frame says that begins with this key, from a rank with this ledger.
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
        let site = self.site(&parts.u64s()?, &call);
        let printed = parts.text()?;
        let asked = match self.note_uses(rank, parts)? {
            Some(clash) => Asked::Failed(clash),
            None => self.asked(kind, parts, &site)?,
        };
        if let Asked::Op { op, .. } = &asked
            && !ledger.asks(op)
        {
            return Err(Trouble::Forged);
        }
        if let Asked::Failed(Failure { kind: FailureKind::Unsupported, message, site }) = &asked {
            self.reserve(|| {
                let place = site.as_ref().and_then(place);
                let place =
                    place.map_or(format!(" (rank {rank})"), |at| format!(" (rank {rank}, {at})"));
                Slip::of(message).map_or(message.clone(), |(_, what)| format!("{what}{place}"))
            });
        }
        let printed = Some(printed.into_boxed_str()).filter(|text| !text.is_empty());
        Ok(Reply { asked, site: Some(Arc::new(site)), printed })
    }

    /// Notes what a rank has done with files and threads. Returns what is wrong with it.
    fn note_uses(&self, rank: u32, parts: &mut Parts<'_>) -> Result<Option<Failure>, Trouble> {
        let mut clash = None;
        for _ in 0..parts.u32()? {
            let (letter, path) = (parts.u8()?, parts.text()?);
            let site = self.site(&parts.u64s()?, "");
            let at = place(&site);
            if letter == b't' {
                self.reserve(|| threads(rank, at));
                continue;
            }
            let what = Use::of(letter).ok_or(Trouble::Protocol)?;
            let mut uses = self.uses.lock().expect("no thread panics while it has the uses");
            let found = uses.add(&path, rank, what, at);
            clash = clash.or(found.map(|found| {
                let known = Some(site).filter(|site| site.line > 0);
                failure(&format!("{}: {found}", Slip::Unsupported), known)
            }));
        }
        Ok(clash)
    }

    /// The place of a call: the first of these addresses that is in the program.
    fn site(&self, addresses: &[u64], call: &str) -> Site {
        let found = |&address: &u64| self.source.site(address.wrapping_sub(self.bias), call);
        let otherwise = || Site { file: None, line: 0, column: 0, text: call.into() };
        addresses.iter().find_map(found).unwrap_or_else(otherwise)
    }

    fn hang(&self, process: &mut Process) -> Failure {
        process.end();
        let time = humantime::format_duration(self.launch.step_timeout);
        failure(&format!("hang: the rank makes no call of MPI for {time} (--step-timeout)"), None)
    }

    /// Adds the next question. Does the rank wait for an answer?
    fn read(&self, rank: &mut Rank, replies: &mut Vec<Reply<u32>>) -> bool {
        let reply = self.reply(rank);
        let waits = !reply.asked.is_end();
        replies.push(reply);
        waits
    }
}

/// A rank that runs. What comes over its wire is believed only if it begins with the key, which the
/// library was given as the rank began: the program could write there as well. That finds
/// accidents; a program that looks for the key in the memory of the library finds it.
pub struct Rank {
    process: Process,
    key: u64,
    ledger: Ledger,
}

/// The mailboxes of all communicators, one for each rank, and their collectives, by size.
fn objects(launch: &Launch) -> Objects {
    let mut objects =
        Objects { max_polls: Polls(launch.semantics.max_polls), ..Objects::default() };
    objects.mailboxes.push_array("MPI_COMM_WORLD", launch.size, Delivery::P2p);
    for communicator in 1..MAX_COMMUNICATORS {
        let name = format!("communicator {communicator}");
        objects.mailboxes.push_array(name, launch.size, Delivery::P2p);
    }
    objects.collectives.push("MPI_COMM_WORLD", launch.size);
    objects.cells.push_array("window", MAX_WINDOWS * launch.size, Value::Unit);
    objects.mutexes.push_array("content of window", MAX_WINDOWS * launch.size, Asking::default());
    objects.rwlocks.push_array("lock of window", MAX_WINDOWS * launch.size, ());
    for size in 1..=launch.size {
        objects.collectives.push_array("communicator", MAX_COMMUNICATORS, size);
    }
    objects
}

/// What a receive accepts: whoever or whatever is negative is not asked for.
fn pattern(parts: &mut Parts<'_>) -> Result<Envelope, Short> {
    let asked_for = |number: i32| (number >= 0).then_some(i64::from(number));
    Ok(Envelope { src: asked_for(parts.i32()?), tag: asked_for(parts.i32()?) })
}

fn handles(parts: &mut Parts<'_>) -> Result<Box<[Handle]>, Short> {
    (0..parts.u32()?).map(|_| parts.u32().map(Handle)).collect()
}

pub(super) fn failure(message: &str, site: Option<Site>) -> Failure {
    let kind = match Slip::of(message) {
        Some((Slip::Assertion, _)) => FailureKind::Assertion,
        Some((Slip::Unsupported, _)) => FailureKind::Unsupported,
        _ => FailureKind::Error,
    };
    Failure { kind, message: message.into(), site }
}

/// `a.c:7`
fn place(site: &Site) -> Option<String> {
    let file = site.file.as_deref()?;
    Some(format!("{file}:{}", site.line))
}

fn threads(rank: u32, place: Option<String>) -> String {
    let place = place.map_or(String::new(), |place| format!(" ({place})"));
    format!(
        "rank {rank} starts a thread{place}, and what the threads of a rank do at the same time was seen in one order only \
         (programs of OpenMP start none with `OMP_NUM_THREADS=1`)"
    )
}

/// A rank that has ended without a word.
fn crash(process: &mut Process) -> Failure {
    let message = match process.ended() {
        Some(status) if status & 0x7f == SIGSYS => {
            "unsupported: the rank makes a system call that cannot be followed".into()
        }
        Some(status) if status & 0x7f != 0 => {
            format!("crash: the rank was ended by signal {}", status & 0x7f)
        }
        Some(status) => format!("exit: the rank ended by _exit({})", status >> 8 & 0xff),
        None => "crash: the rank has ended".into(),
    };
    failure(&message, None)
}

impl Runner for Ranks {
    /// The rank in `MPI_COMM_WORLD`.
    type Start = u32;
    type Live = Option<Rank>;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn processes(&self) -> Vec<u32> {
        (0..self.launch.size).collect()
    }

    fn name(&self, rank: &u32) -> String {
        format!("rank {rank}")
    }

    fn start(&self, &rank: &u32, told: &[Told], replies: &mut Vec<Reply<u32>>) -> Option<Rank> {
        let begun = self.servers.run(rank).and_then(|mut process| {
            process.wire.get_ref().set_read_timeout(Some(self.launch.step_timeout))?;
            let key = RandomState::new().hash_one(rank);
            let mut history = key.to_ne_bytes().to_vec();
            for told in told {
                let mut one = Vec::new();
                one.put_told(told);
                history.put_block(&one);
            }
            wire::send(process.wire.get_mut(), &history)?;
            Ok(Rank { process, key, ledger: Ledger::default() })
        });
        match begun {
            Ok(mut rank) => {
                let mut waits = self.read(&mut rank, replies);
                for told in told {
                    if !waits {
                        break;
                    }
                    rank.ledger.learns(told);
                    waits = self.read(&mut rank, replies);
                }
                Some(rank)
            }
            Err(error) => {
                let asked = Asked::Failed(failure(&format!("crash: cannot run: {error}"), None));
                replies.push(Reply { asked, site: None, printed: None });
                None
            }
        }
    }

    fn tell(&self, live: &mut Option<Rank>, told: &[Told], replies: &mut Vec<Reply<u32>>) {
        let Some(rank) = live else { return };
        for told in told {
            let mut frame = Vec::new();
            frame.put_told(told);
            // If it cannot be told, it has ended: that is what reading finds.
            let _ = wire::send(rank.process.wire.get_mut(), &frame);
            rank.ledger.learns(told);
            if !self.read(rank, replies) {
                return;
            }
        }
    }

    /// Only the rank whose mailbox it is receives there.
    fn may_touch(&self, &rank: &u32, touch: Touch) -> bool {
        match touch {
            Touch::Match(mailbox) | Touch::Post(mailbox, End::Receive) => {
                let (communicator, member) = self.address(mailbox);
                self.may_be(rank, communicator, member)
            }
            _ => true,
        }
    }

    /// The source of a message is the rank of who sends it.
    fn may_send(&self, &rank: &u32, mailbox: MailboxId, pattern: Envelope) -> bool {
        let (communicator, _) = self.address(mailbox);
        pattern.src.is_none_or(|source| self.may_be(rank, communicator, source as u32))
    }

    fn may_cancel(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_objects_are_those_of_all_ranks() {
        let launch = Launch {
            program: PathBuf::new(),
            arguments: Vec::new(),
            size: 3,
            semantics: Semantics::default(),
            step_timeout: Duration::from_secs(1),
            tick: TICK,
            files: Files::Own,
            base: PathBuf::new(),
        };
        let objects = objects(&launch);
        assert_eq!(objects.mailboxes.name(2), "MPI_COMM_WORLD[2]");
        assert_eq!(objects.mailboxes.name(3 * 7 + 1), "communicator 7[1]");
        assert_eq!(*objects.collectives.start(0), 3);
        assert_eq!(*objects.collectives.start(1 + MAX_COMMUNICATORS + 9), 2);
    }
}
