//! A live process: the future of an async closure, and what it asks.
//!
//! ```text
//!            asks: an operation                 gives: its outcome
//!   future ---------------------> channel <---> runner ---> the history
//! ```
//!
//! A future that awaits an operation puts it into the [`Channel`] of its process and is pending.
//! The runner takes the operation from there. When the outcome is known, the runner puts it into
//! the channel and polls the future again. There is nothing else to wait for, so there is no waker.
//!
//! A guard that is dropped cannot await. So the operations that it needs to unlock are put into the
//! channel as well, and are asked for before the next operation of the process. This makes no
//! difference, since in between there are only local computations.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::{Display, Write};
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use rustc_hash::FxHasher;

use super::data::{Data, pack};
use super::panics;
use super::spawning::Start;
use super::text::{Spot, Text};
use crate::model::{BarrierId, Failure, FailureKind, MutexId, RwLockId, Value};
use crate::systems::history::{Asked, Outcomes, Past, Told};

/// A place in a user's code.
pub(super) type Place = &'static Location<'static>;

/// A running process; its output is what the process returns.
pub(super) type Running = Pin<Box<dyn Future<Output = Value>>>;

/// Starts a process from its beginning.
pub(super) type Body = Arc<dyn Fn() -> Running + Send + Sync>;

/// The body of a process that is this closure.
pub(super) fn body<T: Data>(closure: impl AsyncFn() -> T + Send + Sync + 'static) -> Body {
    let closure = Arc::new(closure);
    Arc::new(move || {
        let closure = closure.clone();
        Box::pin(async move { pack(closure().await) })
    })
}

/// An operation that a process asks for.
pub(super) struct Wanted {
    pub(super) asked: Asked<Start>,
    pub(super) text: Text,
    pub(super) place: Place,
    /// The number of the question, if the future waits for its outcome.
    question: Option<u32>,
}

impl Wanted {
    /// A hash of the question and its place. Not 0.
    pub(super) fn stamp(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match &self.asked {
            Asked::Op { op, values } => (op, values).hash(&mut hasher),
            Asked::Spawn(Start { name, .. }) => name.hash(&mut hasher),
            Asked::Done | Asked::Returned(_) | Asked::Failed(_) => {}
        }
        Spot::new(self.text, self.place).hash(&mut hasher);
        hasher.finish() | 1
    }
}

/// Was ever an operation withdrawn before it was asked for? Then a process must not go on at once
/// where the past has an outcome for what it asks: it may be about to withdraw that.
static HAS_WITHDRAWN: AtomicBool = AtomicBool::new(false);

pub(super) fn has_withdrawn() -> bool {
    HAS_WITHDRAWN.load(Ordering::Relaxed)
}

/// What a process and its runner exchange.
#[derive(Default)]
pub(super) struct Channel(RefCell<Talk>);

#[derive(Default)]
struct Talk {
    /// The operations that are still to be asked for, the next one first.
    wanted: VecDeque<Wanted>,
    /// The operation that was asked for: its possible outcomes, and whether the future waits for
    /// one.
    pending: Option<(Outcomes, bool)>,
    /// The outcome that the future waits for.
    answer: Option<Told>,
    /// The outcomes that bring the process to where it was before.
    past: Option<Past>,
    /// What the process has printed since its last request.
    printed: String,
    /// Number of questions that the future has asked.
    questions: u32,
    /// The mutexes and the reader-writer locks that the process holds.
    held: Vec<MutexId>,
    entered: Vec<RwLockId>,
    /// Number of arrivals of the process at each barrier.
    arrivals: Vec<(BarrierId, u32)>,
}

impl Talk {
    /// The outcome of this operation, if the process has asked for it before at this point.
    fn known(&mut self, wanted: &Wanted) -> Option<Told> {
        let told = self.past.as_mut()?.next(wanted.stamp())?;
        self.printed.clear();
        Some(told)
    }

    fn next(&mut self) -> Option<Wanted> {
        let wanted = self.wanted.pop_front()?;
        self.pending = Some((wanted.asked.outcomes(), wanted.question.is_some()));
        Some(wanted)
    }
}

thread_local! {
    /// The process that this thread is running.
    static CURRENT: RefCell<Option<Rc<Channel>>> = const { RefCell::new(None) };
}

impl Channel {
    /// The channel of the running process.
    ///
    /// # Panics
    /// If no process is running on this thread.
    pub(super) fn current() -> Rc<Channel> {
        let current = CURRENT.with_borrow(Clone::clone);
        current.expect("operations of a program are for its processes, and none is running here")
    }

    /// Requests this operation before the next one that the process asks for.
    pub(super) fn defer(&self, asked: Asked<Start>, text: Text, place: Place) {
        let wanted = Wanted { asked, text, place, question: None };
        let talk = &mut *self.0.borrow_mut();
        if talk.known(&wanted).is_none() {
            talk.wanted.push_back(wanted);
        }
    }

    /// Requests this operation for the future. Returns its outcome if that is known already, or
    /// else the number of the question.
    fn await_outcome(&self, wanted: Wanted) -> Result<Told, u32> {
        let talk = &mut *self.0.borrow_mut();
        if let Some(told) = talk.known(&wanted) {
            return Ok(told);
        }
        let question = talk.questions;
        talk.questions += 1;
        talk.wanted.push_back(Wanted { question: Some(question), ..wanted });
        Err(question)
    }

    /// Prints a line of the process.
    pub(super) fn print(&self, line: impl Display) {
        let printed = &mut self.0.borrow_mut().printed;
        writeln!(printed, "{line}").expect("a string takes all");
    }

    /// Records that the process holds this mutex. Returns `false` if it held it already.
    pub(super) fn hold(&self, mutex: MutexId) -> bool {
        let held = &mut self.0.borrow_mut().held;
        let is_new = !held.contains(&mutex);
        if is_new {
            held.push(mutex);
        }
        is_new
    }

    /// Records that the process no longer holds this mutex.
    pub(super) fn let_go(&self, mutex: MutexId) {
        self.0.borrow_mut().held.retain(|&held| held != mutex);
    }

    /// Records that the process holds this reader-writer lock. Returns `false` if it held it
    /// already.
    pub(super) fn enter(&self, lock: RwLockId) -> bool {
        let entered = &mut self.0.borrow_mut().entered;
        let is_new = !entered.contains(&lock);
        if is_new {
            entered.push(lock);
        }
        is_new
    }

    /// Records that the process no longer holds this reader-writer lock.
    pub(super) fn leave(&self, lock: RwLockId) {
        self.0.borrow_mut().entered.retain(|&entered| entered != lock);
    }

    /// The number of times that the process arrived at this barrier before its present arrival.
    pub(super) fn arrive(&self, barrier: BarrierId) -> u32 {
        let arrivals = &mut self.0.borrow_mut().arrivals;
        let known = arrivals.iter().position(|(known, _)| *known == barrier);
        let index = known.unwrap_or_else(|| {
            arrivals.push((barrier, 0));
            arrivals.len() - 1
        });
        arrivals[index].1 += 1;
        arrivals[index].1 - 1
    }
}

/// Waits for the outcome of an operation.
pub(super) fn ask(asked: Asked<Start>, text: Text, place: Place) -> Asking {
    Asking { wanted: Some(Wanted { asked, text, place, question: None }), channel: None }
}

/// A future that asks for an operation when it is first polled, and is ready when there is an
/// outcome.
pub(super) struct Asking {
    /// The operation, until it is asked for.
    wanted: Option<Wanted>,
    /// The channel where it was asked for and the number of the question, until there is an
    /// outcome.
    channel: Option<(Rc<Channel>, u32)>,
}

impl Future for Asking {
    type Output = Told;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Told> {
        if let Some(wanted) = self.wanted.take() {
            let channel = Channel::current();
            match channel.await_outcome(wanted) {
                Ok(told) => return Poll::Ready(told),
                Err(question) => self.channel = Some((channel, question)),
            }
            return Poll::Pending;
        }
        let (channel, _) = self.channel.as_ref().expect("an outcome is told once");
        let answer = channel.0.borrow_mut().answer.take();
        match answer {
            None => Poll::Pending,
            Some(told) => {
                self.channel = None;
                Poll::Ready(told)
            }
        }
    }
}

impl Drop for Asking {
    /// If it is dropped before its operation is taken from the channel, the operation is withdrawn.
    fn drop(&mut self) {
        if let Some((channel, question)) = &self.channel {
            let own = Some(*question);
            let wanted = &mut channel.0.borrow_mut().wanted;
            let before = wanted.len();
            wanted.retain(|wanted| wanted.question != own);
            if wanted.len() < before {
                HAS_WITHDRAWN.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// What a process does next.
pub(super) enum Step {
    Wants(Wanted),
    /// It has returned this.
    Done(Value),
    Failed(Failure),
}

/// A process that has been given some outcomes.
pub struct Live {
    /// The future, or what it has returned.
    future: Result<Running, Value>,
    channel: Rc<Channel>,
}

impl Live {
    pub(super) fn new(body: &Body) -> Live {
        Live { future: Ok(body()), channel: Rc::default() }
    }

    /// A process that goes on at once where this past has an outcome for what it asks.
    pub(super) fn with_past(body: &Body, past: Past) -> Live {
        let live = Live::new(body);
        live.channel.0.borrow_mut().past = Some(past);
        live
    }

    /// What is left of its past. From now on it has none.
    pub(super) fn take_past(&mut self) -> Past {
        self.channel.0.borrow_mut().past.take().expect("it was made with a past")
    }

    /// Runs to the next operation.
    pub(super) fn advance(&mut self) -> Step {
        loop {
            if let Some(wanted) = self.channel.0.borrow_mut().next() {
                return Step::Wants(wanted);
            }
            let future = match &mut self.future {
                Ok(future) => future,
                Err(returned) => return Step::Done(returned.clone()),
            };
            match run(&self.channel, future) {
                Ok(Poll::Pending) => {
                    if let Some(failure) = self.slip() {
                        return self.fail(failure);
                    }
                }
                Ok(Poll::Ready(returned)) => self.future = Err(returned),
                Err(failure) => return self.fail(failure),
            }
        }
    }

    /// What it has printed since the last call.
    pub(super) fn printed(&mut self) -> Option<Box<str>> {
        let printed = &mut self.channel.0.borrow_mut().printed;
        (!printed.is_empty()).then(|| std::mem::take(printed).into())
    }

    /// Takes the outcome of the operation that it asked for. Returns `false` if this cannot be its
    /// outcome.
    pub(super) fn take(&mut self, told: &Told) -> bool {
        let talk = &mut *self.channel.0.borrow_mut();
        let fitting = talk.pending.take_if(|(outcomes, _)| told.is_one_of(*outcomes));
        if let Some((_, true)) = fitting {
            talk.answer = Some(told.clone());
        }
        fitting.is_some()
    }

    fn fail(&mut self, failure: Failure) -> Step {
        self.future = Err(Value::Unit);
        self.channel.0.borrow_mut().wanted.clear();
        Step::Failed(failure)
    }

    /// What is wrong with the way in which it waits, if anything.
    fn slip(&self) -> Option<Failure> {
        let talk = self.channel.0.borrow();
        let awaited = talk.wanted.iter().filter(|wanted| wanted.question.is_some()).count();
        let what = match awaited {
            _ if talk.answer.is_some() => "gives up an operation that is already done",
            0 => "awaits something that is not an operation of the program",
            1 => return None,
            _ => "awaits several operations at once; a process does one after the other",
        };
        let message = format!("the process {what}");
        Some(Failure { kind: FailureKind::Error, message, site: None })
    }
}

/// Lets a future run as the process with this channel.
fn run(channel: &Rc<Channel>, future: &mut Running) -> Result<Poll<Value>, Failure> {
    let outer = CURRENT.replace(Some(channel.clone()));
    let result = panics::guarded(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    CURRENT.set(outer);
    result
}
