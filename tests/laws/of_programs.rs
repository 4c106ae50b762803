//! The front end against the tests' own reading of a program.

use std::collections::BTreeMap;

use mazurka::explore::{Budget, K, Method, NoObserver, Outcome, explore};
use mazurka::lang::compile;
use mazurka::model::System;

use crate::random_models::samples;

/// What one program means: figures, and the violations by kind and number.
fn meaning<S: System>(system: &S, method: Method) -> (Outcome, BTreeMap<String, usize>) {
    let outcome =
        explore(system, method, Budget { all: true, ..Budget::default() }, &mut NoObserver);
    let mut kinds = BTreeMap::new();
    for violation in &outcome.violations {
        let kind = format!("{:?} of {:?}", violation.kind, violation.process);
        *kinds.entry(kind).or_default() += 1;
    }
    (outcome, kinds)
}

/// The text, compiled, and the syntax tree, run by [`crate::random_models::Script`], have the same
/// executions, classes, deadlocks and violations.
#[test]
fn compiled_programs_mean_what_their_syntax_trees_mean() {
    for sample in samples() {
        let compiled = compile("random.maz", &sample.program.text(), &[]);
        let compiled = compiled.unwrap_or_else(|errors| {
            panic!("{}\n{}", errors.render(false), sample.describe());
        });
        for method in [Method::Exhaustive, Method::Udpor(K::Optimal)] {
            let (found, found_kinds) = meaning(&compiled, method);
            let (expected, expected_kinds) = meaning(&sample.script, method);
            assert_eq!(found.stats, expected.stats, "{method:?} on {}", sample.describe());
            assert_eq!(found_kinds, expected_kinds, "{method:?} on {}", sample.describe());
        }
    }
}
