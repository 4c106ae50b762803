//! Processes that are spawned, as users see them: the names of ranks of several programs, places in
//! each, and executions that are shown again.

use std::collections::BTreeSet;
use std::path::Path;

use super::{compile, compile_source, folder};
use crate::cli::{code, json, mazurka, stderr, stdout};

const MANAGER: &str = r#"#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Comm workers;
  int value, first;
  MPI_Init(&argc, &argv);
  MPI_Comm_spawn("worker", &argv[1], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &workers, MPI_ERRCODES_IGNORE);
  MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, workers, MPI_STATUS_IGNORE);
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, workers, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&workers);
  MPI_Finalize();
  return first;
}
"#;

const WORKER: &str = r#"#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The lines differ from those of the other program. */

int main(int argc, char **argv) {
  MPI_Comm manager;
  int rank;
  float other = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&manager);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("worker %d\n", rank);
  if (argc > 1 && argv[1][0] == 'f' && rank == 1) MPI_Send(&other, 1, MPI_FLOAT, 0, 0, manager);
  else MPI_Send(&rank, 1, MPI_INT, 0, 0, manager);
  if (argc > 1 && argv[1][0] == 'c' && rank == 1) *(volatile int *)8 = 1;
  if (argc > 1 && argv[1][0] == 'e') exit(0);
  MPI_Comm_disconnect(&manager);
  MPI_Finalize();
  return 0;
}
"#;

/// Both programs in a folder; returns the one that starts the other.
fn programs(folder: &Path) -> String {
    let made = [("manager", MANAGER), ("worker", WORKER)].map(|(name, text)| {
        let source = folder.join(format!("{name}.c"));
        std::fs::write(&source, text).unwrap();
        compile_source("mpicc", source.to_str().unwrap(), &["-g", "-O0"], folder)
    });
    made[0].clone()
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_report_names_ranks_and_places_of_several_programs() {
    let folder = folder("mpi-spawned");
    let manager = programs(&folder);
    let verified = mazurka(&["mpirun", "-n", "1", "--show", &manager]).output().unwrap();
    let text = stdout(&verified);
    assert_eq!(code(&verified), 0, "{text}");
    assert!(text.contains("2 classes of executions"), "{text}");
    assert!(text.contains("rank 1 of worker has printed:\n  worker 1\n"), "{text}");

    let report = |argument| {
        let mut ran = mazurka(&["mpirun", "-n", "1", "--format", "json", &manager, argument]);
        let ran = ran.output().unwrap();
        assert_eq!(code(&ran), 1, "{}{}", stdout(&ran), stderr(&ran));
        json(&ran)["violations"][0].clone()
    };
    // The place of the send is in the other program.
    let mismatch = report("f");
    assert_eq!(mismatch["slip"], "datatype mismatch");
    let said = mismatch["message"].as_str().unwrap();
    assert!(said.contains("sends 1 MPI_FLOAT at worker.c:15"), "{said}");
    assert!(said.contains("is received at manager.c:"), "{said}");
    let crash = report("c");
    assert_eq!((&crash["slip"], &crash["line"]), (&"crash".into(), &17.into()), "{crash}");
    assert_eq!(crash["process"], "rank 1 of worker");
    let left = report("e");
    assert_eq!(left["slip"], "missing finalize");
    assert!(left["process"].as_str().unwrap().ends_with(" of worker"), "{left}");

    // The same execution again, step by step, and drawn.
    let picture = folder.join("picture.svg").display().to_string();
    let schedule = mismatch["replay"].as_str().unwrap();
    for options in [&["--step"][..], &["--draw", &picture], &["--format", "json"]] {
        let again = [&["mpirun", "-n", "1", "--schedule", schedule], options, &[&manager, "f"]];
        let again = mazurka(&again.concat()).output().unwrap();
        assert_eq!(code(&again), 1, "{options:?}: {}{}", stdout(&again), stderr(&again));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What starts the same program more than once, or in more than one place, is told apart.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_name_says_which_call_has_started_a_rank() {
    let folder = folder("mpi-spawn-names");
    let program = compile("spawn", &folder);
    let ran = mazurka(&["mpirun", "-n", "2", "--format", "json", &program, "50"]).output().unwrap();
    let report = json(&ran);
    let steps = report["violations"][0]["schedule"].as_array().expect("a violation");
    let processes: BTreeSet<&str> =
        steps.iter().map(|step| step["process"].as_str().unwrap()).collect();
    let expected = [
        "rank 0",
        "rank 0 of spawn",
        "rank 0 of spawn (spawn 1 of rank 0 of spawn)",
        "rank 0 of spawn (spawn 1 of rank 1)",
        "rank 0 of spawn (spawn 2)",
        "rank 1",
    ];
    assert_eq!(processes.into_iter().collect::<Vec<_>>(), expected);
    std::fs::remove_dir_all(&folder).unwrap();
}
