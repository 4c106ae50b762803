//! `mpirun --checkpoint` and `resume`: searches of MPI programs that are stopped or killed, and go on;
//! and how large they are (`--estimate`).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{compile_source, folder};
use crate::cli::{code, json, mazurka, stderr, stdout};

/// Rank 0 gets a message from each other rank, in any order. With an argument it fails if the last
/// rank is first.
const PROGRAM: &str = r#"#include <assert.h>
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, first, value;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 2; i < size; i++)
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(argc == 1 || first != size - 1);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"#;

fn program(folder: &Path, text: &str) -> String {
    let source = folder.join("saved.c");
    fs::write(&source, text).unwrap();
    compile_source("mpicc", source.to_str().unwrap(), &["-g"], folder)
}

/// A result without what it cost, and how ranks were run; and without the executions that lead to its
/// violations, which may be others ([`mazurka::explore::keep`]).
fn free(result: &Value) -> Value {
    let mut result = result.clone();
    for violation in result["violations"].as_array_mut().expect("a list") {
        let kept = ["kind", "message", "places"].map(|name| violation[name].take());
        *violation = kept.into_iter().collect();
    }
    for cost in ["wall_seconds", "peak_memory_bytes"] {
        result["stats"][cost] = Value::Null;
    }
    let fields = result.as_object_mut().expect("a report");
    for name in ["resumed_from", "runs"] {
        fields.remove(name);
    }
    result
}

fn start(args: &[&str], file: &Path) -> Command {
    let (at, every) = (file.to_str().unwrap(), ["--checkpoint-interval", "30ms"]);
    let mut command = match file.exists() {
        true => mazurka(&[&["resume", at, "--format", "json"][..], &every].concat()),
        false => mazurka(&[&["mpirun", "--all", "--checkpoint", at][..], &every, args].concat()),
    };
    // The program and its folder are in the file.
    if file.exists() {
        command.current_dir("/");
    }
    command
}

/// Kills the search this number of times, each within `most` milliseconds after there is something to
/// go on from.
fn survive(name: &str, ranks: u32, times: u64, most: u64) {
    let folder = folder(name);
    let program = program(&folder, PROGRAM);
    let ranks = ranks.to_string();
    for (args, exit) in [(&[][..], 0), (&["x"][..], 1)] {
        let file = folder.join(format!("search-{exit}.json"));
        let options = ["-n", &ranks, "--format", "json", "--explorer", "parsimonious", &program];
        let words = [&options[..], args].concat();
        let whole = mazurka(&[&["mpirun", "--all"][..], &words].concat()).output().unwrap();
        assert_eq!(code(&whole), exit, "{}", stderr(&whole));
        for number in 0..times {
            let mut child = start(&words, &file).spawn().unwrap();
            while !file.exists() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(5));
            }
            thread::sleep(Duration::from_millis(most / 3 + number * 37 % most));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let last = start(&words, &file).output().unwrap();
        assert_eq!(code(&last), exit, "{}", stderr(&last));
        let (last, whole) = (json(&last), json(&whole));
        assert_eq!(last["resumed_from"], file.to_str().unwrap());
        assert_eq!(free(&last), free(&whole));
    }
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_killed_search_goes_on_in_another_folder() {
    survive("saved", 6, 2, 150);
}

/// The same, 50 times.
#[test]
#[ignore = "slow"]
fn a_killed_search_goes_on_in_another_folder_at_length() {
    survive("saved-often", 7, 50, 250);
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_has_changed_or_is_damaged_is_refused() {
    let folder = folder("saved-changed");
    let (made, file) = (program(&folder, PROGRAM), folder.join("search.json"));
    let at = file.to_str().unwrap();
    let words = ["mpirun", "-n", "7", "--timeout", "10ms", "--checkpoint", at, &made];
    let early = mazurka(&words).output().unwrap();
    assert_eq!(code(&early), 3, "{}", stderr(&early));
    assert!(stderr(&early).contains("mazurka resume"), "{}", stderr(&early));
    let refused = |args: &[&str], why: &str| {
        let output = mazurka(args).output().unwrap();
        let said = stderr(&output);
        assert!(code(&output) == 2 && said.contains(why), "{args:?}: {said}");
    };
    refused(&["mpirun", "-n", "4", "--checkpoint", at, &made], "arguments or ranks");
    refused(
        &["mpirun", "-n", "7", "--buffering", "zero", "--checkpoint", at, &made],
        "other options",
    );
    refused(&["mpirun", "-n", "7", "--explorer", "sleep", "--checkpoint", at, &made], "explorers");
    refused(&["check", "--branch", at], "an MPI program");
    refused(&["merge", at], "an MPI program");
    let good = fs::read_to_string(&file).unwrap();
    for bad in [&good[..good.len() / 2], &good.replace("\"ranks\": 7", "\"ranks\": 6")] {
        fs::write(&file, bad).unwrap();
        refused(&["resume", at], "search.json");
    }
    fs::write(&file, good).unwrap();
    program(&folder, &PROGRAM.replace("first != size - 1", "first != size - 2"));
    refused(&["resume", at], "has changed");
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn the_size_of_a_search_is_estimated() {
    let folder = folder("estimated");
    let made = program(&folder, PROGRAM);
    let estimated = |words: &[&str]| {
        let words = [&["mpirun", "-n", "4", "--estimate", "60s"], words].concat();
        let output = mazurka(&words).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    };
    // So few classes are all visited.
    let result = json(&estimated(&["--format", "json", &made]));
    assert_eq!(
        (&result["classes"]["number"], &result["constants"]["ranks"]),
        (&6.into(), &4.into())
    );
    let tried = result["tried"].as_array().unwrap();
    let is_whole = |one: &Value| one["complete"] == true && one["count"] == 6;
    assert!(tried.len() == 3 && tried.iter().all(is_whole), "{result}");
    let smaller = &result["smaller"][0];
    assert_eq!((&smaller["value"], &smaller["classes"]["number"]), (&3.into(), &2.into()));
    let said = stdout(&estimated(&[&made]));
    assert!(said.contains("`mpirun --explorer") && said.contains("with ranks=3: "), "{said}");
    let wrong = stdout(&estimated(&[&made, "x"]));
    assert!(wrong.contains("Something is wrong"), "{wrong}");
    let both = mazurka(&["mpirun", "--estimate", "1s", "--buffering", "both", &made]);
    assert_eq!(code(&{ both }.output().unwrap()), 2);
}
