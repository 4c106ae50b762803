//! How a task sleeps and is woken.
//!
//! A task that has nothing to do waits until its *bell* is rung, if it was not rung since it was
//! last polled. Who rings twice before the next poll causes one poll, as tasks of tokio are polled.
//!
//! Whether it is rung is in a cell. Who is the first to ring adds a unit to a semaphore, which the
//! task takes before it is polled. So it does not matter whether the ring or the sleep comes first,
//! and both orders are one class.
//!
//! A task that wakes itself, or that one of its [times](super::clock) wakes, is polled again. What
//! others have rung before that belongs to the same poll.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use super::clock::{self, running_thread};
use crate::model::{Access, CellId, Op, SemaphoreId};
use crate::systems::history::Told;
use crate::systems::history::tree::NodeId;
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::sync::access::{new_cell, update_cell};
use crate::threads::sync::section::{Named, Section};
use crate::threads::system::Made;
use crate::threads::token::{Change, Updating, Width, Word};

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
}

/// What wakes a task.
pub(super) struct Bell {
    /// Is it rung?
    cell: CellId,
    /// Has a unit if it is.
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
        let cell = new_cell("bell", place);
        let (owner, is_up) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Bell { cell, semaphore, place, owner, is_up })
    }

    /// Polls the future until it is ready. `None` if it is aborted before: that is asked before
    /// each poll.
    pub(super) fn run<F: Future>(
        self: &Arc<Self>,
        future: Pin<&mut F>,
        is_aborted: impl Fn() -> bool,
    ) -> Option<F::Output> {
        self.owner.set(running_thread()).expect("it is run once");
        clock::run(|| self.poll_until_ready(future, is_aborted))
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
                Poll::Pending => self.sleep(),
            }
        }
        None
    }

    /// Waits until the task is to be polled again.
    fn sleep(&self) {
        let named = POLL.with(|poll| poll.waits.take());
        let named = named.unwrap_or(Named { text: "await", place: self.place });
        while !self.is_up() {
            match clock::first_over() {
                Some(waker) => waker.wake(),
                None => {
                    self.wait(named);
                    return clock::none_over();
                }
            }
        }
        let polls = Named { text: "poll", place: self.place };
        if is_rung(ask_for(Op::Access(self.cell, Access::Read), polls.text, polls.place)) {
            self.wait(polls);
        }
        clock::pass();
    }

    /// Waits until others ring, or have rung, and silences the bell.
    fn wait(&self, named: Named) {
        let (semaphore, Named { text, place }) = (self.semaphore, named);
        let handle = request(Op::AsyncAcquire(semaphore), text, place);
        if clock::has_times() {
            let running = Running::current();
            running.shared.wait_for_time(running.node.get());
        }
        ask_for(Op::AcquireWait { semaphore, handle }, text, place);
        self.set(false, Named { text: "poll", place: self.place });
    }

    pub(super) fn ring(&self) {
        if Running::is_gone() {
            return;
        }
        if self.owner.get() == Some(&running_thread()) {
            self.is_up.store(true, Ordering::Relaxed);
            clock::pass();
            return;
        }
        let place = POLL.with(|poll| poll.wakes.get()).unwrap_or(self.place);
        if !self.set(true, Named { text: "wake", place }) {
            ask_for(Op::Release(self.semaphore), "wake", place);
        }
    }

    /// Has the owner woken itself?
    fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Returns whether it was rung.
    fn set(&self, rung: bool, Named { text, place }: Named) -> bool {
        let (change, by) = (Change::Swap(u64::from(rung)), Running::current().node.get());
        let update = Updating { change, width: Width { bits: 1, is_signed: false }, first: 0, by };
        is_rung(update_cell(self.cell, update, text, place))
    }
}

/// What the cell of a bell says.
fn is_rung(told: Option<Told>) -> bool {
    matches!(told, Some(Told::Value(content)) if Word::of(&content).is_some_and(|it| it.bits == 1))
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
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

/// Polls in a section, and says what the task waits for if that is not ready. To see that it has to
/// wait takes no time.
pub(super) fn poll<T, R>(
    section: &Section<T>,
    named: Named,
    poll: impl FnOnce(&mut T) -> Poll<R>,
) -> Poll<R> {
    let polled = clock::quickly(|| act(section, named, poll));
    if polled.is_ready() && !Running::is_gone() {
        clock::pass();
    }
    waits(named, polled)
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
