//! The static analysis of programs, compared with their behaviour.
//!
//! Explorers that rely on the analysis are compared with one that has none. In debug builds, each
//! operation that is executed is also compared with what was claimed before (`model::audit`). So
//! these tests fail even if a wrong claim happens not to hide a violation.
//!
//! `cargo run --features tools --example broken` shows that these tests are effective: it breaks
//! the analysis in many places.
//!
//! `MAZURKA_PROGRAMS=3000 cargo test --test suite foresight` tests that number of random programs.
//! `cargo run --release --features tools --example fuzz -- programs --time 1h` runs for that time,
//! and minimises what it finds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mazurka::explore::EXPLORERS;
use mazurka::lang::{Program, compile};

use crate::random_models::unforeseen::Judgement;
use crate::random_models::{self, Sample, Subject, commuting, language};
use crate::tidy::specs_without_demands;

#[path = "../examples/broken/breaks.rs"]
mod breaks;

/// Programs with more executions are skipped.
const MOST_EXECUTIONS: u64 = 600;
/// The number of states of a program in which the order of steps is tried.
const MOST_STATES: usize = 100;

fn compiled(text: &str, what: &str) -> Program {
    let compiled = compile("random.maz", text, &[]);
    compiled.unwrap_or_else(|errors| panic!("{}\n{what}:\n{text}", errors.render(false)))
}

/// Checks that all explorers find the same. False if the program is too large. The cost of a search
/// grows with what there is to compare, so this is for small programs.
fn is_explored_alike(text: &str, what: &str) -> bool {
    let program = compiled(text, what);
    let explore = || {
        commuting::judge(&program, MOST_STATES)?;
        let Some(judge) = Judgement::of(&program, MOST_EXECUTIONS, None) else { return Ok(false) };
        for listed in EXPLORERS {
            judge.compare(&program, listed).unwrap_or(Ok(()))?;
        }
        Ok::<bool, String>(true)
    };
    match catch_unwind(AssertUnwindSafe(explore)) {
        Ok(Ok(is_small)) => is_small,
        Ok(Err(how)) => panic!("{how}\n{what}:\n{text}"),
        Err(_) => panic!("a panic in {what}:\n{text}"),
    }
}

#[test]
fn random_programs_are_explored_as_by_one_who_knows_nothing() {
    let count = random_models::asked(220);
    let mut small = 0;
    for seed in 0..count as u64 {
        let what = format!("the program of seed {seed}");
        small += usize::from(is_explored_alike(&language::generate(seed), &what));
    }
    println!("{small} of {count} programs are small");
    assert!(2 * small > count, "{small} of {count} programs are small enough");
}

fn texts<S: Subject>(samples: &[Sample<S>]) -> impl Iterator<Item = (u64, String)> {
    samples.iter().map(|sample| (sample.seed, sample.script.text()))
}

#[test]
fn compiled_programs_are_explored_as_by_one_who_knows_nothing() {
    let (processes, later) = (random_models::processes(), random_models::later());
    for (seed, text) in texts(processes).chain(texts(later)).step_by(4) {
        is_explored_alike(&text, &format!("the program of seed {seed}"));
    }
}

#[test]
fn specs_are_explored_as_by_one_who_knows_nothing() {
    let mut small = 0;
    for path in specs_without_demands() {
        let text = fs::read_to_string(&path).expect("a readable spec");
        small += u32::from(is_explored_alike(&text, &path.display().to_string()));
    }
    assert!(small > 150, "{small}");
}

#[test]
fn what_is_to_be_broken_is_still_there() {
    let all = breaks::breaks();
    assert!(all.len() > 20, "{} breaks", all.len());
    for one in all {
        let applied = one.applied(Path::new(env!("CARGO_MANIFEST_DIR")));
        applied.unwrap_or_else(|how| panic!("{how}"));
    }
}
