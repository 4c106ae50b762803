//! Properties: those written by a user are checked by every explorer that can, and built-in ones
//! can be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mazurka::explore::{
    AnyExplorer, Budget, End, EveryState, Exhaustive, Explorer, Guarantee, NoObserver, Observer,
    Outcome, Setting, StopReason, Udpor, Verdict, ViolationKind, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::{CellId, Locals, ProcessId, Schedule, State, Status, System, Value, Values};
use mazurka::property::{
    Deadlocks, Failures, FinalStates, Livelocks, Objection, Position, Properties, Property, When,
};
use mazurka::systems::{Builder, lock, recv, send};

use crate::judge::{LONG, METHODS, STATEFUL, bound, is_refused};
use crate::random_models::{Erased, processes};

fn program(text: &str) -> Program {
    compile("own.maz", text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn judged(properties: Properties) -> Budget {
    Budget { all: true, properties, ..Budget::default() }
}

/// The budget, with a bound on the depth for an explorer that asks for one.
fn within(method: &impl Explorer, budget: Budget) -> Budget {
    Budget { depth: bound(method, LONG), ..budget }
}

/// The explorers of the tests that are for this program, and the exhaustive one.
fn explorers(program: &Program) -> impl Iterator<Item = (&'static str, AnyExplorer)> {
    let all = METHODS.iter().filter(|entry| !is_refused(program, entry.1));
    all.map(|&(name, method, _)| (name, method)).chain([("exhaustive", Exhaustive.into())])
}

fn messages(outcome: &Outcome) -> Vec<&str> {
    let found: Vec<_> = outcome.violations.iter().filter_map(|v| v.failure.as_ref()).collect();
    let mut messages: Vec<_> = found.iter().map(|failure| failure.message.as_str()).collect();
    messages.sort_unstable();
    messages
}

/// The first cell ends with this number.
#[derive(Debug)]
struct EndsWith(i64);

impl Property for EndsWith {
    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let end = at.cell(CellId(0));
        (end != Value::Int(self.0)).then(|| format!("it ends as {end:?}").into())
    }
}

#[test]
fn what_it_objects_to_is_found_by_every_explorer() {
    let program = program("shared x: int = 0; process P[i in 1..4] { x = i; }");
    for (name, method) in
        explorers(&program).filter(|e| e.1.profile().guarantee > Guarantee::SomeClasses)
    {
        let outcome = explore(
            &program,
            method,
            within(&method, judged(Properties::default())),
            &mut NoObserver,
        );
        assert!(outcome.violations.is_empty(), "{name} has nothing to object to");
        let properties = Properties::default().with(EndsWith(2));
        let outcome =
            explore(&program, method, within(&method, judged(properties)), &mut NoObserver);
        assert_eq!(messages(&outcome), ["it ends as Int(1)", "it ends as Int(3)"], "{name}");
        assert!(outcome.violations.iter().all(|v| v.kind == ViolationKind::Assertion), "{name}");
        assert!(outcome.is_complete(), "{name}");
    }
}

/// The first two cells never hold a 1 both.
#[derive(Debug)]
struct NeverBoth;

impl NeverBoth {
    fn are_both(at: Position<'_>) -> bool {
        [0, 1].iter().all(|&cell| at.cell(CellId(cell)) == Value::Int(1))
    }
}

impl Property for NeverBoth {
    fn when(&self) -> When {
        When::State
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        NeverBoth::are_both(at).then(|| "both at once".into())
    }
}

const IN_AND_OUT: &str = "
    shared a: int = 0; shared b: int = 0; shared order: int = 0;
    process P { a = 1; a = 0; order = 1; }
    process Q { b = 1; b = 0; order = 2; }";

/// The same program with a lock around the section.
const ONE_BY_ONE: &str = "
    shared a: int = 0; shared b: int = 0; mutex m;
    process P { lock(m); a = 1; a = 0; unlock(m); }
    process Q { lock(m); b = 1; b = 0; unlock(m); }";

/// The number of executions that pass through a state with both: computed by replays.
#[derive(Default)]
struct Passes<'p> {
    program: Option<&'p Program>,
    bad: u64,
}

impl Observer for Passes<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        let mut locals = Locals::new(self.program.expect("a program"));
        let mut is_bad = false;
        let look = |locals: &Locals<'_, Program>, state: &_| {
            is_bad |= NeverBoth::are_both(Position::new(locals, state));
        };
        at.schedule().replay_with(&mut locals, look).expect("an execution");
        assert_eq!(end.is_violating, is_bad, "{}", at.schedule());
        self.bad += u64::from(is_bad);
    }
}

#[test]
fn a_property_of_every_state_is_judged_where_every_state_is_visited() {
    let properties = || judged(Properties::default().with(NeverBoth));
    let (racy, locked) = (program(IN_AND_OUT), program(ONE_BY_ONE));
    let mut passes = Passes { program: Some(&racy), bad: 0 };
    let outcome = explore(&racy, Exhaustive, properties(), &mut passes);
    assert_eq!(outcome.stats.violating_traces, passes.bad);
    assert!(0 < passes.bad && passes.bad < outcome.stats.traces, "{:?}", outcome.stats);
    let mut able = BTreeSet::new();
    for (name, method) in explorers(&racy) {
        let found = explore(&racy, method, within(&method, properties()), &mut NoObserver);
        for violation in &found.violations {
            let mut locals = Locals::new(&racy);
            let state = violation.schedule.replay(&mut locals).expect("an execution");
            assert!(NeverBoth::are_both(Position::new(&locals, &state)), "{name}");
        }
        let nothing = explore(&locked, method, within(&method, properties()), &mut NoObserver);
        assert!(nothing.violations.is_empty(), "{name}");
        if method.profile().visits_every_state() {
            assert_eq!(messages(&found), ["both at once"], "{name}");
            assert!(found.is_complete() && nothing.is_complete(), "{name}");
            able.insert(name);
        } else {
            // Nothing found proves nothing.
            assert_eq!(nothing.stopped_by, Some(StopReason::NoGuarantee), "{name}");
        }
    }
    assert_eq!(able, BTreeSet::from(["exhaustive", "fair", "stateful"]));
    // The reason: there is an explorer that neither passes through nor ends in such a state.
    let missed = explore(&racy, Udpor::default(), properties(), &mut NoObserver);
    let is_told = missed.stopped_by == Some(StopReason::NoGuarantee);
    assert!(is_told && missed.verdict() != Verdict::Ok);
}

/// No process has a variable of this name and value.
#[derive(Debug)]
struct Never(&'static str, &'static str);

impl Property for Never {
    fn when(&self) -> When {
        When::Step
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let process = at.process().expect("it is asked about a process");
        let Never(name, value) = self;
        let has = at.variables(process).iter().any(|(n, v)| n == name && v == value);
        has.then(|| format!("{} has {name} = {value}", at.name(process)).into())
    }
}

#[test]
fn a_property_of_every_step_is_judged_where_every_class_is_visited() {
    let text = "
        shared x: int = 0;
        process P { let seen = fetch_add(x, 1); local(\"on\"); let seen = 0; local(\"end\"); }
        process Q { let seen = fetch_add(x, 2); local(\"on\"); let seen = 0; local(\"end\"); }
        process R { x = 5; }";
    let program = program(text);
    let properties = || judged(Properties::default().with(Never("seen", "2")));
    let clean = || judged(Properties::default().with(Never("seen", "4")));
    let mut able = 0;
    for (name, method) in explorers(&program) {
        let found = explore(&program, method, within(&method, properties()), &mut NoObserver);
        let nothing = explore(&program, method, within(&method, clean()), &mut NoObserver);
        assert!(nothing.violations.is_empty(), "{name}");
        if method.profile().asks(When::Step) {
            assert_eq!(messages(&found), ["P has seen = 2"], "{name}");
            let some = 0 < found.stats.violating_traces;
            assert!(some && found.stats.violating_traces < found.stats.traces, "{name}");
            assert!(found.is_complete() && nothing.is_complete(), "{name}");
            able += 1;
        } else {
            assert!(!nothing.is_complete(), "{name}");
        }
    }
    assert!(able > 10, "{able}");
}

const PHILOSOPHERS: &str = "
    mutex fork[3]; shared meals: int = 0;
    process Philosopher[i in 0..3] {
        lock(fork[i]); lock(fork[(i + 1) % 3]);
        let last = fetch_add(meals, 1);
        unlock(fork[(i + 1) % 3]); unlock(fork[i]);
    }";

#[test]
fn without_deadlocks_an_end_is_an_end() {
    let program = program(PHILOSOPHERS);
    for (name, method) in explorers(&program) {
        let all = explore(
            &program,
            method,
            within(&method, judged(Properties::default())),
            &mut NoObserver,
        );
        assert_eq!(all.verdict(), Verdict::Deadlock, "{name}");
        let few = Properties::default().without::<Deadlocks>();
        let few = explore(&program, method, within(&method, judged(few)), &mut NoObserver);
        assert!(few.violations.is_empty(), "{name}");
        let figures = |o: &Outcome| (o.stats.traces, o.stats.transitions, o.stats.blocked);
        assert_eq!(figures(&all), figures(&few), "{name}");
        assert_eq!((few.stats.deadlocked_traces, few.stats.violating_traces), (0, 0), "{name}");
        assert_eq!(few.stopped_by, all.stopped_by, "{name}");
    }
}

/// The variables that `final` reads of a waiting process may not exist yet: then there is nothing
/// to check.
#[test]
fn without_deadlocks_final_is_judged_there_too() {
    let properties = || Properties::default().without::<Deadlocks>();
    let judge = |text: String| {
        let program = program(&text);
        let outcome = explore(&program, Udpor::default(), judged(properties()), &mut NoObserver);
        (outcome.verdict(), outcome.stats.violating_traces)
    };
    let with = |condition| format!("{PHILOSOPHERS} final {{ assert({condition}); }}");
    assert_eq!(judge(with("meals == 3")).0, Verdict::Assertion);
    assert_eq!(judge(with("meals == 3 || meals == 0")), (Verdict::Ok, 0));
    let (_, bad) = judge(with("Philosopher[0].last < 3"));
    assert_eq!(bad, 0, "it never ends with another value");
}

#[test]
fn without_failures_only_the_rest_is_judged() {
    let text = "
        shared x: int = 0;
        process P { let seen = fetch_add(x, 1); assert(seen == 0); }
        process Q { x += 1; }
        final { assert(x < 2); }";
    let program = program(text);
    for (name, method) in
        explorers(&program).filter(|e| e.1.profile().guarantee > Guarantee::SomeClasses)
    {
        let outcome = explore(
            &program,
            method,
            within(&method, judged(Properties::default())),
            &mut NoObserver,
        );
        assert_eq!(messages(&outcome).len(), 2, "{name}");
        let few = Properties::default().without::<FinalStates>();
        let outcome =
            explore(&program, method, within(&method, judged(few.clone())), &mut NoObserver);
        assert_eq!(messages(&outcome).len(), 1, "{name}");
        let none = few.without::<Failures>();
        let outcome = explore(&program, method, within(&method, judged(none)), &mut NoObserver);
        assert_eq!((messages(&outcome).len(), outcome.stats.violating_traces), (0, 0), "{name}");
        assert_eq!(outcome.verdict(), Verdict::Ok, "{name}");
    }
}

#[test]
fn without_livelocks_who_waits_for_ever_may() {
    let program = program("shared x: int = 0; process P { while x == 0 { } } process Q { x = 0; }");
    for method in
        [AnyExplorer::from(Udpor::default()), Exhaustive.into(), EveryState::of(STATEFUL).into()]
    {
        let budget = |properties| Budget { all: true, properties, ..Budget::default() };
        let judge = |properties| explore(&program, method, budget(properties), &mut NoObserver);
        assert_eq!(judge(Properties::default()).verdict(), Verdict::Livelock, "{method:?}");
        let few = judge(Properties::default().without::<Livelocks>());
        assert_eq!((few.verdict(), few.stats.violating_traces), (Verdict::Ok, 0), "{method:?}");
    }
}

/// A barrier with too many processes ends the search, whichever properties are checked.
#[test]
fn beyond_a_crowded_barrier_nothing_is_explored() {
    use mazurka::property::CrowdedBarriers;
    let program = program("barrier b(1); process P[i in 0..2] { barrier(b); }");
    let few = Properties::default().without::<CrowdedBarriers>();
    let outcome = explore(&program, Exhaustive, judged(few), &mut NoObserver);
    assert!(outcome.violations.is_empty());
    assert_eq!(outcome.stopped_by, Some(StopReason::Oversubscribed));
    let all = explore(&program, Exhaustive, judged(Properties::default()), &mut NoObserver);
    assert_eq!(all.verdict(), Verdict::Error);
}

/// A server that waits for one more request than there are.
fn served(has_lost_client: bool) -> Erased<'static> {
    let mut system = Builder::new();
    let (requests, mutex) = (system.mailbox("requests"), system.mutex("m"));
    system.process("Server", [recv(requests), recv(requests), recv(requests)]);
    for i in 1..3 {
        let mut steps = vec![send(requests, i)];
        if has_lost_client {
            steps.push(lock(mutex));
        }
        system.process(format!("Client[{i}]"), steps);
    }
    Erased::new(system.build())
}

/// Only servers may wait at the end.
#[derive(Debug)]
struct OnlyServersWait;

impl Property for OnlyServersWait {
    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let waits = |process| matches!(at.status(process), Status::At(_));
        let mut waiting = at.processes().filter(|&process| waits(process));
        waiting.any(|process| at.name(process) != "Server").then_some(Objection::Deadlock)
    }
}

#[test]
fn a_deadlock_can_be_defined_anew() {
    let check = |system: &Erased<'_>| {
        let check = mazurka::check(system).without::<Deadlocks>();
        check.property(OnlyServersWait).run()
    };
    assert_eq!(mazurka::check(&served(false)).run().verdict(), Verdict::Deadlock);
    let checked = check(&served(false));
    checked.assert_ok();
    let told = checked.to_string();
    let first = "Verified: no execution goes round loops for ever, fails an assertion, runs into an error or violates \
                 `OnlyServersWait`.";
    assert!(told.starts_with(first), "{told}");
    let checked = check(&served(true));
    assert_eq!(checked.verdict(), Verdict::Deadlock);
    let told = checked.to_string();
    assert!(told.contains("Client[1]") && told.contains("waits for mutex m"), "{told}");
}

#[test]
fn what_is_objected_to_is_explained() {
    let check = |text, explorer: &str| {
        let program = program(text);
        let check = mazurka::check(&program).explorer(explorer.parse::<Setting>().unwrap());
        check.property(NeverBoth).run()
    };
    let checked = check(IN_AND_OUT, "stateful");
    let told = checked.to_string();
    assert!(told.starts_with("Assertion failed: both at once."), "{told}");
    assert!(told.contains("a = 1, b = 1"), "the cells as they were: {told}");
    assert!(catch_unwind(AssertUnwindSafe(|| checked.assert_ok())).is_err());
    check(ONE_BY_ONE, "stateful").assert_ok();
    let told = check(ONE_BY_ONE, "udpor").to_string();
    let expected = "`udpor` does not visit all states that `NeverBoth` is about";
    assert!(told.starts_with("Incomplete") && told.contains(expected), "{told}");
    let schedule: Schedule = checked.violations()[0].schedule.to_string().parse().unwrap();
    assert_eq!(schedule, checked.violations()[0].schedule);
}

/// A property that objects to some local states, states or ends, depending on a hash of their text.
#[derive(Debug)]
struct Sampled(When);

impl Sampled {
    fn local(at: Position<'_>, process: ProcessId) -> String {
        format!("{process:?} in {:?}", at.local(process))
    }

    fn state(at: Position<'_>) -> String {
        let locals: Vec<_> = at.processes().map(|process| Sampled::local(at, process)).collect();
        format!("{locals:?} {:?}", at.cells())
    }

    fn is_wrong(words: &str) -> bool {
        words.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 5
            == 0
    }
}

impl Property for Sampled {
    fn when(&self) -> When {
        self.0
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let words = match at.process() {
            Some(process) => Sampled::local(at, process),
            None => Sampled::state(at),
        };
        Sampled::is_wrong(&words).then(|| words.into())
    }
}

/// By the definitions, of all executions: wrong local states, wrong states, and wrong ends.
#[derive(Default)]
struct Wrong {
    locals: BTreeSet<String>,
    states: BTreeSet<String>,
    ends: BTreeSet<String>,
    spawns: bool,
}

impl Wrong {
    fn visit<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &mut State,
        processes: usize,
    ) {
        let at = Position::new(locals, state);
        self.spawns |= state.processes().count() > processes;
        self.locals.extend(state.processes().map(|process| Sampled::local(at, process)));
        self.states.insert(Sampled::state(at));
        let mut enabled = Vec::new();
        state.enabled(locals, &mut enabled);
        if enabled.is_empty() && !at.is_deadlocked(false) && at.final_failure().is_none() {
            self.ends.insert(Sampled::state(at));
        }
        for action in enabled {
            state.step(locals, action);
            self.visit(locals, state, processes);
            state.undo(locals);
        }
    }
}

/// Every explorer finds the violations that it must find, and claims to be complete only then.
#[test]
fn random_objections_are_found_by_all_that_can() {
    const MOST: usize = 100;
    let mut found_by = BTreeMap::new();
    for sample in &processes()[..60] {
        let processes = sample.script.initial(&mut Values::default()).len();
        let mut locals = Locals::new(&sample.script);
        let mut state = State::initial(&mut locals);
        let mut wrong = Wrong::default();
        wrong.visit(&mut locals, &mut state, processes);
        let Wrong { locals, states, ends, spawns } = wrong;
        // Where processes are spawned each search numbers them in its own way.
        if spawns {
            continue;
        }
        for (when, all) in [(When::Step, locals), (When::State, states), (When::End, ends)] {
            let all: BTreeSet<_> = all.into_iter().filter(|text| Sampled::is_wrong(text)).collect();
            if all.len() >= MOST / 2 {
                continue;
            }
            let methods = METHODS.iter().filter(|entry| !is_refused(&sample.script, entry.1));
            let methods = methods.map(|&(name, method, _)| (name, method));
            for (name, method) in methods.chain([("exhaustive", Exhaustive.into())]) {
                let properties = Properties::default().with(Sampled(when));
                let outcome = explore(
                    &sample.script,
                    method,
                    within(&method, judged(properties)),
                    &mut NoObserver,
                );
                let found: BTreeSet<_> =
                    messages(&outcome).into_iter().map(str::to_owned).collect();
                let context = || format!("{name}, {when:?} on {}", sample.describe());
                if outcome.stopped_by == Some(StopReason::Oversubscribed) {
                    continue;
                }
                if method.profile().asks(when) {
                    assert!(all.is_subset(&found), "{:?}: {}", all.difference(&found), context());
                    *found_by.entry((name, format!("{when:?}"))).or_insert(0) += all.len();
                } else {
                    assert!(!outcome.is_complete(), "{}", context());
                }
            }
        }
    }
    println!("{found_by:?}");
    assert!(found_by.values().all(|&found| found > 20), "{found_by:?}");
}
