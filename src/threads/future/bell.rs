//! How a task sleeps and is woken.
//!
//! A task that has nothing to do waits for its *bell*, a semaphore of the model without units at
//! first. Each wake adds one, and each sleep takes one. So it does not matter whether the wake or
//! the sleep comes first, and both orders are one class. A task that is woken twice polls twice,
//! which a waker may always cause.
//!
//! A task that wakes itself just polls again: that is no step of the model.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use crate::model::{Op, SemaphoreId};
use crate::systems::history::tree::NodeId;
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::sync::section::{Named, Section};
use crate::threads::system::Made;

crate::thread_local! {
    static POLL: Polled = Polled::default();
}

/// What the parts of a future that is polled tell the one who polls it.
#[derive(Default)]
struct Polled {
    /// What the future waits for, if a part has said so.
    waits: Cell<Option<Named>>,
    /// The operation that wakes others.
    wakes: Cell<Option<Place>>,
    /// Those to wake when the section is left, and those to drop.
    woken: RefCell<Vec<Waker>>,
    replaced: RefCell<Vec<Waker>>,
    /// The times that the future waits for, and how to say that they may be over.
    times: RefCell<Vec<(u64, Waker)>>,
    /// The number of times that the thread has made.
    made: Cell<u64>,
}

/// What wakes a task.
pub(super) struct Bell {
    semaphore: SemaphoreId,
    place: Place,
    /// The thread that waits, once it has begun.
    owner: OnceLock<NodeId>,
    /// Has the owner woken itself? Only the owner looks at this.
    is_up: AtomicBool,
}

impl Bell {
    pub(super) fn new(place: Place) -> Arc<Bell> {
        let semaphore = SemaphoreId(Running::current().make(Made::Semaphore, "bell", place));
        let (owner, is_up) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Bell { semaphore, place, owner, is_up })
    }

    /// Polls the future until it is ready. `None` if it is aborted before: that is asked before
    /// each poll.
    pub(super) fn run<F: Future>(
        self: &Arc<Self>,
        future: Pin<&mut F>,
        is_aborted: impl Fn() -> bool,
    ) -> Option<F::Output> {
        self.owner.set(running_thread()).expect("it is run once");
        // A future may run another one, which does not wait for its times.
        let outer = POLL.with(|poll| poll.times.take());
        let output = self.poll_until_ready(future, is_aborted);
        POLL.with(|poll| poll.times.replace(outer));
        output
    }

    fn poll_until_ready<F: Future>(
        self: &Arc<Self>,
        mut future: Pin<&mut F>,
        is_aborted: impl Fn() -> bool,
    ) -> Option<F::Output> {
        let waker = Waker::from(self.clone());
        while !is_aborted() {
            self.is_up.store(false, Ordering::Relaxed);
            POLL.with(|poll| poll.waits.set(None));
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return Some(output),
                Poll::Pending if self.is_up.load(Ordering::Relaxed) => {}
                Poll::Pending => self.sleep(),
            }
            // Each may be over by now.
            let times = POLL.with(|poll| poll.times.take());
            times.into_iter().for_each(|(_, waker)| waker.wake());
        }
        None
    }

    /// Waits until another task rings it, or has rung it.
    fn sleep(&self) {
        let semaphore = self.semaphore;
        let named = POLL.with(|poll| poll.waits.take());
        let Named { text, place } = named.unwrap_or(Named { text: "await", place: self.place });
        let handle = request(Op::AsyncAcquire(semaphore), text, place);
        if POLL.with(|poll| !poll.times.borrow().is_empty()) {
            let running = Running::current();
            running.shared.wait_for_time(running.node.get());
        }
        ask_for(Op::AcquireWait { semaphore, handle }, text, place);
    }

    pub(super) fn ring(&self) {
        if Running::is_gone() {
            return;
        }
        if self.owner.get() == Some(&running_thread()) {
            self.is_up.store(true, Ordering::Relaxed);
            return;
        }
        let place = POLL.with(|poll| poll.wakes.get()).unwrap_or(self.place);
        ask_for(Op::Release(self.semaphore), "wake", place);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

fn running_thread() -> NodeId {
    let running = Running::current();
    let tree = running.shared.tree();
    tree.root(running.node.get())
}

/// Acts in a section, and then wakes those who are woken there. Wakers are code that may ask for
/// something, so nothing of them runs in the section.
pub(super) fn act<T, R>(section: &Section<T>, named: Named, act: impl FnOnce(&mut T) -> R) -> R {
    let result = section.enter(named, act);
    let left = POLL.try_with(|poll| (poll.woken.take(), poll.replaced.take()));
    // Where threads are being ended nobody is woken.
    let Ok((woken, replaced)) = left else { return result };
    drop(replaced);
    for waker in woken {
        POLL.with(|poll| poll.wakes.set(Some(named.place)));
        waker.wake();
    }
    POLL.with(|poll| poll.wakes.set(None));
    result
}

/// Polls in a section, and says what the task waits for if that is not ready.
pub(super) fn poll<T, R>(
    section: &Section<T>,
    named: Named,
    poll: impl FnOnce(&mut T) -> Poll<R>,
) -> Poll<R> {
    waits(named, act(section, named, poll))
}

/// Says what the task waits for if that is not ready.
pub(super) fn waits<R>(named: Named, polled: Poll<R>) -> Poll<R> {
    if polled.is_pending() {
        POLL.with(|poll| poll.waits.set(Some(named)));
    }
    polled
}

/// From now on wakes this waker.
pub(super) fn register(place: &mut Option<Waker>, waker: &Waker) {
    match place {
        Some(known) if known.will_wake(waker) => {}
        _ => discard(place.replace(waker.clone())),
    }
}

/// Wakes it when the section is left, if there is one.
pub(super) fn wake(waker: Option<Waker>) {
    // Where threads are being ended nobody is woken.
    let _ = POLL.try_with(|poll| poll.woken.borrow_mut().extend(waker));
}

/// Drops it when the section is left, if there is one.
pub(super) fn discard(waker: Option<Waker>) {
    let _ = POLL.try_with(|poll| poll.replaced.borrow_mut().extend(waker));
}

/// A time for which a task waits, by the thread that made it and its number there.
pub(super) fn new_time() -> u64 {
    let made = POLL.with(|poll| poll.made.replace(poll.made.get() + 1));
    u64::from(running_thread()) << 32 | made
}

/// The task waits for this time as well.
pub(super) fn wait_for_time(time: u64, waker: &Waker) {
    POLL.with(|poll| {
        forget(poll, time);
        poll.times.borrow_mut().push((time, waker.clone()));
    });
}

/// The task does not wait for this time any more.
pub(super) fn forget_time(time: u64) {
    // There is nothing to forget where threads are being ended.
    let _ = POLL.try_with(|poll| forget(poll, time));
}

fn forget(poll: &Polled, time: u64) {
    poll.times.borrow_mut().retain(|&(known, _)| known != time);
}

/// Polls something that may be ready because only one of its parts is. Then the task does not wait
/// for the times of the others.
pub(super) fn any_of<R>(poll_parts: impl FnOnce() -> Poll<R>) -> Poll<R> {
    let before = POLL.with(|poll| poll.times.borrow().len());
    let polled = poll_parts();
    if polled.is_ready() {
        POLL.with(|poll| poll.times.borrow_mut().truncate(before));
    }
    polled
}
