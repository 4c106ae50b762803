//! Every counterexample replays, by its schedule and from the result file, to the violation
//! reported.

use std::fs;
use std::path::{Path, PathBuf};

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

const PHILOSOPHERS: &str =
    "mutex fork[2]; process P[i in 0..2] { lock(fork[i]); lock(fork[1 - i]); }";

/// The result of a search for the deadlock of these philosophers, kept in a folder of its own.
fn kept(folder: &Path) -> PathBuf {
    let spec = folder.join("two.maz");
    fs::write(&spec, PHILOSOPHERS).unwrap();
    let saved = folder.join("kept");
    let spec = spec.to_str().unwrap();
    let found = run(&["check", spec, "--save", saved.to_str().unwrap()]);
    assert_eq!(found.status.code(), Some(1));
    // The same finding again is the same file.
    run(&["check", spec, "--save", saved.to_str().unwrap()]);
    let files: Vec<_> = fs::read_dir(&saved).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    assert!(String::from_utf8_lossy(&found.stderr).contains(file.to_str().unwrap()));
    file.clone()
}

/// Of several ways to go on, the one with the recorded outcome is taken.
#[test]
fn outcomes_are_followed_too() {
    let text = "process P { let a = choose(0..4); assert(a != 2); }";
    let folder = tempfile::tempdir().unwrap();
    let (spec, result) = (folder.path().join("chooses.maz"), folder.path().join("result.json"));
    let [spec, result] = [&spec, &result].map(|path| path.to_str().unwrap());
    fs::write(spec, text).unwrap();
    assert_eq!(run(&["check", spec, "-o", result]).status.code(), Some(1));
    fs::write(spec, text.replace("{ let", "{ local(\"first\"); let")).unwrap();
    let replayed = json(&run(&["replay", spec, result, "--format", "json"]));
    assert_eq!(replayed["verdict"], "assertion", "{replayed}");
    assert_eq!(replayed["divergence"]["added"], 1, "{replayed}");
}

/// What a replay of a kept execution prints when the program reads like this.
fn replayed(text: &str) -> (Option<i32>, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = kept(folder.path());
    let spec = folder.path().join("two.maz");
    fs::write(&spec, text).unwrap();
    let args = ["replay", spec.to_str().unwrap(), file.to_str().unwrap()];
    let shown = run(&args);
    let result = json(&run(&[&args[..], &["--format", "json"]].concat()));
    let told = String::from_utf8_lossy(&shown.stdout) + String::from_utf8_lossy(&shown.stderr);
    (shown.status.code(), result["divergence"].clone(), told.into())
}

#[test]
fn a_kept_violation_replays() {
    let (code, divergence, told) = replayed(PHILOSOPHERS);
    assert_eq!((code, divergence), (Some(1), Value::Null));
    assert!(!told.contains("has changed"), "{told}");
    // Other spaces are another text, and the same operations.
    let (code, divergence, told) = replayed(&PHILOSOPHERS.replace("1 - i", "1-i"));
    assert_eq!((code, divergence), (Some(1), Value::Null));
    assert!(told.contains("two.maz has changed since this execution was saved"), "{told}");
}

#[test]
fn an_execution_of_a_changed_program_is_followed_by_names() {
    // A new step: the deadlock is still there. And a new process before the others, which has not
    // moved yet.
    let longer = PHILOSOPHERS.replace("{ lock(fork[i])", "{ local(\"thinks\"); lock(fork[i])");
    let other = format!("process First {{ local(\"x\"); }} {longer}");
    for (text, expected) in [(longer, 1), (other, 3)] {
        let (code, divergence, told) = replayed(&text);
        assert_eq!(code, Some(expected), "{told}");
        assert_eq!(told.contains("First can still move"), expected == 3, "{told}");
        let of = |name: &str| divergence[name].as_u64().unwrap();
        assert_eq!((of("step"), of("left_out"), of("added")), (1, 0, 2), "{divergence}");
        assert!(told.contains("The program has changed. Step 1 was `lock(fork[i])` (P["), "{told}");
        assert!(told.contains("with 2 new steps between them"), "{told}");
    }
    // New steps for which others are needed.
    let together = PHILOSOPHERS.replace("{ lock(fork[i])", "{ barrier(b); lock(fork[i])");
    let (code, divergence, told) = replayed(&format!("barrier b(2); {together}"));
    assert_eq!((code, &divergence["left_out"]), (Some(1), &0.into()), "{told}");
    // Mended: the second lock is not there any more. What was recorded ends before P[1] does.
    let (code, divergence, told) = replayed(&PHILOSOPHERS.replace(" lock(fork[1 - i]);", ""));
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("P[0] has ended now"), "{told}");
    assert!(divergence["left_out"].as_u64() > Some(0), "{divergence}");
    // A process that is gone.
    let (_, divergence, told) = replayed(&PHILOSOPHERS.replace("process P[", "process Q["));
    assert_eq!(divergence["found"], 0, "{divergence}");
    assert!(told.contains("there is no P["), "{told}");
}
