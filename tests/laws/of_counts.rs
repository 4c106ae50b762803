//! Counting on the graph, and executions with few switches, against all executions one by one.

use std::collections::HashMap;

use mazurka::explore::{Budget, End, Exhaustive, NoObserver, Observer, count, explore};
use mazurka::model::{Action, Locals, Schedule, State, System};
use mazurka::property::Position;
use mazurka::trace::{Classes, NormalForm, few_switches, switches};

use super::hold_on_random_programs;
use crate::judge::check_counterexample_where;
use crate::random_models::{Sample, Subject};

hold_on_random_programs! {
    what_is_counted_on_the_graph_is_what_there_is
    no_order_of_a_class_has_fewer_switches
    the_shortest_is_shortest
}

fn everything() -> Budget {
    Budget { all: true, ..Budget::default() }
}

fn what_is_counted_on_the_graph_is_what_there_is<S: Subject>(samples: &[Sample<S>]) {
    let mut violating = 0;
    for sample in samples {
        let stats = explore(&sample.script, Exhaustive, everything(), &mut NoObserver).stats;
        let found = count(&sample.script, Budget::default(), &mut NoObserver);
        assert_eq!(found.cycling, [], "{}", sample.describe());
        let found = found.executions.unwrap_or_else(|| panic!("{}", sample.describe()));
        let digits = |n: u64| n.to_string();
        let numbers = [&found.all, &found.deadlocked, &found.violating].map(|n| n.to_string());
        let expected = [stats.traces, stats.deadlocked_traces, stats.violating_traces].map(digits);
        assert_eq!(numbers, expected, "{}", sample.describe());
        assert_eq!(u64::from(found.longest), stats.max_depth, "{}", sample.describe());
        violating += u64::from(stats.violating_traces > stats.deadlocked_traces);
    }
    assert!(violating > 0 || samples.iter().all(|sample| sample.script.features().actors));
}

/// For each class of complete executions, the fewest switches, and all its executions.
struct Turns<'s, S: System> {
    locals: Locals<'s, S>,
    classes: Classes,
    found: HashMap<NormalForm, (usize, Schedule)>,
}

impl<S: System> Observer for Turns<'_, S> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        let schedule = at.schedule();
        let form = self.class(&schedule);
        let turns = switches(&schedule);
        let known = self.found.entry(form).or_insert((turns, schedule));
        known.0 = known.0.min(turns);
    }
}

impl<S: System> Turns<'_, S> {
    fn class(&mut self, schedule: &Schedule) -> NormalForm {
        let Turns { locals, classes, .. } = self;
        let push = |locals: &Locals<'_, S>, state: &State| {
            classes.push(state.action(state.depth() - 1), state.effect(locals));
        };
        schedule.replay_with(locals, push).expect("an execution");
        let form = self.classes.normal_form();
        schedule.iter().for_each(|_| self.classes.pop());
        form
    }
}

fn no_order_of_a_class_has_fewer_switches<S: Subject>(samples: &[Sample<S>]) {
    for sample in samples {
        let mut turns = Turns {
            locals: Locals::new(&sample.script),
            classes: Classes::default(),
            found: HashMap::new(),
        };
        explore(&sample.script, Exhaustive, everything(), &mut turns);
        for (form, (fewest, schedule)) in std::mem::take(&mut turns.found) {
            let sorted = few_switches(&sample.script, &schedule);
            assert!(sorted.is_fewest, "{}", sample.describe());
            assert_eq!(sorted.switches, fewest, "{schedule:?} of {}", sample.describe());
            assert_eq!(switches(&sorted.schedule), fewest);
            assert_eq!(turns.class(&sorted.schedule), form, "{}", sample.describe());
        }
    }
}

/// With `--shortest`, the same violations are found, by executions that are never longer, and that
/// are as short as claimed.
fn the_shortest_is_shortest<S: Subject>(samples: &[Sample<S>]) {
    let mut gained = false;
    for sample in samples {
        let search = |shortest| {
            let budget = Budget { shortest, ..everything() };
            explore(&sample.script, Exhaustive, budget, &mut NoObserver).violations
        };
        let (first, short) = (search(false), search(true));
        assert_eq!(first.len(), short.len(), "{}", sample.describe());
        let length = |schedule: &[Action]| (schedule.len(), switches(schedule));
        let lengths: Vec<_> = short.iter().map(|violation| length(&violation.schedule)).collect();
        assert!(lengths.is_sorted(), "{lengths:?} of {}", sample.describe());
        for violation in &short {
            check_counterexample_where(&sample.script, violation, false)
                .unwrap_or_else(|how| panic!("{how}: {}", sample.describe()));
        }
        let mut before: Vec<_> =
            first.iter().map(|violation| length(&violation.schedule)).collect();
        before.sort_unstable();
        let pairs = || before.iter().zip(&lengths);
        assert!(pairs().all(|(before, after)| after <= before), "{}", sample.describe());
        gained |= pairs().any(|(before, after)| after < before);
    }
    assert!(gained, "nothing was ever shorter");
}
