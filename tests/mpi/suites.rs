//! `mazurka reproduce mpi-bugs`: suites in each known layout, generated here.

use std::path::{Path, PathBuf};

use super::folder;
use crate::cli::{code, mazurka, run, stderr, stdout};

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
    reproduced_with(folder, &[], expected_code)
}

/// The same with more options. Scripts find modules in the folder `modules` of the suite.
fn reproduced_with(folder: &Path, options: &[&str], expected_code: i32) -> (Vec<String>, String) {
    let modules = folder.join("modules");
    let folder = folder.to_str().unwrap();
    let usual = ["reproduce", "mpi-bugs", "--suite", folder, "--format", "csv", "--list", "-q"];
    let output = mazurka(&[&usual, options].concat()).env("PYTHONPATH", modules).output().unwrap();
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
    // It is followed up to a bound, and what it never frees is no reason to call it verified.
    let polls = "
#include <mpi.h>
int polls;
int main(int argc, char **argv) {
    int rank, got, is_there = 0;
    MPI_Request request;
    MPI_Comm kept;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        for (; !is_there; polls++) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    } else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}
";
    let files = [
        ("pt2pt/testlist", "a 2\nb\nabsent 2\nc 2\nd 2\n".into()),
        ("pt2pt/d.c", polls.into()),
        ("pt2pt/Makefile.am", "b_SOURCES = a.c\nb_CPPFLAGS = -DRACE $(AM_CPPFLAGS)\n".into()),
        ("pt2pt/a.c", right("#include \"mpitestconf.h\"\n")),
        ("pt2pt/c.c", "#include <mpi.h>\nint run(void) { MPI_File_open(); }\n".into()),
        ("coll/testlist.in", "run 1\n".into()),
        ("coll/run.c", "int run(void) { return 0; }\n".into()),
        ("util/main.c", main.into()),
    ];
    let (rows, listed) = reproduced(&suite("lists", &files), 3);
    let expected = [
        "category,tests,verified,reported,no answer,not run",
        "coll,1,1,0,0,0",
        "pt2pt,4,1,1,1,1",
        "\"all, in two threads\",5,2,1,1,1",
    ];
    assert_eq!(rows, expected, "{listed}");
}

/// A program for two ranks. With `wrong`, both of them receive first. It asks common code for help,
/// and needs a header that has to be configured.
fn in_fortran(is_wrong: bool) -> String {
    let first = if is_wrong { 2 } else { 0 };
    let text = format!(
        "program swap
      include 'mpif.h'
      include 'aint.h'
      integer ierr, rank, got, status(MPI_STATUS_SIZE)
      call start(rank)
      call MPI_Get_address(got, address, ierr)
      if (mod(address, 4_8) .ne. 0) stop 1
      if (rank .eq. {first}) call send()
      call MPI_Recv(got, 1, MPI_INTEGER, 1 - rank, 0, &
     &  MPI_COMM_WORLD, status, ierr)
      if (rank .ne. {first}) call send()
      call MPI_Finalize(ierr)
      contains
      subroutine send()
      call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 0, &
     &  MPI_COMM_WORLD, ierr)
      end subroutine
      end
"
    );
    text.replace("program", "      program")
}

#[test]
#[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
fn lists_may_be_of_fortran() {
    let start = "      subroutine start(rank)
      include 'mpif.h'
      integer rank, ierr
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      end
";
    let free = |is_wrong| in_fortran(is_wrong).replace("include 'mpif.h'", "use mpi");
    let free = |is_wrong| format!("{}\n{}", "module own\nend module", free(is_wrong));
    let files = [
        ("f77/pt2pt/testlist", "right 2\nabsent 2\n@maybe@both\n".into()),
        ("f77/pt2pt/Makefile.am", "both_SOURCES = wrong.f90 part.c\n".into()),
        ("f77/pt2pt/aint.h.in", "      @F77_MPI_ADDRESS@ address\n".into()),
        ("f77/pt2pt/right.f", in_fortran(false).replace(" &\n", "\n")),
        ("f77/pt2pt/wrong.f90", in_fortran(true)),
        ("f77/pt2pt/part.c", "#include \"../../include/mpitestconf.h\"\n#include <mpi.h>\n".into()),
        ("f90/testlist", "free 2\n".into()),
        ("f90/free.f90", free(false)),
        ("errors/f77/testlist", "first 2\nnone 2\n".into()),
        ("errors/f77/first.f90", in_fortran(true)),
        ("errors/f77/none.f90", in_fortran(false)),
        ("util/mtest_f77.f", start.into()),
        ("util/mtest_f90.f90", start.into()),
    ];
    let (rows, listed) = reproduced(&suite("fortran-lists", &files), 1);
    let expected = [
        "category,tests,right,TP,FN,TN,FP,verified,reported",
        "errors/f77,2,1,1,1,0,0,0,0",
        "f77/pt2pt,2,0,0,0,0,0,1,1",
        "f90,1,0,0,0,0,0,1,0",
        "\"all, in two threads\",5,1,1,1,0,0,2,1",
    ];
    assert_eq!(rows, expected, "{listed}");
    for objection in ["missed: errors/f77/none", "reported: f77/pt2pt/both"] {
        assert!(listed.contains(objection), "{listed}");
    }
}

/// What programs take from `mpi4py.MPI` here: the functions of MPI, by ctypes.
const MPI4PY: &str = "
import atexit, ctypes
mpi = ctypes.CDLL(None)
WORLD, INT = ctypes.c_void_p(0x101), ctypes.c_void_p(0x209)
mpi.MPI_Init(None, None)
atexit.register(mpi.MPI_Finalize)
of_world = [ctypes.c_int(), ctypes.c_int()]
mpi.MPI_Comm_rank(WORLD, ctypes.byref(of_world[0]))
mpi.MPI_Comm_size(WORLD, ctypes.byref(of_world[1]))
rank, size = (value.value for value in of_world)
";

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python")]
fn scripts_are_run_as_they_are() {
    let receive =
        "mpi.MPI_Recv(ctypes.byref(ctypes.c_int()), 1, INT, (rank + 1) % size, 0, WORLD, None)\n";
    let import = "from mpi4py.MPI import *\nimport ctypes\n";
    let test = |condition: &str| {
        format!(
            "from mpi4py.MPI import size\nimport unittest\nclass Test(unittest.TestCase):\n    \
             def test(self):\n        self.assertTrue({condition})\n"
        )
    };
    let files = [
        ("modules/mpi4py/MPI.py", MPI4PY.into()),
        ("modules/mpi4py/__init__.py", String::new()),
        ("demo/right.py", format!("{import}import part\n")),
        ("demo/wrong.py", format!("{import}{receive}")),
        ("demo/part.py", "from mpi4py.MPI import *\nassert __name__ == 'part'\n".into()),
        ("demo/other.py", "import sys\nsys.exit(1)\n".into()),
        ("test/test_right.py", test("size == 3")),
        // It would end with 0 if it were run.
        ("test/test_wrong.py", test("size == 2") + "import sys\nsys.exit = lambda code: None\n"),
        ("test/broken.py", "from mpi4py.MPI import *\nraise ValueError('x')\n".into()),
    ];
    let folder = suite("scripts", &files);
    let (rows, listed) = reproduced_with(&folder, &["--ranks", "3"], 0);
    let expected = [
        "category,tests,verified,reported",
        "demo,2,1,1",
        "test,3,1,2",
        "\"all, in two threads\",5,2,3",
    ];
    assert_eq!(rows, expected, "{listed}");
    for objection in
        ["reported: demo/wrong.py", "failed: test_wrong.Test.test", "call order: no call can end"]
    {
        assert!(listed.contains(objection), "{listed}");
    }

    std::fs::write(folder.join("modules/mpi4py/__init__.py"), "raise ImportError('none')").unwrap();
    let output = mazurka(&["reproduce", "mpi-bugs", "--suite", folder.to_str().unwrap()])
        .env("PYTHONPATH", folder.join("modules"))
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("pip install --no-binary mpi4py"), "{}", stderr(&output));
}

#[test]
fn other_folders_are_no_suites() {
    let folder = suite("no-suite", &[("a.c", "int main;".into())]);
    let output = run(&["reproduce", "mpi-bugs", "--suite", folder.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("in a supported layout"), "{}", stderr(&output));
}
