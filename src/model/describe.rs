//! How a system is described to people: names, places, values; and the assertions on its final
//! states.

use std::borrow::Cow;
use std::sync::Arc;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::{
    CellId, Choice, Failure, Incident, LocalId, Locals, ProcessId, Response, Stimulus, System,
    Value, Values,
};

/// How a system with local states `L` is described.
pub trait Describe<L> {
    /// A name for the process, as the program's author would say it. Several processes may share
    /// it.
    fn process_name(&self, local: &L) -> String {
        let _ = local;
        "P".into()
    }

    /// The place and text of the pending operation, if the system has a source text.
    fn site(&self, local: &L) -> Option<Site> {
        let _ = local;
        None
    }

    /// The variables of the process that are in scope, with their values, for people who step
    /// through an execution.
    fn variables(&self, local: &L, names: Names<'_>) -> Vec<(String, String)> {
        let _ = (local, names);
        Vec::new()
    }

    /// The calls of procedures that begin and end while the process goes on from `local` with
    /// `response`; without a response, while it comes from its start to `local`. They are in the
    /// order in which they happen.
    fn marks(&self, local: &L, response: Option<Response>, values: &Values) -> Vec<Mark> {
        let _ = (local, response, values);
        Vec::new()
    }

    /// The place and text of the handler that this stimulus runs, if the system has a source text.
    /// If no guard holds, the place and text of the first handler that only its guard keeps from
    /// running.
    fn handler_site(&self, local: &L, stimulus: Stimulus, values: &Values) -> Option<Site> {
        let _ = (local, stimulus, values);
        None
    }

    /// What a verdict rests on that the program does not promise, as "under …".
    fn assumes(&self) -> Option<String> {
        None
    }

    /// Counts of the runs of processes so far, if its processes really run.
    fn runs(&self) -> Option<Runs> {
        None
    }

    /// What the process has printed since its previous operation, if it really runs.
    fn printed(&self, local: &L) -> Option<String> {
        let _ = local;
        None
    }

    /// The remarks of a process that has ended, if it makes any.
    fn remarks(&self, local: &L) -> Option<Arc<[Remark]>> {
        let _ = local;
        None
    }

    /// What a process at a choice chooses with this number, if that is another value.
    fn chosen(&self, local: &L, number: i64) -> Option<Value> {
        let _ = (local, number);
        None
    }

    /// What happens if the process makes this choice, where a fault is possible.
    fn incident(&self, local: &L, choice: Choice) -> Option<Incident> {
        let _ = (local, choice);
        None
    }

    /// What happens in the handler that this stimulus runs, if that is a fault.
    fn handler_incident(&self, local: &L, stimulus: Stimulus, values: &Values) -> Option<Incident> {
        let _ = (local, stimulus, values);
        None
    }

    /// A value as the program would write it (variants by name).
    fn show_value(&self, value: &Value, names: Names<'_>) -> String {
        let _ = names;
        value.to_string()
    }
}

/// The assertions on final states.
pub trait Finale<L> {
    /// Checks the assertions on final states in a terminal state that is not a deadlock. `locals`
    /// has the local state of each process that exists, in order of `ProcessId`; `cells` has the
    /// content of each declared cell. Returns a failure, if there is one.
    fn judge(&self, locals: &[Option<&L>], cells: Contents<'_>, values: &Values)
    -> Option<Failure>;

    /// What the failing assertion has read, with names, the most informative first. The arguments
    /// are the same as of [`judge`](Finale::judge). `None` if this is not known, or if nothing
    /// fails.
    fn readings(
        &self,
        locals: &[Option<&L>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Vec<(String, Value)>> {
        let _ = (locals, cells, values);
        None
    }

    /// Does it see this cell? If not, its verdict does not depend on it.
    fn sees_cell(&self, cell: CellId) -> bool {
        let _ = cell;
        true
    }

    /// Does it distinguish these local states of the process? It sees only processes that exist
    /// from the start.
    fn tells(&self, process: ProcessId, before: &L, after: &L) -> bool {
        let _ = (process, before, after);
        true
    }
}

/// The begin or the end of a call of a procedure in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// A call begins.
    Begins {
        /// The name of the procedure.
        procedure: String,
        /// The arguments.
        arguments: Vec<Value>,
    },
    /// The innermost open call ends: the last one that began and has not ended.
    Ends {
        /// The returned value, if the procedure returns one.
        result: Option<Value>,
    },
}

/// A function that gives the content of each declared cell.
pub type Contents<'c> = &'c dyn Fn(CellId) -> Value;

/// A function that gives the name of a process of an execution; `None` if the name is not known.
pub type Names<'n> = &'n dyn Fn(ProcessId) -> Option<String>;

/// A place in the source of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Site {
    /// The file, if the program has several.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The source text of the operation, on one line.
    pub text: String,
}

/// What a process that really runs reports about itself when it has ended. It is not a violation,
/// but people should know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What the remark is about.
    pub kind: RemarkKind,
    /// What kind of object it is about; or the exit code, in words.
    pub object: Cow<'static, str>,
    /// Where the object was made.
    pub site: Option<Site>,
}

/// The kinds of [`Remark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub enum RemarkKind {
    /// The process has made an object that it never frees.
    Unfreed,
    /// The process ends with an exit code that is not 0.
    Status,
    /// The process has several threads, and has promised to have one.
    Threads,
}

/// Counts of the runs of processes that really run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[non_exhaustive]
pub struct Runs {
    /// Number of times that a process was started.
    pub starts: u64,
    /// Number of outcomes that were delivered to processes, replays included.
    pub told: u64,
    /// Number of distinct local histories of processes.
    pub histories: u64,
}

impl<S: System> Locals<'_, S> {
    /// What happens if the process in this local state makes this choice, where a fault is
    /// possible.
    pub(crate) fn incident(&self, id: LocalId, choice: Choice) -> Option<Incident> {
        let is_of_program = id != LocalId::CARRIER;
        is_of_program.then(|| self.system().describe().incident(self.get(id), choice)).flatten()
    }
}
