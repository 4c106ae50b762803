//! The result of a search: its figures, its verdict, what it found, and why it ended.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::symptom::Symptom;
use crate::alternatives::Combs;
use crate::model::{Failure, FailureKind, ProcessId, Schedule, Semantics, Site};
use crate::property::Leak;

/// The figures of a search. A figure that an explorer does not have is `None`, never a made-up 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Complete executions visited.
    pub traces: u64,
    /// Those of them that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Those of them in which something is wrong: a deadlock at the end, a failed assertion, a
    /// run-time error. Where states are matched, an execution is the way that the search took to an
    /// end; an invariant counts if it fails on that way.
    pub violating_traces: u64,
    /// Those of them that ended in a livelock.
    pub livelocked_traces: u64,
    /// Explorations cut because everything enabled was asleep or disabled.
    pub blocked: u64,
    /// Executions given up because a process waits in a loop for something that has come already:
    /// it looked too early, and the executions in which it looks later are visited, too
    /// ([`crate::trace::spin`]). Or because it may poll no more ([`StopReason::Polls`]).
    pub given_up: u64,
    /// Executions cut by the depth bound.
    pub truncated: u64,
    /// Actions executed, replays not counted.
    pub transitions: u64,
    /// Length of the longest execution visited.
    pub max_depth: u64,
    /// Mazurkiewicz classes of the complete executions visited.
    pub classes: Option<u64>,
    /// Distinct events of the unfolding that were built; also `None` if so many were forgotten that
    /// the number is unknown.
    pub events: Option<u64>,
    /// Events of the unfolding that were built. Those that were forgotten and met again count
    /// again.
    pub events_built: Option<u64>,
    /// Distinct states stored.
    pub states: Option<u64>,
    /// Bytes in use for them.
    pub state_bytes: Option<u64>,
    /// How many states are first met after 0, 1, 2, .. actions, if they were visited in this order;
    /// up to the last length of which all are known.
    pub states_by_depth: Option<Vec<u64>>,
    /// Queries to the SAT solver.
    pub sat_calls: Option<u64>,
    /// The combs that alternatives were looked for in.
    pub combs: Option<Combs>,
}

/// The result of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The figures.
    pub stats: Stats,
    /// What was found, one per place in the program and kind, in the order found.
    pub violations: Vec<Violation>,
    /// What executions that end well leave behind, one per kind and place in the program, in the
    /// order found.
    pub leaks: Vec<Leak>,
    /// Why the search ended before it was complete; `None` if it is complete.
    pub stopped_by: Option<StopReason>,
    /// The first poll at which the bound on polls cut executions, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_poll: Option<Box<CutPoll>>,
    /// How long it took.
    pub elapsed: Duration,
    /// Of a piece of a search that tells classes apart: those that it has completed, each by its
    /// [representative](crate::trace::representative). What other pieces have completed, too, is
    /// counted once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<BTreeSet<Schedule>>,
    /// Of a portfolio: the search whose result this is, as it is written on a command line.
    pub answered_by: Option<String>,
}

/// A poll that was in vain as often in a row as it may be, in a loop that would have gone on in
/// another way after one more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPoll {
    /// Its place.
    pub site: Option<Site>,
    /// So often.
    pub polls: u8,
}

impl CutPoll {
    /// A bound that is worth a try instead, if there is a greater one.
    pub fn next(&self) -> Option<u8> {
        let more = self.polls.saturating_mul(4).clamp(8, Semantics::MOST_POLLS);
        (more > self.polls).then_some(more)
    }
}

impl Outcome {
    /// The search came to its end, and missed nothing.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_none()
    }

    /// The verdict in one word.
    pub fn verdict(&self) -> Verdict {
        match self.violations.first() {
            Some(violation) => violation.kind.into(),
            None if self.is_complete() => Verdict::Ok,
            None => Verdict::Incomplete,
        }
    }
}

/// The result of a search in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Complete, and nothing was violated.
    Ok,
    /// A terminal state in which some process is neither done nor failed.
    Deadlock,
    /// Some process goes round a loop for ever, and nothing else can happen.
    Livelock,
    /// An `assert` or `final` does not hold, or a property of a user's own.
    Assertion,
    /// A run-time violation.
    Error,
    /// Nothing was found, but the search is not complete.
    Incomplete,
}

impl Verdict {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Deadlock => "deadlock",
            Verdict::Livelock => "livelock",
            Verdict::Assertion => "assertion",
            Verdict::Error => "error",
            Verdict::Incomplete => "incomplete",
        }
    }
}

impl From<ViolationKind> for Verdict {
    fn from(kind: ViolationKind) -> Self {
        match kind {
            ViolationKind::Deadlock => Verdict::Deadlock,
            ViolationKind::Livelock => Verdict::Livelock,
            ViolationKind::Assertion => Verdict::Assertion,
            ViolationKind::Error => Verdict::Error,
        }
    }
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// It found a violation and was asked to stop at the first.
    Violation,
    /// `--max-traces`
    MaxTraces,
    /// `--timeout`
    Timeout,
    /// `--max-memory`
    MaxMemory,
    /// A signal.
    Interrupted,
    /// Its limits cannot be watched: no thread can be started.
    Unwatched,
    /// Parts of it are not done yet.
    Missing,
    /// The branch that was to be searched is not one of this system, or not one that the explorer
    /// can search.
    Stray,
    /// Some executions were cut at `--depth`; all others were visited.
    Depth,
    /// An execution went on and on, and no depth was given: perhaps it never ends.
    Endless,
    /// Only hashes of states were kept, so some may have been missed.
    HashCompaction,
    /// It came to its end, but the explorer may miss executions.
    NoGuarantee,
    /// It came to its end, but a class has too many states to judge an invariant in all of them.
    Invariant,
    /// It came to its end, but in a loop that polls, executions were cut at `--polls`.
    Polls,
    /// It came to its end, but a loop that changes nothing has too many local states to say whether
    /// it waits for ever.
    LongLoop,
    /// More processes arrived at a barrier than take part in it: nothing beyond that has a meaning.
    Oversubscribed,
    /// A process did what cannot be explored.
    Unsupported,
}

impl StopReason {
    /// Did the clock, the memory or a signal end the search, wherever it was?
    pub fn is_external(self) -> bool {
        use StopReason::{Interrupted, MaxMemory, Timeout, Unwatched};
        matches!(self, Timeout | MaxMemory | Interrupted | Unwatched)
    }

    /// Is a piece of a search that ends like this left to do?
    pub fn leaves_undone(self) -> bool {
        self.is_external() || matches!(self, StopReason::Stray | StopReason::Missing)
    }

    /// Did the search come to its end nevertheless, so that its figures are those of the whole
    /// search?
    pub fn is_doubt(self) -> bool {
        use StopReason::{HashCompaction, Invariant, LongLoop, NoGuarantee, Polls};
        matches!(self, HashCompaction | Invariant | LongLoop | NoGuarantee | Polls)
    }

    /// Does a piece of a search that ends like this end the whole search?
    pub fn ends_all(self) -> bool {
        !self.is_doubt() && !self.leaves_undone() && self != StopReason::Depth
    }

    /// The word for it, as in JSON; for a limit, the name of its option.
    pub fn word(self) -> &'static str {
        match self {
            StopReason::Violation => "violation",
            StopReason::MaxTraces => "max-traces",
            StopReason::Timeout => "timeout",
            StopReason::MaxMemory => "max-memory",
            StopReason::Interrupted => "interrupted",
            StopReason::Unwatched => "unwatched",
            StopReason::Missing => "missing",
            StopReason::Stray => "stray",
            StopReason::Depth => "depth",
            StopReason::Endless => "endless",
            StopReason::HashCompaction => "hash-compaction",
            StopReason::NoGuarantee => "no-guarantee",
            StopReason::Invariant => "invariant",
            StopReason::LongLoop => "long-loop",
            StopReason::Polls => "polls",
            StopReason::Oversubscribed => "oversubscribed",
            StopReason::Unsupported => "unsupported",
        }
    }
}

/// The kinds of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Nothing is enabled, and some process is neither done nor failed.
    Deadlock,
    /// Only fruitless rounds of loops are possible, and some process goes round.
    Livelock,
    /// `assert`, `final`, or a property of a user's own.
    Assertion,
    /// A run-time violation.
    Error,
}

impl ViolationKind {
    /// Deadlock or livelock.
    pub fn is_standstill(self) -> bool {
        matches!(self, ViolationKind::Deadlock | ViolationKind::Livelock)
    }
}

impl From<FailureKind> for ViolationKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Assertion => ViolationKind::Assertion,
            // A search does not note what is unsupported; a replay shows it.
            FailureKind::Error | FailureKind::Unsupported => ViolationKind::Error,
        }
    }
}

/// A violation with the execution that leads to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Which kind.
    pub kind: ViolationKind,
    /// The process that failed, as a replay of `schedule` numbers it; `None` for a deadlock, for
    /// `final`, and for a property of a user's own.
    pub process: Option<ProcessId>,
    /// What failed; `None` for a deadlock.
    pub failure: Option<Failure>,
    /// An execution that ends in the violation.
    pub schedule: Schedule,
    /// If the shortest was asked for: is it certain that no execution of its class has fewer
    /// switches between processes?
    pub has_fewest_switches: Option<bool>,
    /// Equal for violations that are alike, in all searches of a system.
    pub symptom: Symptom,
}
