//! What searches that store states must do within a depth: find the violations of every execution
//! of that length, and know the distance of each state.

use std::collections::BTreeSet;

use mazurka::explore::{
    AnyExplorer, Budget, Driver, EveryState, Explorer, NoObserver, Outcome, Stateful, StopReason,
    explore,
};
use mazurka::lang::compile;
use mazurka::model::{Locals, State, System};
use mazurka::property::Watch;

use super::hold_on_random_programs;
use super::of_states::spinning_program;
use crate::judge::{STATEFUL, check_counterexample, storing};
use crate::random_models::{Sample, Subject};
use crate::state_graph::Watcher;

hold_on_random_programs! {
    violations_within_a_depth_are_found
    states_are_counted_at_their_distance
}

fn all() -> [AnyExplorer; 6] {
    let histories = EveryState::of(Stateful { histories: true, ..STATEFUL });
    let [full, safe, eager, lazy, fused] = storing(STATEFUL);
    [full, safe, eager, lazy, fused, histories.into()]
}

fn within<S: System>(system: &S, method: impl Explorer, depth: u32) -> Outcome {
    let budget = Budget { all: true, depth: Some(depth), ..Budget::default() };
    explore(system, method, budget, &mut NoObserver)
}

fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

/// Every execution up to that length.
fn all_executions<S: System>(system: &S, depth: u32) -> Outcome {
    let mut observer = NoObserver;
    let budget = Budget { all: true, depth: Some(depth), ..Budget::default() };
    let mut driver = Driver::new(system, budget, &mut observer);
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    driver.started(&mut locals, &state);
    walk(&mut locals, &mut state, &mut driver, depth);
    driver.finish()
}

fn walk<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    driver: &mut Driver<'_>,
    left: u32,
) {
    let mut enabled = Vec::new();
    state.enabled(locals, &mut enabled);
    if enabled.is_empty() {
        driver.terminal(locals, state);
    } else if left == 0 {
        driver.truncated(locals, state);
    } else {
        driver.is_livelock(&mut Watch::default(), locals, state);
        for action in enabled {
            state.step(locals, action);
            driver.moved(locals, state, action);
            walk(locals, state, driver, left - 1);
            state.undo(locals);
        }
    }
}

/// Against all executions of that length.
fn check<S: System>(system: &S, depth: u32, context: &str) {
    let judged = all_executions(system, depth);
    for method in all() {
        let found = within(system, method, depth);
        let context = || format!("{method:?} up to {depth} on {context}");
        assert_eq!(kinds(&found), kinds(&judged), "{}", context());
        // A longest execution may be cut where a shorter one leads to the same state, from which
        // the search continues.
        assert!(judged.stopped_by.is_some() || found.is_complete(), "{}", context());
        assert_eq!(found.stats.traces > 0, judged.stats.traces > 0, "ends by {}", context());
        for violation in &found.violations {
            assert!(violation.schedule.len() <= depth as usize, "{}", context());
            check_counterexample(system, violation)
                .unwrap_or_else(|how| panic!("{how}: {}", context()));
        }
    }
}

fn violations_within_a_depth_are_found<S: Subject>(samples: &[Sample<S>]) {
    for (index, sample) in samples.iter().enumerate() {
        // Two depths a program, so that all of them come.
        for depth in [1 + index as u32 % 6, 7 + index as u32 % 6] {
            check(&sample.script, depth, &sample.describe());
        }
    }
}

/// The distances are computed from the whole graph, which a search without a bound traverses
/// depth-first.
fn states_are_counted_at_their_distance<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples.iter().step_by(2) {
        let mut watcher = Watcher::of(&sample.script);
        let states = watcher.watch(EveryState::of(STATEFUL)).stats.states;
        let distances = watcher.by_distance();
        assert_eq!(Some(distances.iter().sum()), states, "{}", sample.describe());
        for method in &all()[..4] {
            for depth in [2, 5, 1_000] {
                let stats = within(&sample.script, *method, depth).stats;
                let expected = &distances[..distances.len().min(depth as usize + 1)];
                let context = || format!("{method:?} up to {depth} on {}", sample.describe());
                assert_eq!(stats.states_by_depth.as_deref(), Some(expected), "{}", context());
                assert_eq!(stats.states, Some(expected.iter().sum()), "{}", context());
            }
        }
    }
}

/// Programs that repeat loops for ever have no end but the depth.
#[test]
fn programs_that_spin_fail_within_a_depth_as_all_their_executions_do() {
    let mut cut = 0;
    for seed in 0..150 {
        let text = spinning_program(seed) + "final { assert(x0 != 1); }\n";
        let program = compile("spin.maz", &text, &[])
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        for depth in 1..=6 {
            check(&program, depth, &text);
        }
        let found = within(&program, EveryState::of(STATEFUL), 6);
        cut += u32::from(found.stopped_by == Some(StopReason::Depth));
    }
    assert!(cut > 50, "{cut} programs go on");
}

/// If a state is first visited by a detour, at the bound, the search continues from it along the
/// shorter path; and a violation is found although another process could always go first.
#[test]
fn what_a_short_way_leads_to_is_not_lost() {
    let detour = "
        shared x: int = 0;
        process P { if choose(0..2) == 0 { local(\"a\"); } local(\"b\"); x = 1; }
        final { assert(x == 0); }";
    let behind = "
        shared x: int = 0;
        process P { local(\"a\"); local(\"b\"); }
        process Q { x = 1; assert(x == 2); }";
    for (text, depth) in [(detour, 3), (behind, 2)] {
        let program = compile("short.maz", text, &[])
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        for method in all() {
            let outcome = within(&program, method, depth);
            assert_eq!(outcome.violations.len(), 1, "{method:?} on {text}");
            assert!(within(&program, method, depth - 1).violations.is_empty(), "{method:?}");
        }
    }
}
