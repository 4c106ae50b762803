//! Breaks what reductions rely on, one place after the other, and says which net finds it.
//!
//! Each break (`breaks.txt`) lets the static analysis, or a table of what disturbs what, claim too little: then executions
//! are lost, without a word if nobody looks. `cargo run --features tools --example broken` copies the project to a folder under `target`,
//! and there for each break
//!
//! - builds the fuzzer, and gives it so many random programs: each is explored by every explorer, and judged;
//! - if that finds nothing, runs the laws of the tables on random programs of other families, actors among them, and
//!   compares every explorer with one that knows nothing in advance on those and on specs.
//!
//! Not in the list are breaks that lose nothing, which somebody may try. Where no request for a mutex is ever given up
//! (`may_cancel`), none is tested before it is granted, so `Touch::Unlock` needs no rival; and where one is, two unlocks
//! lead to one state in either order, so it need not be known. What counts a loop is also compared with its bound, so it is
//! live without being incremented. Parts are projected from values that are no variables. Who waits at a condition variable
//! has asked for its mutex before, so the text has that request anyway.
//!
//! `--only rivals` tries those with this in their title. What comes after `--` goes to `cargo build` and
//! `cargo test`. It takes some minutes for each, most of them to build. The exit code is 1 if a break is not found.

mod breaks;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;

use breaks::breaks;

/// What a build needs.
const SOURCES: [&str; 8] =
    ["Cargo.toml", "Cargo.lock", "src", "tests", "examples", "benches", "specs", "visuals"];
/// The tests that run if random programs find nothing. Tests of this list itself are none.
const TESTS: [&str; 4] = ["laws::of_dependence::", "explored_as_by", "--skip", "to_be_broken"];
/// A program for which nothing is said for so long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Break the analysis in one place after the other, and say whether that is found
#[derive(Parser)]
struct Args {
    /// Only the breaks with this in their title
    #[arg(long, default_value = "")]
    only: String,
    /// Pass over so many of them
    #[arg(long, default_value_t = 0)]
    skip: usize,
    /// Run no tests where random programs find nothing
    #[arg(long)]
    quick: bool,
    /// How many random programs each has to survive
    #[arg(long, default_value_t = 2000)]
    programs: u64,
    /// Pass over programs with more executions
    #[arg(long, default_value_t = 300)]
    executions: u64,
    /// Where the project is copied to
    #[arg(long, default_value = "target/broken")]
    folder: PathBuf,
    /// Arguments for cargo
    #[arg(last = true)]
    cargo: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(&args.folder).expect("a folder for the copy");
    let folder = args.folder.canonicalize().expect("it was just made");
    for source in SOURCES {
        copy(&root.join(source), &folder.join(source));
    }
    let (mut tried, mut survived) = (0, 0);
    let all = breaks().into_iter().filter(|one| one.title.contains(&args.only));
    for one in all.skip(args.skip) {
        let start = Instant::now();
        let found = one.applied(root).and_then(|broken| {
            fs::write(folder.join(&one.file), broken).expect("a file of the copy");
            judge(&args, &folder)
        });
        copy(&root.join(&one.file), &folder.join(&one.file));
        tried += 1;
        let how = match found {
            Ok(Some(how)) => how,
            Ok(None) => {
                survived += 1;
                "NOT FOUND".to_owned()
            }
            Err(how) => {
                survived += 1;
                format!("NOT TRIED: {how}")
            }
        };
        println!("{} ({}, {:.0?})\n    {how}", one.title, one.file, start.elapsed());
    }
    println!("{tried} breaks, {survived} of them not found");
    ExitCode::from(u8::from(survived > 0))
}

/// Copies what has changed, so that only that is built again.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder of the copy");
        for entry in fs::read_dir(from).expect("a folder of the project") {
            let entry = entry.expect("a file of the project");
            if entry.file_name() != "target" {
                copy(&entry.path(), &to.join(entry.file_name()));
            }
        }
    } else if fs::read(from).ok() != fs::read(to).ok() {
        fs::copy(from, to).expect("a file of the copy");
    }
}

/// What finds the break in the copy, if anything does.
fn judge(args: &Args, folder: &Path) -> Result<Option<String>, String> {
    let cargo = |what: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
        command.args(what).args(["--locked", "--quiet"]).args(&args.cargo);
        command.stdin(Stdio::null());
        command
    };
    let built =
        cargo(&["build", "--features", "tools", "--example", "fuzz"]).output().expect("cargo");
    if !built.status.success() {
        return Err(format!("it does not build: {}", String::from_utf8_lossy(&built.stderr)));
    }
    if let Some(found) = by_random_programs(args, &folder.join("target/debug/examples/fuzz")) {
        return Ok(Some(found));
    }
    if args.quick {
        return Ok(None);
    }
    let tested = cargo(&["test", "--test", "suite"]).arg("--").args(TESTS).output().expect("cargo");
    let said = String::from_utf8_lossy(&tested.stdout).into_owned();
    let failed: Vec<&str> = said.lines().filter(|line| line.ends_with("FAILED")).collect();
    Ok((!tested.status.success()).then(|| format!("by tests: {}", failed.join(", "))))
}

/// The first program with which something is wrong, and what.
fn by_random_programs(args: &Args, fuzzer: &Path) -> Option<String> {
    let (last, executions) = ((1 + args.programs).to_string(), args.executions.to_string());
    let mut worker = Command::new(fuzzer)
        .args(["worker", "1", &last, &executions])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the fuzzer");
    let stderr = worker.stderr.take().expect("it is piped");
    let said = thread::spawn(move || {
        let mut said = String::new();
        let _ = BufReader::new(stderr).read_to_string(&mut said);
        said
    });
    let (lines, heard) = channel();
    let stdout = worker.stdout.take().expect("it is piped");
    thread::spawn(move || {
        let lines_of = BufReader::new(stdout).lines().map_while(Result::ok);
        lines_of.for_each(|line| _ = lines.send(line));
    });
    let mut done = 0;
    let wrong = loop {
        match heard.recv_timeout(PATIENCE) {
            Ok(line) => match line.split_once(' ') {
                Some(("begin", _)) => done += 1,
                Some(("wrong", how)) => break Some(how.to_owned()),
                _ => {}
            },
            Err(RecvTimeoutError::Timeout) => break Some("it hangs".to_owned()),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    let _ = wrong.is_some().then(|| worker.kill());
    let ended = worker.wait().expect("a child");
    let said = said.join().expect("a reader does not panic");
    // The message of a panic is the line after its place.
    let panic = || said.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    let wrong = wrong.or_else(|| {
        (!ended.success()).then(|| panic().map_or_else(|| ended.to_string(), str::to_owned))
    })?;
    Some(format!("after {done} programs: {}", shortened(&wrong)))
}

fn shortened(how: &str) -> String {
    match how.char_indices().nth(160) {
        Some((end, _)) => format!("{}..", &how[..end]),
        None => how.to_owned(),
    }
}
