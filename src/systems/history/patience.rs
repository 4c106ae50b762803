//! Hangs: how a search continues if a process that runs in its thread makes no further operation.
//!
//! A thread cannot be ended from outside. So such a search has a thread of its own, and records
//! which outcome it delivers to which history. If that takes too long, the thread is abandoned, and
//! the tree of histories records that this outcome fails. Another thread begins the search again.
//! It reaches that history, too, and finds the failure there instead of running the process. So a
//! hang is a violation like others, with an execution that leads to it. Its cost is a thread that
//! computes until the program ends. If the abandoned thread comes back after all, it stops, because
//! its result is not used.
//!
//! ```text
//!   turns   0 --begin--> 1 --end--> 2 --begin--> 3 --end--> ...      odd: a process is running
//!                                                 \
//!                                        the same 3 for too long: LEFT, for good
//! ```

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::runner::Pulse;
use super::tree::NodeId;
use super::{Asked, History, Reply, Runner, Told};
use crate::model::{Failure, FailureKind};

/// The size of the stack of a search: the usual size for the main thread.
const STACK: usize = 8 << 20;

/// The number of checks within the time limit of a process.
const LOOKS: u32 = 8;

/// The delivery of an outcome to a process: its history, and the outcome; without an outcome, its
/// start.
#[derive(Clone)]
pub(super) struct Delivery {
    pub(super) node: NodeId,
    pub(super) told: Option<Told>,
}

/// What a thread is doing.
#[derive(Default)]
pub(super) struct Turns {
    /// A counter that is odd while a process is running and grows with each answer; or [`LEFT`].
    count: AtomicU64,
    latest: Mutex<Option<Delivery>>,
}

/// The thread was abandoned.
const LEFT: u64 = u64::MAX;

impl Turns {
    /// A process starts to handle an outcome.
    pub(super) fn begin(&self, node: NodeId, told: Option<&Told>) {
        let delivery = Delivery { node, told: told.cloned() };
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(delivery);
        self.turn(1);
    }

    /// It has answered.
    pub(super) fn end(&self) {
        self.turn(1);
    }

    fn turn(&self, by: u64) {
        let count = self.count.load(Ordering::Relaxed);
        while count == LEFT || !self.turn_to(count, count + by) {
            thread::park();
        }
    }

    /// Sets the counter to `to`, if it is `from`. Returns whether it was.
    fn turn_to(&self, from: u64, to: u64) -> bool {
        self.count.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Pulse for Turns {
    /// It has answered, and starts to handle the next outcome.
    fn go_on(&self) {
        self.turn(2);
    }
}

/// The threads of a search.
#[derive(Default)]
pub(super) struct Watched(Mutex<Vec<Arc<Turns>>>);

impl Watched {
    /// Adds a thread.
    pub(super) fn join(&self) -> Arc<Turns> {
        let turns = Arc::<Turns>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(turns.clone());
        turns
    }

    /// What some thread has been doing for longer than `patience`; then all threads are abandoned.
    /// `seen` has the counters of the previous check.
    fn hang(&self, patience: Duration, seen: &mut Vec<(u64, Instant)>) -> Option<Delivery> {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, turns) in threads.iter().enumerate() {
            let count = turns.count.load(Ordering::Acquire);
            match seen.get_mut(place) {
                None => seen.push((count, Instant::now())),
                Some((known, since)) if *known != count => {
                    (*known, *since) = (count, Instant::now())
                }
                Some((_, since)) => {
                    let is_running = count % 2 == 1;
                    if is_running && since.elapsed() >= patience && turns.turn_to(count, LEFT) {
                        let delivery =
                            turns.latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        threads
                            .drain(..)
                            .for_each(|other| other.count.store(LEFT, Ordering::Release));
                        return delivery;
                    }
                }
            }
        }
        None
    }
}

/// Runs `work`, and runs it again whenever a process has hung on the way, or the runner says so.
pub(super) fn attempt<R: Runner, T: Send + 'static>(
    system: &History<R>,
    patience: Duration,
    work: impl Fn(&History<R>) -> T + Send + Sync + 'static,
) -> T {
    let work = Arc::new(work);
    'search: loop {
        let (system_of_thread, work) = (system.share(), work.clone());
        let (done, result) = channel();
        let thread = named(move || send(&done, work(&system_of_thread)));
        let mut seen = Vec::new();
        let hang = loop {
            match result.recv_timeout(patience / LOOKS) {
                // A search that has to be done again may also have panicked.
                Ok(_) | Err(RecvTimeoutError::Disconnected) if system.runner().searches_again() => {
                    continue 'search;
                }
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(thread.join().expect_err("it has panicked"))
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(hang) = system.shared.watched.hang(patience, &mut seen) {
                break hang;
            }
        };
        system.note_hang(hang, patience);
    }
}

impl<R: Runner> History<R> {
    /// From now on, a process with this history fails when it gets this outcome.
    fn note_hang(&self, Delivery { node, told }: Delivery, patience: Duration) {
        let tree = self.tree();
        let site = match told {
            Some(_) => tree.reply(node).and_then(|reply| reply.site.clone()),
            None => self.runner().site(tree.start(node)),
        };
        drop(tree);
        let after = site.as_deref().map(|site| &*site.text).filter(|text| !text.is_empty());
        let after = after.map_or(String::new(), |text| format!("after {text} "));
        let time = humantime::format_duration(patience);
        let message = format!("hang: {after}the process makes no operation for {time}");
        let failure = Failure { kind: FailureKind::Error, message, site: site.as_deref().cloned() };
        let reply = Reply::new(Asked::Failed(failure), site);
        match told {
            Some(told) => drop(self.attach(node, told, reply)),
            None => self.tree_mut().begin(node, reply),
        }
    }
}

fn send<T>(done: &Sender<T>, result: T) {
    done.send(result)
        .expect("a receiver waits unless this thread was abandoned, and then it has stopped");
}

/// A thread with the name of this one, which is printed if it panics.
fn named(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let mut builder = thread::Builder::new().stack_size(STACK);
    if let Some(name) = thread::current().name() {
        builder = builder.name(name.into());
    }
    builder.spawn(work).expect("the system has threads")
}
