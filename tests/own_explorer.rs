//! The example of an explorer written by a user, checked by the judge of the tests and in a
//! comparison.

#[path = "../examples/own_explorer.rs"]
pub mod example;

use std::collections::BTreeSet;

use mazurka::explore::{Budget, Exhaustive, Explorer, Outcome, explore};

use crate::judge::{Recorder, check_counterexample};
use crate::random_models::{Sample, Subject, actors, processes};
use example::Deepening;

/// It visits each class once, as it guarantees, and finds violations.
fn check<S: Subject>(sample: &Sample<S>) {
    let budget = Budget { all: true, ..Budget::default() };
    let mut recorder = Recorder::new(&sample.script);
    let all = explore(&sample.script, Exhaustive, budget.clone(), &mut recorder);
    let classes = recorder.take();
    let outcome = explore(&sample.script, Deepening, budget, &mut recorder);
    let found = recorder.take();
    assert!(outcome.is_complete(), "{:?} on {}", outcome.stopped_by, sample.describe());
    assert!(found.keys().eq(classes.keys()), "other classes on {}", sample.describe());
    assert!(found.values().all(|class| class.times == 1), "twice on {}", sample.describe());
    let kinds = |outcome: &Outcome| {
        outcome.violations.iter().map(|violation| violation.kind).collect::<BTreeSet<_>>()
    };
    assert_eq!(kinds(&outcome), kinds(&all), "{}", sample.describe());
    for violation in &outcome.violations {
        check_counterexample(&sample.script, violation).expect("a counterexample");
    }
}

#[test]
fn it_keeps_its_promise_on_random_programs() {
    processes().iter().take(60).for_each(check);
    actors().iter().take(60).for_each(check);
}

#[test]
fn it_is_compared_with_others() {
    let (table, disagreements) = example::compared();
    assert_eq!(disagreements, [""; 0]);
    assert!(table.contains(Deepening.profile().name), "{table}");
}
