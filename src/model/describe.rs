//! How people are told of a system: names, places, values; and what must hold at its end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CellId, Failure, ProcessId, Response, Stimulus, Value, Values};

/// How a system with local states `L` is described.
pub trait Describe<L> {
    /// A name for the process, as the program's author would say it. Several may have the same.
    fn process_name(&self, local: &L) -> String {
        let _ = local;
        "P".into()
    }

    /// The place and text of the pending operation, if the system has a source.
    fn site(&self, local: &L) -> Option<Site> {
        let _ = local;
        None
    }

    /// The variables of the process that are in scope, with their values, for people who step through
    /// an execution.
    fn variables(&self, local: &L, names: Names<'_>) -> Vec<(String, String)> {
        let _ = (local, names);
        Vec::new()
    }

    /// The calls of procedures that begin and end while the process goes on from `local` with `response`; without a
    /// response, while it comes from its start to `local`. They are in the order in which they happen.
    fn marks(&self, local: &L, response: Option<Response>, values: &Values) -> Vec<Mark> {
        let _ = (local, response, values);
        Vec::new()
    }

    /// The place and text of the handler that this stimulus runs, if the system has a source. If no guard holds, those of
    /// the first handler that would run if its guard held.
    fn handler_site(&self, local: &L, stimulus: Stimulus, values: &Values) -> Option<Site> {
        let _ = (local, stimulus, values);
        None
    }

    /// How often its processes were run so far, if they really run.
    fn runs(&self) -> Option<Runs> {
        None
    }

    /// What the process has printed since its operation before, if it really runs.
    fn printed(&self, local: &L) -> Option<String> {
        let _ = local;
        None
    }

    /// What a process that has ended says of itself, if it says anything.
    fn remarks(&self, local: &L) -> Option<Arc<[Remark]>> {
        let _ = local;
        None
    }

    /// A value in the program's own words (variants by name).
    fn show_value(&self, value: &Value, names: Names<'_>) -> String {
        let _ = names;
        value.to_string()
    }
}

/// The assertions on final states.
pub trait Finale<L> {
    /// Judges a terminal state that is no deadlock: the assertions on final states. `locals` gives the
    /// local state of each process that exists, in order of `ProcessId`; `cells` the content of each declared cell.
    fn judge(&self, locals: &[Option<&L>], cells: Contents<'_>, values: &Values)
    -> Option<Failure>;

    /// What the judgement of a terminal state read before it failed, with names, the most telling first. The
    /// arguments are those of [`judge`](Finale::judge). `None` if that is not known, or if nothing fails.
    fn readings(
        &self,
        locals: &[Option<&L>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Vec<(String, Value)>> {
        let _ = (locals, cells, values);
        None
    }
}

/// What an execution tells about a call of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It begins.
    Begins {
        /// Its name.
        procedure: String,
        /// What it is called with.
        arguments: Vec<Value>,
    },
    /// The innermost open call ends: the last that began and has not ended.
    Ends {
        /// What it returns, if it returns a value.
        result: Option<Value>,
    },
}

/// The content of each declared cell.
pub type Contents<'c> = &'c dyn Fn(CellId) -> Value;

/// How the processes of an execution are called; `None` for those that are not known.
pub type Names<'n> = &'n dyn Fn(ProcessId) -> Option<String>;

/// A place in the source of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// What a process that really runs says of itself when it has ended. Nothing is wrong, but people should know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is about.
    pub kind: RemarkKind,
    /// The object.
    pub object: &'static str,
    /// Where the object was made.
    pub site: Option<Site>,
}

/// The kinds of [`Remark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RemarkKind {
    /// It has made an object that it never frees.
    Unfreed,
}

/// How often processes that really run were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// How often a process was started.
    pub starts: u64,
    /// How often a process was told an outcome, those that it was told again included.
    pub told: u64,
    /// How many distinct histories processes had.
    pub histories: u64,
}
