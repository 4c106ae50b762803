//! The result of a search: figures, verdict, violations, and why it ended.

use std::collections::BTreeSet;
use std::time::Duration;

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::symptom::Symptom;
use crate::alternatives::Combs;
use crate::model::{Failure, FailureKind, ProcessId, Schedule, Semantics, Site};
use crate::property::Leak;

/// The figures of a search. A figure that an explorer does not count is `None`, not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Stats {
    /// Complete executions visited.
    pub traces: u64,
    /// Complete executions that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Complete executions with a violation: a deadlock or livelock at the end, a failed assertion,
    /// a run-time error. An explorer that stores states counts the path by which it reached an end;
    /// a failed invariant counts if it fails on that path.
    pub violating_traces: u64,
    /// Complete executions that ended in a livelock.
    pub livelocked_traces: u64,
    /// Explorations cut because everything enabled was asleep or disabled.
    pub blocked: u64,
    /// Executions given up. Either a process waits in a loop for something that has happened
    /// already: it looked too early, and the executions in which it looks later are visited, too
    /// (`trace::spin`). Or it has used up its polls ([`StopReason::Polls`]).
    pub given_up: u64,
    /// Executions cut by the depth bound.
    pub truncated: u64,
    /// Actions executed, without those of replays.
    pub transitions: u64,
    /// Length of the longest execution visited, in actions.
    pub max_depth: u64,
    /// Mazurkiewicz classes of the complete executions visited.
    pub classes: Option<u64>,
    /// For a sample: the classes of which one execution was visited.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub classes_seen_once: Option<u64>,
    /// Distinct events of the unfolding that were built; `None` also if too many were discarded to
    /// know the number.
    pub events: Option<u64>,
    /// Events of the unfolding that were built. An event that was discarded and built again counts
    /// again.
    pub events_built: Option<u64>,
    /// Distinct states stored.
    pub states: Option<u64>,
    /// Bytes in use for the stored states.
    pub state_bytes: Option<u64>,
    /// The number of states at distance 0, 1, 2, .. from the initial state, in actions, if states
    /// were visited in this order; up to the last distance at which all states are known.
    pub states_by_depth: Option<Vec<u64>>,
    /// Queries to the SAT solver.
    pub sat_calls: Option<u64>,
    /// Figures of a complete finite prefix.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub prefix: Option<PrefixFigures>,
    /// Figures of the combs in which alternatives were searched.
    pub combs: Option<Combs>,
    /// If one of the states was kept that are equal up to the names of symmetric processes.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub symmetry: Option<SymmetryFigures>,
}

/// Figures of a search that keeps one state of those that are equal up to the names of symmetric
/// processes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct SymmetryFigures {
    /// The names of the symmetric processes.
    pub processes: String,
    /// For each group of indices that are permuted, how many there are.
    pub indices: Vec<u32>,
    /// For each group, whether it is a ring, which is only rotated.
    pub rings: Vec<bool>,
    /// The number of permutations, if it fits.
    pub permutations: Option<u64>,
    /// The number of states for which those stand that were kept, if it is known.
    pub stands_for: Option<u64>,
}

impl Stats {
    /// For the figures of a branch: a branch without transitions was empty, so its blocked
    /// exploration does not count.
    pub(super) fn forget_idle(&mut self) {
        if self.transitions == 0 {
            self.blocked = 0;
        }
    }

    /// Adds the figures of another part of a search. Figures that may count something in both parts
    /// become unknown.
    pub(super) fn add(&mut self, other: &Stats) {
        self.traces = self.traces.saturating_add(other.traces);
        self.deadlocked_traces = self.deadlocked_traces.saturating_add(other.deadlocked_traces);
        self.violating_traces = self.violating_traces.saturating_add(other.violating_traces);
        self.livelocked_traces = self.livelocked_traces.saturating_add(other.livelocked_traces);
        self.blocked = self.blocked.saturating_add(other.blocked);
        self.given_up = self.given_up.saturating_add(other.given_up);
        self.truncated = self.truncated.saturating_add(other.truncated);
        self.transitions = self.transitions.saturating_add(other.transitions);
        self.max_depth = self.max_depth.max(other.max_depth);
        self.classes = None;
        self.classes_seen_once = None;
        self.events = None;
        self.events_built = sum(self.events_built, other.events_built);
        self.states = None;
        self.symmetry = None;
        self.state_bytes = None;
        self.states_by_depth = None;
        self.sat_calls = sum(self.sat_calls, other.sat_calls);
        self.combs = self.combs.zip(other.combs).map(|(one, other)| Combs {
            asked: one.asked.saturating_add(other.asked),
            most_spikes: one.most_spikes.max(other.most_spikes),
            longest_spike: one.longest_spike.max(other.longest_spike),
            most_tries: one.most_tries.max(other.most_tries),
        });
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.zip(other).map(|(one, other)| one.saturating_add(other))
}

/// The figures of a complete finite prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct PrefixFigures {
    /// Its events that are no cutoffs. To lock a mutex that is only locked and unlocked is one
    /// event.
    pub events: u64,
    /// Its cutoffs: events that lead back to a state that was there.
    pub cutoffs: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// Is an event that changes what others have read one event, whoever has read it before? Then
    /// there are no cutoffs.
    #[cfg_attr(feature = "json", serde(default))]
    pub has_read_arcs: bool,
    /// Is it certain that no deadlock has fewer steps than the first one?
    #[cfg_attr(feature = "json", serde(default))]
    pub has_shortest_deadlock: bool,
}

/// The result of a search.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Outcome {
    /// The figures.
    pub stats: Stats,
    /// The violations, one per symptom, in the order found.
    pub violations: Vec<Violation>,
    /// What executions without a violation leave behind, one per kind and place in the program, in
    /// the order found.
    pub leaks: Vec<Leak>,
    /// Why the search ended before it was complete; `None` if it is complete.
    pub stopped_by: Option<StopReason>,
    /// The first poll at which the bound on polls cut executions, if it did.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub cut_poll: Option<Box<CutPoll>>,
    /// The time that it took.
    pub elapsed: Duration,
    /// In the result of a piece of a search that counts classes: the classes that it has completed,
    /// each by its representative. So a class that several pieces
    /// complete is counted once.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub classes: Option<BTreeSet<Schedule>>,
    /// For a search that chooses among explorers ([`Auto`](super::Auto)): the explorer whose result
    /// this is, as written on a command line.
    pub answered_by: Option<String>,
}

/// A poll that reached the bound on consecutive unsuccessful polls, in a loop that would have taken
/// another path after one more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct CutPoll {
    /// Its place in the source, if it has one.
    pub site: Option<Site>,
    /// The bound that it reached.
    pub polls: u8,
}

impl CutPoll {
    /// A greater bound that is worth a try, if there is one.
    pub fn next(&self) -> Option<u8> {
        let more = self.polls.saturating_mul(4).clamp(8, Semantics::MOST_POLLS);
        (more > self.polls).then_some(more)
    }
}

/// A search with these figures that is complete and has found nothing.
impl From<Stats> for Outcome {
    fn from(stats: Stats) -> Outcome {
        Outcome {
            stats,
            violations: Vec::new(),
            leaks: Vec::new(),
            stopped_by: None,
            cut_poll: None,
            elapsed: Duration::ZERO,
            classes: None,
            answered_by: None,
        }
    }
}

impl Outcome {
    /// Did the search visit everything that it promises to visit?
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Verdict {
    /// The search is complete, without a violation.
    Ok,
    /// A terminal state in which some process is neither done nor failed.
    Deadlock,
    /// Some process loops for ever, and nothing else can happen.
    Livelock,
    /// An `assert`, a `final`, an `invariant` or a user's own property fails.
    Assertion,
    /// A run-time violation.
    Error,
    /// A fair execution on which something never happens that must happen in the end.
    Liveness,
    /// No violation was found, but the search is not complete.
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
            Verdict::Liveness => "liveness",
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
            ViolationKind::Liveness => Verdict::Liveness,
        }
    }
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum StopReason {
    /// It found a violation, and was to stop at the first.
    Violation,
    /// `--max-traces`
    MaxTraces,
    /// `--timeout`
    Timeout,
    /// `--max-memory`
    MaxMemory,
    /// A signal.
    Interrupted,
    /// No thread can be started to watch its limits.
    Unwatched,
    /// Pieces of it are not done yet.
    Missing,
    /// The branch to search is not one of this system, or not one that the explorer gives away.
    Stray,
    /// Some executions were cut at `--depth`; all others were visited.
    Depth,
    /// An execution reached the length limit for searches without a depth: perhaps it never ends.
    Endless,
    /// It has run as many executions, chosen by chance, as it was to run.
    Sampled,
    /// Only hashes of states were kept, so some may have been missed.
    HashCompaction,
    /// Nothing is left to explore, but the explorer may miss executions.
    NoGuarantee,
    /// Nothing is left to explore, but a class has too many states to judge an invariant in all of
    /// them.
    Invariant,
    /// Nothing is left to explore, but executions were cut at `--polls`, in a loop that polls.
    Polls,
    /// Nothing is left to explore, but a loop that changes nothing has too many local states to
    /// decide whether it waits for ever.
    LongLoop,
    /// Nothing is left to explore, but there are too many states in which all that can move may be
    /// in loops that wait, to judge each of them.
    Rounds,
    /// The program starts processes in a loop, so that there is no finite prefix.
    Growing,
    /// More processes arrived at a barrier than take part in it. What happens after that has no
    /// meaning.
    Oversubscribed,
    /// A process did something that is not supported.
    Unsupported,
}

impl StopReason {
    /// Did a cause outside the search end it: the clock, the memory, a signal?
    pub fn is_external(self) -> bool {
        use StopReason::{Interrupted, MaxMemory, Timeout, Unwatched};
        matches!(self, Timeout | MaxMemory | Interrupted | Unwatched)
    }

    /// Must a piece of a search that ends like this be explored again?
    pub fn leaves_undone(self) -> bool {
        self.is_external() || matches!(self, StopReason::Stray | StopReason::Missing)
    }

    /// Did the search explore everything nevertheless, so that its figures are final?
    pub fn is_doubt(self) -> bool {
        use StopReason::{HashCompaction, Invariant, LongLoop, NoGuarantee, Polls, Rounds};
        matches!(self, HashCompaction | Invariant | LongLoop | NoGuarantee | Polls | Rounds)
    }

    /// Does a piece that ends like this end the whole search?
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
            StopReason::Sampled => "sampled",
            StopReason::HashCompaction => "hash-compaction",
            StopReason::NoGuarantee => "no-guarantee",
            StopReason::Invariant => "invariant",
            StopReason::LongLoop => "long-loop",
            StopReason::Rounds => "rounds",
            StopReason::Growing => "growing",
            StopReason::Polls => "polls",
            StopReason::Oversubscribed => "oversubscribed",
            StopReason::Unsupported => "unsupported",
        }
    }
}

/// The kinds of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ViolationKind {
    /// Nothing is enabled, and some process is neither done nor failed.
    Deadlock,
    /// Only spin iterations are possible, and some process that loops is not a daemon.
    Livelock,
    /// An `assert`, a `final`, an `invariant` or a user's own property fails.
    Assertion,
    /// A run-time violation.
    Error,
    /// Something never happens that must happen in the end: see
    /// [`Liveness`](crate::model::Liveness).
    Liveness,
}

impl ViolationKind {
    /// Is it a deadlock or a livelock?
    pub fn is_standstill(self) -> bool {
        matches!(self, ViolationKind::Deadlock | ViolationKind::Livelock)
    }
}

impl From<FailureKind> for ViolationKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Assertion => ViolationKind::Assertion,
            // A search does not record unsupported operations as violations; a replay shows them.
            FailureKind::Error | FailureKind::Unsupported => ViolationKind::Error,
        }
    }
}

/// A violation, with an execution that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Violation {
    /// Its kind.
    pub kind: ViolationKind,
    /// The process that failed, as a replay of `schedule` numbers it; `None` for deadlocks and
    /// livelocks, for `final` and `invariant`, and for users' own properties.
    pub process: Option<ProcessId>,
    /// The failure; `None` for a deadlock or livelock.
    pub failure: Option<Failure>,
    /// An execution that ends in the violation, or goes round for ever.
    pub schedule: Schedule,
    /// The number of the demand that it violates, for [`ViolationKind::Liveness`].
    pub demand: Option<u32>,
    /// Is it certain that no execution of its class has fewer switches between processes? `None` if
    /// [`Budget::shortest`](super::budget::Budget::shortest) was not set.
    pub has_fewest_switches: Option<bool>,
    /// Its key, the same in all searches of the system.
    pub symptom: Symptom,
}

impl Violation {
    /// One of no process, failure or demand.
    pub(super) fn new(kind: ViolationKind, symptom: Symptom, schedule: Schedule) -> Violation {
        Violation {
            kind,
            process: None,
            failure: None,
            schedule,
            demand: None,
            has_fewest_switches: None,
            symptom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_parts_are_added() {
        let part = |asked, most_spikes, longest_spike, most_tries| Stats {
            traces: 2,
            max_depth: asked,
            events_built: Some(3),
            sat_calls: Some(asked),
            combs: Some(Combs { asked, most_spikes, longest_spike, most_tries }),
            ..Stats::default()
        };
        let mut sum = part(5, 2, 7, 1);
        sum.add(&part(4, 3, 6, 9));
        assert_eq!((sum.traces, sum.max_depth), (4, 5));
        assert_eq!((sum.events_built, sum.sat_calls), (Some(6), Some(9)));
        let combs = Combs { asked: 9, most_spikes: 3, longest_spike: 7, most_tries: 9 };
        assert_eq!(sum.combs, Some(combs));
        sum.add(&Stats::default());
        assert_eq!((sum.events_built, sum.sat_calls, sum.combs), (None, None, None));
    }
}
