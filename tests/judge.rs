//! Judges of explorers: an observer that determines the class of every trace by itself, and the
//! replay of counterexamples on the bare model.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;
use std::sync::LazyLock;

use mazurka::explore::{
    AnyExplorer, Budget, Depth, EXPLORERS, End, EveryState, Explorer, Fused, Guarantee, Listed,
    NoObserver, Observer, Options, Order, Orders, Outcome, Parsimonious, Permutation, Profile,
    SPor, Setting, Stateful, StopReason, Switches, Violation, ViolationKind, explore,
};
use mazurka::model::{
    Failure, FailureKind, LocalId, Locals, Op, ProcessId, Schedule, State, Status, System,
};
use mazurka::property::{
    Leak, Motion, Position, Replay, Standing, Watch, broken_invariants, explain_deadlock,
};
use mazurka::trace::{Classes, NormalForm};

/// The variants of every explorer in the table that reports an execution of each class, or all
/// states: its name, what to run, and whether it never has blocked explorations. The judge itself
/// is not among them, nor `auto`, which reports the traces of its first search only (see `auto`), nor the prefix, which
/// visits none (see `prefix`).
pub static METHODS: LazyLock<Vec<(&str, AnyExplorer, bool)>> = LazyLock::new(|| {
    let judged = |e: &&Listed| {
        let Profile { guarantee, chooses, .. } = e.profile();
        ![Guarantee::EveryExecution, Guarantee::EveryViolation].contains(&guarantee) && !chooses
    };
    EXPLORERS
        .iter()
        .filter(judged)
        .flat_map(|e| variants(e).chain(over_configurations(e)))
        .collect()
});

/// The variants of an explorer of executions that can also walk along configurations.
fn over_configurations(
    explorer: &'static Listed,
) -> impl Iterator<Item = (&'static str, AnyExplorer, bool)> {
    let name = match explorer.profile().name {
        "dpor" => "dpor over configurations",
        _ => "transdpor over configurations",
    };
    let orders = ["random+seed=3"];
    let is_one = explorer.profile().takes.contain("over");
    orders.into_iter().filter(move |_| is_one).map(move |order| {
        let text = format!("order={order}+over=configurations");
        let options = Options::read(&text).expect("options");
        let setting = Setting::new(explorer, options).expect("options that it takes");
        (name, setting.made(), !setting.profile().may_block)
    })
}

/// The variants of an explorer, depending on the options that it accepts. The last one represents
/// all of them.
fn variants(explorer: &'static Listed) -> impl Iterator<Item = (&'static str, AnyExplorer, bool)> {
    let takes = &explorer.profile().takes;
    let options: &[&str] = match takes.orders {
        _ if takes.contain("k") => &[
            "k=1",
            "k=2",
            "k=3",
            "k=2+order=random+seed=1",
            "k=optimal+order=fifo",
            "k=optimal+order=lca",
            "k=optimal",
        ],
        Orders::All if takes.contain("sleep-sets") => &[
            "order=fifo",
            "order=eca",
            "order=lca",
            "order=lifo",
            "order=random+seed=1",
            "order=eca+sleep-sets",
            "order=lca+sleep-sets",
            "order=lifo+sleep-sets",
            "order=random+seed=2+sleep-sets",
            "order=fifo+sleep-sets",
        ],
        Orders::All => &["order=lca", "order=random+seed=7", "order=fifo"],
        Orders::OfProcesses => &["order=random+seed=3", "order=sequential"],
        Orders::None => &[""],
    };
    // What reverses nothing later is a variant without an option.
    let at_once = (explorer.profile().name == "parsimonious")
        .then(|| (explorer.profile().name, Parsimonious { max_pending: 0 }.into(), false));
    let given = options.iter().map(move |text| {
        let options = match *text {
            "" => Options::default(),
            text => Options::read(text).expect("options"),
        };
        let setting = Setting::new(explorer, options).expect("options that it takes");
        (explorer.profile().name, setting.made(), !setting.profile().may_block)
    });
    at_once.into_iter().chain(given)
}

/// Processes in the order of their numbers, and every reduction on.
pub const STATEFUL: Stateful = Stateful {
    order: Order::Sequential(Permutation::BY_NUMBER),
    without: Switches::NONE,
    as_printed: false,
    histories: false,
    hash_compaction: false,
};

/// The explorers that store states, with these settings; the one without reduction comes first.
pub fn storing(settings: Stateful) -> [AnyExplorer; 5] {
    [
        EveryState::of(settings).into(),
        SPor::safe(settings).into(),
        SPor::eager(settings).into(),
        SPor::lazy(settings).into(),
        Fused { how: settings }.into(),
    ]
}

/// Follows the transitions of a search, without doing anything.
struct Follower;

impl Observer for Follower {}

/// Asserts that the full state graph, and what is reported of it, does not depend on whether the
/// search computes its moves on the model or looks them up.
pub fn assert_full_graphs_agree<S: System>(system: &S, context: impl Fn() -> String) {
    for all in [true, false] {
        let budget = || Budget { all, ..Budget::default() };
        let looked_up = explore(system, EveryState::of(STATEFUL), budget(), &mut NoObserver);
        let made = explore(system, EveryState::of(STATEFUL), budget(), &mut Follower);
        let told = |outcome: &Outcome| {
            let mut stats = outcome.stats.clone();
            stats.state_bytes = None;
            let Outcome { violations, leaks, stopped_by, .. } = outcome;
            format!("{stats:?} {violations:?} {leaks:?} {stopped_by:?}")
        };
        assert_eq!(told(&looked_up), told(&made), "{}", context());
        assert_batches_agree(system, all, &made, &context);
    }
}

/// Asserts that the full state graph, also within a number of steps, is the same if states are
/// explored in batches, with any number of threads, and also if batches are given up.
fn assert_batches_agree<S: System>(
    system: &S,
    all: bool,
    made: &Outcome,
    context: impl Fn() -> String,
) {
    for (first, max_replayed) in [(1, 1 << 16), (300, 1 << 16), (1, 0), (40, 20)] {
        assert_jobs_agree(
            system,
            (first, max_replayed),
            Budget { all, ..Budget::default() },
            made,
            &context,
        );
    }
    for depth in [2, 7, 20] {
        let budget = Budget { all, depth: Some(depth), ..Budget::default() };
        let made = explore(system, EveryState::of(STATEFUL), budget.clone(), &mut Follower);
        let context = || format!("up to {depth}, {}", context());
        for first in [1, 1 << 17] {
            assert_jobs_agree(system, (first, 1 << 16), budget.clone(), &made, context);
        }
    }
}

/// Asserts that one thread and two find the same in batches, and, if nothing ended the search, the
/// same as on the model.
fn assert_jobs_agree<S: System>(
    system: &S,
    (first, max_replayed): (u64, u64),
    budget: Budget,
    made: &Outcome,
    context: impl Fn() -> String,
) {
    let run = |jobs| {
        let jobs = NonZeroU32::new(jobs).expect("some");
        let explorer = EveryState { jobs, first, max_replayed, ..EveryState::of(STATEFUL) };
        explore(system, explorer, budget.clone(), &mut NoObserver)
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(format!("{:?}", one.stats), format!("{:?}", two.stats), "{}", context());
    assert_eq!(
        format!("{:?} {:?}", one.violations, one.leaks),
        format!("{:?} {:?}", two.violations, two.leaks),
        "{}",
        context()
    );
    let found = |outcome: &Outcome| {
        let mut symptoms: Vec<_> =
            outcome.violations.iter().map(|found| format!("{:?}", found.symptom)).collect();
        symptoms.sort();
        (symptoms, outcome.stopped_by)
    };
    let told = |outcome: &Outcome| {
        let mut stats = outcome.stats.clone();
        (stats.state_bytes, stats.max_depth) = (None, 0);
        if system.invariants().is_some() {
            // Whether a violation happened before the end of an execution depends on the path.
            stats.violating_traces = 0;
        }
        let known = |leak: &Leak| format!("{:?} {} {:?}", leak.kind, leak.object, leak.site);
        let mut leaks: Vec<_> = outcome.leaks.iter().map(known).collect();
        leaks.sort();
        format!("{stats:?} {:?} {leaks:?}", found(outcome))
    };
    match has_ended(made) || made.stopped_by == Some(StopReason::Depth) {
        true => assert_eq!(told(made), told(&one), "{}", context()),
        false => assert_eq!(made.stopped_by, one.stopped_by, "{}", context()),
    }
}

/// A bound for explorers that need one. No execution of a test is as long.
pub const LONG: u32 = 10_000;

/// Whether the explorer refuses this system.
pub fn is_refused<S: System>(system: &S, method: impl Explorer) -> bool {
    let budget = Budget { depth: bound(&method, LONG), ..Budget::default() };
    method.refusal(system, &budget).is_some()
}

/// The bound on the depth for an explorer that needs one.
pub fn bound(explorer: &impl Explorer, depth: u32) -> Option<u32> {
    (depth < LONG || explorer.profile().depth == Depth::Length).then_some(depth)
}

/// Whether it visits every class. The tool's rule for TransDPOR does on all programs that it was
/// tried on; this is not proved, so the explorer does not guarantee it.
pub fn is_to_visit_every_class(method: impl Explorer) -> bool {
    method.profile().guarantee >= Guarantee::EveryClass || method.profile().name == "transdpor-tool"
}

/// Whether the search ran to its end.
pub fn has_ended(outcome: &Outcome) -> bool {
    outcome.stopped_by.is_none_or(StopReason::is_doubt)
}

/// Replays every execution that is reported, complete or cut by a bound, and counts how often each
/// class occurs.
///
/// One recorder may observe several explorers, one after another ([`Recorder::take`]): equal normal
/// forms are equal classes, whichever explorer reported them.
pub struct Recorder<'s, S: System> {
    locals: Locals<'s, S>,
    classes: Classes,
    counts: Counts,
    allow_pending: bool,
    failures: HashSet<(ProcessId, Failure)>,
}

/// The visits of a class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visits {
    /// The number of visits.
    pub times: u64,
    /// Whether it ends in a deadlock.
    pub deadlocked: bool,
}

/// The visited classes.
pub type Counts = BTreeMap<NormalForm, Visits>;

impl<'s, S: System> Recorder<'s, S> {
    /// For explorers of `system`.
    pub fn new(system: &'s S) -> Self {
        Recorder {
            locals: Locals::new(system),
            classes: Classes::default(),
            counts: BTreeMap::new(),
            allow_pending: false,
            failures: HashSet::new(),
        }
    }

    /// Sets whether messages may stay pending without a deadlock.
    pub fn allow_pending(mut self, allow: bool) -> Self {
        self.allow_pending = allow;
        self
    }

    /// The process of a violation, by an id that is the same for all explorers that this recorder
    /// observes.
    pub fn process_of(&mut self, violation: &Violation) -> Option<ProcessId> {
        let who = violation.process?;
        let state = violation.schedule.replay(&mut self.locals);
        let state = state.unwrap_or_else(|how| panic!("{violation:?}: {how}"));
        state.by_birth().get(who.index()).copied()
    }

    /// The failed processes at the ends of all traces so far, with their failures.
    pub fn failures(&self) -> &HashSet<(ProcessId, Failure)> {
        &self.failures
    }

    /// The classes visited since the last call.
    pub fn take(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }
}

impl<S: System> Recorder<'_, S> {
    /// An execution that is complete, or was cut by a bound.
    pub fn note(&mut self, schedule: &Schedule, is_complete: bool) {
        let classes = &mut self.classes;
        let end = schedule.replay_with(&mut self.locals, |locals, state| {
            classes.push(state.action(state.depth() - 1), state.effect(locals));
        });
        let end = end.unwrap_or_else(|how| panic!("a trace that is no execution: {how}"));
        let mut end = end;
        let is_livelocked = is_livelocked(&mut self.locals, &mut end);
        let ends = end.is_terminal(&self.locals);
        let is_over = ends || is_complete && is_livelocked;
        assert_eq!(is_over, is_complete, "{schedule:?} is reported as complete, or as cut");
        let visits = self.counts.entry(self.classes.normal_form()).or_default();
        visits.times += 1;
        visits.deadlocked = ends && is_stuck(&self.locals, &end, self.allow_pending);
        for process in end.processes() {
            if let Status::Failed(failure) = self.locals.status(end.local(process)) {
                self.failures.insert((process, failure.clone()));
            }
        }
        while !self.classes.path().is_empty() {
            self.classes.pop();
        }
    }
}

impl<S: System> Observer for Recorder<'_, S> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.note(&at.schedule(), true);
    }

    fn truncated(&mut self, at: Position<'_>) {
        self.note(&at.schedule(), false);
    }
}

/// Whether nothing is enabled but repetitions of loops.
fn is_livelocked<S: System>(locals: &mut Locals<'_, S>, state: &mut State) -> bool {
    match Watch::default().least_motion(locals, state) {
        Motion::Round(spins) => !spins.is_empty(),
        Motion::On | Motion::Unknown => false,
    }
}

/// Checks that the schedule of `violation` ends in what is reported.
pub fn check_counterexample<S: System>(system: &S, violation: &Violation) -> Result<(), String> {
    check_counterexample_where(system, violation, false)
}

/// Does the same check, with `allow_pending`.
pub fn check_counterexample_where<S: System>(
    system: &S,
    violation: &Violation,
    allow_pending: bool,
) -> Result<(), String> {
    let mut locals = Locals::new(system);
    let mut state = violation.schedule.replay(&mut locals).map_err(|how| how.to_string())?;
    if violation.kind == ViolationKind::Livelock {
        return is_livelocked(&mut locals, &mut state)
            .then_some(())
            .ok_or_else(|| "no livelock".into());
    }
    let kind_of = |process: ProcessId| match locals.status(state.local(process)) {
        Status::Failed(failure) if Some(failure) == violation.failure.as_ref() => {
            Some(failure.kind)
        }
        _ => None,
    };
    let holds = match (violation.kind, violation.process) {
        (ViolationKind::Deadlock, None) => {
            let is_end = state.is_standstill(&locals) || is_livelocked(&mut locals, &mut state);
            is_end && is_stuck(&locals, &state, allow_pending)
        }
        (ViolationKind::Assertion, Some(process)) => {
            kind_of(process) == Some(FailureKind::Assertion)
        }
        (ViolationKind::Assertion, None) => {
            violates_final(&locals, &state) && !is_stuck(&locals, &state, allow_pending)
                || breaks_invariant(&locals, &state, violation)
        }
        (ViolationKind::Error, Some(process)) => kind_of(process) == Some(FailureKind::Error),
        (ViolationKind::Error, None) => {
            state.is_crowded() || breaks_invariant(&locals, &state, violation)
        }
        // A livelock is judged before.
        _ => false,
    };
    holds.then_some(()).ok_or_else(|| format!("the schedule does not end in {violation:?}"))?;
    let replay = narrate(system, violation)?;
    let agrees = match &violation.failure {
        None => explain_deadlock(&replay).is_some(),
        Some(failure) => replay.failures(violation.process).contains(failure),
    };
    agrees.then_some(()).ok_or_else(|| format!("{violation:?} is not what the narration ends in"))
}

/// Replays the schedule as for a user, step by step.
fn narrate<'s, S: System>(system: &'s S, violation: &Violation) -> Result<Replay<'s, S>, String> {
    let mut replay = Replay::new(system);
    for &action in &violation.schedule {
        replay.step_with_changes(action).map_err(|refusal| refusal.to_string())?;
    }
    replay.look_for_livelock();
    match replay.standing() {
        Standing::Deadlock(_) | Standing::Failed { .. } => Ok(replay),
        fine => Err(format!("the narration ends in {fine:?}")),
    }
}

/// Whether this terminal state is a deadlock.
fn is_stuck<S: System>(locals: &Locals<'_, S>, state: &State, allow_pending: bool) -> bool {
    let is_actor =
        |p: &ProcessId| matches!(locals.op(state.local(*p)), None | Some(Op::Handle { .. }));
    state.stuck(locals).any(|process| !allow_pending || !is_actor(&process))
}

/// Whether this state violates the invariant of the violation.
fn breaks_invariant<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    violation: &Violation,
) -> bool {
    let broken = broken_invariants(locals, state);
    broken.iter().any(|(_, failure)| Some(failure) == violation.failure.as_ref())
}

/// Whether this terminal state violates `final`.
pub fn violates_final<S: System>(locals: &Locals<'_, S>, state: &State) -> bool {
    let content = |cell| state.content_of_declared(locals, cell);
    let is_of_program = |local| local != LocalId::ABSENT && local != LocalId::CARRIER;
    let of = |local| is_of_program(local).then(|| locals.get(local));
    let ends: Vec<_> =
        (0..locals.process_count() as u32).map(|p| of(state.local(ProcessId(p)))).collect();
    let finale = locals.system().finale();
    finale.is_some_and(|finale| finale.judge(&ends, &content, &locals.values).is_some())
}
