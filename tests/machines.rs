//! Searches by the ranks of an MPI job, some of which are killed. They need an implementation of
//! MPI: `cargo test --features mpi --test suite machines -- --ignored`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::{code, json, mazurka, stderr};

/// A search that is long enough for ranks to be killed on the way.
const SEARCH: [&str; 7] = [
    "check",
    "../../../specs/memory/lastzero.maz",
    "--explorer",
    "sleep",
    "--format",
    "json",
    "-D",
];

/// Starts the search with four ranks on one machine, by Open MPI, for any user.
fn start(n: &str, options: &[&str], arguments: &[&str]) -> Child {
    let mut command = Command::new("mpirun");
    command
        .args(["--allow-run-as-root", "--oversubscribe", "-n", "4"])
        .args(options)
        .arg(env!("CARGO_BIN_EXE_mazurka"))
        .args(SEARCH)
        .arg(n)
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("`mpirun` of Open MPI")
}

/// The ranks that the launcher has started, in their order.
fn ranks(launcher: &Child) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{}/task", launcher.id())).expect("Linux");
    let children = threads.flat_map(|thread| {
        let file = thread.expect("a thread").path().join("children");
        let text = fs::read_to_string(file).expect("its children");
        text.split_whitespace().map(|id| id.parse().expect("a process")).collect::<Vec<_>>()
    });
    let mut children: Vec<u32> = children.collect();
    children.sort_unstable();
    assert_eq!(children.len(), 4, "ranks are started by `mpirun` itself");
    children
}

fn kill(process: u32) {
    Command::new("kill").args(["-KILL", &process.to_string()]).status().expect("`kill`");
}

/// Kills a rank when the search is under way.
fn kill_rank(launcher: &Child, rank: usize, after: Duration) {
    thread::sleep(after);
    kill(ranks(launcher)[rank]);
}

/// A result without its cost.
fn free(output: &Output) -> Value {
    let mut result = json(output);
    for cost in ["wall_seconds", "peak_memory_bytes"] {
        result["stats"][cost] = Value::Null;
    }
    result.as_object_mut().expect("a report").remove("resumed_from");
    result
}

fn alone(n: &str) -> Value {
    free(&mazurka(&[&SEARCH[..], &[n]].concat()).output().expect("a search"))
}

#[test]
#[ignore = "needs MPI"]
fn ranks_find_what_one_process_finds() {
    let output = start("N=9", &[], &[]).wait_with_output().expect("an end");
    assert_eq!((code(&output), free(&output)), (0, alone("N=9")), "{}", stderr(&output));
}

#[test]
#[ignore = "needs MPI"]
fn nothing_is_lost_with_a_rank() {
    let child = start("N=12", &["--enable-recovery"], &[]);
    kill_rank(&child, 2, Duration::from_secs(2));
    let output = child.wait_with_output().expect("an end");
    assert_eq!((code(&output), free(&output)), (0, alone("N=12")), "{}", stderr(&output));
    assert!(stderr(&output).contains("rank 2 has not answered"), "{}", stderr(&output));
}

#[test]
#[ignore = "needs MPI"]
fn nothing_is_lost_with_the_coordinator() {
    let file: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-machines.json", std::process::id()));
    let file = file.to_str().expect("a path in UTF-8");
    let checkpoint = ["--checkpoint", file];
    let child = start("N=12", &[], &checkpoint);
    // A checkpoint is written every two seconds.
    kill_rank(&child, 0, Duration::from_millis(3500));
    let output = child.wait_with_output().expect("an end");
    assert_ne!(output.status.code(), Some(0));
    let again = start("N=12", &[], &checkpoint).wait_with_output().expect("an end");
    assert_eq!((code(&again), free(&again)), (0, alone("N=12")), "{}", stderr(&again));
    assert_eq!(json(&again)["resumed_from"], file);
}
