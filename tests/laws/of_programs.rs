//! The front end, compared with the tests' own reading of a program.

use std::collections::BTreeSet;

use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, Explorer, NoObserver, Outcome, Udpor, Violation, explore,
};
use mazurka::lang::compile;
use mazurka::model::System;

use crate::random_models::{Sample, Subject, later, p2p, processes};

/// The meaning of a program: figures, and the kinds of violations. (The number of different
/// violations depends on places in a text, which a syntax tree does not have.)
fn meaning<S: System>(system: &S, method: impl Explorer) -> (Outcome, BTreeSet<String>) {
    let outcome =
        explore(system, method, Budget { all: true, ..Budget::default() }, &mut NoObserver);
    let name = |v: &Violation| format!("{:?} of {:?}", v.kind, v.process);
    let kinds = outcome.violations.iter().map(name).collect();
    (outcome, kinds)
}

/// The text, compiled, and the syntax tree, run by [`crate::random_models::Script`], have the same
/// executions, classes, deadlocks and violations.
#[test]
fn compiled_programs_mean_what_their_syntax_trees_mean() {
    processes().iter().chain(later()).for_each(check);
    let is_its_text = |sample: &&Sample| sample.script.features().is_its_text;
    p2p().iter().filter(is_its_text).for_each(check);
}

fn check<S: Subject>(sample: &Sample<S>) {
    let compiled = compile("random.maz", &sample.script.text(), &[]);
    let compiled = compiled.unwrap_or_else(|errors| {
        panic!("{}\n{}", errors.render(false), sample.describe());
    });
    for method in [AnyExplorer::from(Exhaustive), Udpor::default().into()] {
        let (found, found_kinds) = meaning(&compiled, method);
        let (expected, expected_kinds) = meaning(&sample.script, method);
        assert_eq!(found.stats, expected.stats, "{method:?} on {}", sample.describe());
        assert_eq!(found_kinds, expected_kinds, "{method:?} on {}", sample.describe());
    }
}
