//! Races, by two judges: the event structure, and the actions of an execution.

use std::collections::BTreeSet;

use mazurka::model::{Action, Choice, Op, StopSignal};
use mazurka::trace::Execution;
use mazurka::trace::race::{self, OpenChoices};
use mazurka::unfolding::{Configuration, EventId, EventKind, Unfolding};

use super::hold_on_random_programs;
use super::of_unfolding::{choice_in, rename};
use crate::random_models::{Rng, Sample, Subject};

hold_on_random_programs! {
    races_of_an_execution_are_the_conflicts_of_its_configuration
}

/// Executions tried for each program.
const WALKS: usize = 5;

/// An event i of an execution, by its position, and the action of an event x that it is in race
/// with.
type Pair = (usize, u32, Choice);

/// On random executions, each with its configuration C: the races that the analysis of the
/// execution finds are those of the events of cex(C) with the longest history, each with the first
/// event of the execution that it is in conflict with.
fn races_of_an_execution_are_the_conflicts_of_its_configuration<S: Subject>(samples: &[Sample<S>]) {
    let mut compared = 0;
    for sample in samples {
        let mut rng = Rng::new(sample.seed);
        for _ in 0..WALKS {
            let (mut unfolding, mut c) =
                Unfolding::new(&sample.script, u32::MAX, true, StopSignal::default());
            loop {
                let enabled: Vec<EventId> = c.enabled().collect();
                if enabled.is_empty() || c.state().is_crowded() {
                    break;
                }
                unfolding.push(&mut c, *rng.pick(&enabled));
            }
            if c.state().is_crowded() {
                continue;
            }
            let mut execution = Execution::new(&sample.script);
            let by_execution = of_execution(&unfolding, &c, &mut execution);
            let by_conflicts = of_conflicts(&unfolding, &c, &mut execution);
            assert_eq!(
                by_execution,
                by_conflicts,
                "{:?} of {}",
                c.state().schedule().collect::<Vec<_>>(),
                sample.describe()
            );
            compared += by_conflicts.len();
        }
    }
    println!("{compared} races");
    assert!(compared > samples.len(), "{compared} races");
}

/// The races that are found in the execution, action by action.
fn of_execution<S: Subject>(
    unfolding: &Unfolding<'_, S>,
    c: &Configuration,
    execution: &mut Execution<'_, S>,
) -> BTreeSet<Pair> {
    let (mut open, mut races) = (OpenChoices::default(), Vec::new());
    for &event in c.events() {
        let action = action_in(unfolding, execution, event);
        execution.push(action);
        open.push(execution, |_, _| ());
        race::with_earlier(execution, &open, &mut races);
        race::with_siblings(execution, &mut races);
    }
    race::with_pending(execution, &mut races);
    races.iter().map(|race| (race.first, race.action.process.0, race.action.choice)).collect()
}

/// The races that the structure knows.
fn of_conflicts<S: Subject>(
    unfolding: &Unfolding<'_, S>,
    c: &Configuration,
    execution: &mut Execution<'_, S>,
) -> BTreeSet<Pair> {
    let structure = &unfolding.structure;
    let conflicting = |&x: &EventId| {
        let is_extension = structure.event(x).causes.iter().all(|&cause| c.contains(cause));
        is_extension && !c.contains(x) && !c.is_enabled(structure, x)
    };
    let cex: Vec<EventId> = structure.ids().filter(conflicting).collect();
    let history = |x: EventId| {
        let before = |&&e: &&EventId| structure.is_before(e, x);
        c.events().iter().filter(before).copied().collect::<BTreeSet<_>>()
    };
    // Which action x is: the n-th of its process, or the n-th run of a handler.
    let place = |x: EventId| {
        let event = structure.event(x);
        let is_run = |&&e: &&EventId| {
            structure.is_before(e, x) && unfolding.action(e) == unfolding.action(x)
        };
        let nth = match unfolding.op(x) {
            Op::Handle { .. } => c.events().iter().filter(is_run).count() as u32,
            _ => event.own.depth,
        };
        (event.process, event.choice, nth)
    };
    let is_longest = |&&x: &&EventId| {
        let own = history(x);
        !cex.iter().any(|&y| y != x && place(y) == place(x) && own.is_subset(&history(y)))
    };
    let longest: Vec<EventId> = cex.iter().filter(is_longest).copied().collect();
    let first = |x: EventId| {
        let first = c.events().iter().position(|&e| structure.in_conflict(e, x));
        first.expect("it is in conflict with C")
    };
    // A test of several requests may have succeeded by one of them after another was complete. That
    // it fails before both is a race of other executions, where it succeeds by the other one.
    let is_found_here = |&x: &EventId| {
        let (event, rival) = (structure.event(x), c.events()[first(x)]);
        let is_twin = |e: EventId| {
            let e = structure.event(e);
            (e.process, e.own.depth) == (event.process, event.own.depth)
        };
        let mut twins = c.events().iter().filter(|&&e| is_twin(e));
        event.kind != EventKind::FailedTest
            || twins.any(|&twin| structure.event(twin).causes.contains(&rival))
    };
    let pair = |x: EventId| {
        let rival = c.events()[first(x)];
        assert!(structure.immediate_conflicts(x).any(|e| e == rival), "{x:?} and {rival:?}");
        let Action { process, choice } = action_in(unfolding, execution, x);
        (first(x), process.0, choice)
    };
    longest.into_iter().filter(is_found_here).map(pair).collect()
}

/// The action of an event, in the numbers of the execution.
fn action_in<S: Subject>(
    unfolding: &Unfolding<'_, S>,
    execution: &mut Execution<'_, S>,
    event: EventId,
) -> Action {
    let process = unfolding.action(event).process;
    let process = rename(&unfolding.locals, execution.parts().0, process);
    Action { process, choice: choice_in(unfolding, execution.parts().0, event) }
}
