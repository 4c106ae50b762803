//! Every spec on every explorer, judged by what the explorer guarantees.
//!
//! Three things must agree: the numbers that the spec expects, the classes that the exhaustive
//! explorer finds (if there are few enough executions), and the classes that each other explorer
//! reports, trace by trace.

mod bounded;
mod expectation;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mazurka::explore::{
    Budget, Depth, DporDs, EXPLORERS, Exhaustive, Explorer, Guarantee, NoObserver, Outcome, Source,
    StopReason, ViolationKind, explore,
};
use mazurka::lang::{Expectation, ExpectedVerdict, Program, compile};
use mazurka::model::System;
use mazurka::property::Properties;
use mazurka::report::ViolationReport;

use crate::judge::{
    Counts, LONG, METHODS, Recorder, STATEFUL, check_counterexample_where, has_ended, is_refused,
    is_to_visit_every_class, storing,
};
use crate::tidy::files;
pub use expectation::{expectations, options};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// Every time: few variants of the explorers, and programs that are not large.
    Brief,
    /// What `.ci/run` adds, in an optimised build: larger programs, and more variants on them.
    More,
    /// All expectations, with all variants and the long exhaustive searches.
    Thorough,
}

/// The exhaustive explorer is the judge if the spec has at most this number of executions, for each
/// effort.
const MAX_EXECUTIONS: [u64; 3] = [2_000, 5_000, 20_000];
/// If the spec does not give the number of executions, the exhaustive search is given up after this
/// number.
const MAX_ATTEMPT: u64 = 2_000;
/// Above this number of classes, only the last variant of each explorer is used; with a thorough
/// effort, no explorer that may take long.
const MANY_CLASSES: [u64; 3] = [60, 300, 500];
/// Above this number of classes, a brief effort uses only the first and the last k of UDPOR.
const FEW_CLASSES: u64 = 10;
/// Above this number of classes, only the last variant of each explorer is used, whatever the
/// effort.
const VERY_MANY_CLASSES: u64 = 10_000;
/// Above this number of classes, no explorer is used.
const TOO_MANY_CLASSES: [u64; 3] = [600, 2_000, u64::MAX];
/// With many classes, local states are forgotten only if there are more.
const FEW_LOCALS: usize = 256;
/// The time of a case that takes longer is printed.
const NOTEWORTHY: Duration = Duration::from_secs(2);

/// A spec with one of its expectations.
struct Case {
    path: PathBuf,
    text: String,
    expected: Expectation,
    effort: Effort,
}

/// The expectations of all specs that this effort is for; those marked `slow` only if thorough.
fn cases(effort: Effort) -> Vec<Case> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable spec");
        let all = expectations(&text).unwrap_or_else(|what| panic!("{}: {what}", path.display()));
        let case =
            move |expected| Case { path: path.clone(), text: text.clone(), expected, effort };
        all.into_iter().map(case)
    };
    let cases = files("specs", "maz").into_iter().flat_map(read);
    cases.filter(|case| effort == Effort::Thorough || !case.is_slow()).collect()
}

impl Case {
    fn name(&self) -> String {
        let path = self.path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&self.path);
        format!("{}{}", path.display(), options(&self.expected))
    }

    fn is_slow(&self) -> bool {
        self.expected.slow
            || self.expected.traces.is_some_and(|n| n > TOO_MANY_CLASSES[self.effort as usize])
    }

    fn compile(&self) -> Result<Program, String> {
        let name = self.path.file_name().map_or("".into(), |name| name.to_string_lossy());
        let mut program = compile(&name, &self.text, &self.expected.with)
            .map_err(|errors| errors.render(false))?;
        program.set_semantics(self.expected.semantics.unwrap_or_default());
        Ok(program)
    }

    fn check(&self) -> Result<(), String> {
        let program = self.compile()?;
        if let Some(depth) = self.expected.depth {
            return self.check_cut(&program, depth);
        }
        if program.liveness().is_some() {
            return self.check_demands(&program);
        }
        self.check_states(&program)?;
        let mut recorder = Recorder::new(&program).allow_pending(self.expected.allow_pending);
        let judged = self.check_exhaustive(&program, &mut recorder)?;
        for (index, &(_, method, never_blocked)) in METHODS.iter().enumerate() {
            if is_refused(&program, method)
                || self.may_take_long(method) && judged.is_none()
                || self.is_spared(index)
                || method.profile().guarantee < Guarantee::EveryEnd
                    && !is_to_visit_every_class(method)
            {
                continue;
            }
            let outcome = explore(&program, method, self.everything_by(method), &mut recorder);
            let found = recorder.take();
            let guarantee = method.profile().guarantee;
            // Loops that poll are not cut on the graph of all states.
            if method.profile().name == "fair" && outcome.stopped_by == Some(StopReason::Polls) {
                continue;
            }
            self.check_outcome(&outcome)
                .and_then(|()| match guarantee {
                    Guarantee::EveryEnd => self.check_ends(&outcome),
                    _ => self.check_classes(&outcome, &found, guarantee, judged.as_ref()),
                })
                .and_then(|()| match outcome.stats.blocked {
                    1.. if never_blocked => Err(format!("{} blocked", outcome.stats.blocked)),
                    _ => Ok(()),
                })
                .and_then(|()| self.check_counterexamples(&program, &outcome))
                .map_err(|how| format!("{method:?}: {how}"))?;
        }
        Ok(())
    }

    /// Checks a program that demands something of endless executions: few explorers judge that.
    fn check_demands(&self, program: &Program) -> Result<(), String> {
        let mut judging = 0;
        for listed in EXPLORERS {
            let (method, budget) = (listed.plain(), self.everything());
            if method.refusal(program, &budget).is_some() {
                continue;
            }
            judging += 1;
            let outcome = explore(program, method, budget, &mut NoObserver);
            self.check_outcome(&outcome).map_err(|how| format!("{method:?}: {how}"))?;
            if !outcome.is_complete() {
                return Err(format!("{method:?}: {:?}", outcome.stopped_by));
            }
            for violation in &outcome.violations {
                let properties = Properties::default();
                ViolationReport::replayed(program, "", violation, &properties)?;
            }
        }
        same("explorers that judge", judging, Some(2))
    }

    /// A practically unlimited search that continues after violations.
    fn everything(&self) -> Budget {
        let properties = Properties::default().allow_pending(self.expected.allow_pending);
        // Forgetting looks at all that is known: to do it after each execution takes long for many.
        let has_many_classes = self.expected.traces.is_some_and(|n| n > self.many_classes());
        let keep_locals = if has_many_classes { FEW_LOCALS } else { 0 };
        Budget { all: true, properties, endless: Some(LONG), keep_locals, ..Budget::default() }
    }

    /// A search without other limits than a depth, for explorers that need one. (Up to a depth,
    /// loops that wait are followed literally.)
    fn everything_by(&self, method: impl Explorer) -> Budget {
        let depth = (method.profile().depth == Depth::Length).then_some(LONG);
        let depth = depth.filter(|_| method.profile().guarantee != Guarantee::EveryEnd);
        Budget { depth, ..self.everything() }
    }

    fn check_counterexamples(&self, program: &Program, outcome: &Outcome) -> Result<(), String> {
        let allow_pending = self.expected.allow_pending;
        let check = |violation| check_counterexample_where(program, violation, allow_pending);
        outcome.violations.iter().try_for_each(check)
    }

    /// Checks the figures of executions cut at this length.
    fn check_cut(&self, program: &Program, depth: u64) -> Result<(), String> {
        let (executions, classes) = bounded::executions_and_classes(program, depth);
        same("executions", executions, self.expected.interleavings)?;
        same("classes", classes, self.expected.traces)?;
        let budget = Budget { all: true, depth: Some(depth as u32), ..Budget::default() };
        let method = DporDs::default();
        if method.refusal(program, &budget).is_some() {
            return Ok(());
        }
        let stats = explore(program, method, budget, &mut NoObserver).stats;
        same("classes by dpor-ds", stats.traces + stats.truncated, Some(classes))
    }

    /// Checks the number of global states at each distance.
    fn check_states(&self, program: &Program) -> Result<(), String> {
        let Some(expected) = &self.expected.states else { return Ok(()) };
        if !bounded::consists_of_actors(program) {
            return Err("`states` is for programs of actors".into());
        }
        let found = bounded::states_by_distance(program);
        if found != *expected {
            return Err(format!("states {found:?}, {} in all", found.iter().sum::<u64>()));
        }
        for method in storing(STATEFUL) {
            let budget = Budget { depth: Some(LONG), ..self.everything() };
            let outcome = explore(program, method, budget, &mut NoObserver);
            if outcome.stats.states_by_depth.as_ref() != Some(expected) {
                let found = outcome.stats.states_by_depth;
                return Err(format!("states {found:?} by {method:?}"));
            }
        }
        Ok(())
    }

    fn many_classes(&self) -> u64 {
        MANY_CLASSES[self.effort as usize]
    }

    /// Whether this variant of an explorer is left out. With many classes, this holds for every
    /// variant but the last, for source-DPOR, which may have many blocked explorations for each
    /// class, and for explorers over configurations. Of explorers whose many variants differ only in
    /// the order, all but the first and the last are left out. The thorough run leaves out only the
    /// former, and only with very many classes.
    fn is_spared(&self, index: usize) -> bool {
        let name = METHODS[index].0;
        let is_first = METHODS[..index].last().is_none_or(|previous| previous.0 != name);
        let is_last = METHODS.get(index + 1).is_none_or(|next| next.0 != name);
        let has_many_classes = self.expected.traces.is_some_and(|n| n > self.many_classes());
        let is_over = name.ends_with(" over configurations");
        let is_slow = !is_last || name == "source" || is_over && self.effort == Effort::Brief;
        let has_few_classes = self.expected.traces.is_some_and(|n| n <= FEW_CLASSES);
        let uses_every_k = name == "udpor" && (self.effort != Effort::Brief || has_few_classes);
        match self.effort {
            Effort::Thorough => {
                is_slow && self.expected.traces.is_some_and(|n| n > VERY_MANY_CLASSES)
            }
            Effort::Brief | Effort::More => {
                is_slow && has_many_classes || !is_last && !is_first && !uses_every_k
            }
        }
    }

    /// Whether this explorer may visit as much as the judge: one that visits classes more than
    /// once, or one with many blocked explorations.
    fn may_take_long(&self, method: impl Explorer) -> bool {
        let is_large = self.expected.traces.is_none_or(|n| n > self.many_classes());
        match method.profile().name {
            "sleep" => true,
            // There may be many states even if there are few classes.
            "dl-s-por" => is_large || self.effort != Effort::Thorough,
            "dpor" => is_large || method.profile().guarantee < Guarantee::EveryClassOnce,
            _ => method.profile().guarantee < Guarantee::EveryClassOnce,
        }
    }

    /// The classes of all executions, unless there are too many or the search does not end.
    fn check_exhaustive(
        &self,
        program: &Program,
        recorder: &mut Recorder<'_, Program>,
    ) -> Result<Option<Counts>, String> {
        let limit = match self.expected.interleavings {
            Some(_) => MAX_EXECUTIONS[self.effort as usize],
            None => MAX_ATTEMPT,
        };
        let budget = Budget { max_traces: Some(limit), ..self.everything() };
        let outcome = explore(program, Exhaustive, budget, recorder);
        let found = recorder.take();
        if outcome.stopped_by == Some(StopReason::MaxTraces) {
            return self.check_long_exhaustive(program).map(|()| None);
        }
        let check = || {
            self.check_outcome(&outcome)?;
            same("executions", outcome.stats.traces, self.expected.interleavings)?;
            self.check_counterexamples(program, &outcome)?;
            self.check_classes(&outcome, &found, Guarantee::EveryExecution, None)
        };
        check().map_err(|how| format!("exhaustive: {how}"))?;
        Ok(outcome.is_complete().then_some(found))
    }

    /// Checks only the numbers, if the spec gives the number of executions and there is time.
    fn check_long_exhaustive(&self, program: &Program) -> Result<(), String> {
        if self.effort != Effort::Thorough || self.expected.interleavings.is_none() {
            return Ok(());
        }
        let outcome = explore(program, Exhaustive, self.everything(), &mut NoObserver);
        let classes = outcome.stats.classes.expect("the exhaustive explorer counts classes");
        same("executions", outcome.stats.traces, self.expected.interleavings)
            .and_then(|()| same("classes", classes, self.expected.traces))
            .map_err(|how| format!("exhaustive: {how}"))
    }

    /// Checks the verdict, and that the search is complete.
    fn check_outcome(&self, outcome: &Outcome) -> Result<(), String> {
        let kinds: BTreeSet<_> = outcome.violations.iter().map(|v| word(v.kind)).collect();
        let fits = match self.expected.verdict {
            Some(ExpectedVerdict::Ok | ExpectedVerdict::Incomplete) => kinds.is_empty(),
            Some(kind) => kinds.contains(kind.name()),
            None => true,
        };
        if !fits {
            return Err(format!("found {kinds:?}, not {:?}", self.expected.verdict));
        }
        let is_cut = self.expected.verdict == Some(ExpectedVerdict::Incomplete);
        match outcome.stopped_by {
            Some(StopReason::Polls) if is_cut => Ok(()),
            None | Some(StopReason::Oversubscribed) if !is_cut => Ok(()),
            Some(StopReason::NoGuarantee) => Ok(()),
            reason => Err(format!("stopped by {reason:?}")),
        }
    }

    /// Checks that some execution ends, and some in a deadlock, if classes do.
    fn check_ends(&self, outcome: &Outcome) -> Result<(), String> {
        let some = |n: u64| u64::from(n > 0);
        if !outcome.is_complete() {
            return Ok(());
        }
        same("ends", some(outcome.stats.traces), self.expected.traces.map(some))?;
        let deadlocked = some(outcome.stats.deadlocked_traces);
        same("deadlocked ends", deadlocked, self.expected.deadlocked.map(some))
    }

    fn check_classes(
        &self,
        outcome: &Outcome,
        found: &Counts,
        guarantee: Guarantee,
        judged: Option<&Counts>,
    ) -> Result<(), String> {
        if !has_ended(outcome) {
            return Ok(());
        }
        let deadlocked = found.values().filter(|class| class.deadlocked).count() as u64;
        let times = found.values().map(|class| class.times);
        same("classes", found.len() as u64, self.expected.traces)?;
        same("deadlocked classes", deadlocked, self.expected.deadlocked)?;
        same("traces told", times.clone().sum(), Some(outcome.stats.traces))?;
        if let Some(classes) = outcome.stats.classes {
            same("classes counted", classes, Some(found.len() as u64))?;
        }
        if guarantee == Guarantee::EveryClassOnce && times.max() > Some(1) {
            return Err("a class more than once".into());
        }
        match judged {
            Some(judged) if !judged.keys().eq(found.keys()) => {
                let missed = judged.keys().filter(|class| !found.contains_key(class)).count();
                Err(format!("{missed} of {} classes missed", judged.len()))
            }
            _ => Ok(()),
        }
    }
}

/// The known redundancy of source-DPOR on these two programs. The first number was printed for
/// Nidhugg; the second was obtained by an independent program.
#[test]
fn source_dpor_is_blocked_as_often_as_published() {
    let counts =
        [("dispatcher", [("S", 5), ("R", 2)], 137, 1591), ("poke", [("N", 3), ("K", 4)], 711, 981)];
    for (name, constants, traces, blocked) in counts {
        let path = format!("{}/specs/mutex/{name}.maz", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).expect("a readable spec");
        let constants = constants.map(|(name, value)| (name.to_string(), value.to_string()));
        let program =
            compile(name, &text, &constants).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let budget = Budget { all: true, ..Budget::default() };
        let stats = explore(&program, Source::default(), budget, &mut NoObserver).stats;
        assert_eq!((stats.traces, stats.blocked), (traces, blocked), "{name}");
    }
}

fn word(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Deadlock => "deadlock",
        ViolationKind::Livelock => "livelock",
        ViolationKind::Assertion => "assertion",
        ViolationKind::Error => "error",
        ViolationKind::Liveness => "liveness",
        new => panic!("{new:?}: what is it called?"),
    }
}

fn same(what: &str, found: u64, expected: Option<u64>) -> Result<(), String> {
    match expected {
        Some(expected) if expected != found => Err(format!("{found} {what}, not {expected}")),
        _ => Ok(()),
    }
}

/// The disagreements, computed on all cores.
fn failures(cases: &[Case]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            if let Err(how) = case.check() {
                let failure = format!("{}: {how}", case.name());
                failures.lock().expect("no thread panicked").push(failure);
            }
            if start.elapsed() > NOTEWORTHY {
                println!("{:.1?} for {}", start.elapsed(), case.name());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().expect("no thread panicked");
    failures.sort();
    failures
}

/// All variants of the explorers are used only for small programs: see `is_spared` and
/// `may_take_long`.
#[test]
fn every_spec_meets_its_expectations_on_every_explorer() {
    assert_met(&cases(Effort::Brief));
}

/// Larger programs, with more variants.
#[test]
#[ignore = "slow"]
fn every_larger_spec_meets_its_expectations_on_every_explorer() {
    assert_met(&cases(Effort::More));
}

/// Checks all expectations, with all variants of the explorers and the long exhaustive searches.
#[test]
#[ignore = "slow"]
fn every_expectation_is_met_at_length() {
    assert_met(&cases(Effort::Thorough));
}

fn assert_met(cases: &[Case]) {
    let failures = failures(cases);
    assert!(
        failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// Tests the judge: it must reject wrong expectations.
#[test]
fn wrong_expectations_are_found_out() {
    let text = "process P[i in 0..2] { x = i; }\nshared x: int = 0;";
    let wrong = |facts: &str| {
        let expected = expectations(&format!("//@ {facts}\n{text}")).expect("facts").remove(0);
        let (path, text) = (Path::new("two-writes.maz").into(), text.into());
        Case { path, text, expected, effort: Effort::Brief }.check()
    };
    assert_eq!(wrong("traces 2 deadlocked 0 interleavings 2 verdict ok"), Ok(()));
    for facts in ["traces 1", "deadlocked 1", "interleavings 3", "verdict deadlock"] {
        assert!(wrong(facts).is_err(), "{facts}");
    }
}

/// Tests the counts of this module: wrong ones must be rejected.
#[test]
fn wrong_figures_of_cut_executions_and_states_are_found_out() {
    // Two ticks, and an echo of one of them: three orders, all equivalent.
    let text = "actor Clock[i in 0..2] {
        var done = false;
        internal Tick when !done { done = true; if i == 0 { send(self, Echo()); } }
        on Echo() {}
    }";
    let wrong = |facts: &str| {
        let expected =
            expectations(&format!("//@ {facts}\n{text}")).expect("facts").pop().expect("one");
        let (path, text) = (Path::new("two-clocks.maz").into(), text.into());
        Case { path, text, expected, effort: Effort::Brief }.check()
    };
    assert_eq!(wrong("depth 1 traces 2 interleavings 2"), Ok(()));
    assert_eq!(wrong("depth 2 traces 2 interleavings 3"), Ok(()));
    assert_eq!(wrong("depth 9 traces 1 interleavings 3"), Ok(()));
    assert_eq!(wrong("traces 1 interleavings 3 states 1,2,2,1"), Ok(()));
    for facts in ["depth 1 traces 1", "depth 2 interleavings 2", "states 1,2,2", "states 1,2,3,1"] {
        assert!(wrong(facts).is_err(), "{facts}");
    }
}
