//! What searches that store states must do: end in the states in which executions end, and keep a
//! path for every class.

use std::collections::BTreeSet;

use mazurka::explore::{
    AnyExplorer, EveryState, Exhaustive, Order, Outcome, Permutation, SPor, Stateful, Switch,
    Switches,
};
use mazurka::lang::compile;
use mazurka::model::ProcessId;

use crate::judge::{STATEFUL, assert_full_graphs_agree, check_counterexample, storing};
use crate::random_models::{self, Rng, Sample, Subject, actors, processes};
use crate::state_graph::Watcher;

fn without(switches: &[Switch]) -> Stateful {
    let without = switches.iter().fold(Switches::NONE, |all, &switch| all.and(switch));
    Stateful { without, ..STATEFUL }
}

/// The reductions in all their variants.
fn reductions() -> Vec<AnyExplorer> {
    let mut all = vec![SPor::safe(STATEFUL).into()];
    let reversed = Permutation::new(&[3, 2, 1, 0].map(ProcessId)).expect("a permutation");
    let orders = [Order::Sequential(reversed), Order::Visited, Order::Random(1), Order::Random(2)];
    for order in orders {
        all.extend_from_slice(&storing(Stateful { order, ..STATEFUL })[1..]);
    }
    for switches in [
        &[][..],
        &[Switch::SafeSets],
        &[Switch::Summaries],
        &[Switch::Summaries, Switch::VisitedFirst],
        &[Switch::Summaries, Switch::Once],
        &[Switch::Summaries, Switch::SafeSets, Switch::VisitedFirst],
    ] {
        all.extend_from_slice(&storing(without(switches))[2..]);
    }
    for switches in [
        &[Switch::LastSuccessor][..],
        &[Switch::Summaries, Switch::VisitedSuccessors],
        &[Switch::Summaries, Switch::CompleteSet],
        &[Switch::Summaries, Switch::DisabledProcess],
        &[Switch::Summaries, Switch::LastSuccessor, Switch::VisitedSuccessors],
    ] {
        all.push(SPor::lazy(without(switches)).into());
    }
    all
}

fn ends_and_states_are_as_in_the_full_graph<S: Subject>(samples: &[Sample<S>]) {
    let (mut full_states, mut reduced_states) = (0, vec![0; reductions().len()]);
    for sample in samples {
        let mut watcher = Watcher::of(&sample.script);
        let (all, judged) = watcher.ends(Exhaustive);
        let (full, outcome) = watcher.ends(EveryState::of(STATEFUL));
        assert_eq!(full, all, "stateful on {}", sample.describe());
        assert_eq!(kinds(&outcome), kinds(&judged), "stateful on {}", sample.describe());
        let states = outcome.stats.states.expect("states are stored");
        let ends = (outcome.stats.traces, outcome.stats.deadlocked_traces);
        full_states += states;
        for (index, method) in reductions().into_iter().enumerate() {
            let (reduced, found) = watcher.ends(method);
            let context = || format!("{method:?} on {}", sample.describe());
            assert_eq!(reduced, full, "ends of {}", context());
            assert_eq!(kinds(&found), kinds(&judged), "violations by {}", context());
            let stats = &found.stats;
            assert_eq!((stats.traces, stats.deadlocked_traces), ends, "{}", context());
            assert!(stats.states <= Some(states), "more states by {}", context());
            reduced_states[index] += stats.states.expect("states are stored");
            for violation in &found.violations {
                check_counterexample(&sample.script, violation)
                    .unwrap_or_else(|how| panic!("{how}: {}", context()));
            }
        }
    }
    println!("stateful: {full_states} states");
    for (method, states) in reductions().into_iter().zip(reduced_states) {
        println!("{method:?}: {states}");
    }
}

fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

#[test]
fn processes_end_as_in_the_full_graph() {
    ends_and_states_are_as_in_the_full_graph(processes());
}

#[test]
fn actors_end_as_in_the_full_graph() {
    ends_and_states_are_as_in_the_full_graph(actors());
}

#[test]
fn full_graphs_are_the_same_with_and_without_a_model() {
    for sample in processes() {
        assert_full_graphs_agree(&sample.script, || sample.describe().to_string());
    }
    for sample in actors() {
        assert_full_graphs_agree(&sample.script, || sample.describe().to_string());
    }
    for seed in 0..100 {
        let text = spinning_program(seed);
        let program =
            compile("spin.maz", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        assert_full_graphs_agree(&program, || text.clone());
    }
}

/// Where states are merged that differ in the history of a spawning process, what it spawns has another name along
/// each path, so programs that spawn are left out.
fn with_fixed_processes() -> impl Iterator<Item = &'static Sample> {
    processes().iter().filter(|sample| !sample.script.features().spawns)
}

#[test]
fn every_class_has_a_path() {
    let mut programs = 0;
    for sample in with_fixed_processes() {
        let mut watcher = Watcher::of(&sample.script);
        let all = watcher.classes(EveryState::of(STATEFUL));
        assert_eq!(all.len() as u64, sample.classes, "stateful on {}", sample.describe());
        for method in reductions() {
            let found = watcher.classes(method);
            assert_eq!(found, all, "{method:?} on {}", sample.describe());
        }
        programs += 1;
    }
    assert!(programs > random_models::processes().len() / 3, "{programs} programs");
}

/// Compiled programs know which requests still matter, scripts do not: the former merge more
/// states, and have the same ends.
#[test]
fn what_no_longer_matters_is_no_part_of_a_state() {
    let (mut all, mut compiled) = (0, 0);
    for sample in with_fixed_processes() {
        let text = sample.script.text();
        let program =
            compile("random.maz", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let states = |outcome: &Outcome| outcome.stats.states.expect("states are stored");
        let script = Watcher::of(&sample.script).watch(EveryState::of(STATEFUL));
        let mut watcher = Watcher::of(&program);
        let outcome = watcher.watch(EveryState::of(STATEFUL));
        assert!(states(&outcome) <= states(&script), "{}", sample.describe());
        assert_eq!(outcome.verdict(), script.verdict(), "{}", sample.describe());
        let classes = watcher.classes(EveryState::of(STATEFUL));
        assert_eq!(classes.len() as u64, sample.classes, "{}", sample.describe());
        all += states(&script);
        compiled += states(&outcome);
    }
    assert!(compiled < all, "{compiled} of {all} states");
}

/// What a process cannot do any more, and what it never reads again: compiled programs know that,
/// too, and searches that use it visit fewer states, but the same ends and classes.
#[test]
fn what_is_not_ahead_does_not_matter() {
    let mut reduced_states = [0; 2];
    for sample in with_fixed_processes().step_by(4) {
        let text = sample.script.text();
        let program =
            compile("random.maz", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let mut watcher = Watcher::of(&program);
        let plain = without(&[Switch::ProgramPoints, Switch::LiveVariables]);
        let by_definition = watcher.watch(EveryState::of(plain));
        for (place, settings) in
            [STATEFUL, without(&[Switch::ProgramPoints])].into_iter().enumerate()
        {
            let full = watcher.watch(EveryState::of(settings));
            assert!(full.stats.states <= by_definition.stats.states, "{text}");
            for method in storing(settings) {
                let outcome = watcher.watch(method);
                assert_eq!(kinds(&outcome), kinds(&by_definition), "{method:?} on {text}");
                let ends =
                    |outcome: &Outcome| (outcome.stats.traces, outcome.stats.deadlocked_traces);
                assert_eq!(ends(&outcome), ends(&full), "{method:?} on {text}");
                let classes = watcher.classes(method);
                assert_eq!(classes.len() as u64, sample.classes, "{method:?} on {text}");
            }
            let reduced = watcher.watch(SPor::safe(settings));
            reduced_states[place] += reduced.stats.states.expect("states are stored");
        }
    }
    let [by_point, by_text] = reduced_states;
    assert!(by_point < by_text, "{by_point} states, and {by_text} by the whole text");
}

/// A process that loops until cells have certain contents, and changes them on its way: every state
/// graph of such processes is finite, and most have cycles.
fn spinning(rng: &mut Rng) -> String {
    let mut body = String::new();
    for _ in 0..rng.below(3) + 1 {
        let (cell, value) = (rng.below(3), rng.below(3));
        let (other, next) = (rng.below(3), rng.below(3));
        body += &match rng.below(5) {
            0 => format!("while x{cell} == {value} {{ }} "),
            1 => format!("while x{cell} != {value} {{ x{other} = {next}; }} "),
            2 => format!("while x{cell} == {value} {{ let seen = x{other}; }} "),
            3 => format!("if x{cell} == {value} {{ x{other} = {next}; }} "),
            _ => format!("x{cell} = {value}; "),
        };
    }
    body
}

/// Three processes that share three cells.
pub fn spinning_program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text: String = (0..3).map(|cell| format!("shared x{cell}: int = 0;\n")).collect();
    for process in 0..3 {
        text += &format!("process P{process} {{ {}}}\n", spinning(&mut rng));
    }
    text
}

#[test]
fn programs_that_spin_end_as_in_the_full_graph() {
    spinning_programs_end_as_in_the_full_graph(40);
}

#[test]
#[ignore = "slow"]
fn programs_that_spin_end_as_in_the_full_graph_at_length() {
    spinning_programs_end_as_in_the_full_graph(400);
}

fn spinning_programs_end_as_in_the_full_graph(programs: u64) {
    let mut cyclic = 0;
    for seed in 0..programs {
        let text = spinning_program(seed);
        let program = compile("spin.maz", &text, &[])
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let mut watcher = Watcher::of(&program);
        let (full, outcome) = watcher.ends(EveryState::of(STATEFUL));
        cyclic += u64::from(watcher.has_cycle());
        for method in reductions() {
            let (reduced, found) = watcher.ends(method);
            assert_eq!(reduced, full, "{method:?} on seed {seed}:\n{text}");
            assert!(found.stats.states <= outcome.stats.states, "{method:?} on seed {seed}");
        }
    }
    assert!(cyclic > programs / 4, "{cyclic} programs with a cycle");
}
