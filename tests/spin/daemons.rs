//! Daemons in loops that wait, and `final`, which must hold at every point of the loops
//! that they can never leave.

use mazurka::audit::{Certificate, Claim, Items, audit};
use mazurka::explore::{
    EveryState, Exhaustive, Explorer, Guarantee, NoObserver, StopReason, explore, listed_prefix,
};

use super::{MAX_EXECUTIONS, MAX_STATES, all, kinds, program, programs};
use crate::cli::{code, run_with, stdout};
use crate::judge::{METHODS, STATEFUL, check_counterexample, is_refused};
use crate::random_models::Rng;

const EXPLORERS: [&str; 9] =
    ["exhaustive", "udpor", "optimal", "source", "prefix", "stateful", "fused", "s-por", "fair"];

const TWO_LOOPS: &str = "loop { w = 1; if x == 4 || choose(0..2) == 1 { break; } }
    w = 2; loop { let _y = x; }";

/// A daemon that has still to come into its loop is not at an end: its next step may change a
/// variable that `final` reads, and nothing stops it. Within a loop that it
/// can never leave every point is an end.
#[test]
fn a_daemon_on_its_way_into_a_loop_is_not_at_an_end() {
    let cases = [
        ("loop { w = x; }", "D.w == 3", 0),
        ("loop { w = x; }", "D.w != 3", 1),
        ("loop { w = x; w = 7; }", "D.w == 3", 1),
        ("loop { w = x; w = 7; }", "D.w == 3 || D.w == 7", 0),
        ("w = x; w = 5; loop { let _y = x; }", "D.w == 5", 0),
        // It can leave the first loop, as it could also end there.
        (TWO_LOOPS, "D.w == 2", 0),
        (TWO_LOOPS, "D.w != 2", 1),
    ];
    for (body, asserted, expected) in cases {
        let text = format!(
            "shared x: int = 0; process P {{ x = 3; }}
            daemon process D {{ var w = 0; {body} }} final {{ assert({asserted}); }}"
        );
        for explorer in EXPLORERS {
            let found = run_with(&["check", "-", "--explorer", explorer], &text);
            assert_eq!(code(&found), expected, "{explorer}: {text}\n{}", stdout(&found));
        }
    }
}

/// A process that moves variables and looks at cells, in loops and on its way to them.
fn watcher(rng: &mut Rng) -> String {
    let step = |rng: &mut Rng| match rng.below(6) {
        0 => format!("w = x{}; ", rng.below(2)),
        1 => format!("w = {}; ", rng.below(3)),
        2 => "w = choose(0..2); ".to_owned(),
        3 => format!("if x{} == {} {{ w = {}; }} ", rng.below(2), rng.below(2), rng.below(3)),
        4 => format!("let _l = x{}; ", rng.below(2)),
        _ => "w = (w + 1) % 2; ".to_owned(),
    };
    let mut text = String::new();
    for _ in 0..1 + rng.below(2) {
        if rng.chance(50) {
            text += &step(rng);
        }
        let leave = match rng.below(4) {
            0 => format!("if x{} == {} {{ break; }} ", rng.below(2), rng.below(3)),
            1 => "if choose(0..2) == 1 { break; } ".to_owned(),
            _ => String::new(),
        };
        let steps: String = (0..1 + rng.below(2)).map(|_| step(rng)).collect();
        text += &format!("loop {{ {steps}{leave}let _l = x{}; }} ", rng.below(2));
    }
    text
}

fn random_program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "shared x0: int = 0; shared x1: int = 1;\n".to_owned();
    for process in 0..1 + rng.below(2) {
        let (x, value) = (rng.below(2), rng.below(3));
        text += &format!("process P{process} {{ x{x} = {value}; }}\n");
    }
    let daemons = 1 + rng.below(2);
    for daemon in 0..daemons {
        text += &format!("daemon process D{daemon} {{ var w = 0; {}}}\n", watcher(&mut rng));
    }
    let value = rng.below(3);
    let other = format!("D{}.w != {}", daemons - 1, rng.below(3));
    text += &match rng.below(3) {
        0 => format!("final {{ assert(D0.w != {value}); }}"),
        1 => format!("final {{ assert(D0.w != {value} || {other}); }}"),
        _ => format!("final {{ assert(D0.w != {value} || x0 != {}); }}", rng.below(3)),
    };
    text
}

#[test]
fn explorers_agree_on_the_ends_of_daemons_in_loops() {
    let count = programs(150);
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..count {
        let text = random_program(seed);
        let program = program(&text);
        let full = explore(&program, EveryState::of(STATEFUL), all(), &mut NoObserver);
        if full.stats.states.is_none_or(|states| states > MAX_STATES) {
            continue;
        }
        let mut few = all();
        few.max_traces = Some(MAX_EXECUTIONS);
        let judged = explore(&program, Exhaustive, few, &mut NoObserver);
        if !judged.is_complete() || judged.stats.given_up > 50 * MAX_EXECUTIONS {
            continue;
        }
        compared += 1;
        failing += u64::from(!full.violations.is_empty());
        assert_eq!(kinds(&judged), kinds(&full), "all states of\n{text}");
        let list = listed_prefix(&program, all()).expect("a prefix");
        let violating = u64::from(!full.violations.is_empty());
        let claim = Claim { count: list.len() as u64, deadlocked: 0, violating };
        let made = Certificate { program: "a program".into(), items: Items::Events, claim, list };
        assert_eq!(audit(&program, false, &made), Ok(()), "the audit of\n{text}");
        for &(name, method, _) in METHODS.iter() {
            let promises = method.profile().guarantee >= Guarantee::EveryViolation;
            if !promises || is_refused(&program, method) {
                continue;
            }
            let found = explore(&program, method, all(), &mut NoObserver);
            if name == "fair" && found.stopped_by == Some(StopReason::Polls) {
                continue;
            }
            assert!(found.is_complete(), "{name}: {:?} of\n{text}", found.stopped_by);
            assert_eq!(kinds(&found), kinds(&full), "{name}, {method:?} of\n{text}");
            for violation in &found.violations {
                check_counterexample(&program, violation)
                    .unwrap_or_else(|how| panic!("{how}: {name} of\n{text}"));
            }
        }
    }
    println!("{compared} programs, {failing} with a violation");
    assert!(
        compared > count / 2 && failing > count / 8 && failing < compared,
        "{compared} {failing}"
    );
}
