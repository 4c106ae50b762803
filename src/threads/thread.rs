//! [`std::thread`]: threads of the program.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, Mutex as Plain, PoisonError};
use std::time::Duration;

use super::ask::{Body, Place, Running, Start, ask, ask_for};
use super::hint;
use super::sync::{Notify, counted};
use super::unwind;
use crate::model::{Op, ProcessId};
use crate::systems::history::{Asked, Told};

pub use super::scope::{Scope, ScopedJoinHandle, scope};

/// What a thread has returned.
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// A thread that was spawned, and returns a `T`.
pub struct JoinHandle<T>(Spawned<T>);

/// The handle of a thread.
pub(super) struct Spawned<T> {
    process: Option<ProcessId>,
    thread: Thread,
    /// Is dropped by the thread or by who has its handle, whoever comes last.
    result: counted::Arc<Plain<Option<T>>>,
}

/// A thread, to be named or woken.
#[derive(Clone)]
pub struct Thread(Arc<About>);

struct About {
    name: Option<String>,
    id: ThreadId,
    /// Is notified when it is unparked.
    unparked: Notify,
}

/// Distinguishes threads: by the history of the spawner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Option<u32>);

/// Makes threads with a name.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    is_daemon: bool,
}

/// Starts a thread.
///
/// Other than [`std::thread::spawn`] it takes what must not be sent to another thread, too: the
/// threads of a program share one thread of the operating system.
#[track_caller]
pub fn spawn<T: 'static>(code: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    JoinHandle(Spawned::start(Builder::new(), code, |body| body, Location::caller()))
}

/// Waits until the thread has ended.
pub(super) fn wait_for(process: ProcessId, place: Place) {
    ask_for(Op::Join(process), "join", place);
}

impl<T> Spawned<T> {
    /// Starts a thread. What it runs is made a [`Body`] by `extend`, which extends lifetimes.
    pub(super) fn start<'c>(
        Builder { name, is_daemon }: Builder,
        code: impl FnOnce() -> T + 'c,
        extend: impl FnOnce(Box<dyn FnOnce() + 'c>) -> Body,
        place: Place,
    ) -> Spawned<T>
    where
        T: 'c,
    {
        let running = Running::current();
        let spawner = running.node.get();
        let shown = match &name {
            Some(name) => name.as_str().into(),
            None => format!("thread of line {}", place.line()).into(),
        };
        let thread = Thread::new(name, Some(spawner), place);
        let result = counted::Arc::made(Plain::new(None), place);
        if running.is_ending.get() || unwind::leaves_out() {
            // It will not run, so its lifetime must not be extended.
            drop(code);
            return Spawned { process: None, thread, result };
        }
        running.threads.borrow_mut().insert(Some(spawner), thread.clone());
        let returned = result.clone();
        running.spawned.replace(Some(extend(Box::new(move || {
            let value = code();
            *returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        }))));
        drop(running);
        let start = Start { name: shown, place: Some(place), spawner: None, is_daemon };
        let process = match ask(Asked::Spawn(start), "spawn", place) {
            Some(Told::Spawned(process)) => Some(process),
            _ => None,
        };
        Spawned { process, thread, result }
    }

    pub(super) fn process(&self) -> Option<ProcessId> {
        self.process
    }

    pub(super) fn thread(&self) -> &Thread {
        &self.thread
    }

    pub(super) fn join(self, place: Place) -> Result<T> {
        if let Some(process) = self.process {
            wait_for(process, place);
        }
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        if result.is_none() && unwind::leaves_out() {
            Running::current().cannot_go_on("joins a thread");
        }
        result.ok_or_else(|| Box::new("the thread has panicked") as Box<dyn Any + Send>)
    }
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns what it has returned.
    ///
    /// # Errors
    /// None: a panic in a thread is a violation.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join(Location::caller())
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

impl Builder {
    /// Makes a thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Names the thread.
    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name), ..self }
    }

    /// Lets the thread wait for ever: an execution at whose end it waits is no deadlock. The
    /// threads of a real program end with its main thread; here those that must end are found.
    pub fn daemon(self) -> Builder {
        Builder { is_daemon: true, ..self }
    }

    /// Has no effect: all stacks have the same size.
    pub fn stack_size(self, _: usize) -> Builder {
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn spawn<T: 'static>(
        self,
        code: impl FnOnce() -> T + 'static,
    ) -> io::Result<JoinHandle<T>> {
        Ok(JoinHandle(Spawned::start(self, code, |body| body, Location::caller())))
    }
}

impl Thread {
    fn new(name: Option<String>, spawner: Option<u32>, place: Place) -> Thread {
        let unparked = Notify::new_at(("token of park", "park"), place);
        Thread(Arc::new(About { name, id: ThreadId(spawner), unparked }))
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// What distinguishes it from others.
    pub fn id(&self) -> ThreadId {
        self.0.id
    }

    /// Lets it go on from its present or its next `park`.
    #[track_caller]
    pub fn unpark(&self) {
        self.0.unparked.notify();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The running thread.
#[track_caller]
pub fn current() -> Thread {
    let running = Running::current();
    running.is_seen();
    let spawner = {
        let tree = running.shared.tree();
        let node = running.node.get();
        tree.start(node).spawner
    };
    if let Some(thread) = running.threads.borrow().get(&spawner) {
        return thread.clone();
    }
    let thread = Thread::new(None, spawner, Location::caller());
    running.threads.borrow_mut().insert(spawner, thread.clone());
    thread
}

/// Waits until another thread calls [`Thread::unpark`], unless one has done so already. It may wake
/// for no reason, if threads may ([`spurious_wakeups`](super::Builder::spurious_wakeups)).
#[track_caller]
pub fn park() {
    let thread = current();
    if !Running::current().wakes_for_nothing(Location::caller()) {
        thread.0.unparked.wait();
    }
}

/// Waits as [`park`], or until the time is over: whether it is over first is a choice. Nobody can
/// tell that from waking for no reason.
#[track_caller]
pub fn park_timeout(_: Duration) {
    current().0.unparked.wait_timeout();
}

/// Says that the thread waits for something that others do: see [`hint::spin_loop`].
pub fn yield_now() {
    hint::spin_loop();
}

/// Takes no time: other threads may do anything before or after it in any case.
pub fn sleep(_: Duration) {}

/// Is the running thread unwinding?
pub fn panicking() -> bool {
    std::thread::panicking()
}

/// A variable of which each thread has its own: made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static>(fn() -> T);

/// The variable does not exist any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the thread has ended, or is about to")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(first: fn() -> T) -> LocalKey<T> {
        LocalKey(first)
    }

    /// Calls the function with the variable of this thread. It is made when it is first used.
    pub fn with<R>(&'static self, work: impl FnOnce(&T) -> R) -> R {
        self.try_with(work).expect("a variable of a thread that has not ended")
    }

    /// As [`with`](LocalKey::with).
    ///
    /// # Errors
    /// If the thread has ended, or drops the variable because it ends.
    pub fn try_with<R>(
        &'static self,
        work: impl FnOnce(&T) -> R,
    ) -> std::result::Result<R, AccessError> {
        let running = Running::try_current().ok_or(AccessError)?;
        running.is_seen();
        let address = std::ptr::from_ref(self).addr();
        let variable = match running.local(address) {
            Some(known) => known.ok_or(AccessError)?,
            None => {
                let variable = Rc::new(self.0());
                running.add_local(address, variable.clone());
                variable
            }
        };
        drop(running);
        Ok(work(variable.downcast_ref().expect("a variable of this type")))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Variables of which each thread has its own: see [`std::thread_local!`].
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $first:expr; $($others:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $visible static $name: $type = $first);
        $crate::thread_local!($($others)*);
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $first:expr) => {
        $(#[$attribute])* $visible static $name: $crate::thread::LocalKey<$type> =
            $crate::thread::LocalKey::new(|| $first);
    };
}
