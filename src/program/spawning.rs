//! Processes that start others, wait for them, choose and print.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use super::data::{Data, is_unit, unpack};
use super::making::Maker;
use super::panics::blame;
use super::process::{Body, Place, Wire, ask, body};
use super::text::Text;
use crate::model::{Op, ProcessId, Value};
use crate::systems::history::{Asked, Told};

/// What a process is started from: a name, a closure, and the place in the source.
#[derive(Clone)]
pub struct Start {
    pub(super) name: Arc<str>,
    pub(super) body: Body,
    pub(super) place: Place,
    pub(super) is_daemon: bool,
    /// Its number among the processes of the program. It is set when it is asked for.
    pub(super) number: Maker,
}

/// Closures cannot be compared, but their places identify them.
impl PartialEq for Start {
    fn eq(&self, other: &Start) -> bool {
        (&self.name, self.place, self.is_daemon, self.number)
            == (&other.name, other.place, other.is_daemon, other.number)
    }
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A process that was spawned, and returns a `T`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Child<T = ()> {
    process: ProcessId,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Child<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Child<T> {}

/// Starts a process.
///
/// ```
/// use mazurka::program::{Program, spawn};
///
/// let mut program = Program::new();
/// let next = program.cell("next", 0);
/// program.process("main", async move || {
///     let mut workers = Vec::new();
///     for i in 0..2 {
///         let worker = spawn(format!("worker {i}"), async move || next.fetch_add(1).await);
///         workers.push(worker.await);
///     }
///     let mut sum = 0;
///     for worker in workers {
///         sum += worker.join().await;
///     }
///     assert_eq!(sum, 1);
/// });
/// mazurka::check(&program.build()).assert_ok();
/// ```
#[track_caller]
pub fn spawn<T: Data, F: AsyncFn() -> T + Send + Sync + 'static>(
    name: impl Into<String>,
    closure: F,
) -> impl Future<Output = Child<T>> {
    let place = Location::caller();
    start(Start {
        name: name.into().into(),
        body: body(closure),
        place,
        is_daemon: false,
        number: 0,
    })
}

/// Starts a process that may wait for ever: see [`Program::daemon`](super::Program::daemon).
#[track_caller]
pub fn spawn_daemon<T: Data, F: AsyncFn() -> T + Send + Sync + 'static>(
    name: impl Into<String>,
    closure: F,
) -> impl Future<Output = Child<T>> {
    let place = Location::caller();
    start(Start {
        name: name.into().into(),
        body: body(closure),
        place,
        is_daemon: true,
        number: 0,
    })
}

fn start<T>(start: Start) -> impl Future<Output = Child<T>> {
    let place = start.place;
    let asking = ask(Asked::Spawn(start), Text { on: None, verb: "spawn" }, place);
    async move {
        match asking.await {
            Told::Spawned(process) => Child { process, of: PhantomData },
            told => unreachable!("{told:?} is no answer to a spawn"),
        }
    }
}

impl<T: Data> Child<T> {
    /// Waits until the process has ended, and returns what it has returned. If it has failed, there
    /// is no such value, and this process fails, too (unless the value is `()`).
    #[track_caller]
    pub fn join(self) -> impl Future<Output = T> {
        let (text, place) = (Text { on: None, verb: "join" }, Location::caller());
        let asking = ask(Asked::op(Op::Join(self.process)), text, place);
        async move {
            match asking.await {
                Told::Value(value) => unpack(&value),
                _ if is_unit::<T>() => unpack(&Value::Unit),
                _ => blame("the process that is joined has failed and returns nothing", place),
            }
        }
    }
}

/// Prints a line. It is shown with a counterexample, below the steps, and nowhere else. Other
/// output of a process (by `println!`) appears whenever the process is run, which is once for many
/// executions.
///
/// # Panics
/// If no process is running on this thread.
pub fn print(line: impl Display) {
    Wire::current().print(line);
}

/// Any number of this range: each one is explored.
///
/// # Panics
/// If the range is empty.
#[track_caller]
pub fn choose(range: Range<i64>) -> impl Future<Output = i64> {
    assert!(!range.is_empty(), "there is nothing to choose in {range:?}");
    let text = Text { on: None, verb: "choose" };
    let op = Op::Choose { lo: range.start, hi: range.end };
    let asking = ask(Asked::op(op), text, Location::caller());
    async move {
        match asking.await {
            Told::Chosen(value) => value,
            told => unreachable!("{told:?} is no answer to a choice"),
        }
    }
}
