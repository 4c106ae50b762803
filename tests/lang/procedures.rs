//! Procedures: a call is its body in place. Random programs with procedures against the same
//! programs with every body pasted by hand, and what a call leaves behind.

use std::collections::BTreeSet;

use mazurka::explore::{Budget, End, Exhaustive, Observer, Verdict, explore};
use mazurka::lang::{self, Granularity, Program};
use mazurka::model::{Action, Choice, Locals, ProcessId, State};
use mazurka::property::Position;

use super::{counts, fails, holds};
use crate::judge::{Counts, Recorder};
use crate::random_models::Rng;

/// Procedures by number, each with its statements; later ones may call earlier ones.
struct Source {
    bodies: Vec<Vec<Stmt>>,
    /// For each process the procedures that it calls, with their arguments.
    processes: Vec<Vec<(usize, i64)>>,
}

enum Stmt {
    /// `acc = acc + x;`
    Read,
    /// `y = acc;`
    Write,
    /// `acc += fetch_add(x, n);`
    Add,
    /// `lock(m); …; unlock(m);`
    Locked(Vec<Stmt>),
    /// `if cas(y, acc, n) { … }`
    Cas(Vec<Stmt>),
    /// `for i in 0..2 { acc += i * y; }`
    Loop,
    /// `if acc > k { return acc; }`
    Return(i64),
    /// `acc = 2 * acc + p(acc - 1);`
    Call(usize),
}

fn statements(rng: &mut Rng, procedure: usize, depth: usize) -> Vec<Stmt> {
    let one = |rng: &mut Rng| match rng.below(if depth > 0 { 8 } else { 4 }) {
        0 => Stmt::Read,
        1 => Stmt::Write,
        2 => Stmt::Add,
        3 => Stmt::Return(rng.value()),
        4 => Stmt::Locked(statements(rng, procedure, depth - 1)),
        5 => Stmt::Cas(statements(rng, procedure, depth - 1)),
        6 if procedure > 0 => Stmt::Call(rng.below(procedure)),
        _ => Stmt::Loop,
    };
    (0..rng.range(1, 3)).map(|_| one(rng)).collect()
}

impl Source {
    fn random(seed: u64) -> Source {
        let mut rng = Rng::new(seed);
        let bodies = (0..3).map(|procedure| statements(&mut rng, procedure, 2)).collect();
        let mut calls = || (0..rng.range(1, 3)).map(|_| (rng.below(3), rng.value())).collect();
        Source { bodies, processes: vec![calls(), calls()] }
    }

    fn text(&self, pasted: bool) -> String {
        let mut text = "shared x: int = 0;\nshared y: int = 0;\nmutex m;\n".to_owned();
        for (number, body) in self.bodies.iter().enumerate().filter(|_| !pasted) {
            let body = self.block(body, false);
            text += &format!("proc p{number}(n: int) -> int {{ var acc = n; {body} acc }}\n");
        }
        for (number, calls) in self.processes.iter().enumerate() {
            text += &format!("shared result{number}: int = 0;\nprocess P{number} {{ var sum = 0; ");
            for (procedure, argument) in calls {
                let call = self.call(*procedure, &argument.to_string(), pasted);
                text += &format!("sum = 3 * sum + {call}; ");
            }
            text += &format!("result{number} = sum; }}\n");
        }
        text
    }

    /// A call, or the body in its place: `return` leaves a loop that is run once.
    fn call(&self, procedure: usize, argument: &str, pasted: bool) -> String {
        if !pasted {
            return format!("p{procedure}({argument})");
        }
        let body = self.block(&self.bodies[procedure], true);
        format!(
            "{{ let n = {argument}; var acc = n; var back = 0; loop {{ {body} back = acc; break; }} back }}"
        )
    }

    fn block(&self, statements: &[Stmt], pasted: bool) -> String {
        let all = |inner: &[Stmt]| self.block(inner, pasted);
        let one = |statement: &Stmt| match statement {
            Stmt::Read => "acc = acc + x;".to_owned(),
            Stmt::Write => "y = acc;".to_owned(),
            Stmt::Add => "acc += fetch_add(x, n);".to_owned(),
            Stmt::Locked(inner) => format!("lock(m); {} unlock(m);", all(inner)),
            Stmt::Cas(inner) => format!("if cas(y, acc, n) {{ {} }}", all(inner)),
            Stmt::Loop => "for i in 0..2 { acc += i * y; }".to_owned(),
            Stmt::Return(k) if pasted => format!("if acc > {k} {{ back = acc; break; }}"),
            Stmt::Return(k) => format!("if acc > {k} {{ return acc; }}"),
            Stmt::Call(procedure) => {
                format!("acc = 2 * acc + {};", self.call(*procedure, "acc - 1", pasted))
            }
        };
        statements.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

/// The classes, and the contents of all cells at the ends.
struct Ends<'p> {
    recorder: Recorder<'p, Program>,
    ends: BTreeSet<Vec<String>>,
}

impl Observer for Ends<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        self.recorder.trace(at, end);
        self.ends.insert(at.cells().into_iter().map(|(_, content)| content.to_string()).collect());
    }
}

/// `None` if there are too many executions to compare.
fn explored(text: &str) -> Option<(Counts, BTreeSet<Vec<String>>, Verdict)> {
    let program = lang::compile("test.maz", text, &[])
        .unwrap_or_else(|d| panic!("{text}\n{}", d.render(false)));
    let recorder = Recorder::new(&program);
    let mut ends = Ends { recorder, ends: BTreeSet::new() };
    let budget = Budget { all: true, max_traces: Some(1000), ..Budget::default() };
    let outcome = explore(&program, Exhaustive, budget, &mut ends);
    let verdict = outcome.verdict();
    outcome.is_complete().then(|| (ends.recorder.take(), ends.ends, verdict))
}

#[test]
fn a_call_is_its_body_in_place() {
    let (mut compared, mut verdicts) = (0, BTreeSet::new());
    for seed in 0..400 {
        let source = Source::random(seed);
        let Some((classes, ends, verdict)) = explored(&source.text(false)) else { continue };
        let pasted = explored(&source.text(true)).expect("as many executions");
        let same = classes.keys().eq(pasted.0.keys()) && ends == pasted.1 && verdict == pasted.2;
        assert!(same, "{}\n{}", source.text(false), source.text(true));
        compared += 1;
        verdicts.insert(format!("{verdict:?}"));
    }
    assert!(compared > 200, "only {compared} programs were small enough");
    assert!(verdicts.len() >= 3, "{verdicts:?}");
}

/// Two ways through a procedure with the same result lead to the same local state.
#[test]
fn a_call_that_has_ended_leaves_nothing_behind() {
    let source = "
        shared x: int = 0;
        proc look(how: bool) -> int {
            if how { let a = x; let b = [a, a]; return b[0]; }
            for i in 0..3 { let c = (i, x); if c.0 == 1 { return c.1; } }
            9
        }
        process P { let a = look(choose(0..2) == 0); local(\"after\"); assert(a == 0); }";
    for granularity in [Granularity::Operation, Granularity::Statement] {
        let program = lang::compile_with("test.maz", source, &[], granularity)
            .unwrap_or_else(|d| panic!("{}", d.render(false)));
        let mut locals = Locals::new(&program);
        let mut rests = BTreeSet::new();
        let mut ways = BTreeSet::new();
        for choice in 0..2 {
            let mut state = State::initial(&mut locals);
            let mut seen = Vec::new();
            while !state.is_terminal(&locals) {
                let mut actions = Vec::new();
                state.enabled(&locals, &mut actions);
                let first = Action { process: ProcessId(0), choice: Choice(choice) };
                let action = if actions.len() == 2 { first } else { actions[0] };
                state.step(&mut locals, action);
                seen.push(state.local(ProcessId(0)));
            }
            rests.insert(seen.last().copied().expect("an end"));
            ways.insert(seen);
        }
        assert_eq!((rests.len(), ways.len()), (1, 2), "{granularity:?}");
    }
}

#[test]
fn statements_of_procedures_are_steps_where_statements_count() {
    let source = "
        proc twice(n: int) -> int { let a = n; let b = a + n; b }
        process P { let r = twice(2); assert(r == 4); }";
    let program = lang::compile_with("test.maz", source, &[], Granularity::Statement)
        .unwrap_or_else(|d| panic!("{}", d.render(false)));
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(&program, Exhaustive, budget, &mut mazurka::explore::NoObserver);
    // Two declarations within, and the assertion; the call itself is none.
    assert_eq!((outcome.stats.transitions, outcome.verdict()), (3, Verdict::Ok));
}

#[test]
fn variables_of_procedures_are_out_of_sight_of_final() {
    holds(
        "shared x: int = 0;
         proc p() -> int { let v = 1; x = v; let w = 2; w }
         process P { let v = p(); p(); }
         final { assert(P.v == 2); }",
    );
    fails(
        "shared x: int = 0;
         proc p(n: int) { x = 1 / n; }
         process P { p(1); p(0); }
         process Q { x = 5; }",
        "division by zero",
    );
}

#[test]
fn a_process_may_call_before_its_first_step_and_without_any() {
    assert_eq!(
        counts("proc none(n: int) -> int { n + 1 } process P { assert(none(none(1)) == 3); }"),
        (1, false, Verdict::Ok)
    );
}
