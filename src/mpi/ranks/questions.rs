//! Questions of ranks: frames of the library become operations of the model.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Launch, Ranks, Source, failure};
use crate::model::{
    Access, Asking, Call, CellId, CollectiveId, CollectiveKind, Completion, Delivery, Envelope,
    Handle, Hold, MailboxId, MutexId, Objects, Op, Partners, Polls, Probing, Request, RwLockId,
    Site, Value,
};
use crate::mpi::wire::{Data, Parts, Short};
use crate::systems::history::Asked;

/// The maximum number of communicators in a search.
const MAX_COMMUNICATORS: u32 = 4096;

/// The maximum number of processes that ranks start in a search.
pub(super) const MAX_SPAWNED: u32 = 256;

/// The maximum number of threads among which a rank chooses (`c/turns.h`).
const MAX_CHOICES: u32 = 1000;

/// The maximum number of objects for windows in a search: cells with changes and with what ranks
/// know, and locks.
const MAX_WINDOW_OBJECTS: u32 = 1 << 20;

/// Numbers for what the library refers to by names: communicators, and the descriptions that ranks
/// must agree on in a collective.
#[derive(Default)]
pub(super) struct Names {
    communicators: HashMap<String, u32>,
    calls: HashMap<String, u32>,
    members: HashMap<MailboxId, u32>,
    window_objects: HashMap<String, u32>,
}

impl Names {
    /// The names before any question: the first communicator contains all ranks.
    pub(super) fn of_the_world() -> Names {
        let mut names = Names::default();
        number(&mut names.communicators, "MPI_COMM_WORLD".into());
        names
    }
}

fn number(names: &mut HashMap<String, u32>, name: String) -> u32 {
    let next = names.len() as u32;
    *names.entry(name).or_insert(next)
}

/// Why a question of a rank cannot be carried out.
pub(in crate::mpi) enum Trouble {
    /// The library and this crate have different protocols.
    Protocol,
    /// The search has reached the maximum number of these objects.
    TooMany(&'static str, u32),
    /// A process that the rank wants to start cannot be run; a sentence.
    Unstartable(String),
    /// The question does not come from the library.
    Forged,
}

impl From<Short> for Trouble {
    fn from(Short: Short) -> Self {
        Trouble::Protocol
    }
}

impl Ranks {
    /// The description that ranks gave as they entered a collective, by the number that stands for
    /// it as an operator.
    pub(in crate::mpi) fn description(&self, operator: u32) -> String {
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

    /// The number of processes that a communicator may have.
    fn room(&self) -> u32 {
        room(&self.launch)
    }

    /// Records which process receives at this mailbox.
    fn note_member(&self, mailbox: MailboxId, rank: u32) {
        let mut names = self.names.lock().expect("no thread panics while it has the names");
        names.members.insert(mailbox, rank);
    }

    /// The number of the process that is rank `member` in the communicator with this number, if
    /// some rank has said it.
    pub(in crate::mpi) fn world_rank(&self, communicator: u32, member: u32) -> Option<u32> {
        if communicator == 0 && member < self.launch.size {
            return Some(member);
        }
        let names = self.names.lock().expect("no thread panics while it has the names");
        let at = (member < self.room()).then(|| MailboxId(communicator * self.room() + member))?;
        names.members.get(&at).copied()
    }

    /// Whether this process, or one that it starts, may be rank `member` in the communicator with
    /// this number.
    pub(super) fn may_be(&self, rank: u32, communicator: u32, member: u32) -> bool {
        self.world_rank(communicator, member)
            .is_none_or(|known| known == rank || self.is_spawned(known))
    }

    /// The communicator that a mailbox belongs to, and the rank in it that receives there.
    pub(in crate::mpi) fn address(&self, mailbox: MailboxId) -> (u32, u32) {
        (mailbox.0 / self.room(), mailbox.0 % self.room())
    }

    fn mailbox(&self, communicator: String, rank: i32) -> Result<MailboxId, Trouble> {
        let communicator = self.communicator(communicator)?;
        Ok(MailboxId(communicator * self.room() + self.member(rank)?))
    }

    /// A rank, if it exists.
    fn member(&self, rank: i32) -> Result<u32, Trouble> {
        u32::try_from(rank).ok().filter(|&rank| rank < self.room()).ok_or(Trouble::Forged)
    }

    /// Decodes the question in the rest of a frame.
    pub(super) fn asked(
        &self,
        rank: u32,
        kind: u8,
        parts: &mut Parts<'_>,
        site: &Site,
    ) -> Result<Asked<u32>, Trouble> {
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
                    _ => Probing::Reserve,
                };
                Asked::op(Op::Probe { mailbox, pattern, form })
            }
            b'E' => self.enter(parts)?,
            b'W' => Asked::op(Op::WaitAny(handles(parts)?)),
            b'T' => Asked::op(Op::TestAny(handles(parts)?)),
            b'O' => self.window(parts)?,
            b'C' => Asked::op(Op::Cancel(Handle(parts.u32()?))),
            b'c' => Asked::op(Op::CancelOutcome(Handle(parts.u32()?))),
            b'B' => Asked::op(Op::Begin(Handle(parts.u32()?))),
            b'Z' => match parts.u32()? {
                count @ 1..=MAX_CHOICES => Asked::op(Op::Choose { lo: 0, hi: count.into() }),
                _ => return Err(Trouble::Forged),
            },
            b'V' => {
                let mailbox = self.mailbox("nobody".into(), 0)?;
                let (pattern, form) = (Envelope::default(), Probing::Wait);
                Asked::op(Op::Probe { mailbox, pattern, form })
            }
            b'X' => Asked::Spawn(self.spawn(rank, parts)?),
            b'D' => Asked::Done,
            b'F' => {
                let (class, message) = (parts.text()?, parts.text()?);
                let message =
                    Source::with_places(&message, |address| self.site_at(rank, address, ""));
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
        let mode = parts.u8()?;
        let message = Data::of(parts, mode == 3)?;
        let completion = match mode {
            1 => Completion::Late,
            2 => Completion::Early,
            4 => self.launch.semantics.leaving.completion(),
            _ => self.launch.semantics.buffering.completion(Data::shown(&message)),
        };
        Ok(Asked::with(message, |value| Op::Send { mailbox, envelope, value, completion }))
    }

    fn enter(&self, parts: &mut Parts<'_>) -> Result<Asked<u32>, Trouble> {
        let communicator = self.communicator(parts.text()?)?;
        let (size, rank) = (parts.u32()?, parts.u32()?);
        // The first communicator contains all ranks that are there from the start.
        let most = if communicator == 0 { self.launch.size } else { self.room() };
        if size > most || rank >= size {
            return Err(Trouble::Forged);
        }
        let kind = *CollectiveKind::ALL.get(parts.u8()? as usize).ok_or(Trouble::Protocol)?;
        let root = u32::try_from(parts.i32()?).ok();
        if root.is_some_and(|root| root >= size) {
            return Err(Trouble::Forged);
        }
        let mut ranks = || -> Result<Vec<u32>, Trouble> {
            let all = (0..parts.u32()?).map(|_| parts.u32()).collect::<Result<Vec<_>, _>>()?;
            match all.is_sorted_by(|one, next| one < next) && all.last() < Some(&size) {
                true => Ok(all),
                false => Err(Trouble::Forged),
            }
        };
        let partners = Partners { from: ranks()?, to: ranks()? };
        let description = parts.text()?;
        let operator = {
            let mut names = self.names.lock().expect("no thread panics while it has the names");
            Some(number(&mut names.calls, description))
        };
        let call = Call { kind, root, operator };
        let collective = match communicator {
            0 => CollectiveId(0),
            other => CollectiveId(1 + (size - 1) * MAX_COMMUNICATORS + other),
        };
        let completion = self.launch.semantics.leaving.completion();
        let given = Data::of(parts, false)?;
        let partners = Some(Arc::new(partners));
        Ok(Asked::with(given, |value| Op::Enter {
            collective,
            rank,
            call,
            value,
            completion,
            partners,
        }))
    }

    /// A question about the objects of windows: cells, mutexes and locks, which share their
    /// numbers.
    fn window(&self, parts: &mut Parts<'_>) -> Result<Asked<u32>, Trouble> {
        let form = parts.u8()?;
        let object = {
            let mut names = self.names.lock().expect("no thread panics while it has the names");
            number(&mut names.window_objects, parts.text()?)
        };
        if object >= MAX_WINDOW_OBJECTS {
            return Err(Trouble::TooMany("changes of windows", MAX_WINDOW_OBJECTS));
        }
        let (cell, mutex, lock) = (CellId(object), MutexId(object), RwLockId(object));
        if form == b'w' {
            let content = Data::value(parts.block()?);
            return Ok(Asked::with(content, |value| Op::Access(cell, Access::Write(value))));
        }
        if form == b's' {
            let mut content = || -> Result<Value, Short> {
                let (is_there, content) = (parts.u8()? != 0, parts.block()?);
                Ok(if is_there { Data::value(content) } else { Value::Unit })
            };
            let (old, new) = (content()?, content()?);
            return Ok(Asked::with_two(old, new, |old, new| {
                Op::Access(cell, Access::CompareAndSwap { old, new })
            }));
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
}

/// The number of processes that a communicator may have.
fn room(launch: &Launch) -> u32 {
    launch.size + MAX_SPAWNED
}

/// The mailboxes of all communicators, one for each rank, and their collectives, by size.
pub(super) fn objects(launch: &Launch) -> Objects {
    let mut objects = Objects {
        max_polls: Polls(launch.semantics.max_polls),
        may_end_late: launch.semantics.are_ends_open(),
        ..Objects::default()
    };
    let room = room(launch);
    objects.mailboxes.push_array("MPI_COMM_WORLD", room, Delivery::P2p);
    for communicator in 1..MAX_COMMUNICATORS {
        let name = format!("communicator {communicator}");
        objects.mailboxes.push_array(name, room, Delivery::P2p);
    }
    objects.collectives.push("MPI_COMM_WORLD", launch.size);
    objects.cells.push_array("changes of windows", MAX_WINDOW_OBJECTS, Value::Unit);
    objects.mutexes.push_array("accumulations", MAX_WINDOW_OBJECTS, Asking::default());
    objects.rwlocks.push_array("gate of window", MAX_WINDOW_OBJECTS, ());
    for size in 1..=room {
        objects.collectives.push_array("communicator", MAX_COMMUNICATORS, size);
    }
    objects
}

/// What a receive accepts. A negative source or tag accepts any.
fn pattern(parts: &mut Parts<'_>) -> Result<Envelope, Short> {
    let asked_for = |number: i32| (number >= 0).then_some(i64::from(number));
    Ok(Envelope { src: asked_for(parts.i32()?), tag: asked_for(parts.i32()?) })
}

fn handles(parts: &mut Parts<'_>) -> Result<Box<[Handle]>, Short> {
    (0..parts.u32()?).map(|_| parts.u32().map(Handle)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_objects_are_those_of_all_ranks() {
        let objects = objects(&Launch::new(Path::new(""), 3));
        assert_eq!(objects.mailboxes.name(2), "MPI_COMM_WORLD[2]");
        let room = 3 + MAX_SPAWNED;
        assert_eq!(objects.mailboxes.name(room * 7 + 1), "communicator 7[1]");
        assert_eq!(*objects.collectives.start(0), 3);
        assert_eq!(*objects.collectives.start(1 + MAX_COMMUNICATORS + 9), 2);
    }
}
