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
use crate::model::{Failure, FailureKind, Site};

/// The size of the stack of a search: the usual size for the main thread.
const STACK: usize = 8 << 20;

/// The number of checks within the time limit of a process, at least.
const LOOKS: u32 = 8;

/// The longest time between two checks.
const SHORT: Duration = Duration::from_millis(50);

/// The delivery of an outcome to a process: its history, and the outcome; without an outcome, its
/// start.
#[derive(Clone)]
pub(crate) struct Delivery {
    pub(super) node: NodeId,
    pub(super) told: Option<Told>,
}

/// What a thread is doing, and what it has begun last.
pub(crate) struct Turns<D> {
    /// A counter that is odd while a process is running and grows with each answer; or [`LEFT`].
    count: AtomicU64,
    latest: Mutex<Option<D>>,
}

impl<D> Default for Turns<D> {
    fn default() -> Turns<D> {
        Turns { count: AtomicU64::new(0), latest: Mutex::new(None) }
    }
}

/// The thread was abandoned.
const LEFT: u64 = u64::MAX;

impl<D> Turns<D> {
    /// A process starts with this.
    pub(crate) fn begin(&self, delivery: D) {
        self.replace(Some(delivery));
        self.turn(1);
    }

    /// It has answered.
    pub(crate) fn end(&self) {
        self.turn(1);
    }

    /// The process that runs goes on with this. Returns what it was doing; `None` if none has run.
    pub(crate) fn turn_to_next(&self, delivery: D) -> Option<D> {
        if self.count.load(Ordering::Relaxed).is_multiple_of(2) {
            self.begin(delivery);
            return None;
        }
        let before = self.replace(Some(delivery));
        self.turn(2);
        before
    }

    /// It is back at what it was doing before that.
    pub(crate) fn turn_back(&self, before: Option<D>) {
        match before {
            None => self.end(),
            before => {
                self.replace(before);
                self.turn(2);
            }
        }
    }

    fn replace(&self, delivery: Option<D>) -> Option<D> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *latest, delivery)
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

impl Pulse for Turns<Delivery> {
    /// It has answered, and starts to handle the next outcome.
    fn go_on(&self) {
        self.turn(2);
    }
}

/// The threads of a search.
pub(crate) struct Watched<D> {
    threads: Mutex<Vec<Arc<Turns<D>>>>,
    /// What a thread was doing that does not go on.
    given_up: Mutex<Option<D>>,
}

impl<D> Default for Watched<D> {
    fn default() -> Watched<D> {
        Watched { threads: Mutex::default(), given_up: Mutex::new(None) }
    }
}

impl<D: Clone> Watched<D> {
    /// Adds a thread.
    pub(crate) fn join(&self) -> Arc<Turns<D>> {
        let turns = Arc::<Turns<D>>::default();
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(turns.clone());
        turns
    }

    /// This thread does not go on: as if it hung.
    pub(crate) fn give_up(&self, doing: D) -> ! {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(doing);
        loop {
            thread::park();
        }
    }

    /// What some thread has been doing for longer than `patience`, or when it gave up; then all
    /// threads are abandoned. `seen` has the counters of the previous check.
    fn hang(&self, patience: Duration, seen: &mut Vec<(u64, Instant)>) -> Option<D> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner).take();
        if given_up.is_some() {
            threads.drain(..).for_each(|thread| thread.count.store(LEFT, Ordering::Release));
            return given_up;
        }
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

/// A system that is searched by threads which may be abandoned.
pub(crate) trait Watchable: Sized + Send + 'static {
    /// What its threads are doing.
    type Delivery: Clone;

    /// The same system, for another thread.
    fn share(&self) -> Self;

    /// The threads of a search.
    fn watched(&self) -> &Watched<Self::Delivery>;

    /// Has the search to be done again, whatever its result is?
    fn searches_again(&self) -> bool;

    /// From now on, a process fails when it does what has hung.
    fn note_hang(&self, hang: Self::Delivery, patience: Duration);
}

/// Runs `work`, and runs it again whenever a process has hung on the way, or the system says so.
pub(crate) fn attempt<S: Watchable, T: Send + 'static>(
    system: &S,
    patience: Duration,
    work: impl Fn(&S) -> T + Send + Sync + 'static,
) -> T {
    let work = Arc::new(work);
    'search: loop {
        let (system_of_thread, work) = (system.share(), work.clone());
        let (done, result) = channel();
        let thread = named(move || send(&done, work(&system_of_thread)));
        let mut seen = Vec::new();
        let hang = loop {
            match result.recv_timeout((patience / LOOKS).min(SHORT)) {
                // A search that has to be done again may also have panicked.
                Ok(_) | Err(RecvTimeoutError::Disconnected) if system.searches_again() => {
                    continue 'search;
                }
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(thread.join().expect_err("it has panicked"))
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(hang) = system.watched().hang(patience, &mut seen) {
                break hang;
            }
        };
        system.note_hang(hang, patience);
    }
}

impl<R: Runner> Watchable for History<R> {
    type Delivery = Delivery;

    fn share(&self) -> History<R> {
        self.share()
    }

    fn watched(&self) -> &Watched<Delivery> {
        &self.shared.watched
    }

    fn searches_again(&self) -> bool {
        self.runner().searches_again()
    }

    /// From now on, a process with this history fails when it gets this outcome.
    fn note_hang(&self, Delivery { node, told }: Delivery, patience: Duration) {
        let tree = self.tree();
        let site = match told {
            Some(_) => tree.reply(node).and_then(|reply| reply.site.clone()),
            None => self.runner().site(tree.start(node)),
        };
        drop(tree);
        let failure = hang(site.as_deref(), "process", patience);
        let reply = Reply::new(Asked::Failed(failure), site);
        match told {
            Some(told) => drop(self.attach(node, told, reply)),
            None => self.tree_mut().begin(node, reply),
        }
    }
}

/// The failure of a process that hangs after the operation at this site.
pub(crate) fn hang(site: Option<&Site>, who: &str, patience: Duration) -> Failure {
    let after = site.map(|site| &*site.text).filter(|text| !text.is_empty());
    let after = after.map_or(String::new(), |text| format!("after {text} "));
    let time = humantime::format_duration(patience);
    let message = format!("hang: {after}the {who} makes no operation for {time}");
    Failure { kind: FailureKind::Error, message, site: site.cloned() }
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
