//! Livelocks within a depth, and loops too long to be judged.

use mazurka::explore::{
    Budget, EveryState, Explorer, Guarantee, NoObserver, StopReason, Verdict, explore,
};
use mazurka::lang::compile;
use mazurka::model::System;

use crate::judge::{METHODS, STATEFUL};

fn up_to(
    system: &impl System,
    method: impl Explorer,
    depth: Option<u32>,
) -> (Verdict, Option<StopReason>) {
    let budget = Budget { depth, ..Budget::default() };
    let outcome = explore(system, method, budget, &mut NoObserver);
    (outcome.verdict(), outcome.stopped_by)
}

/// A round leads to a known state, so nothing is cut there. Stateful explorers once took the search
/// for complete.
#[test]
fn a_livelock_within_a_depth_is_never_verified() {
    let text = "shared f: bool = false; shared x: int = 0; process P { x = 1; while !f {} }";
    let program = compile("livelock.maz", text, &[]).expect("a program");
    for depth in 1..=4 {
        for &(_, method, _) in METHODS.iter() {
            let budget = Budget { depth: Some(depth), ..Budget::default() };
            if method.profile().guarantee == Guarantee::SomeClasses
                || method.refusal(&program, &budget).is_some()
            {
                continue;
            }
            let (verdict, stopped_by) = up_to(&program, method, Some(depth));
            let expected = match method.profile().guarantee {
                Guarantee::EveryEnd if depth > 1 => {
                    (Verdict::Livelock, Some(StopReason::Violation))
                }
                _ => (Verdict::Incomplete, Some(StopReason::Depth)),
            };
            assert_eq!((verdict, stopped_by), expected, "{method:?} up to {depth}");
        }
    }
}

/// P waits for ever, but it passes through 20,000 local states on the way.
#[test]
fn a_loop_that_is_too_long_to_be_judged_is_not_verified() {
    let text = "shared f: bool = false; process P { var i = 0; while !f { i = (i + 1) % 20000; } }";
    let program = compile("long.maz", text, &[]).expect("a program");
    let (verdict, stopped_by) = up_to(&program, EveryState::of(STATEFUL), None);
    assert_eq!((verdict, stopped_by), (Verdict::Incomplete, Some(StopReason::LongLoop)));
}
