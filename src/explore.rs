//! Explorers: algorithms that go through the executions of a system, and the driver they share.
//!
//! An explorer decides which executions to visit. What a visit means (counting, judging, limits,
//! telling observers, stopping) is the [`Driver`]'s business, the same for all of them.

mod count;
mod creation;
mod de_s_por;
mod dl_s_por;
mod dpor;
mod dpor_ds;
mod driver;
mod exhaustive;
mod optimal_dpor;
mod order;
mod points;
mod portfolio;
pub mod prefix;
mod registry;
mod s_por;
mod setting;
mod sleep_sets;
mod source_dpor;
mod stateful;
mod states;
mod trans_dpor;
mod udpor;
mod walk;
mod watchdog;

pub use crate::alternatives::Combs;
pub use count::{Count, Executions, count};
pub use driver::{Budget, Driver, ENDLESS};
pub use order::{History, Order, Permutation, Sorter};
pub use prefix::{Prefix, unfold};
pub use registry::{EXPLORERS, Explorer, Options, Orders, SleepSets};
pub use setting::{Setting, seeded};
pub use states::{Stateful, Switch, Switches};

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::alternatives::Alternatives;
use crate::model::{Action, Failure, FailureKind, ProcessId, Schedule, State, System};

/// Which algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Every interleaving.
    Exhaustive,
    /// Unfolding-based dynamic partial order reduction.
    Udpor(K),
    /// The same with the enabled events tried in this order instead of its own.
    UdporIn(Order, K),
    /// DPOR with backtrack sets.
    Dpor(Scheduling),
    /// TransDPOR, for actors.
    TransDpor(Scheduling),
    /// TransDPOR by the rule of its tool.
    TransDporTool(Scheduling),
    /// DPOR-DS's first step, for actors: a branch for each race.
    DporNaive(Order),
    /// DPOR-DS as published, for actors: a branch with the wanted order for each race.
    DporForce(Order),
    /// DPOR-DS completed, for actors.
    DporDs(Order),
    /// Sleep sets, trying enabled actions in this order.
    Sleep(Order),
    /// Source-DPOR, trying enabled actions in this order.
    Source(Order),
    /// Optimal DPOR, trying enabled actions in this order.
    Optimal(Order),
    /// Every state.
    Stateful(Stateful),
    /// Stateful, with safe sets.
    SPor(Stateful),
    /// Stateful, with source sets computed eagerly.
    DeSPor(Stateful),
    /// Stateful, with source sets computed lazily.
    DlSPor(Stateful),
    /// So many stateful searches at once.
    Portfolio(NonZeroU32),
}

impl Method {
    /// What a complete search promises: what the [`Info`] says, and with sleep sets that no class comes twice.
    pub fn guarantee(&self) -> Guarantee {
        match *self {
            Method::Exhaustive => exhaustive::INFO.guarantee,
            Method::Udpor(_) | Method::UdporIn(..) => udpor::INFO.guarantee,
            Method::Sleep(_) => sleep_sets::INFO.guarantee,
            Method::Source(_) => source_dpor::INFO.guarantee,
            Method::Optimal(_) => optimal_dpor::INFO.guarantee,
            Method::Dpor(scheduling) => scheduling.guarantee(dpor::INFO),
            Method::TransDpor(scheduling) => scheduling.guarantee(trans_dpor::INFO),
            Method::TransDporTool(scheduling) => scheduling.guarantee(trans_dpor::tool::INFO),
            Method::DporNaive(_) => dpor_ds::NAIVE.guarantee,
            Method::DporForce(_) => dpor_ds::FORCE.guarantee,
            Method::DporDs(_) => dpor_ds::DS.guarantee,
            Method::Stateful(settings) => settings.guarantee(stateful::INFO),
            Method::SPor(settings) => settings.guarantee(s_por::INFO),
            Method::DeSPor(settings) => settings.guarantee(de_s_por::INFO),
            Method::DlSPor(settings) => settings.guarantee(dl_s_por::INFO),
            Method::Portfolio(_) => portfolio::INFO.guarantee,
        }
    }

    /// What a depth bound measures.
    pub fn depth(&self) -> Depth {
        match self {
            Method::Exhaustive | Method::Udpor(_) | Method::UdporIn(..) | Method::Sleep(_) => {
                Depth::Causal
            }
            Method::Dpor(_) | Method::TransDpor(_) | Method::TransDporTool(_) => Depth::Causal,
            Method::Source(_) | Method::Optimal(_) => Depth::Causal,
            Method::DporNaive(_) | Method::DporForce(_) | Method::DporDs(_) => Depth::Length,
            Method::Stateful(_) | Method::SPor(_) => Depth::Length,
            Method::DeSPor(_) | Method::DlSPor(_) | Method::Portfolio(_) => Depth::Length,
        }
    }

    /// Where a depth bound cuts executions, has the search visited all classes of those up to that depth, or
    /// all states that they lead to? Not if a race with what was cut off could have led elsewhere.
    pub fn covers_up_to_depth(&self) -> bool {
        if self.guarantee() == Guarantee::SomeClasses {
            return false;
        }
        match self {
            Method::Exhaustive | Method::Udpor(_) | Method::UdporIn(..) | Method::Sleep(_) => true,
            Method::Dpor(_) | Method::TransDpor(_) | Method::DporDs(_) => true,
            Method::Source(_) | Method::Optimal(_) => true,
            Method::TransDporTool(_) | Method::DporNaive(_) | Method::DporForce(_) => false,
            Method::Stateful(_) | Method::SPor(_) => true,
            Method::DeSPor(_) | Method::DlSPor(_) | Method::Portfolio(_) => true,
        }
    }

    /// Why this method is not for this system, or not within this budget, in a sentence; `None` if it is.
    pub fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        match self {
            Method::Exhaustive | Method::Udpor(_) | Method::UdporIn(..) => None,
            Method::Sleep(_) | Method::Source(_) | Method::Optimal(_) => None,
            Method::Dpor(_) => None,
            Method::Stateful(_) | Method::SPor(_) => None,
            Method::DeSPor(_) | Method::DlSPor(_) | Method::Portfolio(_) => None,
            Method::TransDpor(_) => trans_dpor::refusal(system),
            Method::TransDporTool(_) => trans_dpor::tool::refusal(system),
            Method::DporNaive(_) => dpor_ds::refusal(dpor_ds::NAIVE, system, budget),
            Method::DporForce(_) => dpor_ds::refusal(dpor_ds::FORCE, system, budget),
            Method::DporDs(_) => dpor_ds::refusal(dpor_ds::DS, system, budget),
        }
    }
}

impl Scheduling {
    fn guarantee(self, info: Info) -> Guarantee {
        match info.guarantee {
            Guarantee::EveryClass if self.sleep_sets => Guarantee::EveryClassOnce,
            other => other,
        }
    }
}

impl Stateful {
    fn guarantee(self, info: Info) -> Guarantee {
        let is_sound = !self.as_printed && !self.hash_compaction;
        if is_sound { info.guarantee } else { Guarantee::SomeClasses }
    }
}

/// What a depth bound measures in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The longest chain of actions each of which happens before the next. It is the same for all executions of a
    /// class, and the bound has classes of its own: of the events up to that height, as many as fit together.
    Causal,
    /// The number of actions.
    Length,
}

/// How thorough UDPOR's alternatives are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum K {
    /// k-partial alternatives: conflicting with k of the disabled events, at least 1.
    Partial(u32),
    /// Alternatives to all disabled events.
    Optimal,
}

/// How an explorer that walks along executions goes about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scheduling {
    /// In which order enabled actions are tried.
    pub order: Order,
    /// With sleep sets (Godefroid 1996) on top.
    pub sleep_sets: bool,
}

/// What is known of an explorer before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What a complete search promises.
    pub guarantee: Guarantee,
    /// What it asks of the program, in a line; `None` if nothing.
    pub requires: Option<&'static str>,
}

/// What a complete search has done. A later one visits every class, too; of how often, each says its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// Visited some executions; others may differ from all of them. So no such search counts as complete.
    SomeClasses,
    /// Reached every terminal state and every violation, each state once. Where executions meet in a state they
    /// go on as one, so not every class was completed.
    EveryEnd,
    /// Visited at least one execution of each Mazurkiewicz class.
    EveryClass,
    /// Completed exactly one execution of each class.
    EveryClassOnce,
    /// Completed every execution.
    EveryExecution,
}

/// Runs `method` on `system` until it is complete or the budget ends it. What an explorer does where it may
/// miss executions, by its nature or because it is not for this system, is never complete.
pub fn explore<S: System>(
    system: &S,
    method: Method,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let misses_nothing =
        method.guarantee() > Guarantee::SomeClasses && method.refusal(system, &budget).is_none();
    let mut outcome = run(system, method, budget, observer);
    if !misses_nothing {
        outcome.stopped_by.get_or_insert(StopReason::NoGuarantee);
    }
    outcome
}

fn run<S: System>(
    system: &S,
    method: Method,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    if let Method::Portfolio(jobs) = method {
        return portfolio::explore_first(system, jobs, budget, observer);
    }
    let mut driver = Driver::new(system, budget, observer);
    match method {
        Method::Exhaustive => exhaustive::explore(system, &mut driver),
        Method::Udpor(k) => udpor::explore(system, k, None, &mut driver),
        Method::UdporIn(order, k) => udpor::explore(system, k, Some(order), &mut driver),
        Method::Dpor(scheduling) => dpor::explore(system, scheduling, &mut driver),
        Method::TransDpor(scheduling) => trans_dpor::explore(system, scheduling, &mut driver),
        Method::TransDporTool(scheduling) => {
            trans_dpor::tool::explore(system, scheduling, &mut driver)
        }
        Method::DporNaive(order) => dpor_ds::explore_naive(system, order, &mut driver),
        Method::DporForce(order) => dpor_ds::explore_force(system, order, &mut driver),
        Method::DporDs(order) => dpor_ds::explore(system, order, &mut driver),
        Method::Source(order) => source_dpor::explore(system, order, &mut driver),
        Method::Optimal(order) => optimal_dpor::explore(system, order, &mut driver),
        Method::Sleep(order) => sleep_sets::explore(system, order, &mut driver),
        Method::Stateful(settings) => stateful::explore(system, settings, &mut driver),
        Method::SPor(settings) => s_por::explore(system, settings, &mut driver),
        Method::DeSPor(settings) => de_s_por::explore(system, settings, &mut driver),
        Method::DlSPor(settings) => dl_s_por::explore(system, settings, &mut driver),
        Method::Portfolio(_) => unreachable!("handled above"),
    }
    driver.finish()
}

/// Runs UDPOR on `system` with this way to find alternatives, as [`explore()`] does with the usual ones.
pub fn udpor_with<S: System, T: Alternatives>(
    system: &S,
    alternatives: T,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut driver = Driver::new(system, budget, observer);
    udpor::explore_with(system, alternatives, None, &mut driver);
    driver.finish()
}

/// Told of what an explorer meets. All methods do nothing unless implemented.
pub trait Observer {
    /// A complete execution was reached: nothing is enabled in `state`.
    fn trace(&mut self, state: &State) {
        let _ = state;
    }

    /// What the complete execution that was told last came to.
    fn judged(&mut self, end: End) {
        let _ = end;
    }

    /// An exploration was cut because everything enabled was disabled by the algorithm.
    fn blocked(&mut self, state: &State) {
        let _ = state;
    }

    /// An execution was cut in `state` by the depth bound.
    fn truncated(&mut self, state: &State) {
        let _ = state;
    }

    /// A stateful explorer took a transition, made of these actions (one, but for locks as printed), from one stored
    /// state to another; the initial one is 0.
    fn transition(&mut self, from: u32, actions: &[Action], to: u32) {
        let _ = (from, actions, to);
    }

    /// Now and then, at most some times a second: how far the search is.
    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        let _ = (stats, elapsed);
    }
}

/// What is wrong with a complete execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// It ends in a deadlock.
    pub is_deadlocked: bool,
    /// Something is wrong with it: that, or an assertion or `final` that fails, or a run-time error.
    pub is_violating: bool,
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// The figures of a search. One that an explorer has not is `None`, never a made-up 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Complete executions visited.
    pub traces: u64,
    /// Those of them that ended in a deadlock.
    pub deadlocked_traces: u64,
    /// Those of them in which something is wrong: a deadlock at the end, a failed assertion, a run-time error.
    pub violating_traces: u64,
    /// Those of them that ended in a livelock.
    pub livelocked_traces: u64,
    /// Explorations cut because everything enabled was asleep or disabled.
    pub blocked: u64,
    /// Executions given up because a process waits in a loop for what has come: it looked too early, and the
    /// executions in which it looks later are visited as well ([`crate::trace::spin`]).
    pub given_up: u64,
    /// Executions cut by the depth bound.
    pub truncated: u64,
    /// Actions executed, replays not counted.
    pub transitions: u64,
    /// Length of the longest execution visited.
    pub max_depth: u64,
    /// Mazurkiewicz classes of the complete executions visited.
    pub classes: Option<u64>,
    /// Distinct events of the unfolding built; `None` too when so many of them were forgotten that those
    /// built again cannot be told.
    pub events: Option<u64>,
    /// Events of the unfolding built, those counted again that were forgotten and met again.
    pub events_built: Option<u64>,
    /// Distinct states stored.
    pub states: Option<u64>,
    /// Bytes in use for them.
    pub state_bytes: Option<u64>,
    /// How many states are first met after 0, 1, 2, .. actions, if they were visited in this order; as far as those
    /// of a length are all known.
    pub states_by_depth: Option<Vec<u64>>,
    /// Queries to the SAT solver.
    pub sat_calls: Option<u64>,
    /// The combs that alternatives were looked for in.
    pub combs: Option<Combs>,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The figures.
    pub stats: Stats,
    /// What was found, one per place in the program and kind, in the order found.
    pub violations: Vec<Violation>,
    /// Why the search ended before it was complete; `None` if it is complete.
    pub stopped_by: Option<StopReason>,
    /// How long it took.
    pub elapsed: Duration,
    /// Of a portfolio: the search whose result this is.
    pub answered_by: Option<Setting>,
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

/// A search in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Complete, and nothing was violated.
    Ok,
    /// A terminal state in which some process is neither done nor failed.
    Deadlock,
    /// Some process goes round a loop for ever, and nothing else can happen.
    Livelock,
    /// An `assert` or `final` does not hold.
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
    /// Some executions were cut at `--depth`; all others were visited.
    Depth,
    /// An execution went on and on, and no depth was given: perhaps it never ends.
    Endless,
    /// Only hashes of states were kept, so some may have been missed.
    HashCompaction,
    /// It came to its end, but the explorer may miss executions.
    NoGuarantee,
    /// More processes arrived at a barrier than take part in it: nothing beyond that has a meaning.
    Oversubscribed,
}

impl StopReason {
    /// Did the clock, the memory or a signal end the search, wherever it was?
    pub fn is_external(self) -> bool {
        matches!(self, StopReason::Timeout | StopReason::MaxMemory | StopReason::Interrupted)
    }

    /// Did the search come to its end all the same, so that its figures are those of the whole search?
    pub fn is_doubt(self) -> bool {
        matches!(self, StopReason::HashCompaction | StopReason::NoGuarantee)
    }

    /// The word for it, as in JSON; for a limit, the name of its option.
    pub fn word(self) -> &'static str {
        match self {
            StopReason::Violation => "violation",
            StopReason::MaxTraces => "max-traces",
            StopReason::Timeout => "timeout",
            StopReason::MaxMemory => "max-memory",
            StopReason::Interrupted => "interrupted",
            StopReason::Depth => "depth",
            StopReason::Endless => "endless",
            StopReason::HashCompaction => "hash-compaction",
            StopReason::NoGuarantee => "no-guarantee",
            StopReason::Oversubscribed => "oversubscribed",
        }
    }
}

/// The kinds of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Nothing enabled, and some process is neither done nor failed.
    Deadlock,
    /// Nothing possible but to go round loops for nothing, and some process does.
    Livelock,
    /// `assert` or `final`.
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
            FailureKind::Error => ViolationKind::Error,
        }
    }
}

/// A violation with the execution that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which kind.
    pub kind: ViolationKind,
    /// The process that failed, as a replay of `schedule` numbers it; `None` for a deadlock and for `final`.
    pub process: Option<ProcessId>,
    /// What failed; `None` for a deadlock.
    pub failure: Option<Failure>,
    /// An execution that ends in the violation.
    pub schedule: Schedule,
    /// Where the shortest was asked for: has no execution of its class fewer switches between processes?
    pub has_fewest_switches: Option<bool>,
}
