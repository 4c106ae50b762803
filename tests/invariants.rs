//! Invariants: every explorer against a walk through all states.

use std::collections::BTreeSet;
use std::fmt::Write;

use mazurka::explore::{
    Budget, Depth, EveryState, Exhaustive, Explorer, Guarantee, NoObserver, Setting, StopReason,
    Verdict, ViolationKind, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::{CellId, MailboxId, Value};
use mazurka::property::{Invariants, Objection, Position, Properties, Property, Replay, When};

use crate::cli::{code, json, run_with, stdout};
use crate::judge::{
    LONG, METHODS, STATEFUL, assert_full_graphs_agree, check_counterexample, is_refused,
};
use crate::random_models::{Rng, Subject, p2p, processes};
use crate::spin::{Kind, random_program};

/// What a random invariant reads and compares with a number.
#[derive(Clone, Debug)]
enum Read {
    Cell(usize),
    Length(usize),
    Variable(String, String),
}

impl Read {
    /// In the language.
    fn text(&self) -> String {
        match self {
            Read::Cell(cell) => format!("x{cell}"),
            Read::Length(mailbox) => format!("len(m{mailbox})"),
            Read::Variable(process, variable) => format!("{process}.{variable}"),
        }
    }

    /// Its value, computed without the language; `None` if it has none here.
    fn value(&self, at: Position<'_>) -> Option<i64> {
        match self {
            Read::Cell(cell) => match at.cell(CellId(*cell as u32)) {
                Value::Int(n) => Some(n),
                other => panic!("{other:?} in a cell of numbers"),
            },
            Read::Length(mailbox) => {
                let mailbox = MailboxId(*mailbox as u32);
                let posts = at.state().mailbox(mailbox).sends.iter();
                let sent = at.state().network().sends().iter();
                let sent = sent.filter(|send| send.mailbox == mailbox);
                let here = posts.filter(|post| post.partner().is_none()).count()
                    + sent.filter(|send| send.receive().is_none()).count();
                Some(here as i64)
            }
            Read::Variable(process, variable) => {
                let process = at.processes().find(|&known| at.name(known) == *process)?;
                let known = at.variables(process);
                let (_, value) = known.iter().rev().find(|(name, _)| name == variable)?;
                Some(value.parse().expect("a number"))
            }
        }
    }
}

/// An assertion that not all of these comparisons hold at once.
#[derive(Clone, Debug)]
struct NotAll(Vec<(Read, i64)>);

impl NotAll {
    fn text(&self) -> String {
        let parts = self.0.iter().map(|(read, number)| format!("{} == {number}", read.text()));
        format!("assert(!({}))", parts.collect::<Vec<_>>().join(" && "))
    }

    /// Comparisons are evaluated from the left until one fails. A missing value ends the
    /// evaluation.
    fn is_broken(&self, at: Position<'_>) -> bool {
        self.0.iter().all(|(read, number)| read.value(at) == Some(*number))
    }
}

/// The judge, which is evaluated in every state, without the language.
#[derive(Debug)]
struct Judge(Vec<NotAll>);

/// The name of an assertion of the judge.
fn name(number: usize) -> String {
    format!("broken {number}")
}

/// One of the assertions, evaluated separately from the others.
#[derive(Debug)]
struct One(usize, NotAll);

impl Property for One {
    fn when(&self) -> When {
        When::State
    }

    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        self.1.is_broken(at).then(|| name(self.0).into())
    }
}

impl Judge {
    /// The numbers of the assertions that fail in some state; `None` if there are too many
    /// executions.
    fn broken(&self, program: &Program, explorer: impl Explorer) -> Option<BTreeSet<String>> {
        let mut properties = Properties::default().without::<Invariants>();
        for (number, assertion) in self.0.iter().enumerate() {
            properties = properties.with(One(number, assertion.clone()));
        }
        let outcome = explore(program, explorer, Budget { properties, ..all() }, &mut NoObserver);
        let told = outcome.violations.iter().filter_map(|violation| violation.failure.as_ref());
        let told = told.map(|failure| failure.message.clone());
        outcome.is_complete().then(|| told.filter(|told| told.starts_with("broken ")).collect())
    }

    /// The text of blocks with these assertions.
    fn text(&self, rng: &mut Rng) -> String {
        let mut text = String::new();
        for (number, assertion) in self.0.iter().enumerate() {
            let assertion = assertion.text();
            let assertion = assertion.strip_suffix(')').expect("a call");
            let assertion = format!("{assertion}, \"{}\");", name(number));
            match rng.below(3) {
                0 => writeln!(text, "invariant {{ {assertion} }}"),
                1 => writeln!(text, "invariant {{ let a = 1; {assertion} }}"),
                _ => writeln!(text, "invariant {{ {assertion} assert(true); }}"),
            }
            .expect("a string takes everything");
        }
        text
    }
}

/// A search for all violations by this explorer, with a depth if it needs one.
fn all_by(method: impl Explorer) -> Budget {
    let wants = method.profile().depth == Depth::Length
        && method.profile().guarantee != Guarantee::EveryEnd;
    Budget { depth: wants.then_some(LONG), ..all() }
}

fn all() -> Budget {
    Budget { all: true, max_traces: Some(2_000), endless: Some(200), ..Budget::default() }
}

/// The names of what a program declares in its lines.
struct Names {
    cells: usize,
    mailboxes: usize,
    variables: Vec<(String, String)>,
}

impl Names {
    fn of(text: &str) -> Names {
        let count = |start: &str| {
            let declared = text.split([';', '\n']).map(str::trim_start);
            let declared = declared.map(|line| line.trim_start_matches("p2p "));
            let declared = declared.map(|line| line.trim_start_matches("bag "));
            declared.filter(|line| line.starts_with(start)).count()
        };
        let (mut owner, mut variables) = (None, Vec::new());
        for line in text.lines() {
            let words: Vec<_> = line.trim_start_matches("daemon ").split_whitespace().collect();
            match words[..] {
                ["process" | "actor", name, "{", ..] => owner = Some(name.to_owned()),
                ["process" | "actor", ..] => owner = None,
                ["let" | "var", name, "=", ..]
                    if line.starts_with("    ") && !line.starts_with("     ") =>
                {
                    let is_number = name.starts_with('v')
                        || name.starts_with("got")
                        || matches!(name, "s" | "p" | "q");
                    let owner = owner.clone().filter(|_| is_number);
                    variables.extend(owner.map(|owner| (owner, name.to_owned())));
                }
                _ => {}
            }
        }
        Names { cells: count("shared x"), mailboxes: count("mailbox m"), variables }
    }

    fn read(&self, rng: &mut Rng) -> Option<Read> {
        let mut kinds = Vec::new();
        kinds.extend((self.cells > 0).then_some(0));
        kinds.extend((self.mailboxes > 0).then_some(1));
        kinds.extend((!self.variables.is_empty()).then_some(2));
        kinds.extend((!self.variables.is_empty()).then_some(2));
        if kinds.is_empty() {
            return None;
        }
        Some(match rng.pick(&kinds) {
            0 => Read::Cell(rng.below(self.cells)),
            1 => Read::Length(rng.below(self.mailboxes)),
            _ => {
                let (process, variable) = rng.pick(&self.variables).clone();
                Read::Variable(process, variable)
            }
        })
    }

    /// A few assertions; `None` if there is nothing to read.
    fn judge(&self, rng: &mut Rng) -> Option<Judge> {
        let assertions = (0..5).map(|_| {
            let reads = 1 + rng.below(3);
            let reads = (0..reads).map(|_| Some((self.read(rng)?, rng.value())));
            Some(NotAll(reads.collect::<Option<_>>()?))
        });
        Some(Judge(assertions.collect::<Option<_>>()?))
    }
}

/// Counts of what occurred.
#[derive(Default, Debug)]
struct Reach {
    programs: u32,
    broken: u32,
    kept: u32,
    searches: u32,
}

/// Compares all explorers on one program with random invariants.
fn agree(text: &str, seed: u64, walk: impl Explorer, reach: &mut Reach) {
    agree_in_turn(text, seed, walk, 1, reach);
}

/// Compares one in `share` explorers, in turn.
fn agree_in_turn(text: &str, seed: u64, walk: impl Explorer, share: u64, reach: &mut Reach) {
    let mut rng = Rng::new(seed);
    let Some(judge) = Names::of(text).judge(&mut rng) else { return };
    let text = format!("{text}\n{}", judge.text(&mut rng));
    let program = compile("random.maz", &text, &[])
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)));
    let Some(expected) = judge.broken(&program, walk) else { return };
    reach.programs += 1;
    reach.broken += expected.len() as u32;
    reach.kept += (judge.0.len() - expected.len()) as u32;
    let others = METHODS.iter().map(|&(name, method, _)| (name, method));
    let walks = [("exhaustive", Exhaustive.into()), ("stateful", EveryState::of(STATEFUL).into())];
    for (turn, (name, method)) in (seed..).zip(others.chain(walks)) {
        if !turn.is_multiple_of(share)
            || is_refused(&program, method)
            || method.profile().guarantee == Guarantee::SomeClasses
        {
            continue;
        }
        let outcome = explore(&program, method, all_by(method), &mut NoObserver);
        if matches!(outcome.stopped_by, Some(StopReason::MaxTraces | StopReason::Endless)) {
            continue;
        }
        assert!(outcome.is_complete(), "{:?} ended {name} on\n{text}", outcome.stopped_by);
        let mut found = BTreeSet::new();
        for violation in &outcome.violations {
            check_counterexample(&program, violation).unwrap_or_else(|how| panic!("{how}\n{text}"));
            let message = violation.failure.as_ref().map(|failure| failure.message.clone());
            let told = message.as_deref().and_then(|m| m.strip_prefix("assertion failed: "));
            let Some(told) = told.filter(|told| told.starts_with("broken ")) else { continue };
            found.insert(told.to_owned());
            let mut replay = Replay::new(&program);
            replay.follow(&violation.schedule).expect("an execution");
            let number: usize = told["broken ".len()..].parse().expect("a number");
            let at = Position::new(replay.locals(), replay.state());
            assert!(judge.0[number].is_broken(at), "{told} by {name}, {violation:?} of\n{text}");
        }
        assert_eq!(found, expected, "{name}, {method:?} on\n{text}");
        reach.searches += 1;
    }
    assert_full_graphs_agree(&program, || text.clone());
}

#[test]
fn no_violation_is_missed_on_random_programs() {
    on_random_programs(3);
}

#[test]
#[ignore = "slow"]
fn no_violation_is_missed_on_random_programs_by_any_explorer() {
    on_random_programs(1);
}

fn on_random_programs(share: u64) {
    let mut reach = Reach::default();
    for sample in processes().iter().filter(|sample| sample.executions < 1_000) {
        agree_in_turn(&sample.script.text(), sample.seed, Exhaustive, share, &mut reach);
    }
    println!("{reach:?}");
    assert!(reach.programs > 100 && reach.broken > 100 && reach.kept > 100, "{reach:?}");
}

#[test]
fn no_violation_is_missed_on_random_ranks() {
    on_random_ranks(3);
}

#[test]
#[ignore = "slow"]
fn no_violation_is_missed_on_random_ranks_by_any_explorer() {
    on_random_ranks(1);
}

fn on_random_ranks(share: u64) {
    let mut reach = Reach::default();
    for sample in p2p().iter().filter(|sample| sample.executions < 300) {
        let text = sample.script.text();
        // Collectives have no text in the language.
        if !text.contains("Call {") {
            agree_in_turn(&text, sample.seed, Exhaustive, share, &mut reach);
        }
    }
    println!("{reach:?}");
    assert!(reach.programs > 70 && reach.broken > 70 && reach.kept > 70, "{reach:?}");
}

/// Actors that send to one another, up to a number of times.
fn random_actors(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let actors = 2 + rng.below(2);
    let mut text = String::new();
    for actor in 0..actors {
        text += &format!("actor A{actor} {{\n    var s = 0;\n    var fuel = {};\n", rng.below(3));
        for message in ["Up", "Down"] {
            let (state, to) = (rng.below(3), rng.below(actors));
            let next = *rng.pick(&["Up", "Down"]);
            let guard = if rng.chance(20) { " when s < 2" } else { "" };
            text += &format!(
                "on {message}(){guard} {{ s = {state}; if fuel > 0 {{ fuel = fuel - 1; send(A{to}, {next}()); }} }}\n"
            );
        }
        text += "}\n";
    }
    text += "init {";
    for _ in 0..2 + rng.below(2) {
        text += &format!(" send(A{}, {}());", rng.below(actors), rng.pick(&["Up", "Down"]));
    }
    text + " }\n"
}

#[test]
fn no_violation_is_missed_on_random_actors() {
    let mut reach = Reach::default();
    for seed in 0..150 {
        agree(&random_actors(seed), seed, Exhaustive, &mut reach);
    }
    println!("{reach:?}");
    assert!(reach.programs > 70 && reach.broken > 70 && reach.kept > 70, "{reach:?}");
}

/// Two processes that send, receive and write.
fn random_pair(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let delivery = *rng.pick(&["p2p", "bag"]);
    let mut text = format!("{delivery} mailbox m0: int;\nshared x0: int = 0;\n");
    for process in 0..2 {
        text += &format!("process P{process} {{\n");
        for place in 0..1 + rng.below(2) {
            text += &match rng.below(4) {
                0 => format!("    x0 = {};\n", 1 + rng.below(2)),
                1 => format!("    let got{place} = recv(m0);\n"),
                _ => format!("    isend(m0, {});\n", rng.below(3)),
            };
        }
        text += "}\n";
    }
    text
}

/// Messages to actors and messages of processes have one order in an execution.
#[test]
fn no_violation_is_missed_on_actors_beside_processes() {
    let mut reach = Reach::default();
    for seed in 0..150 {
        let text = format!("{}{}", random_actors(seed), random_pair(seed));
        agree_in_turn(&text, seed, Exhaustive, 3, &mut reach);
    }
    println!("{reach:?}");
    assert!(reach.programs > 50 && reach.broken > 70 && reach.kept > 70, "{reach:?}");
}

/// The message to C has the number that D's has among the messages to actors, and it stays in C's
/// inbox.
#[test]
fn messages_to_actors_and_between_processes_are_told_apart() {
    let text = "p2p mailbox m0: int; shared x: int = 0; process P { isend(m0, 7); x = 1; } \
                actor B { on Go() { send(C, M(1)); send(D, M(2)); } } \
                actor C { on M(_k: int) when 1 == 2 {} } \
                actor D { var got = 0; on M(k: int) { got = k; } } init { send(B, Go()); } \
                invariant { assert(D.got != 2 || x != 0); }";
    let program = program(text);
    for &(name, method, _) in METHODS.iter() {
        let budget = all_by(method);
        if method.refusal(&program, &budget).is_some()
            || method.profile().guarantee == Guarantee::SomeClasses
        {
            continue;
        }
        let outcome = explore(&program, method, budget, &mut NoObserver);
        let kinds: BTreeSet<_> = outcome.violations.iter().map(|found| found.kind).collect();
        let all = [ViolationKind::Deadlock, ViolationKind::Assertion];
        assert_eq!(kinds, all.into(), "{name}");
        for violation in &outcome.violations {
            check_counterexample(&program, violation).unwrap();
        }
    }
}

/// Here the judge is the full state graph, in which loops are repeated without limit. The slow test
/// below has every explorer on every program.
#[test]
fn no_violation_is_missed_in_loops_that_wait() {
    loops_that_wait(8);
}

#[test]
#[ignore = "slow"]
fn no_violation_is_missed_in_loops_that_wait_at_length() {
    loops_that_wait(1);
}

fn loops_that_wait(share: u64) {
    let mut reach = Reach::default();
    for seed in 0..120 {
        let kind = if seed % 2 == 0 { Kind::Plain } else { Kind::Later };
        // Variables are declared on lines of their own.
        let text = random_program(seed, kind).replace("{ ", "{\n    ").replace("; ", ";\n    ");
        agree_in_turn(&text, seed, EveryState::of(STATEFUL), share, &mut reach);
    }
    println!("{reach:?}");
    assert!(reach.programs > 60 && reach.broken > 60 && reach.kept > 60, "{reach:?}");
}

fn program(text: &str) -> Program {
    compile("invariant.maz", text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// Programs, whether their invariants hold, and the length of the shortest path to a violation.
const KNOWN: &[(&str, Option<usize>)] = &[
    // Not all at once in the execution that a search visits first.
    (
        "shared a: int = 0; shared b: int = 0; process P { a = 1; a = 0; } process Q { b = 1; b = 0; }
         invariant { assert(!(a == 1 && b == 1)); }",
        Some(2),
    ),
    (
        "shared a: int = 0; shared b: int = 0; mutex m;
         process P { lock(m); a = 1; a = 0; unlock(m); } process Q { lock(m); b = 1; b = 0; unlock(m); }
         invariant { assert(!(a == 1 && b == 1)); }",
        None,
    ),
    (
        "mailbox m; process P[i in 0..3] { isend(m, i); } process Q { for i in 0..3 { let v = recv(m); } }
         invariant { assert(len(m) < 3); }",
        Some(3),
    ),
    (
        "mailbox m; process P { send(m, 1); send(m, 2); } process Q { for i in 0..2 { let v = recv(m); } }
         invariant { assert(len(m) <= 1); }",
        None,
    ),
    // Failing at the start.
    ("shared x: int = 1; process P { x = 0; } invariant { assert(x == 0); }", Some(0)),
    // What has no value yet is not judged.
    (
        "process P { local(\"a\"); var v = 1; local(\"b\"); v = 2; } invariant { assert(P.v >= 1); }",
        None,
    ),
    (
        "process P[i in 0..2] { var v = 0; local(\"a\"); v = 1; local(\"b\"); v = 0; }
         invariant { var sum = 0; for i in 0..2 { sum = sum + P[i].v; } assert(sum < 2, \"one at a time\"); }",
        Some(2),
    ),
    (
        "actor A[i in 0..2] { var n = 0; on Up() { n = 1; send(self, Down()); } on Down() { n = 0; } }
         init { send(A[0], Up()); send(A[1], Up()); }
         invariant { assert(A[0].n + A[1].n < 2); }",
        Some(2),
    ),
    // A run-time error is one, too.
    ("shared x: int = 1; process P { x = 0; } invariant { assert(1 / x == 1); }", Some(1)),
    // Who sends is not behind another who sends, and a message is there until it is received.
    (
        "p2p mailbox m; process P[i in 0..3] { isend(m, i); } process Q { for i in 0..3 { let v = recv(m); } }
         invariant { assert(len(m) < 3); }",
        Some(3),
    ),
    // What is not decided in one round of a loop says nothing of the others, also if an inner loop
    // is empty.
    (
        "latch done(1);
         process P[i in 0..2] { wait(done); var v = i; }
         process Q { var w = 0; local(\"a\"); w = 1; local(\"b\"); w = 0; count_down(done); }
         invariant { for i in 0..2 { for j in 0..i { assert(P[i].v != P[j].v); } } assert(Q.w == 0); }",
        Some(1),
    ),
];

#[test]
fn every_explorer_finds_the_shortest_way() {
    for (text, expected) in KNOWN {
        let program = program(text);
        for &(name, method, _) in METHODS.iter() {
            if is_refused(&program, method) || method.profile().guarantee == Guarantee::SomeClasses
            {
                continue;
            }
            let budget = Budget { shortest: true, ..all_by(method) };
            let outcome = explore(&program, method, budget, &mut NoObserver);
            assert!(outcome.is_complete(), "{name} on {text}");
            let found = outcome.violations.first().map(|violation| violation.schedule.len());
            assert_eq!(found, *expected, "{name} on {text}");
            for violation in &outcome.violations {
                assert!(!violation.kind.is_standstill());
                check_counterexample(&program, violation).unwrap_or_else(|how| panic!("{how}"));
            }
        }
    }
}

#[test]
fn an_invariant_is_judged_up_to_a_depth() {
    let program = program(KNOWN[0].0);
    for &(name, method, _) in METHODS.iter() {
        let judges =
            method.profile().asks(When::Invariant) && method.profile().depth == Depth::Causal;
        if judges && !is_refused(&program, method) {
            let budget = Budget { depth: Some(1), ..all() };
            let outcome = explore(&program, method, budget, &mut NoObserver);
            assert_eq!(outcome.verdict(), Verdict::Assertion, "{name}");
            let budget =
                Budget { properties: Properties::default().without::<Invariants>(), ..all() };
            let outcome = explore(&program, method, budget, &mut NoObserver);
            assert_eq!(outcome.verdict(), Verdict::Ok, "{name}");
        }
    }
}

/// A class of this has 5^8 states that differ in what the invariant sees.
const WIDE: &str = "process P[i in 0..8] { var v = 0; for j in 0..4 { local(\"a\"); v = v + 1; } }
    invariant { var sum = 0; for i in 0..8 { sum = sum + P[i].v; } assert(sum < 40); }";

#[test]
fn who_cannot_judge_an_invariant_says_so() {
    let output = run_with(&["check", "-", "--explorer", "udpor", "--format", "json"], WIDE);
    assert_eq!(code(&output), 3);
    assert_eq!(json(&output)["stopped_by"], "invariant");
    let text = stdout(&run_with(&["check", "-", "--explorer", "udpor"], WIDE));
    assert!(text.contains("too many states to check an invariant"), "{text}");
    for name in ["s-por", "de-s-por", "dl-s-por"] {
        let output = run_with(&["check", "-", "--explorer", name], KNOWN[0].0);
        assert_eq!(code(&output), 2, "{name}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("leaves out states in which an `invariant`"), "{told}");
    }
}

#[test]
fn a_broken_invariant_is_reported_and_replays() {
    let text = KNOWN[0].0;
    let report = json(&run_with(&["check", "-", "--format", "json"], text));
    let violation = &report["violations"][0];
    assert_eq!((&violation["kind"], &violation["invariant"]), (&"assertion".into(), &true.into()));
    assert_eq!((&violation["line"], &violation["replay"]), (&2.into(), &"0,1".into()));
    assert_eq!(violation["variables"][0]["name"], "a");
    let shown = stdout(&run_with(&["check", "-"], text));
    assert!(shown.starts_with("Assertion failed (invariant, line 2).\n"), "{shown}");
    assert!(shown.contains("where a = 1, b = 1"), "{shown}");
    for schedule in ["0,1", "0,1,0,1"] {
        let output = run_with(&["replay", "-", "--schedule", schedule], text);
        assert_eq!(code(&output), 1);
        assert!(stdout(&output).contains("where a = 1, b = 1"), "{schedule}");
    }
    let output = run_with(&["run", "-", "--schedule", "0,1"], text);
    assert_eq!(code(&output), 1);
    assert_eq!(code(&run_with(&["replay", "-", "--schedule", "0,0,1,1"], text)), 0);
    let error = explore(&program(KNOWN[8].0), EveryState::of(STATEFUL), all(), &mut NoObserver);
    assert_eq!(error.violations[0].kind, ViolationKind::Error);
}

/// A class counts as one with a violation, also if it looks to the invariant as the one before.
#[test]
fn each_class_with_a_violation_is_counted() {
    let program = program(
        "mutex m; rwlock r;
        process P0 { var v = 0; write_lock(r); unlock(r); v = 2; write_lock(r); }
        daemon process P1 { read_lock(r); unlock(r); write_lock(r); unlock(r); }
        process P2 { var v = 0; read_lock(r); v = 2; unlock(r); async_lock(m); v = 0; }
        invariant { assert(P0.v != 2 || P2.v != 2); }",
    );
    for explorer in ["udpor", "optimal", "source", "parsimonious"] {
        let setting: Setting = explorer.parse().expect("a setting");
        let stats = explore(&program, setting, all(), &mut NoObserver).stats;
        assert_eq!((stats.traces, stats.violating_traces), (23, 23), "{explorer}");
    }
}
