//! What a drawing shows, as plain data: no colours, no coordinates.
//!
//! There are four kinds. A [`PartialOrder`] is a set of events with causality: a part of the
//! unfolding, or the events of one execution (a configuration). A [`SpaceTime`] is a chart of one
//! execution, time against processes. A [`SearchTree`] shows the search of UDPOR, call by call. A
//! [`ControlFlow`] is the program itself. All of them serialise, and `mazurka draw` writes that to
//! a `.json` file; [`dot`](super::dot) and [`svg`](super::svg) draw them.
//!
//! In a finite prefix, to lock a mutex that is only locked and unlocked is one event.
//!
//! Events and steps are numbered from 0, causes before effects. A number is the index in the list;
//! events, steps and lanes refer to one another by it. (Diagrams of one execution show its steps
//! from 1, as `check` and `replay` do.) Lanes are processes, in order of declaration, followed by
//! spawned ones.

mod configuration;
mod depths;
mod lanes;
mod prefix;
mod search_tree;
mod space_time;
mod unfolding;

pub use search_tree::{Node, SearchTree, Turn};

pub(crate) use crate::property::{Arrow, ArrowKind};
pub(crate) use lanes::Lanes;
pub(crate) use search_tree::compact;

use std::sync::Arc;

#[cfg(feature = "json")]
use serde::Serialize;

use super::{Subject, Variable};
use crate::explore::Verdict;
use crate::model::flow::Flow;

/// A picture of one of the four kinds.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(untagged))]
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
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct ControlFlow {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub(crate) subject: Subject,
    /// The word `processes`.
    pub what: &'static str,
    /// One for each declaration, in order.
    pub(crate) processes: Vec<Flow>,
}

/// Events with causality and conflict.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct PartialOrder {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub(crate) subject: Subject,
    /// The word `unfolding`, `prefix` or `configuration`.
    pub what: &'static str,
    /// The names of the processes.
    pub lanes: Vec<String>,
    /// The events; causes have smaller numbers.
    pub events: Vec<Event>,
    /// The pairs in immediate conflict, each pair once, with the smaller number first.
    pub conflicts: Vec<(usize, usize)>,
    /// The maximal configurations, in the order in which they were found.
    pub(crate) configurations: Vec<Configuration>,
    /// Whether nothing is missing.
    pub complete: bool,
    /// What is missing, in sentences.
    pub(crate) left_out: Vec<String>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Event {
    /// Its number, which is its index.
    pub id: usize,
    /// The process that acts, by the number of its lane.
    pub lane: usize,
    /// The length of the longest chain of causes that ends here, at least 1.
    pub(crate) depth: usize,
    /// The operation as in the source; for an actor, the message that it takes.
    pub label: String,
    /// The result in words, as far as its causes determine it.
    pub outcome: Option<String>,
    /// The file of the operation, if the program has several.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) file: Option<Arc<str>>,
    /// The line of the operation, from 1.
    pub line: Option<u32>,
    /// The direct causes, ascending. None of them is a cause of another.
    pub causes: Vec<usize>,
    /// In a finite prefix, for a cutoff: the event whose local configuration leads to the same
    /// state. Nothing after a cutoff is drawn.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub cutoff_of: Option<CutoffOf>,
    /// How the executions with this event end.
    pub fate: Fate,
}

/// What a cutoff leads back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub enum CutoffOf {
    /// The initial state.
    Start,
    /// The state after the local configuration of this event.
    #[cfg_attr(feature = "json", serde(untagged))]
    Event(usize),
}

/// How executions that contain an event end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub enum Fate {
    /// Some end well, or the end of some is not known.
    Open,
    /// All end in a deadlock.
    Deadlock,
    /// All end in a violation, and at least one of them is not a deadlock.
    Failure,
}

/// A maximal configuration: a class of complete executions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub(crate) struct Configuration {
    /// The number, from 1, for `--trace`.
    pub(crate) number: usize,
    /// How its executions end.
    pub(crate) verdict: Verdict,
    /// The violation at the end, in a sentence.
    pub(crate) message: Option<String>,
    /// The maximal events of the configuration, among the events in the picture. The picture shows
    /// only these and their causes.
    pub(crate) last: Vec<usize>,
}

/// One execution, time against processes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct SpaceTime {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub(crate) subject: Subject,
    /// The word `space-time`.
    pub what: &'static str,
    /// How it ends; `incomplete` if something is still enabled.
    pub(crate) verdict: Verdict,
    /// The violation at the end, in a sentence.
    pub(crate) message: Option<String>,
    /// The file of the violation, if the program has several.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) file: Option<Arc<str>>,
    /// The line of the violation, from 1.
    pub(crate) line: Option<u32>,
    /// For a failure: the values that led to it, as they are at the end.
    pub(crate) variables: Vec<Variable>,
    /// The processes.
    pub lanes: Vec<Lane>,
    /// The steps, in order.
    pub steps: Vec<Moment>,
    /// The step from which on all are repeated for ever, if there is one.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) loop_from: Option<usize>,
    /// The arrows between steps.
    pub(crate) arrows: Vec<Arrow>,
    /// The messages to actors that are never taken.
    pub(crate) pending: Vec<Pending>,
    /// Which process held which mutex, and when.
    pub(crate) holds: Vec<Hold>,
    /// The lanes of the processes that wait for one another at the end: each waits for the next.
    pub(crate) cycle: Vec<usize>,
    /// The execution as an argument of `--schedule`.
    pub replay: String,
    /// What is missing, in sentences.
    pub(crate) left_out: Vec<String>,
}

/// A process of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// The step that started it, if that step is shown.
    pub(crate) started_by: Option<usize>,
    /// Its state at the end.
    pub(crate) end: End,
}

/// The state of a process at the end of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(tag = "state", rename_all = "lowercase"))]
pub(crate) enum End {
    /// It has run its last statement.
    Ended,
    /// An actor without messages.
    Idle,
    /// It stopped on a violation.
    Failed,
    /// It has an enabled action.
    Open,
    /// It waits, in a deadlock.
    Blocked {
        /// The operation at which it waits.
        action: String,
        /// What it waits for, in words.
        waits_for: String,
        /// The lanes of the processes that could end the wait.
        helpers: Vec<usize>,
        /// The file of the operation, if the program has several.
        #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
        file: Option<Arc<str>>,
        /// The line of the operation, from 1.
        line: Option<u32>,
    },
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Moment {
    /// Its number, which is its index.
    pub(crate) id: usize,
    /// The process that acts, by the number of its lane.
    pub lane: usize,
    /// The operation as in the source; for an actor, the message that it takes.
    pub label: String,
    /// Its result, in words.
    pub(crate) outcome: Option<String>,
    /// The file of the operation, if the program has several.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) file: Option<Arc<str>>,
    /// The line of the operation, from 1.
    pub(crate) line: Option<u32>,
}

/// A message to an actor that it has not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub(crate) struct Pending {
    /// The step that sent it; `None` for an initial message, or if that step is not shown.
    pub(crate) from: Option<usize>,
    /// The lane of the actor.
    pub(crate) lane: usize,
}

/// A period in which a process holds a mutex.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub(crate) struct Hold {
    /// The lane of the process.
    pub(crate) lane: usize,
    pub(crate) mutex: String,
    /// The first step after which it holds the mutex.
    pub(crate) from: usize,
    /// The step that unlocks it; `None` if it is never unlocked.
    pub(crate) to: Option<usize>,
}

impl ControlFlow {
    /// The control flow of a program with these processes.
    pub fn new(subject: Subject, processes: &[Flow]) -> Self {
        ControlFlow { subject, what: "processes", processes: processes.to_vec() }
    }
}

impl Flow {
    /// The kind of a process and the number of its instances, in words.
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
    pub(crate) fn title(&self) -> String {
        let spec = if self.spec == "-" { "standard input" } else { &self.spec };
        match self.defines.as_slice() {
            [] => spec.into(),
            defines => format!("{spec} with {}", defines.join(", ")),
        }
    }
}
