//! The limits of a search, and its figures.

use std::time::Duration;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::explore::{Budget, Combs, Depth, ENDLESS, Outcome, PrefixFigures, SymmetryFigures};

/// The limits of a search; `None` for those that were not set.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Limits {
    /// The maximum number of actions in an execution.
    pub depth: Option<u32>,
    /// The unit of `depth`; `None` for the measure of the explorer.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub depth_measure: Option<Depth>,
    /// The maximum number of complete executions.
    pub max_traces: Option<u64>,
    /// The maximum duration.
    #[cfg_attr(feature = "json", serde(rename = "timeout_seconds", with = "seconds"))]
    pub timeout: Option<Duration>,
    /// The maximum amount of memory, in bytes.
    #[cfg_attr(feature = "json", serde(rename = "max_memory_bytes"))]
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
#[cfg(feature = "json")]
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

/// The statistics of a search; `None` for those that the explorer does not have.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Figures {
    /// Complete executions that were visited.
    pub traces: u64,
    /// Executions that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Executions that violate something: a deadlock, a failed assertion, or a run-time error.
    pub violating_traces: u64,
    /// Executions that ended in a livelock.
    #[cfg_attr(feature = "json", serde(default))]
    pub livelocked_traces: u64,
    /// Redundant explorations: all enabled actions were in the sleep set, or all enabled events
    /// disabled.
    pub blocked: u64,
    /// Executions given up because a process waits in a loop for something that has happened
    /// already.
    #[cfg_attr(feature = "json", serde(default))]
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
    #[cfg_attr(feature = "json", serde(default))]
    pub states_by_depth: Option<Vec<u64>>,
    /// Mazurkiewicz classes of the executions that were visited.
    pub classes: Option<u64>,
    /// For executions by chance: the classes of which one execution was visited.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub classes_seen_once: Option<u64>,
    /// For executions by chance: an estimate of the probability that one more execution is of a
    /// class that was not visited (Good and Turing). 0 is no proof that all were.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub new_class_probability: Option<f64>,
    /// Length of the longest execution.
    pub max_depth: u64,
    /// Calls of the SAT solver.
    pub sat_calls: Option<u64>,
    /// The figures of a complete finite prefix.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub prefix: Option<PrefixFigures>,
    /// The combs in which alternatives were searched for.
    pub combs: Option<Combs>,
    /// If one of the states was kept that are equal up to the names of symmetric processes.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub symmetry: Option<SymmetryFigures>,
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
            symmetry: stats.symmetry.clone(),
            wall_seconds: outcome.elapsed.as_secs_f64(),
            peak_memory_bytes,
        }
    }
}
