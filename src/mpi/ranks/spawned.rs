//! Processes that ranks start. Each is known by its number, which is the same whenever the same has
//! led to it (`c/dynamic.h`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, OnceLock};

use super::questions::{MAX_SPAWNED, Trouble};
use super::{Code, Program, Ranks, Source};
use crate::model::Site;
use crate::mpi::uses::User;
use crate::mpi::wire::{Parts, Short, readable};

/// What a process is started from that was spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mpi) struct Origin {
    /// Its rank among those that were spawned with it, and their number.
    pub(in crate::mpi) rank: u32,
    pub(in crate::mpi) size: u32,
    pub(in crate::mpi) program: PathBuf,
    /// Whether the library is not in it.
    pub(in crate::mpi) is_foreign: bool,
    pub(in crate::mpi) arguments: Vec<OsString>,
    /// Its working directory.
    pub(in crate::mpi) folder: PathBuf,
    /// What its library is told of those who have started it.
    pub(in crate::mpi) told: OsString,
    /// The number of its program, where that which is launched has 1.
    pub(in crate::mpi) mark: u64,
    /// What reports call it.
    name: String,
}

/// The processes that some rank has started in some execution, by their numbers; and their
/// programs, but that which is launched.
#[derive(Default)]
pub(super) struct Spawned {
    processes: BTreeMap<u32, Arc<Origin>>,
    others: Vec<Other>,
}

/// A program that is not the one which is launched.
struct Other {
    path: PathBuf,
    program: Program,
    code: Arc<Code>,
}

impl Ranks {
    /// Whether this is the number of a process that was not there at the start.
    pub(super) fn is_spawned(&self, number: u32) -> bool {
        number >= self.launch.size
    }

    fn spawned(&self) -> MutexGuard<'_, Spawned> {
        self.spawned.lock().expect("no thread panics while it has the processes")
    }

    /// What a process is started from; `None` if it is there from the start.
    pub(super) fn origin(&self, number: u32) -> Option<Arc<Origin>> {
        self.is_spawned(number).then(|| self.spawned().processes.get(&number).cloned())?
    }

    /// What reports call a process.
    pub(super) fn called(&self, number: u32) -> String {
        self.origin(number).map_or_else(|| format!("rank {number}"), |origin| origin.name.clone())
    }

    /// The process as one that uses files.
    pub(super) fn user(&self, number: u32) -> User {
        let world = self.origin(number).map_or(0, |origin| number - origin.rank);
        User { number, world, name: self.called(number) }
    }

    /// The place at an address that a process knows: in its own program, unless the address is
    /// marked with another one (`put_site` in `c/wire.c`).
    pub(super) fn site_at(&self, number: u32, address: u64, call: &str) -> Option<Site> {
        if let Some(line) = self.code.source.site_in_python(address, call) {
            return Some(line);
        }
        let mark = match address >> 48 {
            0 => self.origin(number).map_or(1, |origin| origin.mark),
            mark => mark,
        };
        let address = address & (u64::MAX >> 16);
        if mark == 1 {
            return self.code.site(address, call);
        }
        let place = (mark as usize).wrapping_sub(2);
        let code = self.spawned().others.get(place).map(|other| other.code.clone())?;
        code.site(address, call)
    }

    /// The program with this path, and its number. It gets one if it has none.
    fn program_at(&self, path: &Path) -> Result<(Program, u64), Trouble> {
        if path == self.launch.program {
            let is_foreign = self.servers.is_launch_foreign();
            return Ok((Program { file: path.into(), before: Vec::new(), is_foreign }, 1));
        }
        let others = &mut self.spawned().others;
        let known = others.iter().position(|other| other.path == path);
        let place = match known {
            Some(place) => place,
            None => {
                let program = Program::find(path).map_err(Trouble::Unstartable)?;
                let source = Source::new(&program.file, self.launch.base.clone());
                let code = Arc::new(Code { source, bias: OnceLock::new() });
                others.push(Other { path: path.into(), program, code });
                others.len() - 1
            }
        };
        Ok((others[place].program.clone(), place as u64 + 2))
    }

    /// A question of this process: to start another one. Returns the number of the new one.
    pub(super) fn spawn(&self, by: u32, parts: &mut Parts<'_>) -> Result<u32, Trouble> {
        let mut next = || parts.u32();
        let (number, rank, size, call) = (next()?, next()?, next()?, next()?);
        let owned = |part: Result<&[u8], Short>| part.map(|part| OsString::from_vec(part.into()));
        let program = PathBuf::from(owned(parts.block())?);
        let folder = PathBuf::from(owned(parts.block())?);
        let count = parts.u32()?;
        let arguments = (0..count).map(|_| owned(parts.block())).collect::<Result<Vec<_>, _>>()?;
        let told = owned(parts.block())?;
        if !self.is_spawned(number) || rank >= size || rank > number {
            return Err(Trouble::Forged);
        }
        let name = self.name_of(by, call, rank, &program);
        let (Program { file: program, before, is_foreign }, mark) = self.program_at(&program)?;
        let arguments = before.into_iter().chain(arguments).collect();
        let new = Origin { rank, size, program, is_foreign, arguments, folder, told, mark, name };
        match self.origin(number) {
            Some(known) if *known == new => return Ok(number),
            Some(_) => {
                let what = "two of the processes that ranks start cannot be told apart";
                return Err(Trouble::Unstartable(what.into()));
            }
            None => {}
        }
        let bias = self
            .servers
            .bias(number, Some(&new))
            .map_err(|error| Trouble::Unstartable(format!("{}: {error}", new.program.display())))?;
        let mut spawned = self.spawned();
        if spawned.processes.len() as u32 >= MAX_SPAWNED {
            return Err(Trouble::TooMany("processes that ranks start", MAX_SPAWNED));
        }
        if let Some(other) = spawned.others.get((mark as usize).wrapping_sub(2)) {
            other.code.bias.get_or_init(|| bias);
        }
        spawned.processes.insert(number, Arc::new(new));
        Ok(number)
    }

    /// A name that says how a process came to be: its rank and program; and unless that is the
    /// first call of rank 0, which call of which process has started it.
    fn name_of(&self, by: u32, call: u32, rank: u32, program: &Path) -> String {
        let file = program.file_name().unwrap_or_default().as_encoded_bytes();
        let name = format!("rank {rank} of {}", readable(file));
        match (by, call) {
            (0, 1) => name,
            (0, call) => format!("{name} (spawn {call})"),
            (by, call) => format!("{name} (spawn {call} of {})", self.called(by)),
        }
    }
}
