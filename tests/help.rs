//! What `--help` says: every example runs, as a newcomer would run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{code, run, stderr, stdout};

const COMMANDS: [&str; 12] = [
    "",
    "check",
    "client",
    "compare",
    "count",
    "draw",
    "merge",
    "replay",
    "run",
    "study",
    "reproduce",
    "mpirun",
];
/// What an example needs besides: minutes, a folder of specs, Graphviz.
const LEFT_OUT: [&str; 5] = ["mazurka study", "mazurka reproduce", "specs/", "| dot", "ssbexp"];

/// The lines of the help that are commands, without what is said about them.
fn examples(command: &str) -> Vec<String> {
    let args: Vec<_> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
    let help = stdout(&run(&args));
    let lines = help.lines().filter_map(|line| line.strip_prefix("  mazurka "));
    let bare = lines.map(|line| line.split("  ").next().unwrap_or(line));
    bare.map(|line| format!("mazurka {line}")).collect()
}

/// A folder with the specs that the examples name, and the program under its name.
fn workplace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-help", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (from, to) in [
        ("specs/mutex/philosophers.maz", "philosophers.maz"),
        ("specs/mutex/philosophers.maz", "a.maz"),
        ("tests/golden/cli/ok.maz", "b.maz"),
        ("specs/structures/lazy-list.maz", "lazy-list.maz"),
        ("examples/mpi/ring.c", "ring.c"),
    ] {
        fs::copy(root.join(from), folder.join(to)).unwrap();
    }
    folder
}

#[cfg(unix)]
#[test]
fn every_example_runs() {
    let folder = workplace();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mazurka"), folder.join("mazurka")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.display());
    let mut examples: Vec<_> = COMMANDS.into_iter().flat_map(examples).collect();
    examples.retain(|example| !LEFT_OUT.iter().any(|needs| example.contains(needs)));
    // What one example writes another one reads.
    examples.sort_by_key(|example| example.contains("replay"));
    assert!(examples.len() > 32, "{examples:#?}");
    for example in examples {
        let shell = Command::new("sh")
            .args(["-c", &example])
            .current_dir(&folder)
            .env("PATH", &path)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_ne!(code(&shell), 2, "{example}: {}", stderr(&shell));
        assert!(!stderr(&shell).contains("error"), "{example}: {}", stderr(&shell));
    }
}
