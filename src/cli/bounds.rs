//! Limits on time and memory for work that is not a search: drawing, or following one execution.
//!
//! A search observes its limits itself and reports what it has found. Other work checks the limits
//! where it can. If it goes on for too long after a limit was reached, the program ends; only an
//! unfinished result is lost.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::Args;

use super::options::{bytes, time};
use super::output::Output;
use super::{Exit, Failure, memory};
use crate::model::StopSignal;

/// The limits of an execution.
#[derive(Args)]
pub(super) struct BoundArgs {
    /// Stop after this time: 30s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// Stop when this much memory is allocated: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
}

impl BoundArgs {
    /// Starts to watch the limits. If one is reached and the work does not stop, the program ends
    /// with a note.
    ///
    /// # Errors
    /// If memory cannot be measured, or the watching thread cannot be started.
    pub(super) fn begin(&self, output: &Output) -> Result<Bounds, Failure> {
        if self.max_memory.is_some() {
            memory::is_known()?;
        }
        let end = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Bounds::new((end, self.max_memory), "Stopped within a step", Exit::Incomplete, output)
    }
}

/// Time between two checks of the limits.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// The program ends if the work goes on for this long after a limit was reached.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Limits that are watched by a thread, until this is dropped.
pub(super) struct Bounds {
    signal: StopSignal,
    reached: Arc<OnceLock<&'static str>>,
    /// The watching thread, and a channel to it: dropping the sender ends the thread.
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bounds {
    /// No limits.
    pub(super) fn none() -> Bounds {
        Bounds { signal: StopSignal::default(), reached: Arc::default(), watch: None }
    }

    /// Watches work that is to stop at the time `end`, or when more than `max_memory` bytes are
    /// allocated. If it does not stop within [`GRACE_PERIOD`] after that, the program ends with
    /// this note and this exit code.
    pub(super) fn new(
        (end, max_memory): (Option<Instant>, Option<u64>),
        note: &'static str,
        exit: Exit,
        output: &Output,
    ) -> Result<Bounds, Failure> {
        if end.is_none() && max_memory.is_none() {
            return Ok(Bounds::none());
        }
        let (signal, reached) = (StopSignal::default(), Arc::new(OnceLock::new()));
        let limit = move || match () {
            () if end.is_some_and(|end| Instant::now() >= end) => Some("--timeout"),
            () if max_memory.is_some_and(|max| memory::in_use() > max) => Some("--max-memory"),
            () => None,
        };
        let (over, is_over) = mpsc::channel::<()>();
        let (raised, noted) = (signal.clone(), reached.clone());
        let messages = output.messages();
        let thread = thread::Builder::new().spawn(move || {
            let waits = |time| is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            while waits(CHECK_INTERVAL) {
                let Some(limit) = limit() else { continue };
                noted.get_or_init(|| limit);
                raised.raise();
                if waits(GRACE_PERIOD) {
                    messages.remark(format!("{note}: {limit} was reached.\n"));
                    process::exit(exit.code().into());
                }
                return;
            }
        });
        let thread =
            thread.map_err(|error| Failure::Usage(format!("cannot watch the limits: {error}")))?;
        Ok(Bounds { signal, reached, watch: Some((over, thread)) })
    }

    /// A signal that is raised when a limit is reached.
    pub(super) fn signal(&self) -> &StopSignal {
        &self.signal
    }

    /// The option whose limit was reached, if one was.
    pub(super) fn reached(&self) -> Option<&'static str> {
        self.reached.get().copied()
    }
}

impl Drop for Bounds {
    /// Ends the watch. After this the limits cannot end the program.
    fn drop(&mut self) {
        if let Some((over, thread)) = self.watch.take() {
            drop(over);
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}
