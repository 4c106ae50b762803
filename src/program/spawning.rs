//! Processes that start others, wait for them, and choose.

use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use super::process::{Body, Place, ask, body};
use super::text::{On, Text};
use crate::model::{Op, ProcessId};
use crate::systems::history::{Asked, Told};

/// What a process is started from: a name, a closure and the place where it was named.
#[derive(Clone)]
pub struct Start {
    pub(super) name: Arc<str>,
    pub(super) body: Body,
    pub(super) place: Place,
}

/// Closures cannot be compared, but they are known by the place where they are.
impl PartialEq for Start {
    fn eq(&self, other: &Start) -> bool {
        (&self.name, self.place) == (&other.name, other.place)
    }
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A process that was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Child(ProcessId);

/// Starts a process.
///
/// ```
/// use mazurka::program::{Program, spawn};
///
/// let mut program = Program::new();
/// let done = program.cell("done", 0);
/// program.process("main", async move || {
///     let mut workers = Vec::new();
///     for i in 0..2 {
///         workers.push(spawn(format!("worker {i}"), async move || {
///             done.fetch_add(1).await;
///         }).await);
///     }
///     for worker in workers {
///         worker.join().await;
///     }
///     assert_eq!(done.read().await, 2);
/// });
/// mazurka::check(&program.build()).assert_ok();
/// ```
#[track_caller]
pub fn spawn<F: AsyncFn() + Send + Sync + 'static>(
    name: impl Into<String>,
    closure: F,
) -> impl Future<Output = Child> {
    let place = Location::caller();
    let start = Start { name: name.into().into(), body: body(closure), place };
    let asking = ask(Asked::Spawn(start), Text { on: On::Nothing, verb: "spawn" }, place);
    async move {
        match asking.await {
            Told::Spawned(process) => Child(process),
            told => unreachable!("{told:?} is no answer to a spawn"),
        }
    }
}

impl Child {
    /// Waits until the process has ended. What it found out it has to say in a message or a cell.
    #[track_caller]
    pub fn join(self) -> impl Future<Output = ()> {
        let text = Text { on: On::Nothing, verb: "join" };
        let asking = ask(Asked::op(Op::Join(self.0)), text, Location::caller());
        async move { drop(asking.await) }
    }
}

/// Any of these numbers: each is explored.
///
/// # Panics
/// If there is none.
#[track_caller]
pub fn choose(range: Range<i64>) -> impl Future<Output = i64> {
    assert!(!range.is_empty(), "there is nothing to choose in {range:?}");
    let text = Text { on: On::Nothing, verb: "choose" };
    let op = Op::Choose { lo: range.start, hi: range.end };
    let asking = ask(Asked::op(op), text, Location::caller());
    async move {
        match asking.await {
            Told::Chosen(value) => value,
            told => unreachable!("{told:?} is no answer to a choice"),
        }
    }
}
