//! The one type parameter of the crate: a system of processes.
//!
//! Four methods say what the processes do, and one which of them may wait for ever. What else a system may say about itself
//! is in separate traits, which have defaults: [`Actors`], [`Finale`], [`Invariants`], [`Foresight`] and [`Describe`].

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::{
    Actors, Describe, Finale, Foresight, Invariants, Objects, Op, Response, Site, ValueId, Values,
};

/// A concurrent program, seen process by process.
///
/// # Contract
/// - [`next`](System::next) and [`resume`](System::resume) are functions: equal arguments, equal results.
///   Explorers call them once for each distinct argument and remember the answer.
/// - A local state knows only what responses told it. In particular it learns a received value only
///   from [`Response::Completed`].
/// - An actor is a process that is at [`Op::Handle`] in every local state in which it has not failed. What it does
///   is told by [`Actors::accepts`] and [`Actors::handle`], which are functions, too.
/// - Operations are well-formed: handles and requests are the process's own and of the right kind; a
///   process requests a mutex only when it is not in its queue, and waits for it, tests it and unlocks it only when
///   it is; and rounds of a barrier count the process's own arrivals. What happens otherwise is unspecified: in most
///   cases a panic.
pub trait System: Sync {
    /// What one process remembers between two of its visible operations.
    type Local: Clone + Eq + Hash + Debug + 'static;

    /// The objects that processes act on. Here, and wherever a system speaks or is asked, an object is known by its
    /// place in these declarations. Elsewhere it has another number (see [`Met`](super::Met)).
    fn objects(&self) -> &Objects;

    /// The local states of the processes that exist from the start; `ProcessId`s follow this order.
    fn initial(&self, values: &mut Values) -> Vec<Self::Local>;

    /// What a process in this local state does next.
    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local>;

    /// The local state after the pending operation was carried out with this response, run up to the next
    /// visible operation.
    fn resume(&self, local: &Self::Local, response: Response, values: &Values) -> Self::Local;

    /// Is the process a daemon, which may wait for ever? If only daemons wait, an execution has come to its end. A process is a
    /// daemon in all its local states, or in none.
    fn is_daemon(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Does some work on the system, such as a search. If processes of the system may run for ever, that is seen here, and not
    /// where the work is done without this: then the work is done again, and such a process fails where it has hung.
    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T
    where
        Self: Sized,
    {
        work(self)
    }

    /// What it says of its actors, if it has any.
    fn actors(&self) -> &dyn Actors<Self::Local> {
        &Nothing
    }

    /// The judgement of terminal states, if it has one.
    fn finale(&self) -> Option<&dyn Finale<Self::Local>> {
        None
    }

    /// What must hold in every state, if it says so.
    fn invariants(&self) -> Option<&dyn Invariants<Self::Local>> {
        None
    }

    /// What is known about its processes before they run.
    fn foresight(&self) -> &dyn Foresight<Self::Local> {
        &Nothing
    }

    /// How it is described to people.
    fn describe(&self) -> &dyn Describe<Self::Local> {
        &Nothing
    }
}

/// A system with no more to say: no actors, no foresight, no description.
struct Nothing;

impl<L: Debug> Actors<L> for Nothing {}

impl<L> Foresight<L> for Nothing {}

impl<L> Describe<L> for Nothing {}

/// The next step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<L> {
    /// A visible operation, any but [`Op::Spawn`].
    Op(Op),
    /// A spawn of a process that starts in this local state; the response is [`Response::Spawned`].
    Spawn(L),
    /// It has run its last statement.
    Done,
    /// The same, and who joins it is told this.
    Returned(ValueId),
    /// It stopped on a violation.
    Failed(Failure),
}

/// A violation that a process, or the judgement of a final state, ran into.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// Assertion or run-time error.
    pub kind: FailureKind,
    /// What went wrong, for people.
    pub message: String,
    /// Where.
    pub site: Option<Site>,
}

impl Failure {
    /// Is it no violation, but what cannot be explored?
    pub fn is_unsupported(&self) -> bool {
        self.kind == FailureKind::Unsupported
    }
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureKind {
    /// `assert` or `final`.
    Assertion,
    /// Division by zero, index out of range, overflow, misuse of an object, endless local computation.
    Error,
    /// No violation: it does what cannot be explored, so the search ends there.
    Unsupported,
}
