//! Tasks: threads of the program that run a future each.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex as Plain, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::bell::{self, Bell};
use crate::threads::ask::{Place, Running};
use crate::threads::hint;
use crate::threads::sync::section::{Flag, Named, Section, is_over};
use crate::threads::thread;

/// What a task leaves when it ends.
pub type Result<T> = std::result::Result<T, JoinError>;

/// A task, which returns a `T`. It is a future of what the task returns. The task goes on if this
/// is dropped.
pub struct JoinHandle<T> {
    task: AbortHandle,
    result: Arc<Plain<Option<Result<T>>>>,
    place: Place,
    /// Has it got what the task has left?
    is_over: bool,
}

/// Which tasks of one owner have ended. What they leave is beside it, and is touched in this
/// section only: so a task has ended as soon as its result is there.
#[derive(Default)]
pub(super) struct Ends {
    tasks: Vec<Id>,
    pub(super) waker: Option<Waker>,
    /// Was the owner dropped?
    pub(super) is_detached: bool,
}

/// Aborts a task.
#[derive(Clone)]
pub struct AbortHandle(Arc<Control>);

struct Control {
    id: Id,
    bell: Arc<Bell>,
    is_aborted: Flag,
    ends: Arc<Section<Ends>>,
}

/// Distinguishes tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task was aborted. (A panic in a task is a violation at once.)
pub struct JoinError(Id);

impl JoinError {
    /// Was the task aborted? It was.
    pub fn is_cancelled(&self) -> bool {
        true
    }

    /// Has the task panicked? It has not.
    pub fn is_panic(&self) -> bool {
        false
    }

    /// With what the task has panicked.
    ///
    /// # Panics
    /// Always: the task has not panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        panic!("the task was aborted")
    }

    /// With what the task has panicked.
    ///
    /// # Errors
    /// Always: the task has not panicked.
    pub fn try_into_panic(self) -> std::result::Result<Box<dyn Any + Send + 'static>, JoinError> {
        Err(self)
    }

    /// The task.
    pub fn id(&self) -> Id {
        self.0
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError::Cancelled({})", self.0)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} was cancelled", self.0)
    }
}

impl std::error::Error for JoinError {}

/// Starts a task.
///
/// Other than tokio's it takes a future that must not be sent to another thread, too.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let place = Location::caller();
    let result = Arc::new(Plain::new(None));
    let own = result.clone();
    let ends = Arc::new(Section::new("task", Ends::default()));
    let task = start(future, place, ends, move |_, result| *lock(&own) = Some(result));
    JoinHandle { task, result, place, is_over: false }
}

/// What tasks have left, for who is in the section of their ends.
pub(super) fn lock<T>(left: &Plain<T>) -> MutexGuard<'_, T> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`spawn`].
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn(future)
}

/// Starts a task that runs this code, which may wait.
#[track_caller]
pub fn spawn_blocking<T: 'static>(code: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    spawn(async { code() })
}

/// Starts a task that leaves its result to this function, unless its owner is gone.
#[track_caller]
pub(super) fn start<F: Future + 'static>(
    future: F,
    place: Place,
    ends: Arc<Section<Ends>>,
    leave: impl FnOnce(Id, Result<F::Output>) + 'static,
) -> AbortHandle {
    let id = Id(Running::current().node.get());
    let is_aborted = Flag::new("task");
    let control = Arc::new(Control { id, bell: Bell::new(place), is_aborted, ends });
    let own = control.clone();
    let code = move || {
        let is_aborted = || own.is_aborted.is_set(Named { text: "poll", place });
        let mut future = Box::pin(future);
        let output = own.bell.run(future.as_mut(), is_aborted);
        drop(future);
        let result = output.ok_or(JoinError(id));
        // What nobody takes is dropped here.
        drop(bell::act(&own.ends, Named { text: "end of the task", place }, |ends| {
            bell::wake(ends.waker.take());
            ends.tasks.push(id);
            if ends.is_detached {
                return Some(result);
            }
            leave(id, result);
            None
        }));
    };
    let name = format!("task of line {}", place.line());
    thread::Builder::new().name(name).spawn(code).expect("a thread");
    AbortHandle(control)
}

impl<T> JoinHandle<T> {
    /// Aborts the task: it is dropped at its next `await` that has to wait, if it comes to one.
    #[track_caller]
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// What aborts the task.
    pub fn abort_handle(&self) -> AbortHandle {
        self.task.clone()
    }

    /// The task.
    pub fn id(&self) -> Id {
        self.task.id()
    }

    fn ends(&self) -> &Section<Ends> {
        &self.task.0.ends
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        assert!(!self.is_over, "a `JoinHandle` is polled after it was ready");
        let named = Named { text: "join", place: self.place };
        let polled = bell::poll(self.ends(), named, |ends| match lock(&self.result).take() {
            Some(result) => Poll::Ready(result),
            None => {
                bell::register(&mut ends.waker, context.waker());
                Poll::Pending
            }
        });
        self.is_over = polled.is_ready();
        polled
    }
}

impl<T> Unpin for JoinHandle<T> {}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // If nothing has to be dropped it makes no difference when that is.
        if self.is_over || !std::mem::needs_drop::<T>() || is_over() {
            return;
        }
        let named = Named { text: "drop of the handle", place: self.place };
        drop(self.ends().enter(named, |ends| {
            ends.is_detached = true;
            (lock(&self.result).take(), ends.waker.take())
        }));
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl AbortHandle {
    /// Aborts the task: it is dropped at its next `await` that has to wait, if it comes to one.
    #[track_caller]
    pub fn abort(&self) {
        if !is_over() {
            self.0.is_aborted.set(Named::here("abort"));
            self.0.bell.ring();
        }
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.ends.enter(Named::here("is_finished"), |ends| ends.tasks.contains(&self.id()))
    }

    /// The task.
    pub fn id(&self) -> Id {
        self.0.id
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// Says that the task waits for something that others do, as
/// [`thread::yield_now`], and lets the other parts of the task go on.
pub fn yield_now() -> impl Future<Output = ()> {
    let mut has_yielded = false;
    std::future::poll_fn(move |context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        hint::spin_loop();
        context.waker().wake_by_ref();
        Poll::Pending
    })
}
