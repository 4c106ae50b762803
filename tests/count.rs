//! `count`: numbers of executions, compared with those that specs state, and with a search that
//! visits each execution.

use std::fs;
use std::time::Duration;

use mazurka::explore::{Budget, Exhaustive, NoObserver, count, explore};
use mazurka::lang::{ExpectedVerdict, Program, compile};
use mazurka::property::Properties;
use serde_json::Value;

use crate::agreement::{expectations, options};
use crate::cli::{code, json, run, run_with, stdout};
use crate::tidy::{some_of, specs_without_demands};

/// The maximum number of executions that the exhaustive search visits in this test.
const MOST_EXECUTIONS: u64 = 3_000;

fn limits(program: &Program, max_traces: Option<u64>) -> (&Program, Budget) {
    let timeout = Some(Duration::from_secs(30));
    (program, Budget { all: true, max_traces, timeout, ..Budget::default() })
}

#[test]
fn what_some_specs_state_is_counted() {
    let (stated, walked) = counted_as_stated(SHARE);
    let few = 150 / SHARE;
    assert!(stated > few && walked > few, "{stated} stated, {walked} walked");
}

#[test]
#[ignore = "slow"]
fn what_specs_state_is_counted() {
    let (stated, walked) = counted_as_stated(1);
    assert!(stated > 150 && walked > 150, "{stated} stated, {walked} walked");
}

/// An ordinary run counts in about one of so many specs.
const SHARE: usize = 4;

/// Counts in about one of `step` specs. Returns how many numbers of executions were stated, and how
/// many were compared with a walk.
fn counted_as_stated(step: usize) -> (usize, usize) {
    let (mut stated, mut walked) = (0, 0);
    for path in some_of(specs_without_demands(), step) {
        let text = fs::read_to_string(&path).unwrap();
        for expected in expectations(&text).unwrap() {
            let name = format!("{}{}", path.display(), options(&expected));
            let is_plain = expected.with.is_empty() && !expected.slow;
            // Not all executions are there to be counted.
            if expected.verdict == Some(ExpectedVerdict::Incomplete) {
                continue;
            }
            if expected.depth.is_some() || expected.interleavings.is_none() && !is_plain {
                continue;
            }
            let mut program = compile(&name, &text, &expected.with).unwrap();
            program.set_semantics(expected.semantics.unwrap_or_default());
            let (program, budget) = limits(&program, Some(MOST_EXECUTIONS));
            let properties = Properties::default().allow_pending(expected.allow_pending);
            let budget = Budget { properties, ..budget };
            let outcome = explore(program, Exhaustive, budget.clone(), &mut NoObserver);
            if expected.interleavings.is_none() && !outcome.is_complete() {
                continue;
            }
            let found = count(program, Budget { max_traces: None, ..budget }, &mut NoObserver);
            if !found.cycling.is_empty() || polls_in_loops(&text) {
                // Loops that wait go round in the graph (those that poll a p2p mailbox as often as
                // they may); the executions that the walk counts do not.
                continue;
            }
            let found = found.executions.unwrap_or_else(|| panic!("{name}: {:?}", found.outcome));
            if let Some(interleavings) = expected.interleavings {
                assert_eq!(found.all.to_string(), interleavings.to_string(), "{name}");
                stated += 1;
            }
            if outcome.is_complete() {
                let stats = outcome.stats;
                let numbers = [&found.all, &found.deadlocked, &found.violating];
                let walk = [stats.traces, stats.deadlocked_traces, stats.violating_traces];
                assert_eq!(numbers.map(|n| n.to_string()), walk.map(|n| n.to_string()), "{name}");
                assert_eq!(u64::from(found.longest), stats.max_depth, "{name}");
                walked += 1;
            }
        }
    }
    (stated, walked)
}

/// Has the program loops, and polls at p2p or bag mailboxes?
fn polls_in_loops(text: &str) -> bool {
    let has_one_of = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has_one_of(&["p2p mailbox", "bag mailbox", "collective "])
        && has_one_of(&["loop {", "while "])
        && has_one_of(&["test(", "testany(", "iprobe("])
}

fn counted(args: &[&str]) -> Value {
    json(&run(&[&["count", "--format", "json"], args].concat()))
}

/// Numbers that others have published, or that a formula gives.
#[test]
fn large_numbers_are_exact() {
    let grid = counted(&["../../../specs/mailbox/diffusion2d.maz", "-D", "BUFFERED=1"]);
    let all = grid["interleavings"]["all"].as_str().unwrap();
    assert!(all.starts_with("16597") && all.len() == 26, "{all}");
    let independent =
        "process P[i in 0..6] { local(\"a\"); local(\"b\"); local(\"c\"); local(\"d\"); }";
    let found = json(&run_with(&["count", "-", "--format", "json"], independent));
    // 24! / (4!)^6
    assert_eq!(found["interleavings"]["all"], "3246670537110000");
    assert_eq!(found["stats"]["states"], 15_625);
    assert_eq!(found["interleavings"]["longest"], 24);
}

#[test]
fn what_goes_on_for_ever_is_said() {
    let spins = "shared x: int = 0;
        process P { while x == 0 {} }
        process Q { x = 1; }
        process R { local(\"r\"); }";
    let output = run_with(&["count", "-"], spins);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("standard input: infinitely many interleavings."), "{text}");
    assert!(text.contains("Some executions never end: in them P comes back"), "{text}");
    let result = json(&run_with(&["count", "-", "--format", "json"], spins));
    assert_eq!((&result["infinite"], &result["interleavings"]), (&true.into(), &Value::Null));
    assert_eq!(result["cycling"], serde_json::json!(["P"]));
    // A process that repeats its loop for ever does not end: the other executions are counted.
    let trap = "process P { if choose(0..2) == 0 { loop { local(\"p\"); } } }
        process Q { local(\"q\"); }";
    let result = json(&run_with(&["count", "-", "--format", "json"], trap));
    assert_eq!(
        (&result["infinite"], &result["interleavings"]["all"]),
        (&false.into(), &"2".into())
    );
    assert_eq!(result["cycling"], serde_json::json!(["P"]));
}

#[test]
fn limits_end_it() {
    let grows = "shared x: int = 0; process P { loop { x += 1; } }";
    let output = run_with(&["count", "-", "--timeout", "300ms"], grows);
    assert_eq!(code(&output), 3, "{}", stdout(&output));
    assert!(stdout(&output).contains("not counted: stopped"), "{}", stdout(&output));
    assert_eq!(code(&run(&["count", "philosophers.maz"])), 1);
    assert_eq!(code(&run(&["count", "ok.maz"])), 0);
    assert_eq!(code(&run(&["count", "missing.maz"])), 2);
}

/// Where the bound on polls cuts, nothing is counted, and an execution that is cut ends neither
/// well nor in a deadlock.
#[test]
fn a_loop_that_is_cut_is_no_deadlock() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/specs/mpi/polling-then-sending.maz");
    let counted = run(&["count", spec]);
    assert_eq!(code(&counted), 3, "{}", stdout(&counted));
    assert!(stdout(&counted).contains("a loop that polls was cut at --polls"));
    let random = run(&["run", spec, "--format", "json"]);
    let report = json(&random);
    assert_eq!((code(&random), &report["verdict"]), (3, &"incomplete".into()), "{report}");
    assert_eq!(report["enabled"], serde_json::json!(["Asker"]));
    let replay = report["replay"].as_str().unwrap();
    let shown = run(&["replay", spec, "--schedule", replay]);
    assert!(stdout(&shown).contains("Asker can still move"), "{}", stdout(&shown));
}
