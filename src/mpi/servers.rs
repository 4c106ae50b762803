//! The processes of a program: a server for each rank, and the ranks that it forks. The servers of
//! spawned processes are started when they are first needed.
//!
//! They leave nothing behind (`c/server.c`): when its connection is closed, a server ends with
//! everything that it has started, and then its guard ends, which is the process that is started
//! here. The folder is removed after that.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tempfile::TempDir;

use super::compiler::{Compiler, Language};
use super::connection::{Connection, GLANCE};
use super::library::Library;
use super::ranks::{Files, Launch, Origin};
use super::variables;
use super::wire::{Parts, Put, readable};
use crate::model::StopSignal;

/// The time limit for a process to report, or to carry out an order.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many servers start at the same time.
const AT_ONCE: usize = 16;
/// The time limit for the guards to end.
const FAREWELL: Duration = Duration::from_secs(2);
/// The maximum number of bytes of a server's error output in a message.
const MOST_TOLD: u64 = 500;

/// The servers of a program.
pub(super) struct Servers {
    launch: Launch,
    /// Whether the library is not in the program that is launched.
    is_launch_foreign: bool,
    /// The library that is loaded into such programs, once there is one.
    library: OnceLock<PathBuf>,
    /// By the numbers of the processes.
    all: Mutex<BTreeMap<u32, Arc<Mutex<Server>>>>,
    /// The table of variables of each program.
    tables: Mutex<HashMap<PathBuf, PathBuf>>,
    /// Where ranks report. The thread that holds the lock starts a rank.
    door: Mutex<Door>,
    /// Dropped last.
    folder: TempDir,
}

/// The socket where processes report.
struct Door {
    listener: UnixListener,
    /// The number of the last rank that was ordered.
    last: u32,
    /// The ranks that have reported before anything waits for them, by their numbers.
    reported: HashMap<u32, (u32, Connection)>,
}

/// A new folder that other users cannot enter, so none of them reaches the socket in it.
fn own_folder() -> io::Result<TempDir> {
    let only_ours = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("mazurka-").permissions(only_ours).tempdir()
}

/// A rank that was ordered.
#[derive(Clone, Copy)]
struct Ordered {
    number: u32,
    key: u64,
}

/// The process that forks one rank again and again.
struct Server {
    guard: Child,
    connection: Connection,
    /// The distance between the address where the program was loaded and the address where it was
    /// linked.
    bias: u64,
    /// The rank that is forked ahead: it waits for its history.
    ahead: Option<Ordered>,
}

impl Server {
    /// Sends an order with a number.
    fn order(&mut self, kind: u8, number: u32) -> io::Result<()> {
        let mut body = vec![kind];
        body.put_u32(number);
        self.connection.send(&body, PATIENCE)
    }

    /// The rank that is forked ahead. If there is none, one is ordered, whose number is after
    /// `last`.
    fn ahead(&mut self, last: &mut u32) -> io::Result<Ordered> {
        if let Some(ahead) = self.ahead {
            return Ok(ahead);
        }
        *last = last.wrapping_add(1);
        let (number, key) = (*last, RandomState::new().hash_one(*last));
        let mut body = vec![b'R'];
        body.put_u32(number);
        body.extend(key.to_ne_bytes());
        self.connection.send(&body, PATIENCE)?;
        Ok(*self.ahead.insert(Ordered { number, key }))
    }

    /// Ends a rank. Nothing waits for that.
    fn end(&mut self, pid: u32) -> io::Result<()> {
        // This must be done even if the search is to end.
        StopSignal::disregarded(|| self.order(b'K', pid))
    }

    /// Waits for the end of a rank, and returns its wait status; -1 if it has not ended.
    fn await_end(&mut self, pid: u32) -> io::Result<i32> {
        StopSignal::disregarded(|| {
            self.order(b'S', pid)?;
            let answer = self.connection.receive(PATIENCE)?;
            Parts(&answer).i32().map_err(|_| ErrorKind::InvalidData.into())
        })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let all = self.all.lock().expect("no panics");
        let mut all: Vec<_> =
            all.values().map(|server| server.lock().expect("no panics")).collect();
        all.iter_mut().for_each(|server| server.connection.close());
        let end = Instant::now() + FAREWELL;
        for server in &mut all {
            while matches!(server.guard.try_wait(), Ok(None)) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(1));
            }
            // Usually it has ended by itself.
            let _ = server.guard.kill();
            let _ = server.guard.wait();
        }
    }
}

impl Servers {
    /// Starts a server for each rank of a program that has the library, or `is_foreign`.
    pub(super) fn start(launch: &Launch, is_foreign: bool) -> io::Result<Servers> {
        let folder =
            own_folder().map_err(|error| explained("cannot make a folder for it", error))?;
        let listener = UnixListener::bind(folder.path().join("wire"))
            .map_err(|error| explained("cannot make a socket for it", error))?;
        listener.set_nonblocking(true)?;
        let door = Mutex::new(Door { listener, last: 0, reported: HashMap::new() });
        let (all, tables, library) = Default::default();
        let servers = Servers {
            launch: launch.clone(),
            is_launch_foreign: is_foreign,
            library,
            all,
            tables,
            door,
            folder,
        };
        let mut begun = Begun { guards: Vec::new(), greeted: BTreeMap::new() };
        let started = begun.start_all(&servers);
        let started = started.map_err(|error| begun.give_up(servers.folder.path(), error))?;
        *servers.all.lock().expect("nobody else has it yet") = started;
        Ok(servers)
    }

    /// The table of variables of a program.
    fn table(&self, program: &Path) -> io::Result<PathBuf> {
        let mut tables = self.tables.lock().expect("no thread panics while it has the tables");
        if let Some(known) = tables.get(program) {
            return Ok(known.clone());
        }
        let file = self.folder.path().join(format!("variables-{}", tables.len()));
        std::fs::write(&file, variables::table(program))
            .map_err(|error| explained("cannot write to its folder", error))?;
        tables.insert(program.to_owned(), file.clone());
        Ok(file)
    }

    /// Whether the library is not in the program that is launched.
    pub(super) fn is_launch_foreign(&self) -> bool {
        self.is_launch_foreign
    }

    /// Whether the library is not in some program that was started.
    pub(super) fn are_foreign(&self) -> bool {
        self.library.get().is_some()
    }

    /// The library as one that can be loaded into a program. It is compiled if it is not there.
    fn library(&self) -> io::Result<&Path> {
        if let Some(known) = self.library.get() {
            return Ok(known);
        }
        let compiler = Compiler::of_user(Language::C, self.folder.path());
        let library = Library::of(&compiler).map_err(io::Error::other)?;
        Ok(self.library.get_or_init(|| library.shared()))
    }

    /// Has the library loaded into a program in which it is not.
    fn load_library(&self, command: &mut Command) -> io::Result<()> {
        let mut first = self.library()?.as_os_str().to_owned();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            first.push(":");
            first.push(others);
        }
        command.env("LD_PRELOAD", first).env("MAZURKA_PRELOADED", "1");
        // Libraries for numbers start threads as they are loaded, unless one is enough. Python
        // keeps what it has compiled in files that all ranks use.
        let threads = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        for variable in threads.into_iter().chain(["PYTHONDONTWRITEBYTECODE"]) {
            if std::env::var_os(variable).is_none() {
                command.env(variable, "1");
            }
        }
        Ok(())
    }

    /// The server of the process with this number. `origin` is what it is started from, if it was
    /// spawned.
    fn ensure(&self, number: u32, origin: Option<&Origin>) -> io::Result<Arc<Mutex<Server>>> {
        let mut all = self.all.lock().expect("no thread panics while it starts a server");
        if let Some(known) = all.get(&number) {
            return Ok(known.clone());
        }
        let server = Arc::new(Mutex::new(self.start_one(number, origin)?));
        all.insert(number, server.clone());
        Ok(server)
    }

    /// Starts a server, and waits until it has reported.
    fn start_one(&self, number: u32, origin: Option<&Origin>) -> io::Result<Server> {
        let mut guard = self.spawn(number, origin)?;
        let mut door = self.door.lock().expect("no thread panics while it starts a rank");
        match door.await_server(|| has_ended(&mut guard)) {
            Ok((connection, bias)) => Ok(Server { guard, connection, bias, ahead: None }),
            Err(error) => {
                let _ = guard.kill();
                let _ = guard.wait();
                Err(complaint(&complaints(self.folder.path(), number)).unwrap_or(error))
            }
        }
    }

    /// Starts the process of a server.
    fn spawn(&self, number: u32, origin: Option<&Origin>) -> io::Result<Child> {
        let (launch, folder) = (&self.launch, self.folder.path());
        let program = origin.map_or(&launch.program, |origin| &origin.program);
        let is_foreign = origin.map_or(self.is_launch_foreign, |origin| origin.is_foreign);
        let mut command = Command::new(program);
        command.env("MAZURKA_SOCKET", folder.join("wire"));
        command.env("MAZURKA_VARIABLES", self.table(program)?);
        // What a program in Fortran prints is written at once.
        command.env("GFORTRAN_UNBUFFERED_PRECONNECTED", "y");
        match origin {
            None => {
                command.args(&launch.arguments);
                command.env("MAZURKA_PROGRAM", "1");
                command.env("MAZURKA_RANK", number.to_string());
                command.env("MAZURKA_SIZE", launch.size.to_string());
                if let Some(folder) = &launch.folder {
                    command.current_dir(folder);
                }
            }
            Some(origin) => {
                command.args(&origin.arguments).current_dir(&origin.folder);
                command.env("MAZURKA_RANK", origin.rank.to_string());
                command.env("MAZURKA_SIZE", origin.size.to_string());
                command.env("MAZURKA_WORLD", &origin.told);
                command.env("MAZURKA_PROGRAM", origin.mark.to_string());
            }
        }
        if is_foreign {
            self.load_library(&mut command)?;
        }
        command.env("MAZURKA_TICK", launch.tick.as_nanos().to_string());
        command.env("MAZURKA_MEMORY", launch.rank_memory.to_string());
        let are_files_own = u8::from(launch.files == Files::Own);
        command.env("MAZURKA_FILES", are_files_own.to_string());
        let errors = File::create(complaints(folder, number))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        command.spawn().map_err(|error| explained("it cannot be started", error))
    }

    /// The distance between the address where the program of the process with this number was
    /// loaded and the address where it was linked. `origin` as for [`Servers::run`].
    pub(super) fn bias(&self, number: u32, origin: Option<&Origin>) -> io::Result<u64> {
        Ok(held(&*self.ensure(number, origin)?).bias)
    }

    /// Starts a rank. It was forked ahead, and so is the next one, while this one runs. `origin` is
    /// what it is started from, if it was spawned.
    pub(super) fn run(self: &Arc<Self>, rank: u32, origin: Option<&Origin>) -> io::Result<Process> {
        let own = self.ensure(rank, origin)?;
        let mut door = self.door.lock().expect("no thread panics while it starts a rank");
        let mut server = held(&own);
        let Ordered { number, key } = server.ahead(&mut door.last)?;
        let (pid, connection) = door.await_rank(number, || has_ended(&mut server.guard))?;
        server.ahead = None;
        // If the order fails, the next start will report that.
        let _ = server.ahead(&mut door.last);
        drop(server);
        let servers = self.clone();
        Ok(Process { _servers: servers, server: own, rank, pid, key, connection, has_ended: false })
    }
}

fn held(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().expect("no thread panics while it holds a server")
}

/// The servers that are starting.
struct Begun {
    /// By rank.
    guards: Vec<Child>,
    /// The connections of those that have reported, and the distance of their addresses.
    greeted: BTreeMap<u32, (Connection, u64)>,
}

impl Begun {
    /// Starts a server for each rank, some at the same time, and waits until all have reported.
    fn start_all(&mut self, servers: &Servers) -> io::Result<BTreeMap<u32, Arc<Mutex<Server>>>> {
        let size = servers.launch.size as usize;
        let door = servers.door.lock().expect("no thread panics while it starts a rank");
        while self.greeted.len() < size {
            while self.guards.len() < size.min(self.greeted.len() + AT_ONCE) {
                self.guards.push(servers.spawn(self.guards.len() as u32, None)?);
            }
            let Begun { guards, greeted } = self;
            let (connection, hello) = door.next(|| {
                let missing =
                    (0..).zip(&mut *guards).filter(|(rank, _)| !greeted.contains_key(rank));
                missing.map(|(_, guard)| guard).find_map(has_ended)
            })?;
            let mut parts = Parts(&hello);
            let said = parts.u8().and_then(|_| Ok((parts.u32()?, parts.u64()?)));
            let (rank, bias) = said.map_err(|_| ErrorKind::InvalidData)?;
            if rank as usize >= guards.len() || greeted.contains_key(&rank) {
                return Err(ErrorKind::InvalidData.into());
            }
            greeted.insert(rank, (connection, bias));
        }
        let all = self.guards.drain(..).zip(std::mem::take(&mut self.greeted));
        let server = |(guard, (rank, (connection, bias)))| {
            (rank, Arc::new(Mutex::new(Server { guard, connection, bias, ahead: None })))
        };
        Ok(all.map(server).collect())
    }

    /// Ends what was started. Returns the last words of the first server that has not reported, or
    /// else the error.
    fn give_up(&mut self, folder: &Path, error: io::Error) -> io::Error {
        self.greeted.values_mut().for_each(|(connection, _)| connection.close());
        for guard in &mut self.guards {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        let all = 0..self.guards.len() as u32;
        let mut missing = all.filter(|rank| !self.greeted.contains_key(rank));
        missing.find_map(|rank| complaint(&complaints(folder, rank))).unwrap_or(error)
    }
}

/// The file for what the server of a rank says when it cannot go on.
fn complaints(folder: &Path, rank: u32) -> PathBuf {
    folder.join(format!("complaints-{rank}"))
}

impl Door {
    /// The connection of the server that is being started, and its bias.
    fn await_server(
        &mut self,
        mut problem: impl FnMut() -> Option<io::Error>,
    ) -> io::Result<(Connection, u64)> {
        loop {
            let (connection, hello) = self.next(&mut problem)?;
            let mut parts = Parts(&hello);
            match parts.u8() {
                Ok(b's') => {
                    let bias = parts.u32().and_then(|_| parts.u64());
                    return Ok((connection, bias.map_err(|_| ErrorKind::InvalidData)?));
                }
                _ => self.note(connection, &hello)?,
            }
        }
    }

    /// Keeps a rank that has reported.
    fn note(&mut self, connection: Connection, hello: &[u8]) -> io::Result<()> {
        let mut parts = Parts(hello);
        let said = parts.u8().and_then(|_| Ok((parts.u32()?, parts.u32()?)));
        let (found, pid) = said.map_err(|_| ErrorKind::InvalidData)?;
        self.reported.insert(found, (pid, connection));
        Ok(())
    }

    /// The process number and the connection of the rank with this number.
    fn await_rank(
        &mut self,
        number: u32,
        mut problem: impl FnMut() -> Option<io::Error>,
    ) -> io::Result<(u32, Connection)> {
        loop {
            if let Some(found) = self.reported.remove(&number) {
                return Ok(found);
            }
            let (connection, hello) = self.next(&mut problem)?;
            self.note(connection, &hello)?;
        }
    }

    /// The next process that reports, with its message. `problem` returns the reason if none will
    /// come.
    fn next(
        &self,
        mut problem: impl FnMut() -> Option<io::Error>,
    ) -> io::Result<(Connection, Vec<u8>)> {
        let start = Instant::now();
        let stream = loop {
            wait_for(&self.listener)?;
            match self.listener.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => break other?.0,
            }
            if let Some(problem) = problem() {
                return Err(problem);
            }
            if StopSignal::is_raised_here() || start.elapsed() > PATIENCE {
                return Err(io::Error::new(ErrorKind::TimedOut, "a rank does not report"));
            }
        };
        let mut connection = Connection::new(stream)?;
        let hello = connection.receive(PATIENCE)?;
        Ok((connection, hello))
    }
}

/// Waits until a process reports, but not for longer than [`GLANCE`].
fn wait_for(listener: &UnixListener) -> io::Result<()> {
    let mut one = [PollFd::new(listener, PollFlags::IN)];
    let glance = Timespec::try_from(GLANCE).expect("a short time");
    match poll(&mut one, Some(&glance)) {
        Err(Errno::INTR) => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

fn has_ended(guard: &mut Child) -> Option<io::Error> {
    let status = guard.try_wait().ok()??;
    Some(io::Error::other(format!("it ends before it has begun ({status})")))
}

/// The last message of a server that has ended, if there is one.
fn complaint(file: &Path) -> Option<io::Error> {
    let mut said = Vec::new();
    File::open(file).ok()?.take(MOST_TOLD).read_to_end(&mut said).ok()?;
    let said = readable(&said).trim_end().to_owned();
    (!said.is_empty()).then(|| io::Error::other(said))
}

fn explained(why: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{why}: {error}"))
}

/// A running rank. Dropping it ends it.
pub(crate) struct Process {
    /// They live as long as it does.
    _servers: Arc<Servers>,
    server: Arc<Mutex<Server>>,
    pub(super) rank: u32,
    pid: u32,
    /// Each of its questions begins with this.
    pub(super) key: u64,
    pub(super) connection: Connection,
    has_ended: bool,
}

impl Process {
    /// Ends it, unless it has ended.
    pub(super) fn end(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            // If the server has ended, so has the rank.
            let _ = held(&self.server).end(self.pid);
        }
    }

    /// The wait status of a rank that has ended by itself; -1 if it has not ended.
    pub(super) fn ended(&mut self) -> Option<i32> {
        match std::mem::replace(&mut self.has_ended, true) {
            true => None,
            false => held(&self.server).await_end(self.pid).ok(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_user_reaches_the_socket() {
        let folder = own_folder().unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
