//! `mazurka reproduce mpi-bugs`: suites in each known layout, generated here.

use std::path::{Path, PathBuf};

use super::folder;
use crate::cli::{code, run, stderr, stdout};

/// A program for two ranks. With `RACE`, it writes a buffer that a send may still read.
const PROGRAM: &str = "
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, value = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
#ifdef RACE
        // CONFLICT
        value = 1; /* MBBERROR */
#endif
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
";

/// A folder with these files.
fn suite(name: &str, files: &[(&str, String)]) -> PathBuf {
    let folder = folder(name);
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn right(head: &str) -> String {
    format!("{head}{PROGRAM}")
}

fn wrong(head: &str) -> String {
    format!("#define RACE\n{head}{PROGRAM}")
}

fn header(expected: &str) -> String {
    format!("/* BEGIN_MBB_TESTS\n$ mpirun -np 2 ${{EXE}}\n| {expected}\n| x\nEND_MBB_TESTS */\n")
}

/// The table of a suite, without times, and what is listed.
fn reproduced(folder: &Path, expected_code: i32) -> (Vec<String>, String) {
    let folder = folder.to_str().unwrap();
    let output =
        run(&["reproduce", "mpi-bugs", "--suite", folder, "--format", "csv", "--list", "-q"]);
    let text = stdout(&output);
    assert_eq!(code(&output), expected_code, "{text}{}", stderr(&output));
    let is_row = |line: &&str| line.contains(',') && !line.starts_with(' ');
    let rows =
        text.lines().take_while(is_row).map(|row| row.rsplit_once(',').unwrap().0.to_owned());
    let rows: Vec<_> = rows.collect();
    let listed = text.lines().skip(rows.len()).map(|line| format!("{line}\n")).collect();
    (rows, listed)
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn headers_say_what_to_expect() {
    let files = [
        ("P2P/right.c", right(&header("OK"))),
        ("P2P/wrong.c", wrong(&header("ERROR LocalConcurrency"))),
        ("P2P/unlike.c", wrong(&header("ERROR CallMatching"))),
        ("COLL/missed.c", right(&header("ERROR CallMatching"))),
        ("COLL/alarm.c", wrong(&header("OK"))),
    ];
    let (rows, listed) = reproduced(&suite("headers", &files), 1);
    let expected = [
        "category,tests,right,kind right,line right,TP,FN,TN,FP",
        "COLL,2,0,0 of 0,0 of 0,0,1,0,1",
        "P2P,3,3,1 of 2,2 of 2,2,0,1,0",
        "\"all, in two threads\",5,3,1 of 2,2 of 2,2,1,1,1",
    ];
    assert_eq!(rows, expected, "{listed}");
    for objection in
        ["false alarm: COLL/alarm.c", "missed: COLL/missed.c", "wrong kind: P2P/unlike.c"]
    {
        assert!(listed.contains(objection), "{listed}");
    }
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn names_say_what_to_expect() {
    let files = [
        ("001-put-local-no.c", right("#define PROC_NUM 2\n")),
        ("sync/002-put-local-yes.c", wrong("#define PROC_NUM 2\n")),
        ("sync/part.c", "no program".into()),
    ];
    let (rows, listed) = reproduced(&suite("names", &files), 0);
    assert_eq!(rows[1], "001-put-local-no,1,1,0 of 0,0 of 0,0,0,1,0", "{listed}");
    assert_eq!(rows[2], "sync,1,1,1 of 1,1 of 1,1,0,0,0", "{listed}");
    assert_eq!(listed, "");
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn folders_say_what_to_expect() {
    let both = "#include \"own.h\"\nint size = BUFFER_LENGTH_INT;\n";
    let files = [
        ("0-level/correct/pt2pt/a.c", right(both)),
        ("0-level/pt2pt/a.c", wrong(both)),
        ("0-level/pt2pt/MissingCall-MPIWait.c", right(both)),
        ("0-level/correct/include/own.h", String::new()),
    ];
    let (rows, listed) = reproduced(&suite("folders", &files), 0);
    let expected = [
        "category,tests,right,TP,FN,TN,FP,disputed",
        "0-level/correct/pt2pt,1,1,0,0,1,0,0",
        "0-level/pt2pt,2,1,1,0,0,0,1",
        "\"all, in two threads\",3,2,1,0,1,0,1",
    ];
    assert_eq!(rows, expected, "{listed}");
    assert!(listed.contains("disputed label: 0-level/pt2pt/MissingCall-MPIWait.c"), "{listed}");
    assert!(listed.contains("MPI 4.1, 11.2.2 Finalizing MPI"), "{listed}");
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn lists_say_what_to_run() {
    let main = "#include <mpi.h>\nint run(void);\nint main(int c, char **v) { MPI_Init(&c, &v); run(); MPI_Finalize(); }\n";
    let files = [
        ("pt2pt/testlist", "a 2\nb\nabsent 2\nc 2\n".into()),
        ("pt2pt/Makefile.am", "b_SOURCES = a.c\nb_CPPFLAGS = -DRACE $(AM_CPPFLAGS)\n".into()),
        ("pt2pt/a.c", right("#include \"mpitestconf.h\"\n")),
        ("pt2pt/c.c", "#include <mpi.h>\nint run(void) { MPI_File_open(); }\n".into()),
        ("coll/testlist.in", "run 1\n".into()),
        ("coll/run.c", "int run(void) { return 0; }\n".into()),
        ("util/main.c", main.into()),
    ];
    let (rows, listed) = reproduced(&suite("lists", &files), 3);
    let expected = [
        "category,tests,verified,reported,not run",
        "coll,1,1,0,0",
        "pt2pt,3,1,1,1",
        "\"all, in two threads\",4,2,1,1",
    ];
    assert_eq!(rows, expected, "{listed}");
}

#[test]
fn other_folders_are_no_suites() {
    let folder = suite("no-suite", &[("a.c", "int main;".into())]);
    let output = run(&["reproduce", "mpi-bugs", "--suite", folder.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("in a supported layout"), "{}", stderr(&output));
}
