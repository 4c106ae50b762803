//! Programs by explorers: the result of each search, row by row, and whether rows agree.
//!
//! A study is a list of [`Case`]s (programs with their constants) and of [`Setting`]s (explorers
//! with their options). Each pair is a [`Job`], and its result a [`Row`]. A job can be serialised,
//! so another process may do it. This is necessary to measure the peak memory of a search, which
//! must have a process to itself. The caller decides how jobs are run and how rows are shown.
//!
//! Explorers with the same guarantee must find the same. [`disagreements`] compares the rows of a
//! case with one another. If they differ, one of the explorers is wrong, and that is a bug of this
//! crate. A [`Sweep`] gives a constant one value after another; a [`Point`] is a row together with
//! its repetitions. A [`Task`] is a search that is done in parts.

#[cfg(feature = "cli")]
mod agreement;
#[cfg(test)]
pub(crate) mod made_up;
#[cfg(feature = "cli")]
mod point;
#[cfg(feature = "cli")]
mod sweep;
#[cfg(feature = "cli")]
pub(crate) mod task;

#[cfg(feature = "cli")]
pub use agreement::{About, Disagreement, disagreements};
#[cfg(feature = "cli")]
pub use point::{Point, median};
#[cfg(feature = "cli")]
pub use sweep::{Sweep, ks, product};
#[cfg(feature = "cli")]
pub use task::Task;

#[cfg(feature = "cli")]
pub(crate) use agreement::foreseen;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::explore::{
    Budget, Combs, Depth, ENDLESS, Explorer, Guarantee, NoObserver, Outcome, PrefixFigures,
    Profile, Setting, StopReason, Verdict, ViolationKind, explore,
};
use crate::lang::{self, Granularity, Program};
use crate::model::Semantics;
use crate::model::System;

/// A program that can be compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name: the path of the spec.
    pub name: String,
    /// The source text.
    pub source: String,
    /// The constants to set, with their values.
    pub defines: Vec<(String, String)>,
    /// Whether each statement is an action, even if it only computes.
    pub by_statement: bool,
    /// Whether messages to actors may stay pending at the end.
    pub allow_pending: bool,
    /// The processes that may wait for ever, besides those that the program declares as daemons.
    #[serde(default)]
    pub daemons: Vec<String>,
    /// What the MPI standard leaves open.
    #[serde(default)]
    pub semantics: Semantics,
}

impl Case {
    /// Compiles the program.
    pub fn compile(&self) -> Result<Program, lang::Diagnostics> {
        let granularity = match self.by_statement {
            true => Granularity::Statement,
            false => Granularity::Operation,
        };
        let mut program = lang::compile_with(&self.name, &self.source, &self.defines, granularity)?;
        program.set_semantics(self.semantics);
        match program.allow_daemons(&self.daemons) {
            Ok(()) => Ok(program),
            Err(mistake) => Err(lang::Diagnostics::of(&self.name, &self.source, mistake)),
        }
    }

    /// The constants that were set: `N=3, M=2`; empty if there are none.
    pub fn constants(&self) -> String {
        let constants = self.defines.iter().map(|(name, value)| format!("{name}={value}"));
        constants.collect::<Vec<_>>().join(", ")
    }
}

/// The limits of a search; `None` for those that were not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum number of actions in an execution.
    pub depth: Option<u32>,
    /// The unit of `depth`; `None` for the measure of the explorer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_measure: Option<Depth>,
    /// The maximum number of complete executions.
    pub max_traces: Option<u64>,
    /// The maximum duration.
    #[serde(rename = "timeout_seconds", with = "seconds")]
    pub timeout: Option<Duration>,
    /// The maximum amount of memory, in bytes.
    #[serde(rename = "max_memory_bytes")]
    pub max_memory: Option<u64>,
}

impl Limits {
    /// The budget with these limits. `in_use` returns the number of bytes in use.
    pub fn budget(&self, in_use: fn() -> u64) -> Budget {
        Budget {
            depth: self.depth,
            measure: self.depth_measure,
            endless: Some(ENDLESS),
            max_traces: self.max_traces,
            timeout: self.timeout,
            max_memory: self.max_memory.map(|bytes| (bytes, in_use)),
            ..Budget::default()
        }
    }
}

/// Durations as numbers of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| time.as_secs_f64()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        Ok(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
    }
}

/// One search to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub case: Case,
    /// The explorer: the text of a [`Setting`].
    pub setting: String,
    /// The limits of the search.
    pub limits: Limits,
    /// Whether the search continues after a violation.
    pub all: bool,
    /// Repeat the search for this long and report the shortest times. A single very short search
    /// measures only noise.
    #[serde(default)]
    pub repeat_for: Duration,
}

/// The statistics of a search; `None` for those that the explorer does not have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figures {
    /// Complete executions that were visited.
    pub traces: u64,
    /// Executions that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Executions that violate something: a deadlock, a failed assertion, or a run-time error.
    pub violating_traces: u64,
    /// Executions that ended in a livelock.
    #[serde(default)]
    pub livelocked_traces: u64,
    /// Redundant explorations: all enabled actions were in the sleep set, or all enabled events
    /// disabled.
    pub blocked: u64,
    /// Executions given up because a process waits in a loop for something that has happened
    /// already.
    #[serde(default)]
    pub given_up: u64,
    /// Executions that were cut at the depth bound.
    pub truncated: u64,
    /// Actions that were executed.
    pub transitions: u64,
    /// Distinct events of the unfolding. Also `None` if too many were forgotten to know the number.
    pub events: Option<u64>,
    /// Events that were built. Those that were forgotten and built again count twice.
    pub events_built: Option<u64>,
    /// Distinct states that were stored.
    pub states: Option<u64>,
    /// Bytes in use for the stored states.
    pub state_bytes: Option<u64>,
    /// For searches within a depth: the numbers of states first visited after 0, 1, 2, .. actions.
    #[serde(default)]
    pub states_by_depth: Option<Vec<u64>>,
    /// Mazurkiewicz classes of the executions that were visited.
    pub classes: Option<u64>,
    /// For executions by chance: the classes of which one execution was visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes_seen_once: Option<u64>,
    /// For executions by chance: an estimate of the probability that one more execution is of a
    /// class that was not visited (Good and Turing). 0 is no proof that all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_class_probability: Option<f64>,
    /// Length of the longest execution.
    pub max_depth: u64,
    /// Calls of the SAT solver.
    pub sat_calls: Option<u64>,
    /// The figures of a complete finite prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixFigures>,
    /// The combs in which alternatives were searched for.
    pub combs: Option<Combs>,
    /// The duration of the search, in seconds.
    pub wall_seconds: f64,
    /// The peak memory of the process, in bytes.
    pub peak_memory_bytes: Option<u64>,
}

impl Figures {
    /// The statistics of a search.
    pub fn new(outcome: &Outcome, peak_memory_bytes: Option<u64>) -> Self {
        let stats = &outcome.stats;
        Figures {
            traces: stats.traces,
            deadlocked_traces: stats.deadlocked_traces,
            violating_traces: stats.violating_traces,
            livelocked_traces: stats.livelocked_traces,
            blocked: stats.blocked,
            given_up: stats.given_up,
            truncated: stats.truncated,
            transitions: stats.transitions,
            events: stats.events,
            events_built: stats.events_built,
            states: stats.states,
            state_bytes: stats.state_bytes,
            states_by_depth: stats.states_by_depth.clone(),
            classes: stats.classes,
            classes_seen_once: stats.classes_seen_once,
            new_class_probability: stats
                .classes_seen_once
                .filter(|_| stats.traces > 0)
                .map(|once| once as f64 / stats.traces as f64),
            max_depth: stats.max_depth,
            sat_calls: stats.sat_calls,
            prefix: stats.prefix,
            combs: stats.combs,
            wall_seconds: outcome.elapsed.as_secs_f64(),
            peak_memory_bytes,
        }
    }
}

/// The result of a search, without its counterexamples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the search ended early; `None` if it is complete.
    pub stopped_by: Option<StopReason>,
    /// The kinds of violation that were found, in a fixed order.
    pub found: Vec<ViolationKind>,
    /// The processor time of the search, of all its threads, if it was measured.
    #[serde(default)]
    pub processor_seconds: Option<f64>,
    /// The statistics of the search.
    pub stats: Figures,
}

impl Measured {
    /// The result of a search with this outcome.
    pub fn new(outcome: &Outcome, peak_memory_bytes: Option<u64>) -> Self {
        let mut found: Vec<_> = outcome.violations.iter().map(|v| v.kind).collect();
        found.sort_unstable();
        found.dedup();
        let stats = Figures::new(outcome, peak_memory_bytes);
        Measured {
            verdict: outcome.verdict(),
            stopped_by: outcome.stopped_by,
            found,
            processor_seconds: None,
            stats,
        }
    }

    /// Whether the search is complete: it has visited everything.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_none()
    }

    /// Whether the search ran to its end, even if it may have missed something. Then its figures
    /// are those of the whole search.
    pub fn has_ended(&self) -> bool {
        self.stopped_by.is_none_or(|reason| reason.is_doubt() || reason == StopReason::Sampled)
    }
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // Nearly all are measured: a box would save nothing.
pub enum Ran {
    /// It was run.
    Measured(Measured),
    /// The explorer is unsound for the program; the reason, in a sentence.
    Refused(String),
    /// It ended without a result; the way in which it ended, in a few words.
    Failed(String),
}

/// An explorer with its options, whether it is in the table of explorers or not.
#[derive(Clone, Debug)]
pub struct Searcher {
    /// Its name.
    pub name: String,
    /// Its name without the k.
    pub family: String,
    /// The k, if it has one.
    pub k: Option<String>,
    /// What a complete search guarantees.
    pub guarantee: Guarantee,
    /// Whether states include histories of processes, so that many executions may end alike.
    pub with_histories: bool,
}

impl Searcher {
    /// The description of an explorer, which need not be in the table.
    pub fn new(explorer: &impl Explorer) -> Searcher {
        let Profile { name, guarantee, .. } = explorer.profile();
        Searcher {
            family: name.into(),
            name: name.into(),
            k: None,
            guarantee,
            with_histories: false,
        }
    }
}

impl From<Setting> for Searcher {
    fn from(setting: Setting) -> Searcher {
        Searcher {
            name: setting.to_string(),
            family: setting.without_k().to_string(),
            k: setting.k().map(|k| k.to_string()),
            guarantee: setting.profile().guarantee,
            with_histories: setting.options().histories,
        }
    }
}

impl FromStr for Searcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Searcher, String> {
        text.parse().map(|setting: Setting| setting.into())
    }
}

impl Display for Searcher {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The result of one explorer on one case.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the case.
    pub spec: String,
    /// All constants of the program, with their values.
    pub constants: BTreeMap<String, serde_json::Value>,
    /// The constants that were set, as text.
    pub defines: String,
    /// The explorer.
    pub searcher: Searcher,
    /// The result.
    pub ran: Ran,
}

impl Row {
    /// Runs an explorer, which need not be in the table, in this process.
    pub fn of<S: System>(spec: &str, system: &S, explorer: impl Explorer, budget: Budget) -> Row {
        let ran = match explorer.refusal(system, &budget) {
            Some(why) => Ran::Refused(why),
            None => {
                let outcome = explore(system, explorer, budget, &mut NoObserver);
                Ran::Measured(Measured::new(&outcome, None))
            }
        };
        let searcher = Searcher::new(&explorer);
        let (constants, defines) = (BTreeMap::new(), String::new());
        Row { spec: spec.into(), constants, defines, searcher, ran }
    }

    /// The measurements, if there are any.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.ran {
            Ran::Measured(measured) => Some(measured),
            Ran::Refused(_) | Ran::Failed(_) => None,
        }
    }
}
