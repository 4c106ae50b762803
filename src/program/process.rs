//! A live process: the future of an async closure, and what it asks.
//!
//! ```text
//!            asks: an operation              gives: its outcome
//!   future ---------------------> wire <---> runner ---> the history
//! ```
//!
//! A future that awaits an operation puts it into the [`Wire`] of its process and is pending.
//! The runner takes the operation from there. When the outcome is known, the runner puts it into
//! the wire and polls the future again. There is nothing else to wait for, so there is no waker.
//!
//! A guard that is dropped cannot await. So the operations that it needs to unlock are put into the
//! wire as well, and are asked for before the next operation of the process. This makes no
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
use super::handle::Named;
use super::making::{MOST, Made, Maker, Making};
use super::panics;
use super::spawning::Start;
use super::text::{Spot, Text};
use crate::model::{BarrierId, Failure, FailureKind, MutexId, Object, RwLockId, Value};
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
    /// Is it repeated as long as it is in vain? Then: is this the last operation once more, after
    /// nothing else?
    pub(super) is_again: Option<bool>,
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
pub(super) struct Wire {
    talk: RefCell<Talk>,
    /// The process.
    pub(super) maker: Maker,
    name: Arc<str>,
    making: Arc<Making>,
}

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
    /// How many objects of each kind and name the process has made.
    made: Vec<(Made, String, u32)>,
    /// Number of processes that it has started.
    started: u32,
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
    static CURRENT: RefCell<Option<Rc<Wire>>> = const { RefCell::new(None) };
}

impl Wire {
    /// The wire of the running process.
    ///
    /// # Panics
    /// If no process is running on this thread.
    pub(super) fn current() -> Rc<Wire> {
        let current = CURRENT.with_borrow(Clone::clone);
        current.expect("operations of a program are for its processes, and none is running here")
    }

    /// Fails the process if this value must not stand for an equal one.
    pub(super) fn compare(&self, value: &Value, place: Place) {
        if let Some(message) = self.making.objection(value) {
            panics::blame(message, place);
        }
    }

    /// Requests this operation before the next one that the process asks for.
    pub(super) fn defer(&self, asked: Asked<Start>, text: Text, place: Place) {
        let wanted = Wanted { asked, text, place, question: None, is_again: None };
        let talk = &mut *self.talk.borrow_mut();
        if talk.known(&wanted).is_none() {
            talk.wanted.push_back(wanted);
        }
    }

    /// The number of the program.
    pub(super) fn program(&self) -> u32 {
        self.making.program
    }

    /// An object that the process makes now.
    pub(super) fn make<I: Into<Object> + Copy>(
        &self,
        made: Made,
        name: &str,
        id: fn(u32) -> I,
    ) -> Named<I> {
        let all = &mut self.talk.borrow_mut().made;
        let known = all.iter().position(|(kind, known, _)| (*kind, &**known) == (made, name));
        let index = known.unwrap_or_else(|| {
            all.push((made, name.into(), 0));
            all.len() - 1
        });
        let nth = all[index].2;
        all[index].2 += 1;
        self.making.object(made, (self.maker, &self.name), (name, nth), id)
    }

    /// Requests this operation for the future. Returns its outcome if that is known already, or
    /// else the number of the question.
    fn await_outcome(&self, mut wanted: Wanted) -> Result<Told, u32> {
        let talk = &mut *self.talk.borrow_mut();
        if let Asked::Spawn(start) = &mut wanted.asked {
            start.number = self.making.process(self.maker, talk.started);
            talk.started += 1;
        }
        if let Some(told) = talk.known(&wanted) {
            return Ok(told);
        }
        let question = talk.questions;
        talk.questions += 1;
        talk.wanted.push_back(Wanted { question: Some(question), ..wanted });
        Err(question)
    }

    /// Like [`make`](Wire::make), for an object that is for a number of participants.
    pub(super) fn make_for<I: Into<Object> + Copy>(
        &self,
        number: u32,
        made: fn(u32) -> Made,
        name: &str,
        id: fn(u32) -> I,
        place: Place,
    ) -> Named<I> {
        if number > MOST {
            let program = "a program declares larger ones";
            panics::blame(format!("a process makes it for at most {MOST}; {program}"), place);
        }
        self.make(made(number), name, id)
    }

    /// Prints a line of the process.
    pub(super) fn print(&self, line: impl Display) {
        let printed = &mut self.talk.borrow_mut().printed;
        writeln!(printed, "{line}").expect("a string takes all");
    }

    /// Records that the process holds this mutex. Returns `false` if it held it already.
    pub(super) fn hold(&self, mutex: MutexId) -> bool {
        let held = &mut self.talk.borrow_mut().held;
        let is_new = !held.contains(&mutex);
        if is_new {
            held.push(mutex);
        }
        is_new
    }

    /// Records that the process no longer holds this mutex.
    pub(super) fn let_go(&self, mutex: MutexId) {
        self.talk.borrow_mut().held.retain(|&held| held != mutex);
    }

    /// Records that the process holds this reader-writer lock. Returns `false` if it held it
    /// already.
    pub(super) fn enter(&self, lock: RwLockId) -> bool {
        let entered = &mut self.talk.borrow_mut().entered;
        let is_new = !entered.contains(&lock);
        if is_new {
            entered.push(lock);
        }
        is_new
    }

    /// Records that the process no longer holds this reader-writer lock.
    pub(super) fn leave(&self, lock: RwLockId) {
        self.talk.borrow_mut().entered.retain(|&entered| entered != lock);
    }

    /// The number of times that the process arrived at this barrier before its present arrival.
    pub(super) fn arrive(&self, barrier: BarrierId) -> u32 {
        let arrivals = &mut self.talk.borrow_mut().arrivals;
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
    let wanted = Wanted { asked, text, place, question: None, is_again: None };
    Asking { wanted: Some(wanted), wire: None }
}

/// Asks for an operation until its outcome is not in vain. An operation in vain must have changed
/// nothing.
pub(super) async fn ask_until<T>(
    asked: Asked<Start>,
    text: Text,
    place: Place,
    accept: impl Fn(&Told) -> Option<T>,
) -> T {
    let mut is_again = Some(false);
    loop {
        let wanted = Wanted { asked: asked.clone(), text, place, question: None, is_again };
        let told = Asking { wanted: Some(wanted), wire: None }.await;
        if let Some(accepted) = accept(&told) {
            return accepted;
        }
        is_again = Some(true);
    }
}

/// A future that asks for an operation when it is first polled, and is ready when there is an
/// outcome.
pub(super) struct Asking {
    /// The operation, until it is asked for.
    wanted: Option<Wanted>,
    /// The wire where it was asked for and the number of the question, until there is an
    /// outcome.
    wire: Option<(Rc<Wire>, u32)>,
}

impl Future for Asking {
    type Output = Told;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Told> {
        if let Some(wanted) = self.wanted.take() {
            let wire = Wire::current();
            match wire.await_outcome(wanted) {
                Ok(told) => return Poll::Ready(told),
                Err(question) => self.wire = Some((wire, question)),
            }
            return Poll::Pending;
        }
        let (wire, _) = self.wire.as_ref().expect("an outcome is told once");
        let answer = wire.talk.borrow_mut().answer.take();
        match answer {
            None => Poll::Pending,
            Some(told) => {
                self.wire = None;
                Poll::Ready(told)
            }
        }
    }
}

impl Drop for Asking {
    /// If it is dropped before its operation is taken from the wire, the operation is withdrawn.
    fn drop(&mut self) {
        if let Some((wire, question)) = &self.wire {
            let own = Some(*question);
            let wanted = &mut wire.talk.borrow_mut().wanted;
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
    wire: Rc<Wire>,
}

impl Live {
    pub(super) fn new(start: &Start, making: &Arc<Making>) -> Live {
        let wire = Wire {
            talk: RefCell::default(),
            maker: start.number,
            name: start.name.clone(),
            making: making.clone(),
        };
        Live { future: Ok((start.body)()), wire: Rc::new(wire) }
    }

    /// A process that goes on at once where this past has an outcome for what it asks.
    pub(super) fn with_past(start: &Start, making: &Arc<Making>, past: Past) -> Live {
        let live = Live::new(start, making);
        live.wire.talk.borrow_mut().past = Some(past);
        live
    }

    /// What is left of its past. From now on it has none.
    pub(super) fn take_past(&mut self) -> Past {
        self.wire.talk.borrow_mut().past.take().expect("it was made with a past")
    }

    /// Runs to the next operation.
    pub(super) fn advance(&mut self) -> Step {
        loop {
            let wanted = self.wire.talk.borrow_mut().next();
            if let Some(wanted) = wanted {
                return match self.objection(&wanted) {
                    Some(failure) => self.fail(failure),
                    None => Step::Wants(wanted),
                };
            }
            let future = match &mut self.future {
                Ok(future) => future,
                Err(returned) => return Step::Done(returned.clone()),
            };
            match run(&self.wire, future) {
                Ok(Poll::Pending) => {
                    if let Some(failure) = self.slip() {
                        return self.fail(failure);
                    }
                }
                Ok(Poll::Ready(returned)) => match self.wire.making.objection(&returned) {
                    Some(message) => return self.fail(error(message, None)),
                    None => self.future = Err(returned),
                },
                Err(failure) => return self.fail(failure),
            }
        }
    }

    /// What it has printed since the last call.
    pub(super) fn printed(&mut self) -> Option<Box<str>> {
        let printed = &mut self.wire.talk.borrow_mut().printed;
        (!printed.is_empty()).then(|| std::mem::take(printed).into())
    }

    /// Takes the outcome of the operation that it asked for. Returns `false` if this cannot be its
    /// outcome.
    pub(super) fn take(&mut self, told: &Told) -> bool {
        let talk = &mut *self.wire.talk.borrow_mut();
        let fitting = talk.pending.take_if(|(outcomes, _)| told.is_one_of(*outcomes));
        if let Some((_, true)) = fitting {
            talk.answer = Some(told.clone());
        }
        fitting.is_some()
    }

    fn fail(&mut self, failure: Failure) -> Step {
        self.future = Err(Value::Unit);
        self.wire.talk.borrow_mut().wanted.clear();
        Step::Failed(failure)
    }

    /// What is wrong with an operation that it asks for, if anything.
    fn objection(&self, wanted: &Wanted) -> Option<Failure> {
        let Making { program, .. } = *self.wire.making;
        let foreign = wanted.text.on.filter(|on| on.program != program);
        let foreign = foreign.map(|on| format!("{} is an object of another program", on.name));
        let values = match &wanted.asked {
            Asked::Op { values, .. } => &values[..],
            _ => &[],
        };
        let unlike = || values.iter().find_map(|value| self.wire.making.objection(value));
        let message = foreign.or_else(unlike)?;
        Some(error(message, Some(wanted.place)))
    }

    /// What is wrong with the way in which it waits, if anything.
    fn slip(&self) -> Option<Failure> {
        let talk = self.wire.talk.borrow();
        let awaited = talk.wanted.iter().filter(|wanted| wanted.question.is_some()).count();
        let what = match awaited {
            _ if talk.answer.is_some() => "gives up an operation that is already done",
            0 => "awaits something that is not an operation of the program",
            1 => return None,
            _ => "awaits several operations at once; a process does one after the other",
        };
        Some(error(format!("the process {what}"), None))
    }
}

fn error(message: String, place: Option<Place>) -> Failure {
    Failure { kind: FailureKind::Error, message, site: place.map(panics::site) }
}

/// Lets a future run as the process with this wire.
fn run(wire: &Rc<Wire>, future: &mut Running) -> Result<Poll<Value>, Failure> {
    let outer = CURRENT.replace(Some(wire.clone()));
    let result = panics::guarded(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    CURRENT.set(outer);
    result
}
