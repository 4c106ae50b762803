//! The examples of `--help`: each of them runs, as a newcomer would run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{code, mazurka, run, stderr, stdout};

const COMMANDS: [&str; 20] = [
    "",
    "audit",
    "check",
    "client",
    "compare",
    "completions",
    "count",
    "draw",
    "estimate",
    "fmt",
    "man",
    "merge",
    "replay",
    "resume",
    "run",
    "step",
    "study",
    "reproduce",
    "mpirun",
    "link",
];
/// Examples that need something else: minutes, a folder of specs, Graphviz.
const LEFT_OUT: [&str; 5] = ["mazurka study", "mazurka reproduce", "specs/", "| dot", "ssbexp"];

/// The lines of the help that are commands, without their explanations.
fn examples(command: &str) -> Vec<String> {
    let args: Vec<_> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
    // In full width: an example is one line.
    let help = stdout(&mazurka(&args).env_remove("COLUMNS").output().unwrap());
    let lines = help.lines().filter_map(|line| line.strip_prefix("  mazurka "));
    let bare = lines.map(|line| line.split("  ").next().unwrap_or(line));
    bare.map(|line| format!("mazurka {line}")).collect()
}

/// A folder with the specs that the examples name, and the program under its name.
fn workplace(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-help-{name}", std::process::id()));
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
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn every_example_runs() {
    let folder = workplace("examples");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mazurka"), folder.join("mazurka")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.display());
    let mut examples: Vec<_> = COMMANDS.into_iter().flat_map(examples).collect();
    examples.retain(|example| !LEFT_OUT.iter().any(|needs| example.contains(needs)));
    // Some examples read what others write.
    let reads = |example: &str| ["replay", "audit", "resume"].iter().any(|c| example.contains(c));
    examples.sort_by_key(|example| reads(example));
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

/// The remaining arguments of `mpicc` are passed to the compiler.
#[cfg(unix)]
#[test]
fn the_help_of_mpicc_is_our_own_unless_the_compiler_is_asked() {
    let folder = workplace("compilers");
    for (command, says) in [
        ("mpicc", "Compile an MPI program in C, to verify it"),
        ("mpicxx", "Compile an MPI program in C++, as `mpicc`"),
    ] {
        let link = folder.join(command);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mazurka"), &link).unwrap();
        for flag in ["--help", "-h"] {
            let linked = Command::new(&link).arg(flag).output().unwrap();
            for help in [run(&[command, flag]), linked] {
                let text = stdout(&help);
                assert!(code(&help) == 0 && text.starts_with(says), "{command} {flag}: {text}");
                assert!(text.contains(&format!("Usage: mazurka {command} ")), "{text}");
            }
        }
    }
    // `echo` stands for a compiler that prints its arguments.
    let asked = Command::new(env!("CARGO_BIN_EXE_mazurka"))
        .args(["mpicc", "-v", "--help"])
        .env("MAZURKA_CC", "echo")
        .output()
        .unwrap();
    assert!(stdout(&asked).trim().ends_with("-v --help"), "{}", stdout(&asked));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_help_of_mpirun_says_what_its_defaults_are() {
    let help = stdout(&run(&["mpirun", "--help"]));
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("by default --buffering and --collectives are `any`"), "{help}");
}
