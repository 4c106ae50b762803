//! The one type parameter of the crate: a system of processes.
//!
//! Four methods define what the processes do, and one defines which of them may wait for ever.
//! Everything else that a system may say about itself is in separate traits, which have defaults:
//! [`Actors`], [`Finale`], [`Invariants`], [`Liveness`], [`Foresight`] and [`Describe`].

use std::fmt::Debug;
use std::hash::Hash;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::{
    Actors, Describe, Finale, Foresight, Invariants, Liveness, Objects, Op, Response, Site,
    ValueId, Values,
};

/// A concurrent program, seen process by process.
///
/// # Contract
/// - [`next`](System::next) and [`resume`](System::resume) are functions: equal arguments, equal
///   results. Explorers call them once for each distinct argument and remember the answer.
/// - A local state contains only what responses have reported. In particular, a process learns a
///   received value only from [`Response::Completed`].
/// - An actor is a process that is at [`Op::Handle`] in every local state in which it has not
///   failed. [`Actors::accepts`] and [`Actors::handle`] define what it does. They are functions,
///   too.
/// - Operations are well-formed: handles and requests are the process's own and of the right kind;
///   a process requests a mutex only while it is not in the queue of the mutex, and waits for,
///   tests and unlocks the mutex only while it is in the queue; and rounds of a barrier count the
///   process's own arrivals. Anything else has unspecified results: in most cases a panic.
pub trait System: Sync {
    /// What one process remembers between two of its visible operations.
    type Local: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The objects that processes act on. In all methods of a system, an object is known by its
    /// place in these declarations. Elsewhere it has another number (see
    /// [`ObjectTable`](super::ObjectTable)).
    fn objects(&self) -> &Objects;

    /// The local states of the processes that exist from the start; `ProcessId`s follow this order.
    fn initial(&self, values: &mut Values) -> Vec<Self::Local>;

    /// What a process in this local state does next.
    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local>;

    /// The local state after the pending operation was carried out with this response, run up to
    /// the next visible operation.
    fn resume(&self, local: &Self::Local, response: Response, values: &Values) -> Self::Local;

    /// Is the process a daemon, which may wait for ever? An execution in which only daemons wait
    /// has ended without a deadlock. A process is a daemon in all its local states, or in none.
    fn is_daemon(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Does a process in this local state excuse others that wait? Then a state in which nothing
    /// moves and such a process is there is no deadlock: the process has failed, which is the
    /// violation, or waits for something that happens in another execution at the latest, such as
    /// the end of a time.
    fn excuses(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// Is an execution explored elsewhere in which a process waits for ever in this local state?
    /// Then nothing is judged at its end, and it does not count. Such a process
    /// [excuses](System::excuses) others.
    fn is_in_vain(&self, local: &Self::Local) -> bool {
        let _ = local;
        false
    }

    /// May [`is_in_vain`](System::is_in_vain) be true of any local state? Nobody asks otherwise.
    fn may_be_in_vain(&self) -> bool {
        false
    }

    /// A search has forgotten a local state that [`initial`](System::initial),
    /// [`next`](System::next) or [`resume`](System::resume) has returned. This is told as often as
    /// it was returned, or less often.
    fn release(&self, local: &Self::Local) {
        let _ = local;
    }

    /// Asked when a search has found a livelock. Returns whether a process that was taken to go
    /// round a loop for ever does end it. Then the system follows it from now on, and the search
    /// has to be done again.
    fn looks_further(&self) -> bool {
        false
    }

    /// What has been found out about the system so far that a saved search has to know when it goes
    /// on in another process, besides its own state: a text for [`recall`](System::recall).
    fn noted(&self) -> Option<String> {
        None
    }

    /// Takes up what was [`noted`](System::noted) in another process. Returns whether the search
    /// can go on; if not, it has to begin again.
    fn recall(&self, noted: &str) -> bool {
        noted.is_empty()
    }

    /// Runs `work`, such as a search, on this system. If processes of the system may run for ever,
    /// this method runs `work` under a watchdog: a process that hangs fails at this local state
    /// from then on, and `work` is run again.
    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T
    where
        Self: Sized,
    {
        work(self)
    }

    /// What the system says about its actors, if it has any.
    fn actors(&self) -> &dyn Actors<Self::Local> {
        &Nothing
    }

    /// The assertions on final states, if there are any.
    fn finale(&self) -> Option<&dyn Finale<Self::Local>> {
        None
    }

    /// The invariants, if there are any.
    fn invariants(&self) -> Option<&dyn Invariants<Self::Local>> {
        None
    }

    /// What must happen in the end, if there is such a demand.
    fn liveness(&self) -> Option<&dyn Liveness<Self::Local>> {
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

/// The defaults, for a system that says no more: no actors, no foresight, no description.
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
    /// It has run its last statement, and a join gets this value.
    Returned(ValueId),
    /// It stopped on a violation.
    Failed(Failure),
}

/// A violation that a process, or an assertion on final states, ran into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Failure {
    /// Assertion or run-time error.
    pub kind: FailureKind,
    /// What went wrong, for people.
    pub message: String,
    /// Where it happened.
    pub site: Option<Site>,
}

impl Failure {
    /// Is it not a violation, but something that cannot be explored?
    pub fn is_unsupported(&self) -> bool {
        self.kind == FailureKind::Unsupported
    }
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub enum FailureKind {
    /// `assert` or `final`.
    Assertion,
    /// Division by zero, index out of range, overflow, misuse of an object, endless local
    /// computation.
    Error,
    /// Not a violation: the process does something that cannot be explored, so the search ends
    /// there.
    Unsupported,
}
