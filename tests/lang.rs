//! The language: small programs under the exhaustive explorer.

use mazurka::explore::{self, Budget, Exhaustive, NoObserver, Outcome, Verdict};
use mazurka::lang::{self, Program};

fn program_with(source: &str, overrides: &[(&str, &str)]) -> Program {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    lang::compile("test.maz", source, &overrides).unwrap_or_else(|d| panic!("{}", d.render(false)))
}

fn program(source: &str) -> Program {
    program_with(source, &[])
}

fn explore(program: &Program) -> Outcome {
    let budget = Budget { all: true, ..Budget::default() };
    explore::explore(program, Exhaustive, budget, &mut NoObserver)
}

/// The number of interleavings, the deadlocked ones, and the verdict.
fn counts(source: &str) -> (u64, bool, Verdict) {
    let outcome = explore(&program(source));
    assert!(outcome.is_complete());
    (outcome.stats.traces, outcome.stats.deadlocked_traces > 0, outcome.verdict())
}

fn interleavings(source: &str) -> u64 {
    counts(source).0
}

/// The messages of all violations.
fn violations(source: &str) -> Vec<String> {
    let outcome = explore(&program(source));
    let failures = outcome.violations.iter().map(|v| match &v.failure {
        Some(failure) => format!("{:?}: {}", v.kind, failure.message),
        None => format!("{:?}", v.kind),
    });
    failures.collect()
}

#[track_caller]
fn holds(source: &str) {
    let found = violations(source);
    assert!(found.is_empty(), "{found:?}");
}

#[track_caller]
fn fails(source: &str, message: &str) {
    let found = violations(source);
    assert!(found.iter().any(|f| f.contains(message)), "expected {message:?}, found {found:?}");
}

mod actors;
mod benchmarks;
mod bounds;
mod collections;
mod faults;
mod naming;
mod operations;
mod procedures;
mod robustness;
