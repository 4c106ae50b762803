//! Programs that `mazurka mpicc` has not made: compiled for the ABI of MPI 5.0 by another compiler,
//! or in Python.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::folder;
use crate::cli::{code, json, mazurka, stderr, stdout};

const HEAD: &str = "not compiled by `mazurka mpicc`";

/// Runs Mazurka in this folder of the project.
fn run_in(folder: &str, words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    mazurka(words).current_dir(root.join(folder)).output().expect("an output")
}

fn run(words: &[&str]) -> Output {
    run_in("", words)
}

/// Compiles a source against the header and the library in the folder that `mpicc` names, without
/// `mpicc`.
fn compiled(source: &str, options: &[&str], name: &str, folder: &Path) -> String {
    let asked = run(&["mpicc", "--showme:libdirs"]);
    let library = stdout(&asked).trim().to_owned();
    let program = folder.join(name);
    let mut call = Command::new("cc");
    call.current_dir(env!("CARGO_MANIFEST_DIR"));
    call.args(["-g", "-w", "-I", &library, source, "-o"]).arg(&program).args(options);
    let is_linked = !options.contains(&"-static");
    call.args(["-L", &library, "-l:libmpi_abi.so.0"].iter().filter(|_| is_linked));
    assert!(call.status().unwrap().success(), "{source}");
    program.to_str().unwrap().to_owned()
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn a_program_for_the_standard_abi_is_verified_as_it_is() {
    let folder = folder("mpi-foreign");
    let swap = compiled("examples/mpi/head-to-head.c", &[], "swap", &folder);
    let found = run(&["mpirun", "-n", "2", &swap]);
    assert_eq!(code(&found), 1);
    assert!(stdout(&found).contains("MPI_Send (rank 0, head-to-head.c:9)"), "{}", stdout(&found));
    let ring = compiled("examples/mpi/ring.c", &[], "ring", &folder);
    let found = run(&["mpirun", "-n", "3", &ring]);
    assert_eq!(code(&found), 0);
    assert!(stdout(&found).contains(HEAD), "{}", stdout(&found));
    let found = json(&run(&["mpirun", "-n", "3", "--format", "json", &ring]));
    assert!(found["unseen"].as_str().unwrap().contains(HEAD), "{found}");
    // It stores to memory that ranks share, which is not seen.
    let shared = compiled("tests/mpi/segments.c", &["-Itests/mpi"], "shared", &folder);
    let found = run(&["mpirun", "-n", "2", &shared, "1"]);
    assert_eq!(code(&found), 3, "{}", stdout(&found));
    assert!(stdout(&found).contains("Not decided"), "{}", stdout(&found));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_does_not_call_the_library_is_not_verified() {
    let folder = folder("mpi-outside");
    let source = folder.join("outside.c");
    std::fs::write(&source, "int main(int n, char **words) { return n > 1 ? 7 : 0; }\n").unwrap();
    let source = source.to_str().unwrap();
    let plain = compiled(source, &[], "plain", &folder);
    let found = run(&["mpirun", &plain]);
    assert_eq!(code(&found), 3);
    assert!(stdout(&found).contains("has not called MPI"), "{}", stdout(&found));
    let found = run(&["mpirun", &plain, "x"]);
    assert_eq!(code(&found), 1);
    assert!(stdout(&found).contains("exit code 7 before it calls MPI"), "{}", stdout(&found));
    let alone = compiled(source, &["-static"], "alone", &folder);
    let found = run(&["mpirun", &alone]);
    assert_eq!(code(&found), 2);
    assert!(stderr(&found).contains("cannot be loaded into it"), "{}", stderr(&found));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What is printed for a program in the folder `tests/mpi/python`, with its exit code.
fn python(words: &[&str]) -> (i32, String) {
    let found = run_in("tests/mpi/python", &[&["mpirun"], words].concat());
    (code(&found), stdout(&found))
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python")]
fn a_deadlock_in_python_names_the_line_of_python() {
    let (code, said) = python(&["python3", "swap.py"]);
    assert_eq!(code, 1, "{said}");
    let head = "no call can end: MPI_Recv (rank 0, swap.py:12), MPI_Recv (rank 1, swap.py:12).";
    assert!(said.contains(head), "{said}");
    assert!(said.contains("swap.py, after 2 steps"), "{said}");
    assert!(said.contains("  mpi.MPI_Recv(ctypes.byref(value)"), "{said}");
    let (code, said) = python(&["--show", "python3", "swap.py", "right"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("rank 1 got 0") && said.contains(HEAD), "{said}");
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python")]
fn a_script_is_run_by_its_interpreter() {
    let folder = folder("mpi-script");
    let script = folder.join("swap");
    let text = std::fs::read_to_string("tests/mpi/python/swap.py").unwrap();
    std::fs::write(&script, format!("#!/usr/bin/env python3\n{text}")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let found = run(&["mpirun", script.to_str().unwrap(), "right"]);
    assert_eq!(code(&found), 0, "{}{}", stdout(&found), stderr(&found));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_python), ignore = "needs Python")]
fn how_a_rank_of_python_ends_is_told() {
    for (case, expected, text) in [
        ("raises", 1, "an exception is not caught: KeyError: 'missing' (rank 0, ends.py:14)"),
        ("asserts", 1, "Assertion failed: sums (rank 0, ends.py:16)"),
        ("early", 1, "the rank ends with exit code 4 before it calls MPI"),
        ("alone", 3, "the rank ends and has not called MPI"),
        ("late", 0, "in some execution rank 0 ends with exit code 5 (status)"),
        ("quits", 0, "in some execution rank 0 ends with exit code 5 (status)"),
        ("well", 0, "Verified"),
    ] {
        let (code, said) = python(&["-n", "1", "python3", "ends.py", case]);
        assert_eq!(code, expected, "{case}: {said}");
        assert!(said.contains(text), "{case}: {said}");
    }
    let (code, said) = python(&["-n", "1", "--deny", "status", "python3", "ends.py", "late"]);
    assert_eq!(code, 1, "{said}");
}

/// What was compiled for another implementation has other handles.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn another_implementation_is_not_taken_for_this_one() {
    let folder = folder("mpi-other");
    let other = folder.join("libmpi.so.40");
    let empty = folder.join("empty.c");
    std::fs::write(&empty, "int other;\n").unwrap();
    let mut call = Command::new("cc");
    call.args(["-shared", "-fPIC", "-o"]).args([&other, &empty]);
    assert!(call.status().unwrap().success());
    let inside = ["-Wl,--no-as-needed", other.to_str().unwrap()];
    let linked = compiled("examples/mpi/ring.c", &inside, "linked", &folder);
    let found = run(&["mpirun", &linked]);
    assert_eq!(code(&found), 2, "{}", stdout(&found));
    assert!(stderr(&found).contains("linked with another implementation"), "{}", stderr(&found));
    let source = folder.join("loads.c");
    let text = "#include <dlfcn.h>\n#include <mpi.h>\nint main(int n, char **words) {\n  \
        dlopen(words[1], RTLD_NOW);\n  MPI_Init(0, 0);\n  MPI_Finalize();\n}\n";
    std::fs::write(&source, text).unwrap();
    let program = compiled(source.to_str().unwrap(), &["-ldl"], "loads", &folder);
    let found = run(&["mpirun", &program, other.to_str().unwrap()]);
    assert_eq!(code(&found), 3, "{}", stdout(&found));
    assert!(stdout(&found).contains("another implementation of MPI"), "{}", stdout(&found));
    std::fs::remove_dir_all(&folder).unwrap();
}
