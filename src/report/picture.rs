//! What a drawing shows, as plain data: no colours, no coordinates.
//!
//! There are four kinds. A [`PartialOrder`] is a set of events with causality: a piece of the unfolding, or the
//! events of one execution (a configuration). A [`SpaceTime`] is one execution as a chart, time against
//! processes. A [`SearchTree`] shows the search of UDPOR, call by call. A
//! [`ControlFlow`] is the program itself. All of them serialise, and `mazurka draw` writes that to a `.json` file; [`dot`](super::dot)
//! and [`svg`](super::svg) draw them.
//!
//! Events and steps are numbered from 0, causes before effects. They refer to one another and to lanes by number, which
//! is the place in the list. (Diagrams of one execution show its steps from 1, as `check`
//! and `replay` do.) Lanes are processes, in order of declaration, spawned ones
//! after them.

mod configuration;
mod lanes;
mod order;
mod search_tree;
mod space_time;
mod unfolding;

pub use crate::property::{Arrow, ArrowKind};
pub use search_tree::{Node, SearchTree, Turn, compact};

use std::sync::Arc;

use serde::Serialize;

use super::{Subject, Variable};
use crate::explore::Verdict;
use crate::model::flow::Flow;

/// What is drawn.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Picture {
    /// Events and causality.
    Order(PartialOrder),
    /// One execution.
    SpaceTime(SpaceTime),
    /// A search.
    Steps(SearchTree),
    /// The control flow of processes.
    Processes(ControlFlow),
}

/// The control flow of each process and actor.
#[derive(Clone, Debug, Serialize)]
pub struct ControlFlow {
    /// The program.
    #[serde(flatten)]
    pub subject: Subject,
    /// `processes`.
    pub what: &'static str,
    /// One for each declaration, in order.
    pub processes: Vec<Flow>,
}

/// Events with causality and conflict.
#[derive(Clone, Debug, Serialize)]
pub struct PartialOrder {
    /// The program.
    #[serde(flatten)]
    pub subject: Subject,
    /// `unfolding` or `configuration`.
    pub what: &'static str,
    /// The names of the processes.
    pub lanes: Vec<String>,
    /// The events; causes have smaller numbers.
    pub events: Vec<Event>,
    /// Pairs in immediate conflict, each once, the smaller number first.
    pub conflicts: Vec<(usize, usize)>,
    /// The maximal configurations, in the order in which they were found.
    pub configurations: Vec<Configuration>,
    /// Nothing is missing.
    pub complete: bool,
    /// What is missing, in sentences.
    pub left_out: Vec<String>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Its number.
    pub id: usize,
    /// Who acts, by the number of the lane.
    pub lane: usize,
    /// The length of the longest chain of causes that ends here, at least 1.
    pub depth: usize,
    /// The operation as the source has it; for an actor, the message that it takes.
    pub label: String,
    /// Its result in words, as far as its causes determine it.
    pub outcome: Option<String>,
    /// The file of the operation, if the program has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Line of the operation, from 1.
    pub line: Option<u32>,
    /// The direct causes, ascending: none of them is a cause of another.
    pub causes: Vec<usize>,
    /// What it can lead to.
    pub fate: Fate,
}

/// How executions that contain an event end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Some end well, or it is not known how all of them end.
    Open,
    /// All in a deadlock.
    Deadlock,
    /// All in a violation, not all of them in a deadlock.
    Failure,
}

/// A maximal configuration: a class of complete executions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// Counted from 1: `--trace` takes it.
    pub number: usize,
    /// How its executions end.
    pub verdict: Verdict,
    /// What is wrong then, in a sentence.
    pub message: Option<String>,
    /// The maximal ones among its events in the picture. The picture shows only these and what they need.
    pub last: Vec<usize>,
}

/// One execution, time against processes.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceTime {
    /// The program.
    #[serde(flatten)]
    pub subject: Subject,
    /// `space-time`.
    pub what: &'static str,
    /// How it ends; `incomplete` if something can still move.
    pub verdict: Verdict,
    /// What is wrong then, in a sentence.
    pub message: Option<String>,
    /// The file where it is wrong, if the program has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Where it is wrong: the line of what failed, from 1.
    pub line: Option<u32>,
    /// For a failure: the values that led to it, as they are at the end.
    pub variables: Vec<Variable>,
    /// The processes.
    pub lanes: Vec<Lane>,
    /// What they did, in order.
    pub steps: Vec<Moment>,
    /// What went from one step to another.
    pub arrows: Vec<Arrow>,
    /// The messages to actors that nobody has taken in the end.
    pub pending: Vec<Pending>,
    /// Who owned which mutex, and when.
    pub holds: Vec<Hold>,
    /// The lanes of the processes that wait for one another at the end; each waits for those in `waits_for`.
    pub cycle: Vec<usize>,
    /// The execution as a string for `--schedule`.
    pub replay: String,
    /// What is missing, in sentences.
    pub left_out: Vec<String>,
}

/// A process of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// The step that started it, if it was started by a step that is shown.
    pub started_by: Option<usize>,
    /// Its state at the end.
    pub end: End,
}

/// The state of a process at the end of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum End {
    /// It has run its last statement.
    Ended,
    /// An actor without messages.
    Idle,
    /// It stopped on a violation.
    Failed,
    /// It could go on.
    Open,
    /// It waits, in a deadlock.
    Blocked {
        /// The operation at which it waits.
        action: String,
        /// What it waits for, in words.
        waits_for: String,
        /// The lanes of those that could end the wait.
        helpers: Vec<usize>,
        /// The file of the operation, if the program has several.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<Arc<str>>,
        /// Line of the operation, from 1.
        line: Option<u32>,
    },
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// Its number.
    pub id: usize,
    /// Who moves, by the number of the lane.
    pub lane: usize,
    /// The operation as the source has it; for an actor, the message that it takes.
    pub label: String,
    /// Its result, in words.
    pub outcome: Option<String>,
    /// The file of the operation, if the program has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Line of the operation, from 1.
    pub line: Option<u32>,
}

/// A message to an actor that it has not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// The step that sent it; `None` if it was there from the start, or if that step is not shown.
    pub from: Option<usize>,
    /// The lane of the actor.
    pub lane: usize,
}

/// A process owns a mutex for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// The lane of the process.
    pub lane: usize,
    /// The mutex.
    pub mutex: String,
    /// The step from which on it owns the mutex.
    pub from: usize,
    /// The step that unlocks it; `None` if it is never unlocked.
    pub to: Option<usize>,
}

impl ControlFlow {
    /// The control flow of a program with these processes.
    pub fn new(subject: Subject, processes: &[Flow]) -> Self {
        ControlFlow { subject, what: "processes", processes: processes.to_vec() }
    }
}

impl Flow {
    /// What it is and how many there are, in words.
    pub fn census(&self) -> String {
        match (self.noun, self.instances) {
            ("init", _) => "once, before all else".into(),
            ("procedure", _) => "procedure, part of those that call it".into(),
            (noun, None) => format!("{noun}, started by spawn"),
            (noun, Some(1)) => format!("{noun}, 1 instance"),
            (noun, Some(n)) => format!("{noun}, {n} instances"),
        }
    }
}

impl Subject {
    /// The spec and the constants that were set, in words.
    pub fn title(&self) -> String {
        let spec = if self.spec == "-" { "standard input" } else { &self.spec };
        match self.defines.as_slice() {
            [] => spec.into(),
            defines => format!("{spec} with {}", defines.join(", ")),
        }
    }
}
