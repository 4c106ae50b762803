//! Searches in processes of their own, for `compare`, `study` and `reproduce`, which report the
//! memory of each search.
//!
//! The parent starts this program again with the hidden command `measure` and writes the job to its
//! standard input as one line of JSON. The child answers with lines of JSON: progress from time to
//! time, and the result at the end. The child also reads on after the job, and ends the search when
//! its input is closed. So it ends when the parent is interrupted or has died.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use super::output::Output;
use super::{Exit, Failure, interrupt, memory};
use crate::explore::{Budget, Observer, Setting, Stats, explore};
use crate::lang::Program;
use crate::property::Properties;
use crate::study::{Job, Measured, Ran};

/// A message from the child.
#[derive(Serialize, Deserialize)]
enum Message {
    Beat(Beat),
    Done(Box<Measured>),
}

/// The progress of a search.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Beat {
    pub(super) traces: u64,
    pub(super) seconds: f64,
}

/// The child: runs the job that it reads from standard input.
pub(super) fn run(output: &mut Output) -> Result<Exit, Failure> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)
        .map_err(|_| Failure::Usage("`measure` is an internal command of `compare`".into()))?;
    let setting: Setting = job.setting.parse().map_err(Failure::Usage)?;
    let program = job.case.compile().map_err(|diagnostics| {
        output.note(diagnostics.render(true));
        Failure::Reported
    })?;
    let budget = Budget {
        all: job.all,
        properties: Properties::default().allow_pending(job.case.allow_pending),
        cancel: interrupt::flag()?,
        ..job.limits.budget(memory::in_use)
    };
    let cancel = budget.cancel.clone();
    thread::spawn(move || {
        // Only the end of the input matters; the contents are ignored.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        cancel.store(true, Ordering::Relaxed);
    });
    let measured = repeated(&program, setting, &budget, job.repeat_for);
    say(&Message::Done(Box::new(measured)))?;
    Ok(Exit::Fine)
}

/// Repeats a search until `time` has passed, but runs it at least once. The times are the shortest
/// of all runs.
fn repeated(program: &Program, setting: Setting, budget: &Budget, time: Duration) -> Measured {
    let start = Instant::now();
    let mut best = timed(program, setting, budget);
    while start.elapsed() < time && !budget.cancel.load(Ordering::Relaxed) {
        let again = timed(program, setting, budget);
        if again.stopped_by == best.stopped_by {
            best.processor_seconds = shorter(best.processor_seconds, again.processor_seconds);
            best.stats.wall_seconds = best.stats.wall_seconds.min(again.stats.wall_seconds);
        }
    }
    best
}

fn shorter(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one?.min(other?))
}

fn timed(program: &Program, setting: Setting, budget: &Budget) -> Measured {
    let start = ProcessTime::now();
    let outcome = explore(program, setting, budget.clone(), &mut ProgressToParent);
    let processor_seconds = Some(start.elapsed().as_secs_f64());
    Measured { processor_seconds, ..Measured::new(&outcome, memory::peak()) }
}

/// An observer that reports progress to the parent.
struct ProgressToParent;

impl Observer for ProgressToParent {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let beat = Beat { traces: stats.traces, seconds: elapsed.as_secs_f64() };
        // A parent that has stopped reading also closes our input.
        let _ = say(&Message::Beat(beat));
    }
}

fn say(message: &Message) -> io::Result<()> {
    let line = serde_json::to_string(message).expect("messages are serialisable");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Time between two checks of the parent for an interrupt.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long a child may take to end after it was asked to; then it is killed.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The parent: runs the job in a child process. `watch` is called with its progress. Setting
/// `cancel` ends the search, with the result so far.
pub(super) fn measure(job: &Job, cancel: &AtomicBool, mut watch: impl FnMut(Beat)) -> Ran {
    let (mut child, messages) = match start(job) {
        Ok(started) => started,
        Err(error) => return Ran::Failed(format!("cannot start: {error}")),
    };
    let mut asked = None;
    let answer = loop {
        if asked.is_none() && cancel.load(Ordering::Relaxed) {
            asked = Some(Instant::now());
            drop(child.stdin.take());
        }
        match messages.recv_timeout(CHECK_INTERVAL) {
            Ok(Message::Beat(beat)) => watch(beat),
            Ok(Message::Done(measured)) => break Some(*measured),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if asked.is_some_and(|asked| asked.elapsed() > GRACE_PERIOD) {
            // This fails if the child has ended in the meantime.
            let _ = child.kill();
        }
    };
    drop(child.stdin.take());
    match (answer, child.wait()) {
        (Some(measured), _) => Ran::Measured(measured),
        (None, Ok(status)) => Ran::Failed(format!("ended without a result ({status})")),
        (None, Err(error)) => Ran::Failed(error.to_string()),
    }
}

/// Starts a child with this job. Returns the child and its messages.
fn start(job: &Job) -> io::Result<(Child, Receiver<Message>)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("measure")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (sender, receiver) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str(&line) else { break };
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    let line = serde_json::to_string(job).expect("jobs are serialisable");
    let stdin = child.stdin.as_mut().expect("a pipe");
    // If this fails, the child has ended without a result; the caller notices that.
    let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
    Ok((child, receiver))
}
