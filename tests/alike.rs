//! Violations that differ only in the names of processes are shown once; others are never merged.

use serde_json::Value;

use crate::cli::{code, json, run_with, stdout};

/// For each violation of a spec, the earlier one that it is like.
fn like(spec: &str) -> Vec<Option<u64>> {
    let output = run_with(&["check", "-", "--all", "--format", "json"], spec);
    assert_eq!(code(&output), 1, "{spec}");
    let report = json(&output);
    let violations = report["violations"].as_array().unwrap();
    violations.iter().map(|violation| violation["like"].as_u64()).collect()
}

const ONE: [Option<u64>; 4] = [None, Some(1), Some(1), Some(1)];

/// The process that gets the lock waits for a message that is never sent.
const STUCK: &str =
    "mailbox m: int; mutex a; process P[i in 0..4] { if try_lock(a) { recv(m); } }\n";

#[test]
fn four_that_are_symmetric_are_one_report() {
    assert_eq!(like(STUCK), ONE);
    let text = stdout(&run_with(&["check", "-", "--all"], STUCK));
    assert!(text.starts_with("4 violations: 4 deadlocks, all alike but for names.\n"), "{text}");
    assert_eq!(text.matches("Now nothing can move:").count(), 1, "{text}");
    let (_, alike) = text.split_once("\n3 more alike, with other names:\n").unwrap();
    let listed: Vec<&str> = alike.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(listed.len(), 3);
    for name in ["P[1]", "P[2]", "P[3]"] {
        assert!(listed.iter().any(|line| line.contains(&format!("{name} waits"))), "{text}");
    }
    let quiet = stdout(&run_with(&["check", "-", "--all", "-q"], STUCK));
    assert_eq!(quiet, "4 violations: 4 deadlocks, all alike but for names.\n");
    let all = json(&run_with(&["check", "-", "--all", "--format", "json"], STUCK));
    let whole = |violation: &Value| violation["schedule"].as_array().unwrap().len() == 5;
    assert!(all["violations"].as_array().unwrap().iter().all(whole), "JSON tells all of each");
}

#[test]
fn objects_are_renamed_with_processes() {
    let spec = |mailbox: &str| STUCK.replace("mailbox m", "mailbox m[4]").replace("m)", mailbox);
    assert_eq!(like(&spec("m[i])")), ONE);
    assert_eq!(like(&spec("m[(i + 1) % 4])")), ONE, "the ring turns");
    // What does not go with the index of the process is another object.
    let apart = STUCK.replace("mailbox m", "mailbox m[9]").replace("m)", "m[5 + i])");
    assert_eq!(like(&apart), [None; 4]);
}

#[test]
fn circles_and_failures_are_compared_too() {
    let ring = "mutex a, b; process P[i in 0..2] { lock(a); lock(b); unlock(b); unlock(a); }\n\
        process Q { lock(b); lock(a); unlock(a); unlock(b); }\n";
    // The other P waits behind the circle, or has been through before.
    assert_eq!(like(ring), [None, Some(1), None, Some(3)]);
    let fails =
        "shared x: int = 0; process P[i in 0..3] { let old = fetch_add(x, 1); assert(old < 2); }\n";
    assert_eq!(like(fails), [None, Some(1), Some(1)]);
}

#[test]
fn different_mistakes_are_never_alike() {
    let waits = |what: &str| STUCK.replace("recv(m);", what);
    for (what, spec) in [
        ("another tag", waits("recv(m, tag: i);")),
        ("another place", waits("if i < 1 { recv(m); } else { recv(m); }")),
        ("another path", waits("for j in 0..i { local(\"turn\"); } recv(m);")),
        ("another object", waits("if i < 2 { lock(a); } else { recv(m); }")),
    ] {
        let like = like(&spec);
        assert!(like.contains(&None) && like != ONE, "{what}: {like:?}");
    }
    // Of the same text, and at the same line, but of another kind.
    let kinds = "mailbox m: int; mutex a; process P { if try_lock(a) { recv(m); } } process Q { if try_lock(a) { recv(m); } }\n";
    assert_eq!(like(kinds), [None, None]);
    // The others have not done the same.
    let others = "mailbox m: int; mutex a; shared x: int = 0;\n\
        process P[i in 0..2] { if try_lock(a) { recv(m); } else if i == 1 { x = 1; } }\n";
    assert_eq!(like(others), [None, None]);
}
