//! Every counterexample replays, by its schedule and from the result file, to the violation
//! reported.

use std::fs;

use serde_json::Value;

use crate::cli::{json, run};

const VIOLATED: [&str; 4] = ["rendezvous.maz", "philosophers.maz", "counter.maz", "assertion.maz"];
const SEARCHES: [&[&str]; 3] =
    [&["--explorer", "udpor"], &["--explorer", "udpor", "-k", "1"], &["--explorer", "exhaustive"]];

fn check(spec: &str, search: &[&str]) -> Value {
    json(&run(&[&["check", spec, "--all", "--format", "json"], search].concat()))
}

#[test]
fn every_counterexample_replays_to_its_violation() {
    for spec in VIOLATED {
        for search in SEARCHES {
            let result = check(spec, search);
            let violations = result["violations"].as_array().unwrap();
            assert!(!violations.is_empty(), "{spec} {search:?}");
            for violation in violations {
                let schedule = violation["replay"].as_str().unwrap();
                let args = ["replay", spec, "--schedule", schedule, "--format", "json"];
                let output = run(&args);
                assert_eq!(output.status.code(), Some(1), "{args:?}");
                let replayed = json(&output);
                assert_eq!(&replayed["violations"][0], violation, "{args:?}");
                assert_eq!(replayed["verdict"], violation["kind"]);
                assert_eq!(replayed["schedule"], violation["schedule"]);
            }
        }
    }
}

#[test]
fn a_result_file_replays_with_its_constants() {
    let file = std::env::temp_dir().join(format!("mazurka-result-{}.json", std::process::id()));
    let output = run(&["check", "philosophers.maz", "-D", "N=5", "--format", "json"]);
    fs::write(&file, &output.stdout).unwrap();
    let path = file.to_str().unwrap();
    let replayed = json(&run(&["replay", "philosophers.maz", path, "--format", "json"]));
    assert_eq!(replayed["constants"]["N"], 5);
    assert_eq!(replayed["violations"], json(&output)["violations"]);
    let second = run(&["replay", "philosophers.maz", path, "--violation", "2"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("1 violation, not 2"));
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_random_execution_replays_from_its_json() {
    let file = std::env::temp_dir().join(format!("mazurka-run-{}.json", std::process::id()));
    let output = run(&["run", "counter.maz", "--seed", "5", "--format", "json"]);
    fs::write(&file, &output.stdout).unwrap();
    let path = file.to_str().unwrap();
    let replayed = json(&run(&["replay", "counter.maz", path, "--format", "json"]));
    assert_eq!(replayed["schedule"], json(&output)["schedule"]);
    fs::remove_file(&file).unwrap();
}

#[test]
fn equal_searches_print_equal_results() {
    for spec in VIOLATED {
        let [mut a, mut b] = [check(spec, &[]), check(spec, &[])];
        for result in [&mut a, &mut b] {
            result["stats"]["wall_seconds"] = Value::Null;
            result["stats"]["peak_memory_bytes"] = Value::Null;
        }
        assert_eq!(a, b);
    }
}
