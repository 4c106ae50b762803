//! Programs that wait in loops.
//!
//! There are two judges. What is left out of executions is the same for all explorers, so each
//! class that the exhaustive explorer finds must be found by each of the others. And nothing may be
//! lost: the ends, violations and livelocks must be those of the full state graph, in which loops
//! are repeated without limit.

mod daemons;
mod livelock;
mod polls;

use std::collections::BTreeSet;

use mazurka::explore::{
    Budget, End, EveryState, Exhaustive, Explorer, Guarantee, NoObserver, Observer, Outcome,
    StopReason, ViolationKind, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::property::Position;

use crate::cli::{code, run_with, stdout};
use crate::judge::{METHODS, Recorder, STATEFUL, check_counterexample, is_refused};
use crate::random_models::Rng;

/// Programs with more executions or more states are skipped. (A program with many states may have
/// few executions that end.)
const MAX_EXECUTIONS: u64 = 4_000;
const MAX_STATES: u64 = 700;

fn program(text: &str) -> Program {
    compile("spin.maz", text, &[])
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)))
}

fn all() -> Budget {
    Budget { all: true, endless: Some(200), ..Budget::default() }
}

/// The terminal states that a search visits. Livelocks are violations.
#[derive(Default)]
struct Ends(BTreeSet<String>);

impl Observer for Ends {
    fn trace(&mut self, at: Position<'_>, end: End) {
        if !end.is_livelocked {
            let processes: Vec<_> = at.processes().map(|process| at.local(process)).collect();
            self.0.insert(without_handles(&format!("{processes:?} {:?}", at.cells())));
        }
    }
}

/// The number of a request is not a part of a state: stateful searches merge states that differ in
/// it.
fn without_handles(state: &str) -> String {
    let mut parts = state.split("Handle(");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    kept
}

fn ends(program: &Program, method: impl Explorer) -> (BTreeSet<String>, Outcome) {
    let mut ends = Ends::default();
    let outcome = explore(program, method, all(), &mut ends);
    (ends.0, outcome)
}

/// The kinds of violations, and the failures.
pub fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

/// Compares all explorers on one program. Returns the outcome if the program is small enough.
fn agree(text: &str) -> Option<Outcome> {
    let program = program(text);
    let states = explore(&program, EveryState::of(STATEFUL), all(), &mut NoObserver).stats.states;
    if states.is_none_or(|states| states > MAX_STATES) {
        return None;
    }
    let budget = Budget { max_traces: Some(MAX_EXECUTIONS), ..all() };
    let mut recorder = Recorder::new(&program);
    let judged = explore(&program, Exhaustive, budget, &mut recorder);
    if !judged.is_complete() || judged.stats.given_up > 50 * MAX_EXECUTIONS {
        return None;
    }
    let classes = recorder.take();
    for &(name, method, is_never_blocked) in METHODS.iter() {
        if is_refused(&program, method) || method.profile().guarantee < Guarantee::EveryClass {
            continue;
        }
        let outcome = explore(&program, method, all(), &mut recorder);
        let found = recorder.take();
        let context = || format!("{name}, {method:?} on\n{text}");
        assert!(outcome.is_complete(), "{:?}: {}", outcome.stopped_by, context());
        assert!(
            found.keys().eq(classes.keys()),
            "{} of {}: {}",
            found.len(),
            classes.len(),
            context()
        );
        if method.profile().guarantee >= Guarantee::EveryClassOnce {
            assert!(found.values().all(|visits| visits.times == 1), "{}", context());
        }
        assert!(!is_never_blocked || outcome.stats.blocked == 0, "{}", context());
        assert_eq!(kinds(&outcome), kinds(&judged), "{}", context());
        for violation in &outcome.violations {
            check_counterexample(&program, violation)
                .unwrap_or_else(|how| panic!("{how}: {}", context()));
        }
    }
    let (expected, full) = ends(&program, EveryState::of(STATEFUL));
    let (met, _) = ends(&program, Exhaustive);
    assert_eq!(met, expected, "ends of\n{text}");
    assert_eq!(kinds(&judged), kinds(&full), "violations of\n{text}");
    for &(name, method, _) in METHODS.iter() {
        if method.profile().guarantee == Guarantee::EveryEnd {
            let (met, found) = ends(&program, method);
            // On the graph of all states, a process that polls the network may wait.
            if name == "fair" && found.stopped_by == Some(StopReason::Polls) {
                continue;
            }
            assert_eq!(met, expected, "ends by {name} of\n{text}");
            assert_eq!(kinds(&found), kinds(&full), "violations by {name}, {method:?} of\n{text}");
            for violation in &found.violations {
                check_counterexample(&program, violation)
                    .unwrap_or_else(|how| panic!("{how}: {text}"));
            }
        }
    }
    Some(judged)
}

/// The kinds of random programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// With newer objects: a mutex that is tried.
    Later,
    /// Each process receives at a p2p mailbox of its own, and polls it in loops.
    Network,
}

/// A statement on the newer objects.
fn later(rng: &mut Rng) -> String {
    let (x, value) = (rng.below(2), rng.below(2));
    match rng.below(8) {
        0..3 => format!("while !try_lock(t) {{ }} x{x} = {value}; unlock(t); "),
        3 => format!("while x{x} == {value} && !try_lock(s) {{ }} "),
        4 => format!("if try_lock(t) {{ x{x} = {value}; unlock(t); }} "),
        5 => "while !try_lock(t) { if try_lock(s) { break; } } ".to_string(),
        6 => "while !try_lock(s) { } ".to_string(),
        _ => format!("lock(t); x{x} = {value}; unlock(t); "),
    }
}

/// A statement of process `own` that polls its mailbox, or feeds that of another one.
fn network(rng: &mut Rng, (own, number): (usize, usize), processes: usize) -> String {
    let (x, value, n) = (rng.below(2), rng.below(2), number);
    let other = (own + 1 + rng.below(processes - 1)) % processes;
    let probe = format!("let (f{n}, _s{n}, _t{n}) = iprobe(m{own})");
    match rng.below(21) {
        0 => format!("let c{n} = irecv(m{own}); while !test(c{n}) {{ }} assert(test(c{n})); "),
        1 => format!("let c{n} = irecv(m{own}); while !test(c{n}) && x{x} == {value} {{ }} "),
        2 => format!(
            "let a{n} = irecv(m{own}, tag: 0); let b{n} = irecv(m{own}); \
             while testany([a{n}, b{n}]) == -1 {{ }} "
        ),
        3 => format!(
            "let a{n} = irecv(m{own}, tag: 1); let b{n} = irecv(m{own}); \
             loop {{ if test(a{n}) {{ break; }} if test(b{n}) {{ x{x} = {value}; break; }} }} "
        ),
        4 => format!("loop {{ {probe}; if f{n} {{ break; }} }} "),
        5 => format!(
            "let c{n} = issend(m{other}, {value}); \
             loop {{ {probe}; if f{n} {{ x{x} = {value}; }} if test(c{n}) {{ break; }} }} "
        ),
        6 => format!(
            "let c{n} = issend(m{other}, {value}); \
             loop {{ if test(c{n}) {{ break; }} {probe}; if f{n} {{ recv(m{own}); break; }} }} "
        ),
        7 => format!(
            "let c{n} = irecv(m{own}); var k{n} = 0; while !test(c{n}) && k{n} < 4 {{ k{n} += 1; }} "
        ),
        8 => format!("let c{n} = irecv(m{own}); wait(c{n}); assert(testany([c{n}]) == 0); "),
        9 => format!("{probe}; let (g{n}, _u{n}, _v{n}) = iprobe(m{own}, tag: {value}); "),
        10 => format!("recv(m{own}); "),
        11 => format!("x{x} = {value}; "),
        12 => format!("if x{x} == {value} {{ isend(m{other}, {n}, tag: {value}); }} "),
        13 => format!("issend(m{other}, {n}, tag: {value}); "),
        14 => format!("let c{n} = irecv(m{own}); while test(c{n}) {{ }} x{x} = {value}; "),
        15 => format!("while !iprobe(m{own}).0 && !iprobe(m{own}).0 {{ }} "),
        16 => format!(
            "let c{n} = irecv(m{own}); \
             loop {{ if test(c{n}) {{ break; }} if iprobe(m{own}, tag: 1).0 {{ break; }} \
             if test(c{n}) {{ break; }} }} "
        ),
        17 => format!("while choose(0..2) == 0 || iprobe(m{own}).0 {{ }} "),
        _ => format!("isend(m{other}, {n}, tag: {value}); "),
    }
}

/// A few statements that wait in loops, or let other processes continue.
fn body(rng: &mut Rng, statements: usize, kind: Kind) -> String {
    let mut text = String::new();
    for number in 0..statements {
        if kind == Kind::Later && rng.chance(60) {
            text += &later(rng);
            continue;
        }
        let (x, y) = (rng.below(2), rng.below(2));
        let (value, next) = (rng.below(2), rng.below(2));
        let m = rng.below(2);
        text += &match rng.below(28) {
            0 => format!("while x{x} == 0 {{ }} "),
            1 => format!("while x{x} == {value} && x{y} == {next} {{ }} "),
            2 => format!("while x{x} == {value} || x{y} == {next} {{ }} "),
            3 => format!("while !cas(x{x}, {value}, {next}) {{ }} "),
            4 => format!("while !cas(taken, 0, 1) {{ }} x{x} = {value}; taken = 0; "),
            5 => format!("while x{x} == 0 {{ let seen = x{y}; if seen == {next} {{ break; }} }} "),
            6 => {
                format!("while true {{ let t = x{x}; if cas(x{x}, t, (t + 1) % 2) {{ break; }} }} ")
            }
            7 => format!("if x{x} == {value} {{ x{y} = {next}; }} "),
            8 => format!("let got{number} = fetch_add(x{x}, {value}); "),
            9 | 10 => format!("let c{number} = irecv(m{m}); while !test(c{number}) {{ }} "),
            11 => format!(
                "let c{number} = irecv(m{m}); while !test(c{number}) && x{x} == {value} {{ }} "
            ),
            12..=14 => format!("let d{number} = isend(m{m}, {value}); "),
            15 => format!("while swap(x{x}, {value}) != {value} {{ }} "),
            16 => "async_lock(l); while !mutex_test(l) { } unlock(l); ".to_string(),
            17 => format!(
                "let a{number} = irecv(m0); let b{number} = irecv(m1); \
                 while testany([a{number}, b{number}]) == -1 {{ }} "
            ),
            18 => format!("let v{number} = wait(irecv(m{m})); "),
            19 => format!("let p = x{x}; let q = x{y}; while p == q && x{x} == p {{ }} "),
            20 => {
                format!("let e{number} = irecv(m{m}); while test(e{number}) {{ }} x{x} = {value}; ")
            }
            21 => "async_lock(l); while mutex_test(l) { } x0 = 1; ".to_string(),
            22 => format!(
                "let e{number} = irecv(m{m}); \
                 loop {{ if test(e{number}) && x{x} == {value} {{ continue; }} break; }} "
            ),
            _ => format!("x{x} = {next}; "),
        };
    }
    text
}

pub fn random_program(seed: u64, kind: Kind) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "shared x0: int = 0; shared x1: int = 1; shared taken: int = 0;\n".to_owned();
    let processes = 2 + rng.below(2);
    text += match kind {
        Kind::Network => "p2p mailbox m0: int; p2p mailbox m1: int; p2p mailbox m2: int;\n",
        _ => "mailbox m0: int; mailbox m1: int;\nmutex l;\n",
    };
    if kind == Kind::Later {
        text += "mutex t; mutex s;\n";
    }
    for process in 0..processes {
        let statements = 2 + rng.below(if processes == 2 { 3 } else { 2 });
        let body = match kind {
            Kind::Network => {
                (0..statements).map(|n| network(&mut rng, (process, n), processes)).collect()
            }
            _ => body(&mut rng, statements, kind),
        };
        text += &format!("process P{process} {{ {body}}}\n");
    }
    text
}

/// Counts of programs.
#[derive(Default, Debug)]
struct Reach {
    programs: u32,
    livelocked: u32,
    deadlocked: u32,
    given_up: u32,
}

fn agree_on_random_programs(seeds: std::ops::Range<u64>, kind: Kind) -> Reach {
    let mut reach = Reach::default();
    for seed in seeds {
        let Some(judged) = agree(&random_program(seed, kind)) else { continue };
        reach.programs += 1;
        let has = |kind| u32::from(judged.violations.iter().any(|v| v.kind == kind));
        reach.livelocked += has(ViolationKind::Livelock);
        reach.deadlocked += has(ViolationKind::Deadlock);
        reach.given_up += u32::from(judged.stats.given_up > 0);
    }
    reach
}

/// The number of programs: `ordinary`, or `MAZURKA_PROGRAMS`.
fn programs(ordinary: u64) -> u64 {
    let asked = std::env::var("MAZURKA_PROGRAMS").ok();
    asked.map_or(ordinary, |count| count.parse().expect("MAZURKA_PROGRAMS is a number"))
}

#[test]
fn explorers_agree_on_programs_that_wait_in_loops() {
    let count = programs(120);
    let reach = agree_on_random_programs(0..count, Kind::Plain);
    println!("{reach:?}");
    assert!(u64::from(reach.programs) > count / 2, "{reach:?}");
    assert!(reach.livelocked > 50 && reach.deadlocked > 3 && reach.given_up > 2, "{reach:?}");
}

#[test]
fn explorers_agree_on_loops_about_later_objects() {
    let count = programs(100);
    let reach = agree_on_random_programs(0..count, Kind::Later);
    println!("{reach:?}");
    assert!(u64::from(reach.programs) > count / 2, "{reach:?}");
    assert!(reach.livelocked > 20 && reach.deadlocked > 3, "{reach:?}");
}

#[test]
fn explorers_agree_on_loops_that_poll_the_network() {
    let count = programs(100);
    let reach = agree_on_random_programs(0..count, Kind::Network);
    println!("{reach:?}");
    // The bound on polls cuts many others.
    assert!(u64::from(reach.programs) > count / 3, "{reach:?}");
    assert!(reach.livelocked > 20 && reach.deadlocked > 3 && reach.given_up > 2, "{reach:?}");
}

/// A process that counts its polls goes on beyond the bound in a new way: the search says that it
/// does not know what happens there, and with a larger bound it finds it.
#[test]
fn polls_that_are_cut_are_no_proof() {
    let text = "p2p mailbox m: int; process A { bsend(m, 1); }
        process B {
            var n = 0;
            while n < 5 { let found = iprobe(m); if found.0 { break; } n += 1; }
            assert(n < 5);
            recv(m);
        }";
    for explorer in
        ["auto", "udpor", "optimal", "prefix", "s-por", "fused", "stateful", "exhaustive"]
    {
        let by = |more: &[&str]| {
            run_with(&[&["check", "-", "--explorer", explorer], more].concat(), text)
        };
        let cut = by(&[]);
        assert_eq!(code(&cut), 3, "{explorer}: {}", stdout(&cut));
        assert!(
            stdout(&cut).contains("a loop that polls at line 4 was cut"),
            "{explorer}: {}",
            stdout(&cut)
        );
        assert_eq!(code(&by(&["--polls", "5"])), 1, "{explorer}");
    }
}

/// A poll of the network is part of a state; a test of something else that finds nothing, any
/// number of times, is not.
#[test]
fn loops_that_test_what_is_no_network_come_back_to_their_states() {
    let loops = [
        "let c = irecv(m); while !test(c) {}",
        "async_lock(l); while !mutex_test(l) {}",
        "let c = irecv(m); while !test(c) && !iprobe(net).0 {}",
        "iprobe(net); let c = irecv(m); let d = irecv(m); \
         loop { if test(c) { break; } if test(d) { break; } }",
    ];
    for body in loops {
        let text = format!(
            "mailbox m: int; mutex l; p2p mailbox net: int;
            process P {{ {body} }} process Q {{ lock(l); }}"
        );
        for explorer in ["stateful", "fused", "s-por", "fair", "prefix"] {
            let found = run_with(&["check", "-", "--all", "--explorer", explorer], &text);
            assert_eq!(code(&found), 1, "{explorer}: {text}\n{}", stdout(&found));
        }
    }
}

/// Wherever the daemon is in its loop, it is one deadlock.
#[test]
fn a_deadlock_beside_a_daemon_in_a_loop_is_told_once() {
    let text = "shared x: int = 0; p2p mailbox m: int; collective g(2);
        process P { barrier(g, as: 0); }
        daemon process Q { let c = irecv(m); while !test(c) && x != 2 {} }";
    for explorer in ["exhaustive", "udpor", "optimal", "prefix", "stateful", "fused", "s-por"] {
        let found = run_with(&["check", "-", "--all", "--explorer", explorer], text);
        assert_eq!(code(&found), 1, "{explorer}");
        assert!(!stdout(&found).contains("2 violations"), "{explorer}: {}", stdout(&found));
    }
}
