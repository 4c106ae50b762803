//! Files of another version (`docs/src/versions.md`): those that a search would rest on are refused
//! by name; a recorded execution is replayed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{code, run, stderr, stdout};

/// An empty folder of this run of the tests.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-version-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Replaces bytes that are in the file.
fn replace(file: &Path, from: &str, to: &str) {
    let bytes = fs::read(file).unwrap();
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
    let at = at.unwrap_or_else(|| panic!("no {from} in {}", file.display()));
    let changed = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
    fs::write(file, changed).unwrap();
}

#[track_caller]
fn refused(args: &[&str], why: &str) {
    let output = run(args);
    let said = stderr(&output);
    assert!(code(&output) == 2 && said.contains(why), "{args:?}: {said}");
}

const THIS: &str = concat!("\"mazurka\": \"", env!("CARGO_PKG_VERSION"), "\"");
const OTHER: &str = "\"mazurka\": \"9.8.7\"";

#[test]
fn parts_of_a_search_by_another_version_are_refused() {
    let folder = folder("parts");
    let made = run(&["check", "ok.maz", "--explorer", "sleep", "--branches", text(&folder)]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let file = folder.join("search.json");
    replace(&file, THIS, OTHER);
    let why = concat!("made by mazurka 9.8.7; this is mazurka ", env!("CARGO_PKG_VERSION"));
    let all = |why| {
        refused(&["resume", text(&file)], why);
        refused(&["merge", text(&folder)], why);
        refused(&["check", "--branch", text(&file)], why);
        let known = ["check", "ok.maz", "--explorer", "sleep", "--checkpoint", text(&file)];
        refused(&known, why);
    };
    all(why);
    // Its fields may be others.
    replace(&file, "\"setting\"", "\"explorer\"");
    all(why);
    replace(&file, OTHER, THIS);
    all("this is not a part of a search");
}

#[test]
fn checkpoints_of_states_in_another_format_are_refused() {
    let file = folder("states").join("search");
    let args = ["check", "ok.maz", "--explorer", "stateful", "--checkpoint", text(&file)];
    assert_eq!(code(&run(&args)), 0);
    replace(&file, "mazurka checkpoint 4\n", "mazurka checkpoint 1\n");
    let why = "a checkpoint in the format of another version of mazurka";
    refused(&args, why);
    refused(&["resume", text(&file)], why);
}

#[test]
fn certificates_in_another_format_are_refused() {
    let file = folder("certificate").join("ok.cert");
    assert_eq!(code(&run(&["check", "ok.maz", "--certificate", text(&file)])), 0);
    assert_eq!(code(&run(&["audit", "ok.maz", text(&file)])), 0);
    replace(&file, "mazurka certificate 1\n", "mazurka certificate 2\n");
    refused(&["audit", "ok.maz", text(&file)], "it does not begin with `mazurka certificate 1`");
}

/// The program decides what is possible, not the version that has found the execution.
#[test]
fn executions_that_another_version_found_are_replayed() {
    let file = folder("execution").join("result.json");
    assert_eq!(code(&run(&["check", "philosophers.maz", "-q", "-o", text(&file)])), 1);
    let replay = ["replay", "philosophers.maz", text(&file)];
    let here = run(&replay);
    assert!(code(&here) == 1 && stdout(&here).contains("gets fork[0]"), "{}", stderr(&here));
    replace(&file, THIS, OTHER);
    replace(&file, "\"violations\"", "\"later\": {}, \"violations\"");
    assert_eq!(stdout(&run(&replay)), stdout(&here));
}
