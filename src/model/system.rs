//! The one type parameter of the crate: a system of processes.

use std::fmt::Debug;
use std::hash::Hash;

use super::{
    CellId, Handle, Objects, Op, Outcome, ProcessId, Reach, Stimulus, Touch, Value, Values,
};

/// A concurrent program, seen process by process.
///
/// # Contract
/// - [`next`](System::next) and [`resume`](System::resume) are functions: equal arguments, equal results.
///   Explorers call them once for each distinct argument and remember the answer.
/// - A local state knows nothing but what outcomes told it. In particular it learns a received value only
///   from [`Outcome::Completed`].
/// - An actor is a process that is at [`Op::Handle`] in every local state in which it has not failed. What it does
///   is told by [`accepts`](System::accepts) and [`handle`](System::handle), which are functions, too.
/// - Operations are well-formed: handles and requests are the process's own and of the right kind, a
///   mutex is requested only when not already in its queue and waited for, tested and unlocked only when
///   it is, rounds of a barrier count the process's own arrivals. What happens otherwise is unspecified: most
///   of it panics.
pub trait System: Sync {
    /// What one process remembers between two of its visible operations.
    type Local: Clone + Eq + Hash + Debug;

    /// The objects that processes act on. Here, and in all that a system says and is asked, they are known by their
    /// places in these declarations; not so elsewhere (see [`Met`](super::Met)).
    fn objects(&self) -> &Objects;

    /// The local states of the processes that exist from the start; `ProcessId`s follow this order.
    fn initial(&self, values: &mut Values) -> Vec<Self::Local>;

    /// What a process in this local state does next.
    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local>;

    /// The local state after the pending operation was carried out with this outcome, run up to the next
    /// visible operation.
    fn resume(&self, local: &Self::Local, outcome: Outcome, values: &Values) -> Self::Local;

    /// The messages that are pending from the start, with their receivers, in the order of sending.
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        Vec::new()
    }

    /// May some actor ever refuse a message?
    fn has_guards(&self) -> bool {
        false
    }

    /// Has some actor internal handlers, be it one that is started later?
    fn has_internals(&self) -> bool {
        false
    }

    /// Does the actor `own` in this local state take this message, or is this internal handler enabled?
    fn accepts(
        &self,
        local: &Self::Local,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
    ) -> bool {
        let _ = (local, own, stimulus, values);
        true
    }

    /// Runs a handler of the actor `own` to its end: the local state after it. The stimulus is accepted.
    fn handle(
        &self,
        local: &Self::Local,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        effects: &mut dyn Effects<Self::Local>,
    ) -> Self::Local {
        let _ = (values, effects);
        unreachable!("{own:?} in {local:?} handles {stimulus:?}, but the system has no actors")
    }

    /// The place and text of the handler that this stimulus runs, or of the first that would if its guard
    /// held; if the system has a source.
    fn handler_site(
        &self,
        local: &Self::Local,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<Site> {
        let _ = (local, stimulus, values);
        None
    }

    /// Judges a terminal state that is no deadlock: the assertions on final states. `locals` gives the
    /// local state of each process that exists, in order of `ProcessId`; `cells` the content of each declared cell.
    fn judge_final(
        &self,
        locals: &[Option<&Self::Local>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Failure> {
        let _ = (locals, cells, values);
        None
    }

    /// What the judgement of a terminal state has read to come to a failure, with names, the most telling first;
    /// arguments as for [`judge_final`](System::judge_final). `None` if that is not known, or nothing fails.
    fn final_readings(
        &self,
        locals: &[Option<&Self::Local>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Vec<(String, Value)>> {
        let _ = (locals, cells, values);
        None
    }

    /// Is there anything for [`judge_final`](System::judge_final) to judge?
    fn has_final(&self) -> bool {
        false
    }

    /// A name for the process, as the program's author would say it.
    fn process_name(&self, local: &Self::Local) -> String;

    /// The place and text of the pending operation, if the system has a source.
    fn site(&self, local: &Self::Local) -> Option<Site> {
        let _ = local;
        None
    }

    /// The variables of the process that are in scope, with their values, for people who step through
    /// an execution.
    fn variables(&self, local: &Self::Local, names: Names<'_>) -> Vec<(String, String)> {
        let _ = (local, names);
        Vec::new()
    }

    /// The calls of procedures that begin and end while the process goes on from `local` with `outcome`; without an
    /// outcome, while it came from its start to `local`. In the order in which that happens.
    fn marks(&self, local: &Self::Local, outcome: Option<Outcome>, values: &Values) -> Vec<Mark> {
        let _ = (local, outcome, values);
        Vec::new()
    }

    /// May the process that is in this local state, or one that it spawns, ever touch this? An over-approximation,
    /// the same in all local states of a process: it explains deadlocks, and tells what is shared at all.
    fn may_touch(&self, local: &Self::Local, touch: Touch) -> bool {
        let _ = (local, touch);
        true
    }

    /// What the process in this local state, or one that it spawns, may still touch; an over-approximation, and `None` if
    /// nothing better is known than what [`may_touch`](System::may_touch) says.
    fn reach(&self, local: &Self::Local) -> Option<Reach> {
        let _ = local;
        None
    }

    /// May the process that is in this local state come back to it by operations that change no object? An
    /// over-approximation: where it says no, nobody looks for loops that wait ([`crate::trace::spin`]).
    fn may_return(&self, local: &Self::Local) -> bool {
        let _ = local;
        true
    }

    /// May a process ever unlock a request for a mutex without having waited until it was granted, or tested that
    /// it is?
    fn may_cancel(&self) -> bool {
        true
    }

    /// The local state with the requests that its future may depend on numbered from 0, in order of age, and
    /// which requests of the process these are; `None` if that is not known, and any may matter.
    ///
    /// Local states that become equal so, and whose requests went the same way, have the same future. All
    /// requests for mutexes that it lists are still in the queue.
    fn canonical(&self, local: &Self::Local) -> Option<(Self::Local, Vec<Handle>)> {
        let _ = local;
        None
    }

    /// A value in the program's own words (variants by name).
    fn show_value(&self, value: &Value, names: Names<'_>) -> String {
        let _ = names;
        value.to_string()
    }
}

/// What an execution tells of a call of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It begins.
    Begins {
        /// Its name.
        procedure: String,
        /// What it is called with.
        arguments: Vec<Value>,
    },
    /// The call that began last, of those that have not ended, ends.
    Ends {
        /// What it gives back, if it is of the kind that does.
        result: Option<Value>,
    },
}

/// The content of each declared cell.
pub type Contents<'c> = &'c dyn Fn(CellId) -> Value;

/// How the processes of an execution are called; `None` for those that are not known.
pub type Names<'n> = &'n dyn Fn(ProcessId) -> Option<String>;

/// What a handler does to others.
pub trait Effects<L> {
    /// Sends a message to an actor.
    fn send(&mut self, to: ProcessId, message: Value);

    /// Starts an actor in this local state.
    fn spawn(&mut self, actor: L) -> ProcessId;
}

/// The next step of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<L> {
    /// A visible operation, any but [`Op::Spawn`].
    Op(Op),
    /// A spawn of a process that starts in this local state; the outcome is [`Outcome::Spawned`].
    Spawn(L),
    /// It has run its last statement.
    Done,
    /// It stopped on a violation.
    Failed(Failure),
}

/// A violation that a process, or the judgement of a final state, ran into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Assertion or run-time error.
    pub kind: FailureKind,
    /// What went wrong, for people.
    pub message: String,
    /// Where.
    pub site: Option<Site>,
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// `assert` or `final`.
    Assertion,
    /// Division by zero, index out of range, overflow, misuse of an object, endless local computation.
    Error,
}

/// A place in the source of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The source text of the operation, on one line.
    pub text: String,
}
