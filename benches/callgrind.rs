//! Instructions of one search, counted by Valgrind's callgrind in a child process.
//!
//! Times differ from run to run and from machine to machine; the instructions that a search
//! executes hardly do. Only those of the search count, without reading and compiling the spec:
//! callgrind collects between entering and leaving [`counted_search`] or [`counted_walk`]. Little
//! variation remains:
//!
//! | what varies | by |
//! |---|---:|
//! | the number of clock readings of a search, from run to run | 0.1% |
//! | which `memcpy` the C library chooses for the processor | 0.3% |
//!
//! Nothing else varies: hashes have no seeds, and no search depends on addresses. The child has an
//! empty environment, and neither the environment nor the path of the program has an influence.

use std::fs;
use std::hint::black_box;
use std::process::{Command, Stdio};

use mazurka::explore::NoObserver;
use mazurka::lang::Program;
use serde::{Deserialize, Serialize};

use crate::measure::Job;
use crate::tape::Tape;

/// Entering or leaving one of these switches collecting on or off.
const COUNTED: &str = "--toggle-collect=*::counted_*";

/// The result of a job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Counted {
    pub transitions: u64,
    #[serde(skip)]
    pub instructions: u64,
}

/// Can instructions be counted on this machine?
pub fn is_installed() -> bool {
    let version = Command::new("valgrind").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Counts the instructions of a search; if the job asks for the floor, those of its walk on the
/// bare model instead.
pub fn count(job: &Job) -> Counted {
    let text = serde_json::to_string(job).expect("plain data");
    let itself = std::env::current_exe().expect("the path of this program");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = folder.path().join("profile");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--collect-atstart=no", COUNTED]);
    valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
    valgrind.arg(itself).args(["--count", &text]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    valgrind.env_clear().env("PATH", path);
    let output = valgrind.stdin(Stdio::null()).output().expect("valgrind starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{job:?} failed: {}\n{errors}", output.status);
    let counted: Counted = serde_json::from_slice(&output.stdout).expect("the child's figures");
    let profile = fs::read_to_string(profile).expect("what callgrind writes");
    Counted { instructions: collected(&profile), ..counted }
}

/// The total of a profile.
fn collected(profile: &str) -> u64 {
    let total = profile.lines().find_map(|line| line.strip_prefix("totals:"));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.filter(|&total| total > 0).expect("instructions were counted")
}

/// The child's part: one search or walk, which is counted, and its transitions.
pub fn as_child(job: &str) {
    let job: Job = serde_json::from_str(job).expect("a job from the parent process");
    let program = job.compile();
    let transitions = if job.has_floor() {
        let tape = job.record(&program);
        counted_walk(&tape, &program);
        tape.steps() as u64
    } else {
        counted_search(&job, &program)
    };
    let counted = Counted { transitions, instructions: 0 };
    println!("{}", serde_json::to_string(&counted).expect("plain data"));
}

#[inline(never)]
fn counted_search(job: &Job, program: &Program) -> u64 {
    black_box(job.explore(program, &mut NoObserver)).stats.transitions
}

#[inline(never)]
fn counted_walk(tape: &Tape, program: &Program) {
    black_box(tape.play(program));
}
