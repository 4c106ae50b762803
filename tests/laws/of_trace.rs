//! Happens-before and normal forms, and the contract of the model.

use std::collections::{HashMap, HashSet};

use mazurka::model::{Action, Locals, Parts, Schedule, State, dependent};
use mazurka::property::{Motion, polling};
use mazurka::trace::{Classes, HappensBefore, causal_past};

use super::{hold_on_random_programs, structure_of};
use crate::naive::{Run, Snapshot, check_swaps, relation};
use crate::random_models::{Rng, Sample, Subject};

hold_on_random_programs! {
    random_programs_unfold_to_prime_event_structures
    neighbours_that_the_relation_calls_independent_can_be_swapped
    effects_depend_on_one_another_as_the_table_says
    vector_clocks_are_the_histories_of_the_definition
    normal_forms_are_equal_iff_executions_are_equivalent
    undoing_is_the_inverse_of_stepping
    the_causal_past_of_an_event_is_an_execution
}

/// Every configuration determines one state, one enabled set and one set of next events; pairs in
/// conflict say everything (both are checked on the way to the structure); the exhaustive explorer
/// sees the same executions and classes.
fn random_programs_unfold_to_prime_event_structures<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let (mut locals, structure) = structure_of(sample);
        let found = (sample.executions, sample.classes);
        let expected = (structure.executions(), structure.maximal().count() as u64);
        assert_eq!(found, expected, "executions and classes of {}", sample.describe());
        // A process that waits for what it has polled without success is not in a deadlock.
        let nobody_polls = Motion::Round(Vec::new());
        let deadlocked = structure.maximal().any(|end| {
            let state = &end.run.state;
            let is_stuck = state.stuck(&locals).next().is_some();
            is_stuck && polling(&mut locals, state) == nobody_polls
        });
        assert_eq!(sample.deadlocked > 0, deadlocked, "{}", sample.describe());
    }
}

fn neighbours_that_the_relation_calls_independent_can_be_swapped<S: Subject>(
    samples: &[Sample<S>],
) {
    for sample in samples {
        let (mut locals, structure) = structure_of(sample);
        if let Err(how) = check_swaps(&mut locals, &structure) {
            panic!("{how}\n{}", sample.describe());
        }
    }
}

/// Each event of each execution, compared with all earlier ones.
fn effects_depend_on_one_another_as_the_table_says<S: Subject>(samples: &[Sample<S>]) {
    let [mut pairs, mut dependent_pairs] = [0, 0];
    for sample in samples {
        let (_, structure) = structure_of(sample);
        for configuration in &structure.configurations {
            let Run { effects, footprints, .. } = &configuration.run;
            let Some(((process, last), earlier)) = effects.split_last() else { continue };
            let (_, touched) = configuration.run.last_footprint();
            for ((other, effect), (_, footprint)) in earlier.iter().zip(footprints) {
                let by_effects = dependent((*other, effect), (*process, last));
                let by_table = relation::dependent((*other, footprint), (*process, touched));
                let what = || format!("{footprint:?} and {touched:?} in {}", sample.describe());
                assert_eq!(by_effects, by_table, "{effect:?} and {last:?}: {}", what());
                let other_way = dependent((*process, last), (*other, effect));
                assert_eq!(by_effects, other_way, "not symmetric: {}", what());
                pairs += 1;
                dependent_pairs += usize::from(by_table && other != process);
            }
        }
    }
    println!("{pairs} pairs, {dependent_pairs} of two processes that depend on one another");
    assert!(dependent_pairs > samples.len() && pairs > 2 * dependent_pairs, "too few pairs");
}

fn vector_clocks_are_the_histories_of_the_definition<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let (_, structure) = structure_of(sample);
        for end in structure.maximal() {
            let mut order = HappensBefore::default();
            for (process, effect) in &end.run.effects {
                order.push(*process, effect.clone());
            }
            let events = &end.run.order;
            for (j, &f) in events.iter().enumerate() {
                for (i, &e) in events.iter().enumerate() {
                    assert_eq!(
                        order.before(i, j),
                        structure.before(e, f),
                        "action {i} before action {j} of {:?} in {}",
                        end.run.state.schedule().collect::<Vec<_>>(),
                        sample.describe()
                    );
                }
                let direct = order.direct_predecessors(j);
                let direct: crate::naive::Set =
                    direct.iter().map(|&position| events[position as usize]).collect();
                assert_eq!(direct, structure.direct_causes(f), "{}", sample.describe());
            }
        }
    }
}

/// Occurrences are events, and normal forms are configurations.
fn normal_forms_are_equal_iff_executions_are_equivalent<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let (_, structure) = structure_of(sample);
        let mut classes = Classes::default();
        let mut events_of = HashMap::new();
        let mut occurrences_of = HashMap::new();
        let mut forms = HashMap::new();
        for configuration in &structure.configurations {
            let run = &configuration.run;
            for (action, (_, effect)) in run.state.schedule().zip(&run.effects) {
                classes.push(action, effect.clone());
            }
            for (&occurrence, &event) in classes.path().iter().zip(&run.order) {
                let known = events_of.entry(occurrence).or_insert(event);
                assert_eq!(*known, event, "{occurrence:?} in {}", sample.describe());
                let known = occurrences_of.entry(event).or_insert(occurrence);
                assert_eq!(*known, occurrence, "event {event} in {}", sample.describe());
            }
            let known = forms.insert(classes.normal_form(), &configuration.events);
            assert_eq!(known, None, "two configurations with one form in {}", sample.describe());
            while !classes.path().is_empty() {
                classes.pop();
            }
        }
    }
}

/// What can be observed of a state, including the order in which it lists its actions.
fn view<S: Subject>(
    locals: &mut Locals<'_, S>,
    parts: &mut Parts,
    state: &State,
) -> (Snapshot, Vec<Action>, Schedule) {
    let mut enabled = Vec::new();
    state.enabled(locals, &mut enabled);
    (Snapshot::of(locals, parts, state), enabled, Schedule::of(state))
}

/// Walks along an execution, looking at every action on the way, and all the way back.
fn undoing_is_the_inverse_of_stepping<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let mut rng = Rng::new(sample.seed);
        let mut locals = Locals::new(&sample.script);
        let mut state = State::initial(&mut locals);
        let (mut parts, mut views) = (Parts::default(), Vec::new());
        loop {
            let here = view(&mut locals, &mut parts, &state);
            for &action in &here.1 {
                state.step(&mut locals, action);
                state.undo(&locals);
                assert_eq!(
                    view(&mut locals, &mut parts, &state),
                    here,
                    "{action:?} in {}",
                    sample.describe()
                );
            }
            if here.1.is_empty() {
                break;
            }
            state.step(&mut locals, *rng.pick(&here.1));
            views.push(here);
        }
        while let Some(expected) = views.pop() {
            state.undo(&locals);
            assert_eq!(view(&mut locals, &mut parts, &state), expected, "{}", sample.describe());
        }
    }
}

/// The causal past of an event replays, and leads to the configuration [e].
fn the_causal_past_of_an_event_is_an_execution<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let (mut locals, structure) = structure_of(sample);
        let (mut done, parts) = (HashSet::new(), &mut Parts::default());
        // The largest configurations leave most out.
        for configuration in structure.configurations.iter().rev() {
            let run = &configuration.run;
            let Some(&event) = run.order.last().filter(|&&event| done.insert(event)) else {
                continue;
            };
            let past = causal_past(&sample.script, &Schedule::of(&run.state));
            let end = past.replay(&mut locals).unwrap_or_else(|how| {
                panic!("{how}: the past of event {event} in {}", sample.describe())
            });
            let expected = structure.configuration(&structure.local_configuration(event));
            let expected = &expected.expect("a local configuration is one").run.state;
            assert_eq!(
                Snapshot::of(&mut locals, parts, &end),
                Snapshot::of(&mut locals, parts, expected),
                "the past of event {event} in {}",
                sample.describe()
            );
        }
    }
}
