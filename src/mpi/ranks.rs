//! The ranks of a program, as processes that a search can run: questions of the library become operations of the model.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::servers::{Process, Servers};
use super::slip::Slip;
use super::source::Source;
use super::wire::{self, Data, Parts, Put, Short};
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
    /// Paths below this folder are shown without it.
    pub base: PathBuf,
}

/// The ranks of a program.
pub struct Ranks {
    launch: Launch,
    objects: Objects,
    servers: Arc<Servers>,
    source: Source,
    bias: u64,
    names: Mutex<Names>,
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
enum Trouble {
    /// The library and this crate do not agree.
    Protocol,
    /// There are more of these than a search may meet.
    TooMany(&'static str, u32),
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
        Ok(Ranks { launch, objects, servers, source, bias, names: Mutex::new(names) })
    }

    /// What is run, and how.
    pub fn launch(&self) -> &Launch {
        &self.launch
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
        Ok(MailboxId(communicator * self.launch.size + rank as u32))
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
        let kind = *CollectiveKind::ALL.get(parts.u8()? as usize).ok_or(Trouble::Protocol)?;
        let root = u32::try_from(parts.i32()?).ok();
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
        let object = window * self.launch.size + parts.u32()?;
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
    fn reply(&self, process: &mut Process) -> Reply<u32> {
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
        let mut parts = Parts(&frame);
        self.understood(&mut parts).unwrap_or_else(|trouble| {
            let message = match trouble {
                Trouble::Protocol => {
                    "the program was made by another version of `mazurka mpicc`".into()
                }
                Trouble::TooMany(what, most) => format!("there are more than {most} {what}"),
            };
            let asked = Asked::Failed(failure(&message, None));
            Reply { asked, site: None, printed: None }
        })
    }

    fn understood(&self, parts: &mut Parts<'_>) -> Result<Reply<u32>, Trouble> {
        let (kind, call) = (parts.u8()?, parts.text()?);
        let site = self.site(&parts.u64s()?, &call);
        let printed = parts.text()?;
        let asked = self.asked(kind, parts, &site)?;
        let printed = Some(printed.into_boxed_str()).filter(|text| !text.is_empty());
        Ok(Reply { asked, site: Some(Arc::new(site)), printed })
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

    /// Adds the next questions, at most so many, up to the last one of the rank.
    fn replies(&self, process: &mut Process, count: usize, replies: &mut Vec<Reply<u32>>) {
        for _ in 0..count {
            let reply = self.reply(process);
            let is_end = reply.asked.is_end();
            replies.push(reply);
            if is_end {
                return;
            }
        }
    }
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

fn failure(message: &str, site: Option<Site>) -> Failure {
    let is_assertion = matches!(Slip::of(message), Some((Slip::Assertion, _)));
    let kind = if is_assertion { FailureKind::Assertion } else { FailureKind::Error };
    Failure { kind, message: message.into(), site }
}

/// A rank that has ended without a word.
fn crash(process: &mut Process) -> Failure {
    let message = match process.ended() {
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
    type Live = Option<Process>;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn processes(&self) -> Vec<u32> {
        (0..self.launch.size).collect()
    }

    fn name(&self, rank: &u32) -> String {
        format!("rank {rank}")
    }

    fn start(&self, &rank: &u32, told: &[Told], replies: &mut Vec<Reply<u32>>) -> Option<Process> {
        let begun = self.servers.run(rank).and_then(|mut process| {
            process.wire.get_ref().set_read_timeout(Some(self.launch.step_timeout))?;
            let mut history = Vec::new();
            for told in told {
                let mut one = Vec::new();
                one.put_told(told);
                history.put_block(&one);
            }
            wire::send(process.wire.get_mut(), &history)?;
            Ok(process)
        });
        match begun {
            Ok(mut process) => {
                self.replies(&mut process, told.len() + 1, replies);
                Some(process)
            }
            Err(error) => {
                let asked = Asked::Failed(failure(&format!("crash: cannot run: {error}"), None));
                replies.push(Reply { asked, site: None, printed: None });
                None
            }
        }
    }

    fn tell(&self, live: &mut Option<Process>, told: &[Told], replies: &mut Vec<Reply<u32>>) {
        let Some(process) = live else { return };
        for told in told {
            let mut frame = Vec::new();
            frame.put_told(told);
            // If it cannot be told, it has ended: that is what reading finds.
            let _ = wire::send(process.wire.get_mut(), &frame);
            let before = replies.len();
            self.replies(process, 1, replies);
            if replies[before..].iter().any(|reply| reply.asked.is_end()) {
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
            base: PathBuf::new(),
        };
        let objects = objects(&launch);
        assert_eq!(objects.mailboxes.name(2), "MPI_COMM_WORLD[2]");
        assert_eq!(objects.mailboxes.name(3 * 7 + 1), "communicator 7[1]");
        assert_eq!(*objects.collectives.start(0), 3);
        assert_eq!(*objects.collectives.start(1 + MAX_COMMUNICATORS + 9), 2);
    }
}
