//! Searches that store states: figures known from elsewhere, what the algorithms lose as printed,
//! and cycles.

use std::fs;
use std::time::Duration;

use mazurka::explore::{
    AnyExplorer, Budget, EveryState, Explorer, Fused, NoObserver, Order, Outcome, Permutation,
    SPor, Setting, Stateful, StopReason, Switch, Verdict, explore,
};
use mazurka::lang::{Granularity, Program, compile, compile_with};
use mazurka::model::ProcessId;

use crate::judge::{STATEFUL, assert_full_graphs_agree, storing};
use crate::state_graph::Watcher;
use crate::tidy::{some_of, specs_without_demands};

/// Longer searches are left out where all specs are tried.
const QUICK: Duration = Duration::from_secs(1);

const PRINTED: Stateful = Stateful { as_printed: true, ..STATEFUL };

fn program(text: &str) -> Program {
    compile("program.maz", text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn spec(name: &str) -> Program {
    let path = format!("{}/specs/{name}.maz", env!("CARGO_MANIFEST_DIR"));
    program(&fs::read_to_string(path).expect("a readable spec"))
}

fn search(program: &Program, method: impl Explorer) -> Outcome {
    explore(program, method, Budget { all: true, ..Budget::default() }, &mut NoObserver)
}

/// The explorers of the paper, and the full graph.
fn all(settings: Stateful) -> [AnyExplorer; 4] {
    let [full, safe, eager, lazy, _] = storing(settings);
    [full, safe, eager, lazy]
}

/// States and transitions of full graphs whose states are the histories of threads and the memory,
/// with locks as one transition; and the number of outcomes, by every explorer. The figures were
/// computed by an independent program.
#[test]
fn graphs_of_histories_are_as_known() {
    let known = [
        ("mutex/set-coarse-a", 55, Some(55), 5),
        ("mutex/set-coarse-b", 89, Some(95), 4),
        ("memory/set-distinct", 27, Some(54), 1),
        ("mutex/set-coarse-distinct", 44, Some(48), 1),
        ("memory/treiber", 18, Some(18), 2),
        ("memory/counter-split", 13, None, 2),
        ("memory/counter-atomic", 4, None, 1),
    ];
    for (name, states, transitions, outcomes) in known {
        let program = spec(name);
        let full = search(&program, EveryState::of(Stateful { histories: true, ..PRINTED })).stats;
        assert_eq!(full.states, Some(states), "{name}");
        assert!(transitions.is_none_or(|known| known == full.transitions), "{name}: {full:?}");
        let without = STATEFUL.without.and(Switch::Symmetry);
        let plain = Stateful { without, ..STATEFUL };
        let plain = search(&program, EveryState::of(plain)).stats.states;
        for method in all(STATEFUL) {
            let stats = search(&program, method).stats;
            assert_eq!(stats.traces, outcomes, "{name} by {method:?}");
            assert!(stats.states <= plain, "{name} by {method:?}");
        }
    }
}

/// The paper's theorem 3.1 fails on a program that satisfies its assumptions: in every execution
/// the write comes after the read of `a`, and the rule notifies no other transition of it. See
/// `explore::de_s_por`.
#[test]
fn an_eager_search_must_tell_more_than_the_last_transition() {
    let program = program(
        "shared x: int = 0;
         shared y: int = 0;
         process P0 { let a = x; y = 1; }
         process P1 { if y == 1 { x = 1; } }
         process P2 { let b = x; }",
    );
    let order = Permutation::new(&[2, 0, 1].map(ProcessId)).expect("a permutation");
    let order = Order::Sequential(order);
    let mut watcher = Watcher::of(&program);
    let mut classes = |method: AnyExplorer| watcher.classes(method).len();
    assert_eq!(classes(EveryState::of(STATEFUL).into()), 3);
    assert_eq!(classes(SPor::eager(Stateful { order, ..PRINTED }).into()), 2);
    assert_eq!(classes(SPor::eager(Stateful { order, ..STATEFUL }).into()), 3);
    // The lazy search asks what comes after each of its transitions itself.
    assert_eq!(classes(SPor::lazy(Stateful { order, ..PRINTED }).into()), 3);
}

/// With locks that disable one another, one of two outcomes is lost, and so is a deadlock.
#[test]
fn locks_as_one_transition_lose_outcomes_and_deadlocks() {
    let two = program(
        "mutex m;
         shared x: int = 0;
         process P[i in 0..2] { lock(m); x = i; unlock(m); }",
    );
    let ends = |program: &Program, method: AnyExplorer| search(program, method).stats.traces;
    assert_eq!(all(STATEFUL).map(|method| ends(&two, method)), [2; 4]);
    assert_eq!(ends(&two, SPor::eager(PRINTED).into()), 1);
    let crossed = spec("mutex/lock-order");
    let verdict = |method: AnyExplorer| search(&crossed, method).verdict();
    assert_eq!(all(STATEFUL).map(verdict), [Verdict::Deadlock; 4]);
    assert_eq!(verdict(EveryState::of(PRINTED).into()), Verdict::Deadlock);
    assert_eq!(verdict(SPor::eager(PRINTED).into()), Verdict::Incomplete, "it found nothing");
}

/// A process that repeats a loop, visible or not, must not delay another one for ever.
#[test]
fn along_a_cycle_nobody_is_forgotten() {
    let spinning = "
        shared flag: bool = false;
        shared x: int = 0;
        process Spin { while !flag { } }
        process Worker { x = 1; assert(x == 2); }";
    let computing = "
        shared x: int = 0;
        process Busy { var a = 0; while true { a = 1 - a; } }
        process Worker { x = 1; assert(x == 2); }";
    let statements = |text| {
        compile_with("cycle.maz", text, &[], Granularity::Statement)
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    };
    for program in [program(spinning), statements(computing)] {
        for settings in
            [STATEFUL, Stateful { without: STATEFUL.without.and(Switch::Summaries), ..STATEFUL }]
        {
            for method in all(settings) {
                let outcome = search(&program, method);
                assert!(outcome.is_complete(), "{method:?}");
                assert_eq!(outcome.verdict(), Verdict::Assertion, "{method:?}");
            }
        }
    }
}

/// What follows a state is unknown until the search has left a cycle through it; both ways to store
/// it must wait.
#[test]
fn states_on_cycles_are_not_taken_for_finished() {
    let program = program(
        "shared turn: int = 0;
         shared x: int = 0;
         process Spin { while turn != 2 { } x = 1; }
         process Flip { turn = 1; turn = 0; turn = 2; }
         process Read { let a = x; assert(a == 0); }",
    );
    for switches in [&[][..], &[Switch::Summaries], &[Switch::Summaries, Switch::VisitedFirst]] {
        let without = switches.iter().fold(STATEFUL.without, |all, &switch| all.and(switch));
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let order = Permutation::new(&order.map(ProcessId)).expect("a permutation");
            let settings = Stateful { order: Order::Sequential(order), without, ..STATEFUL };
            for method in all(settings) {
                let outcome = search(&program, method);
                assert_eq!(outcome.verdict(), Verdict::Assertion, "{method:?}");
                // Read before or after the write: two ends.
                assert_eq!(outcome.stats.traces, 2, "{method:?}");
            }
        }
    }
}

/// A process is started after one step of its parent or two: that makes no difference to who it is.
#[test]
fn who_is_started_depends_on_no_step() {
    let program = program(
        "mutex free;
         process Child() {}
         process Parent[i in 0..2] { if try_lock(free) { unlock(free); } spawn Child(); }",
    );
    for method in all(STATEFUL).into_iter().chain([Fused::default().into()]) {
        assert_eq!(search(&program, method).stats.traces, 1, "{method:?}");
    }
    let prefix: Setting = "prefix".parse().expect("a setting");
    assert!(search(&program, prefix).is_complete());
}

/// What a rank will be told is part of a state, also when nobody remembers any more what was given.
#[test]
fn what_a_begun_collective_will_tell_is_part_of_a_state() {
    let program = program(
        "collective world(2);
         barrier both(2);
         process Rank[i in 0..2] {
             let sum = iallreduce(world, sum, choose(0..2));
             barrier(both);
             let told = wait(sum);
             assert(told < 2);
         }",
    );
    for method in all(STATEFUL).into_iter().chain([Fused::default().into()]) {
        let stats = search(&program, method).stats;
        assert_eq!((stats.traces, stats.violating_traces), (4, 1), "{method:?}");
    }
}

/// A collective that a rank has begun comes to its end, also if the rank forgets that it has begun it.
/// So the states before and after its end are two: if they were one, the search would not see where
/// executions end.
#[test]
fn the_end_of_a_collective_that_nobody_asks_for_is_part_of_a_state() {
    for begun in ["ibcast(world, 0, 1)", "ireduce(world, 0, sum, 1)", "ibarrier(world)"] {
        let program = program(&format!(
            "collective world(2);
             shared x: int = 0;
             process Rank[i in 0..2] {{ {begun}; x = i + 1; }}
             final {{ assert(x != 1); }}"
        ));
        for method in all(STATEFUL).into_iter().chain([Fused::default().into()]) {
            let stats = search(&program, method).stats;
            assert_eq!((stats.traces, stats.violating_traces), (2, 1), "{begun} {method:?}");
        }
    }
}

/// States of more than four words are stored as trees, and those that are known by then as well.
#[test]
fn states_of_many_words_are_told_apart() {
    let program = program(
        "shared x: [int; 60] = 0;
         shared y: int = 0;
         process P { for i in 0..60 { for n in 1..20 { x[i] = n; } } }
         process Q { y = 1; y = 2; }",
    );
    let stats = search(&program, EveryState::of(STATEFUL)).stats;
    let (by_p, by_q) = (60 * 19, 2);
    assert_eq!(stats.states, Some((by_p + 1) * (by_q + 1)));
    assert_eq!(stats.transitions, by_p * (by_q + 1) + (by_p + 1) * by_q);
    assert_eq!(stats.traces, 1);
}

/// Which process goes first matters only where the stored transitions are traversed.
#[test]
fn who_leads_to_stored_states_goes_first() {
    let program = spec("actor/shortpath4");
    let transitions = |without: &str| {
        let method: Setting = format!("de-s-por{without}").parse().expect("a setting");
        search(&program, method).stats.transitions
    };
    assert_eq!(transitions(":without=visited-first"), transitions(""));
    let by_traversal = ":without=summaries";
    assert!(
        transitions(&format!("{by_traversal}+without=visited-first")) > transitions(by_traversal)
    );
}

/// A search that may miss executions has no verdict but a violation.
#[test]
fn a_search_as_printed_is_never_complete() {
    let program = spec("memory/treiber");
    for method in all(PRINTED) {
        let outcome = search(&program, method);
        assert_eq!(outcome.stopped_by, Some(StopReason::NoGuarantee), "{method:?}");
        assert_eq!(outcome.verdict(), Verdict::Incomplete, "{method:?}");
    }
}

/// An explorer that refuses a program guarantees nothing for it, even if it is run.
#[test]
fn a_search_that_should_have_been_refused_is_never_complete() {
    let program = program("shared x: int = 0; process P { x = 1; } process Q { let a = x; }");
    let method: Setting = "transdpor".parse().expect("a setting");
    assert!(method.refusal(&program, &Budget::default()).is_some());
    let outcome = search(&program, method);
    assert_eq!(outcome.stopped_by, Some(StopReason::NoGuarantee));
}

#[test]
fn a_search_by_hashes_is_never_complete() {
    let program = spec("memory/treiber");
    let settings = Stateful { hash_compaction: true, ..STATEFUL };
    for method in all(settings) {
        let outcome = search(&program, method);
        assert_eq!(outcome.stopped_by, Some(StopReason::HashCompaction), "{method:?}");
        assert_eq!(outcome.verdict(), Verdict::Incomplete, "{method:?}");
        assert!(outcome.stats.states > Some(0));
    }
    let deadlock = search(&spec("mutex/lock-order"), SPor::safe(settings));
    assert_eq!(deadlock.verdict(), Verdict::Deadlock, "what is found is found");
}

/// Steps of a process that goes round in a loop are fused up to where the loop begins: counterexamples
/// have no rounds that lead nowhere.
#[test]
fn fused_steps_end_where_a_loop_begins() {
    let waits = program(
        "mailbox m: int; shared x: int = 0; process P { let r = irecv(m); while !test(r) { } }
         process Q { x = 1; x = 2; } process R { x = 3; }",
    );
    let found = |method: AnyExplorer| {
        let outcome = search(&waits, method);
        let [violation] = &outcome.violations[..] else { panic!("{:?}", outcome.violations) };
        (violation.schedule.len(), outcome.stats.states)
    };
    let fused = found(Fused::default().into());
    assert_eq!((found(SPor::safe(STATEFUL).into()), fused), ((4, Some(9)), (4, Some(5))));
}

/// A search that looks its moves up reports the same as one that computes them on the model.
#[test]
#[ignore = "slow"]
fn full_graphs_of_specs_are_the_same_with_and_without_a_model() {
    full_graphs_of_specs_agree(3);
}

#[test]
#[ignore = "slow"]
fn full_graphs_of_every_spec_are_the_same_with_and_without_a_model_at_length() {
    full_graphs_of_specs_agree(1);
}

/// Compares the graphs of about one of `step` specs.
fn full_graphs_of_specs_agree(step: usize) {
    let mut compared = 0;
    for path in some_of(specs_without_demands(), step) {
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).expect("a spec"));
        let Ok(program) = compile(&name, &text, &[]) else { continue };
        let budget = Budget { all: true, timeout: Some(QUICK), ..Budget::default() };
        let outcome = explore(&program, EveryState::of(STATEFUL), budget, &mut NoObserver);
        if outcome.is_complete() && outcome.stats.states < Some(20_000) {
            assert_full_graphs_agree(&program, || name.clone());
            compared += 1;
        }
    }
    assert!(compared > 300 / step, "{compared} specs");
}

/// A variable counts as part of a state as long as something may read it, and no longer: three
/// contents are distinguished until they are written, and not after that.
#[test]
fn variables_that_are_never_read_again_are_no_part_of_a_state() {
    let without = STATEFUL.without.and(Switch::LiveVariables);
    let states = |text: &str| {
        let program = program(&format!("shared x: int = 0; process P {{ {text} }}"));
        [Stateful { without, ..STATEFUL }, STATEFUL]
            .map(|settings| search(&program, EveryState::of(settings)).stats.states)
    };
    let drawn = "let a = choose(0..3); x = 1; x = a; x = 1;";
    assert_eq!(states(&format!("{{ {drawn} x = 2; }}")), [Some(14), Some(12)]);
    // At the end of a process its variables are shown.
    assert_eq!(states(drawn), [Some(13); 2]);
    // Written again before it is read.
    let twice = "{ var a = choose(0..3); x = a; x = 1; x = 3; a = 2; x = a; }";
    assert_eq!(states(twice), [Some(1 + 3 + 3 + 3 + 2), Some(1 + 3 + 3 + 1 + 2)]);
    // A loop reads it again.
    let kept = "{ let a = choose(0..3); local(\"wait\"); while x != a { x = x + 1; } }";
    let [all, alive] = states(kept);
    assert_eq!(all, alive);
}
