//! What ranks do with files and the system: the user's files do not change, and each execution sees
//! what a real run sees. Where that is impossible, a sentence says so.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Case, cases, compile, compile_as, folder, marked};
use crate::cli::{code, json, mazurka, stderr, stdout};

/// Makes the folder in which `overlay.c` and `streams.cpp` work.
fn fill(folder: &Path) {
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    for (name, text) in [
        ("log", "zero\n"),
        ("deep/er/old", "old text"),
        ("cut", "cut me"),
        ("victim", "victim"),
        ("gone", "gone"),
        ("plain", "plain"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    symlink("deep/er/old", folder.join("link")).unwrap();
}

/// All that is in a folder: modes, times of change, and contents.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let is = fs::symlink_metadata(&path).unwrap();
        if is.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = match is.is_symlink() {
            true => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            false => fs::read(&path).unwrap_or_default(),
        };
        found.insert(path, (is.mode(), is.mtime(), is.mtime_nsec(), content));
    }
    found
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn ranks_change_files_as_in_a_real_run_and_the_users_stay_as_they_are() {
    let folder = folder("mpi-overlay");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi/overlay.c");
    let real = folder.join("real");
    let compiled = Command::new("cc").args(["-DREAL", "-o"]).arg(&real).arg(source).status();
    assert!(compiled.unwrap().success());
    let (once, work) = (folder.join("once"), folder.join("work"));
    fill(&once);
    fill(&work);
    let seen = Command::new(&real).current_dir(&once).output().unwrap();
    assert!(seen.status.success());
    let expected = folder.join("expected");
    fs::write(&expected, &seen.stdout).unwrap();
    assert!(
        fs::read_to_string(once.join("victim")).unwrap() == "fresh",
        "a real run changes files"
    );

    let before = snapshot(&work);
    let expected = expected.to_str().unwrap();
    for option in ["-O0", "-O2"] {
        let program = compile_as("mpicc", "overlay.c", &[option], &folder);
        // With one process at a time, each rank is run again for each execution.
        let args = ["--all", "--format", "json", "--max-processes", "1"];
        let args = [&["mpirun", "-n", "4"], &args[..], &[&program, expected]].concat();
        let ran = mazurka(&args).current_dir(&work).output().unwrap();
        assert_eq!(code(&ran), 0, "{option}: {}", stdout(&ran));
        assert_eq!(json(&ran)["stats"]["traces"], 6);
        assert_eq!(snapshot(&work), before, "{option}");
    }
    // So the two can be distinguished: the real files are changed by the first run, and the second
    // one sees that.
    let program = compile_as("mpicc", "overlay.c", &[], &folder);
    let args = ["mpirun", "-n", "3", "--files", "real", "-q", &program, expected];
    let ran = mazurka(&args).current_dir(&work).output().unwrap();
    assert_eq!(code(&ran), 1, "{}", stdout(&ran));
    assert_ne!(snapshot(&work), before);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn streams_of_cxx_are_files() {
    let folder = folder("mpi-streams");
    let work = folder.join("work");
    fill(&work);
    let before = snapshot(&work);
    let program = compile_as("mpicxx", "streams.cpp", &["-std=c++17"], &folder);
    let ran = |args: &[&str]| mazurka(args).current_dir(&work).output().unwrap();
    let right = ran(&["mpirun", "--max-processes", "1", &program]);
    assert_eq!(code(&right), 0, "{}", stdout(&right));
    let shared = ran(&["mpirun", "--format", "json", &program, "shared"]);
    assert_eq!(code(&shared), 3, "{}", stdout(&shared));
    let why = json(&shared)["unsupported"].as_str().unwrap().to_owned();
    let text = fs::read_to_string("tests/mpi/streams.cpp").unwrap();
    assert!(why.contains(&*marked("streams.cpp", &text, "1", "//")[0]), "{why}");
    assert_eq!(snapshot(&work), before);
    fs::remove_dir_all(&folder).unwrap();
}

/// What ranks do that cannot be explored is reported with a line; nothing is left of it.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_ranks_do_without_mpi_is_not_decided_at_a_line() {
    let folder = folder("mpi-outside");
    let mut found = 0;
    for name in ["shared.c", "outside.c"] {
        let program = compile_as("mpicc", name, &["-pthread"], &folder);
        let text = fs::read_to_string(Path::new("tests/mpi").join(name)).unwrap();
        let cases = cases(name, &text);
        let is_meant = |case: &&Case| case.slip.as_deref() == Some("unsupported");
        for case in cases.iter().filter(is_meant) {
            let number = &case.number;
            let ran = mazurka(&["mpirun", "--format", "json", &program, number]).output().unwrap();
            let report = json(&ran);
            assert_eq!((code(&ran), &report["verdict"]), (3, &"incomplete".into()), "{report}");
            let search = &report;
            assert_eq!(search["stopped_by"], "unsupported", "{name} {number}: {report}");
            let why = search["unsupported"].as_str().unwrap();
            let lines = marked(name, &text, number, "//");
            assert!(lines.iter().any(|line| why.contains(&**line)), "{name} {number}: {why}");
            let told = mazurka(&["mpirun", "-q", &program, number]).output().unwrap();
            assert!(stdout(&told).contains(&format!("Not decided: {why}.")), "{}", stdout(&told));
            found += 1;
        }
    }
    assert!(found >= 20, "{found}");
    for left in ["mazurka-test-shared", "mazurka-test-shared-0", "mazurka-test-pipe"] {
        assert!(!Path::new("/tmp").join(left).exists(), "{left}");
    }
    assert!(!Path::new("/dev/shm/mazurka-test-shared").exists());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn clocks_numbers_and_surroundings_are_the_same_in_each_run() {
    let folder = folder("mpi-same");
    let program = compile("same", &folder);
    let printed = || {
        let args =
            ["mpirun", "-n", "3", "--all", "--max-processes", "1", "--format", "json", &program];
        let mut command = mazurka(&args);
        let ran = command.env("MAZURKA_TEST", "7").output().unwrap();
        let report = json(&ran);
        let violations = report["violations"].as_array().unwrap().clone();
        // The report is about which sender is first, not about a rank that behaved differently the
        // second time.
        assert_eq!(violations.len(), 1, "{} {report}", stderr(&ran));
        assert_eq!(violations[0]["slip"], "message race", "{report}");
        violations[0]["printed"][0]["text"].as_str().unwrap().to_owned()
    };
    let text = printed();
    let values: Vec<_> = text.lines().collect();
    assert_eq!(values.len(), 16, "{text}");
    assert_eq!(&values[13..], ["8388609", "7", "-1"], "{text}");
    assert_eq!(printed(), text);
    fs::remove_dir_all(&folder).unwrap();
}
