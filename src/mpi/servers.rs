//! The processes of a program: a server for each world rank, and the ranks that it forks.

use std::io::{self, BufReader, ErrorKind};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::ranks::{Files, Launch};
use super::variables;
use super::wire::{self, Parts, Put};

/// How long a process may take to report for duty.
const PATIENCE: Duration = Duration::from_secs(20);

/// The servers of a program.
pub(super) struct Servers {
    all: Vec<Mutex<Server>>,
    /// Where ranks report. Who holds it starts a rank.
    listener: Mutex<UnixListener>,
    /// Goes last.
    _folder: TempDir,
}

/// The process that forks one rank again and again.
struct Server {
    process: Child,
    wire: UnixStream,
    /// How far the program was loaded from where it was linked to be.
    bias: u64,
}

impl Server {
    /// Gives an order that is about a number, and returns what it answers.
    fn order(&mut self, kind: u8, number: u32) -> io::Result<()> {
        let mut body = vec![kind];
        body.put_u32(number);
        wire::send(&mut self.wire, &body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Servers {
    /// Starts a server for each rank.
    pub(super) fn start(launch: &Launch) -> io::Result<Servers> {
        let folder = tempfile::Builder::new().prefix("mazurka-").tempdir()?;
        let address = folder.path().join("wire");
        let variables = folder.path().join("variables");
        std::fs::write(&variables, variables::table(&launch.program))?;
        let listener = UnixListener::bind(&address)?;
        listener.set_nonblocking(true)?;
        let mut servers =
            Servers { _folder: folder, all: Vec::new(), listener: Mutex::new(listener) };
        for rank in 0..launch.size {
            let mut command = Command::new(&launch.program);
            command.args(&launch.arguments);
            command.env("MAZURKA_SOCKET", &address);
            command.env("MAZURKA_VARIABLES", &variables);
            command.env("MAZURKA_RANK", rank.to_string());
            command.env("MAZURKA_SIZE", launch.size.to_string());
            command.env("MAZURKA_TICK", launch.tick.as_nanos().to_string());
            let are_files_own = u8::from(launch.files == Files::Own);
            command.env("MAZURKA_FILES", are_files_own.to_string());
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let process = command.spawn()?;
            let wire = servers.listener.get_mut().expect("nobody else has it");
            let server = greet(process, wire)?;
            servers.all.push(Mutex::new(server));
        }
        Ok(servers)
    }

    /// How far the program was loaded from where it was linked to be.
    pub(super) fn bias(&self) -> u64 {
        self.server(0).bias
    }

    fn server(&self, rank: u32) -> MutexGuard<'_, Server> {
        self.all[rank as usize].lock().expect("no thread panics while it holds a server")
    }

    /// Forks a rank.
    pub(super) fn run(self: &Arc<Self>, rank: u32) -> io::Result<Process> {
        let listener = self.listener.lock().expect("no thread panics while it starts a rank");
        self.server(rank).order(b'R', 0)?;
        let (mut wire, _) = accepted(&listener, || None)?;
        let hello = wire::receive(&mut wire)?;
        drop(listener);
        let mut parts = Parts(&hello);
        let pid = parts.u8().and_then(|_| parts.u32()).and_then(|_| parts.u32());
        let pid = pid.map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
        let wire = BufReader::new(wire);
        Ok(Process { servers: self.clone(), rank, pid, wire, status: None })
    }
}

/// The next one that reports; `problem` says why none will come.
fn accepted(
    listener: &UnixListener,
    mut problem: impl FnMut() -> Option<io::Error>,
) -> io::Result<(UnixStream, std::os::unix::net::SocketAddr)> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(5);
    loop {
        match listener.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => return other,
        }
        if let Some(problem) = problem() {
            return Err(problem);
        }
        if start.elapsed() > PATIENCE {
            return Err(io::Error::new(ErrorKind::TimedOut, "a rank does not report"));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}

fn greet(mut process: Child, listener: &UnixListener) -> io::Result<Server> {
    let ended = |process: &mut Child| {
        let status = process.try_wait().ok()??;
        Some(io::Error::other(format!("it ends before it has begun ({status})")))
    };
    let accepted = accepted(listener, || ended(&mut process));
    let hello = accepted.and_then(|(mut wire, _)| Ok((wire::receive(&mut wire)?, wire)));
    let (hello, wire) = match hello {
        Ok(found) => found,
        Err(error) => {
            let _ = process.kill();
            let _ = process.wait();
            return Err(error);
        }
    };
    let mut parts = Parts(&hello);
    let bias = parts.u8().and_then(|_| parts.u32()).and_then(|_| parts.u64());
    let bias = bias.map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
    Ok(Server { process, wire, bias })
}

/// A rank that runs. Dropping it ends it.
pub struct Process {
    servers: Arc<Servers>,
    pub(super) rank: u32,
    pid: u32,
    pub(super) wire: BufReader<UnixStream>,
    status: Option<i32>,
}

impl Process {
    /// Ends it, unless it has ended, and tells how: its status as the operating system says it.
    pub(super) fn end(&mut self) -> Option<i32> {
        if self.status.is_none() {
            let mut server = self.servers.server(self.rank);
            let told = server.order(b'K', self.pid).and_then(|()| wire::receive(&mut server.wire));
            self.status = told.ok().and_then(|told| Parts(&told).i32().ok());
        }
        self.status
    }

    /// Waits until it has ended by itself, and tells how.
    pub(super) fn ended(&mut self) -> Option<i32> {
        if self.status.is_none() {
            let mut server = self.servers.server(self.rank);
            let told = server.order(b'S', self.pid).and_then(|()| wire::receive(&mut server.wire));
            self.status = told.ok().and_then(|told| Parts(&told).i32().ok());
        }
        self.status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
