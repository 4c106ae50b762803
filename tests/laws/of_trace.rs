//! Happens-before and normal forms, and the contract of the model.

use std::collections::{HashMap, HashSet};

use mazurka::model::{Action, Locals, Parts, Schedule, State, dependent};
use mazurka::property::{Motion, polling};
use mazurka::trace::{Classes, HappensBefore, causal_past};

use super::hold_on_random_programs;
use crate::naive::{Run, Snapshot, Structure, check_swaps, relation};
use crate::random_models::{Rng, Sample, Subject};

hold_on_random_programs! {
    undoing_is_the_inverse_of_stepping
}

/// Pairs of events of one execution, and those of them that depend on one another and are of two processes.
#[derive(Default)]
pub struct Pairs {
    all: usize,
    dependent: usize,
}

impl Pairs {
    /// There were enough in this many programs.
    pub fn assert_enough(&self, programs: usize) {
        let Pairs { all, dependent } = *self;
        println!("{all} pairs, {dependent} of two processes that depend on one another");
        assert!(dependent > programs && all > 2 * dependent, "too few pairs");
    }
}

/// All laws of this file that speak of the structure.
pub fn check<S: Subject>(
    sample: &Sample<S>,
    locals: &mut Locals<'_, S>,
    structure: &Structure,
    pairs: &mut Pairs,
) {
    random_programs_unfold_to_prime_event_structures(sample, locals, structure);
    if let Err(how) = check_swaps(locals, structure) {
        panic!("{how}\n{}", sample.describe());
    }
    effects_depend_on_one_another_as_the_table_says(sample, structure, pairs);
    vector_clocks_are_the_histories_of_the_definition(sample, structure);
    normal_forms_are_equal_iff_executions_are_equivalent(sample, structure);
    the_causal_past_of_an_event_is_an_execution(sample, locals, structure);
}

/// Every configuration determines one state, one enabled set and one set of next events; pairs in conflict
/// say everything (both are checked on the way to the structure); the exhaustive explorer sees the same
/// executions and classes.
fn random_programs_unfold_to_prime_event_structures<S: Subject>(
    sample: &Sample<S>,
    locals: &mut Locals<'_, S>,
    structure: &Structure,
) {
    let found = (sample.executions, sample.classes);
    let expected = (structure.executions(), structure.maximal().count() as u64);
    assert_eq!(found, expected, "executions and classes of {}", sample.describe());
    // Who waits for what it has polled in vain is in no deadlock.
    let nobody_polls = Motion::Round(Vec::new());
    let deadlocked = structure.maximal().any(|end| {
        let state = &end.run.state;
        let is_stuck = state.stuck(locals).next().is_some();
        is_stuck && polling(locals, state) == nobody_polls
    });
    assert_eq!(sample.deadlocked > 0, deadlocked, "{}", sample.describe());
}

/// Each event of each execution, against all that are before it.
fn effects_depend_on_one_another_as_the_table_says<S: Subject>(
    sample: &Sample<S>,
    structure: &Structure,
    pairs: &mut Pairs,
) {
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
            pairs.all += 1;
            pairs.dependent += usize::from(by_table && other != process);
        }
    }
}

fn vector_clocks_are_the_histories_of_the_definition<S: Subject>(
    sample: &Sample<S>,
    structure: &Structure,
) {
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

/// Occurrences are events, and normal forms are configurations.
fn normal_forms_are_equal_iff_executions_are_equivalent<S: Subject>(
    sample: &Sample<S>,
    structure: &Structure,
) {
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

/// It replays, and leads to the configuration [e].
fn the_causal_past_of_an_event_is_an_execution<S: Subject>(
    sample: &Sample<S>,
    locals: &mut Locals<'_, S>,
    structure: &Structure,
) {
    let (mut done, parts) = (HashSet::new(), &mut Parts::default());
    // The largest configurations leave most out.
    for configuration in structure.configurations.iter().rev() {
        let run = &configuration.run;
        let Some(&event) = run.order.last().filter(|&&event| done.insert(event)) else {
            continue;
        };
        let past = causal_past(&sample.script, &Schedule::of(&run.state));
        let end = past.replay(locals).unwrap_or_else(|how| {
            panic!("{how}: the past of event {event} in {}", sample.describe())
        });
        let expected = structure.configuration(&structure.local_configuration(event));
        let expected = &expected.expect("a local configuration is one").run.state;
        assert_eq!(
            Snapshot::of(locals, parts, &end),
            Snapshot::of(locals, parts, expected),
            "the past of event {event} in {}",
            sample.describe()
        );
    }
}
