//! The same search for real, by processes of this machine: rank 0 is this process, the workers are
//! this program again, and the messages are lines of JSON in pipes. So the dispatcher, the
//! messages and the search of a piece are those of `mpirun mazurka check`; MPI is not needed.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use mazurka::explore::crew::{self, Report, Worker};
use mazurka::explore::dispatcher::{
    Answer, Answers, Dispatcher, HEARTBEAT, Message, SPLIT_AFTER, pace,
};
use mazurka::explore::{AnyExplorer, Budget, Part, Stats};
use mazurka::lang::Program;

/// The result of a search by processes.
pub struct Measured {
    pub time: Duration,
    /// How long rank 0 was busy.
    pub busy: Duration,
    pub pieces: u64,
    pub stats: Stats,
}

/// Searches with so many worker processes. `arguments` are those with which this program becomes a
/// worker.
pub fn search(program: &Program, workers: u32, arguments: &[String]) -> io::Result<Measured> {
    let budget = Budget { all: true, ..Budget::default() };
    let mut dispatcher = Dispatcher::new(Part::whole(), &budget, 1..=workers);
    let (to_rank_0, messages) = channel();
    let mut children = Vec::new();
    for worker in 1..=workers {
        children.push(start(worker, arguments, to_rank_0.clone())?);
    }
    // All of them have compiled the program before the clock starts.
    let mut idle: Vec<(Worker, String)> = messages.iter().take(workers as usize).collect();
    let start = Instant::now();
    let (mut busy, mut pieces) = (Duration::ZERO, 0);
    while !dispatcher.is_over() {
        let next = match idle.pop() {
            Some(message) => Ok(message),
            None => messages.recv_timeout(Duration::from_millis(100)),
        };
        let taken = Instant::now();
        let answers = match next {
            Ok((worker, line)) => {
                let message: Message = serde_json::from_str(&line)?;
                if let Message::Report(report) = &message
                    && let Report::Given(_, branch, _) = &**report
                {
                    assert!(branch.refusal(program).is_none(), "a branch of this search");
                }
                dispatcher.hear(start.elapsed(), worker, message)
            }
            Err(RecvTimeoutError::Timeout) => dispatcher.lose_silent(start.elapsed()).1,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("no worker is left"));
            }
        };
        pieces += send(&mut children, &answers)?;
        busy += taken.elapsed();
    }
    let time = start.elapsed();
    for (mut child, input) in children {
        drop(input);
        child.wait()?;
    }
    let stats = dispatcher.settled().outcome(&budget).stats;
    Ok(Measured { time, busy, pieces, stats })
}

/// Sends answers. Returns how many of them are pieces.
fn send(children: &mut [(Child, ChildStdin)], answers: &Answers) -> io::Result<u64> {
    let mut pieces = 0;
    for (worker, answer) in answers {
        pieces += u64::from(matches!(answer, Answer::Search(..)));
        let mut line = serde_json::to_string(answer)?;
        line.push('\n');
        children[*worker as usize - 1].1.write_all(line.as_bytes())?;
    }
    Ok(pieces)
}

/// Starts a worker, and a thread that takes its messages.
fn start(
    worker: Worker,
    arguments: &[String],
    to_rank_0: Sender<(Worker, String)>,
) -> io::Result<(Child, ChildStdin)> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take());
    let lines = BufReader::new(output.expect("a pipe")).lines();
    thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| to_rank_0.send((worker, line)))
    });
    Ok((child, input))
}

/// A worker: searches pieces until there are no more.
pub fn work(program: &Program, explorer: AnyExplorer) -> io::Result<()> {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let (to_search, pieces) = channel();
    thread::spawn(move || {
        for line in stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line).expect("an answer of rank 0") {
                Answer::Search(piece) => {
                    // What was asked before concerns another piece.
                    ASKED.store(0, Ordering::Relaxed);
                    to_search.send(piece).expect("the search goes on");
                }
                Answer::Split(count) => ASKED.store(count, Ordering::Relaxed),
                Answer::Drop | Answer::Wait => {}
            }
        }
    });
    tell(&Message::Idle)?;
    loop {
        let piece = match pieces.recv_timeout(HEARTBEAT) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) => {
                tell(&Message::Waiting)?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let mut told = Instant::now();
        let mut report = |report| {
            match report {
                Report::Beat(_) if told.elapsed() < HEARTBEAT => return,
                Report::Given(..) => {
                    let less = |asked: u32| Some(asked.saturating_sub(1));
                    let _ = ASKED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
                }
                _ => {}
            }
            told = Instant::now();
            // If rank 0 is gone, the end of its messages ends this process.
            let _ = tell(&Message::Report(Box::new(report)));
        };
        let budget = Budget { all: true, ..Budget::default() };
        let mut is_asked = |steps| ASKED.load(Ordering::Relaxed) > 0 || steps >= SPLIT_AFTER;
        let search = (program, explorer);
        crew::search(search, &piece, (pace(), &mut is_asked), budget, &mut report);
    }
}

fn tell(message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    let mut out = stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}
