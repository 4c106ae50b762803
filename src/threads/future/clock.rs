//! When times are over: what a task knows of that.
//!
//! A time of a task begins, and is over at some point. For the task that is a choice, which it
//! makes where it could tell the difference:
//!
//! - **Where it goes to sleep.** One of its times is over first, and wakes it; or none is before it
//!   is woken by others.
//! - **Where it looks at a time**, if time has passed since it knew that this one was not over.
//!
//! Time passes where a task sleeps, wakes itself, or does an operation. It takes no time to see
//! that something is not ready: the task looks at it again before it sleeps, or when its time wakes
//! it. So the life of a task is a sequence of *moments*, and within a moment no time is over.
//!
//! # Why nothing is missed
//!
//! A time may be over while its task sleeps, or is about to be polled because others have woken it.
//! Both are executions in which the time wakes the task, since other tasks may do anything before
//! it is polled. So after a task was woken by others, the times that it had when it went to sleep
//! are not over in the next moment. A second one may be: that is asked where it is looked at.
//!
//! Each time that a task waits for wakes it once. So it goes on for ever only if its code makes
//! times for ever; and a task that has no more times, and that nobody wakes, is in a deadlock.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

use crate::model::Op;
use crate::systems::history::Told;
use crate::systems::history::tree::NodeId;
use crate::threads::ask::{Running, ask_for};
use crate::threads::sync::section::Named;

crate::thread_local! {
    static CLOCK: Clock = Clock::default();
}

/// What a thread knows of its times.
#[derive(Default)]
struct Clock {
    /// Those that its tasks wait for.
    times: RefCell<Vec<Waiting>>,
    /// The number of times that it has made.
    made: Cell<u64>,
    /// The number of the moment.
    moment: Cell<u64>,
    /// How often threads had asked for something, the last time that it was in this moment. If
    /// that is more now, this thread has.
    until: Cell<u64>,
    /// The number of tasks that it has begun to run, and of the one that it runs, counted from 1.
    begun: Cell<u32>,
    task: Cell<u32>,
}

/// A moment in the life of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    thread: NodeId,
    number: u64,
}

/// A time that a task waits for.
struct Waiting {
    /// The numbers of the task, and of the time.
    task: u32,
    number: u64,
    waker: Waker,
    named: Named,
    is_over: bool,
    /// The last moment in which it was known not to be over.
    known: Option<Moment>,
}

/// The history in which the running thread began.
pub(super) fn running_thread() -> NodeId {
    let running = Running::current();
    let tree = running.shared.tree();
    tree.root(running.node.get())
}

/// The moment of the running thread.
pub(super) fn now() -> Moment {
    let asked = Running::current().asked.get();
    CLOCK.with(|clock| {
        if clock.until.replace(asked) != asked {
            clock.moment.update(|number| number + 1);
        }
        Moment { thread: running_thread(), number: clock.moment.get() }
    })
}

/// The moment of the running thread, if a thread of the program is running.
pub(super) fn try_now() -> Option<Moment> {
    (!Running::is_gone()).then(now)
}

/// Time passes.
pub(super) fn pass() {
    CLOCK.with(|clock| clock.moment.update(|number| number + 1));
}

/// Does something that takes no time.
pub(super) fn quickly<R>(act: impl FnOnce() -> R) -> R {
    if Running::is_gone() {
        return act();
    }
    now();
    let result = act();
    let running = Running::current();
    // Where threads are being ended nobody waits for a time.
    let _ = CLOCK.try_with(|clock| clock.until.set(running.asked.get()));
    result
}

/// Runs a task, which does not wait for the times of the one that runs it.
pub(super) fn run<R>(task: impl FnOnce() -> R) -> R {
    let outer = CLOCK.with(|clock| {
        clock.begun.update(|number| number + 1);
        clock.task.replace(clock.begun.get())
    });
    let result = task();
    let left = CLOCK.with(|clock| {
        let own = clock.task.replace(outer);
        clock.times.borrow_mut().extract_if(.., |time| time.task == own).collect::<Vec<_>>()
    });
    drop(left);
    result
}

/// Acts on the times that the running task waits for and that are not over.
fn with_times<R>(act: impl FnOnce(&mut dyn Iterator<Item = &mut Waiting>) -> R) -> R {
    CLOCK.with(|clock| {
        let (task, mut times) = (clock.task.get(), clock.times.borrow_mut());
        act(&mut times.iter_mut().filter(|time| time.task == task && !time.is_over))
    })
}

/// The task is about to sleep: which of its times wakes it? `None` if it is woken by others.
pub(super) fn first_over() -> Option<Waker> {
    let named: Vec<Named> = with_times(|times| times.map(|time| time.named).collect());
    let Named { text, place } = *named.first()?;
    let chosen = ask_for(Op::Choose { lo: 0, hi: named.len() as i64 + 1 }, text, place);
    let Some(Told::Chosen(chosen @ 1..)) = chosen else { return None };
    with_times(|times| {
        let time = times.nth(chosen as usize - 1)?;
        time.is_over = true;
        Some(time.waker.clone())
    })
}

/// Does the task wait for a time that is not over?
pub(super) fn has_times() -> bool {
    with_times(|times| times.next().is_some())
}

/// The task has slept and was woken by others: time has passed, and none of its times is over.
pub(super) fn none_over() {
    pass();
    let now = now();
    with_times(|times| times.for_each(|time| time.known = Some(now)));
}

/// A time that is over at some point.
#[derive(Debug)]
pub(super) struct Time {
    number: u64,
    is_over: Cell<bool>,
    /// The last moment in which it was known not to be over, as long as no task waits for it.
    known: Cell<Option<Moment>>,
    pub(super) named: Named,
}

impl Time {
    /// A time that was not over in this moment, if there is one.
    pub(super) fn new(known: Option<Moment>, named: Named) -> Time {
        let made = CLOCK.with(|clock| clock.made.replace(clock.made.get() + 1));
        let number = u64::from(running_thread()) << 32 | made;
        Time { number, is_over: Cell::new(false), known: Cell::new(known), named }
    }

    /// Begins anew: it was not over in this moment, if there is one.
    pub(super) fn begin(&self, known: Option<Moment>) {
        self.is_over.set(false);
        self.known.set(known);
        self.waiting(|time| {
            time.is_over = false;
            time.known = known;
        });
    }

    /// The last moment in which it was known not to be over.
    pub(super) fn known(&self) -> Option<Moment> {
        self.waiting(|time| time.known).unwrap_or(self.known.get())
    }

    /// It is over from now on.
    pub(super) fn end(&self) {
        self.is_over.set(true);
    }

    /// Is it over? If not, the task waits for it.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        if self.look() {
            self.forget();
            return Poll::Ready(());
        }
        let (known, waker) = (self.known(), context.waker().clone());
        let before = CLOCK.with(|clock| {
            let (task, &Time { number, named, .. }) = (clock.task.get(), self);
            let mut times = clock.times.borrow_mut();
            let time = Waiting { task, number, waker, named, is_over: false, known };
            match times.iter_mut().find(|time| time.number == number) {
                Some(before) => Some(std::mem::replace(before, time)),
                None => {
                    times.push(time);
                    None
                }
            }
        });
        drop(before);
        Poll::Pending
    }

    /// Was it over when it was last looked at, or has it woken its task?
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get() || self.waiting(|time| time.is_over) == Some(true)
    }

    /// Is it over?
    fn look(&self) -> bool {
        if self.is_over() {
            self.is_over.set(true);
            return true;
        }
        let now = now();
        let is_known = CLOCK.with(|clock| clock.task.get()) > 0 && self.known() == Some(now);
        if !is_known {
            let Named { text, place } = self.named;
            let choice = Op::Choose { lo: 0, hi: 2 };
            let chosen = quickly(|| ask_for(choice, text, place));
            self.is_over.set(chosen == Some(Told::Chosen(1)));
        }
        if !self.is_over.get() {
            self.known.set(Some(now));
            self.waiting(|time| time.known = Some(now));
        }
        self.is_over.get()
    }

    /// What the task has noted that waits for it, if one does.
    fn waiting<R>(&self, act: impl FnOnce(&mut Waiting) -> R) -> Option<R> {
        CLOCK.with(|clock| {
            let mut times = clock.times.borrow_mut();
            times.iter_mut().find(|time| time.number == self.number).map(act)
        })
    }

    /// The task does not wait for it any more.
    fn forget(&self) {
        // There is nothing to forget where threads are being ended.
        let _ = CLOCK.try_with(|clock| {
            let mut times = clock.times.borrow_mut();
            let place = times.iter().position(|time| time.number == self.number);
            if let Some(time) = place.map(|place| times.remove(place)) {
                self.known.set(time.known);
                drop(times);
                drop(time);
            }
        });
    }
}

impl Drop for Time {
    fn drop(&mut self) {
        self.forget();
    }
}
