//! Mistakes, warnings, and what Mazurka cannot do: three degrees, each with its own exit code and
//! JSON.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::{code, json, mazurka, stderr, stdout};

use super::{compile, folder, offences};

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_is_never_freed_is_warned_of_or_denied_or_allowed() {
    let folder = folder("mpi-degrees");
    let leaks = compile("leaks", &folder);
    let mpirun =
        |options: &[&str]| mazurka(&["mpirun"]).args(options).args([&leaks, "4"]).output().unwrap();

    let warned = mpirun(&[]);
    assert_eq!(code(&warned), 0, "{}", stdout(&warned));
    let line = "leaks.c:30: in some execution rank 0 never frees the communicator that it makes \
                here (handles)";
    assert!(stdout(&warned).contains(line), "{}", stdout(&warned));

    let one = ["--buffering", "infinite", "--collectives", "early"];
    let denied = mpirun(&[&one[..], &["--deny", "leaks", "--format", "json"]].concat());
    assert_eq!(code(&denied), 1);
    let report = json(&denied);
    assert_eq!((&report["verdict"], &report["complete"]), (&"ok".into(), &true.into()));
    let warning = &report["warnings"][0];
    assert_eq!((&warning["lint"], &warning["level"]), (&"handles".into(), &"deny".into()));
    assert_eq!((&warning["object"], &warning["line"]), (&"communicator".into(), &30.into()));
    assert!(warning["file"].as_str().unwrap().ends_with("leaks.c"), "{warning}");
    let replay = warning["replay"].as_str().unwrap();
    let again = mpirun(&[&one[..], &["--schedule", replay]].concat());
    assert!(stdout(&again).contains("rank 0 never frees the communicator"), "{}", stdout(&again));

    let allowed = mpirun(&["--allow", "leaks"]);
    assert_eq!(code(&allowed), 0);
    assert!(!stdout(&allowed).contains("never frees"), "{}", stdout(&allowed));
    let refused = mpirun(&["--warn", "lines"]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("are for specs only"), "{}", stderr(&refused));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Threads take turns, so what is found is the same each time.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn threads_make_the_same_each_time() {
    let folder = folder("mpi-hammer");
    let threads = compile("threads", &folder);
    for (case, expected) in [
        ("8", "Verified: "),
        ("9", "Error: threads: MPI_Irecv is called by a second thread"),
        ("10", "Verified: "),
        ("17", "Error: data race: "),
    ] {
        let run = |_| {
            let args = ["mpirun", "-q", "--buffering", "infinite", "--collectives", "early"];
            stdout(&mazurka(&args).args([&threads, case]).output().unwrap())
        };
        let said: BTreeSet<String> = (0..10).map(run).collect();
        assert_eq!(said.len(), 1, "{case}: {said:#?}");
        assert!(said.iter().all(|said| said.starts_with(expected)), "{case}: {said:#?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn optimized_code_comes_to_the_same() {
    let folder = folder("mpi-degrees-O2");
    for name in ["leaks", "threads"] {
        let path = format!("tests/mpi/{name}.c");
        let (_, _, found) = offences(Path::new(&path), "-O2", &folder, &[super::UDPOR]);
        assert!(found.is_empty(), "{found:#?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
