//! Which tests meet which mutants, and how long they take.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Args;
use super::copy::Programs;

/// Modules of tests that say nothing of a search, or that no search could pass: what commands
/// print, pictures, documents, compilers of other languages.
const LEFT_OUT: [&str; 20] = [
    "documents",
    "draw",
    "editors",
    "files",
    "fmt",
    "gallery",
    "golden",
    "help",
    "hostile",
    "lsp",
    "many_machines",
    "mpi",
    "ranks",
    "reproduce",
    "shells",
    "study",
    "tidy",
    "viewer",
    "limits",
    "cli",
];

const MINUTE: Duration = Duration::from_secs(60);

/// Who uses a processor for less than this in a minute waits for ever.
const IDLE: Duration = Duration::from_secs(1);

/// What the names of unit tests begin with here.
const UNIT: &str = "unit: ";

/// A test.
#[derive(Serialize, Deserialize)]
pub struct Test {
    pub name: String,
    /// How long it takes without a mutant.
    pub seconds: f64,
    /// The mutants that it meets; of a test that is too slow, or fails by itself, none.
    pub met: Vec<u32>,
}

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Passed,
    Failed,
    Late,
}

/// One test, in a process of its own, which is killed when its processor time is over, or when it
/// has used next to none for a minute. Returns how it ended, and the seconds that it took.
pub fn run(
    programs: &Programs,
    folder: &Path,
    name: &str,
    variable: (&str, &str),
    at_most: Duration,
) -> (Ended, f64) {
    let (program, name) = match name.strip_prefix(UNIT) {
        Some(name) => (&programs.unit, name),
        None => (&programs.suite, name),
    };
    let mut child = Command::new(program)
        .args(["--exact", name])
        .current_dir(folder)
        .env(variable.0, variable.1)
        .env("RUST_BACKTRACE", "0")
        .env("MAZURKA_PROGRAMS", programs.random.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tests");
    let start = Instant::now();
    // What it had used when a minute began, and when that was.
    let (mut used, mut minute) = (Duration::ZERO, start);
    let mut busy = Duration::ZERO;
    let ended = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break if status.success() { Ended::Passed } else { Ended::Failed };
        }
        busy = processor_time(child.id()).unwrap_or_else(|| start.elapsed()).max(busy);
        let is_minute_over = minute.elapsed() > MINUTE;
        if busy > at_most || is_minute_over && busy < used + IDLE {
            let _ = child.kill();
            let _ = child.wait();
            break Ended::Late;
        }
        if is_minute_over {
            (used, minute) = (busy, Instant::now());
        }
        thread::sleep(Duration::from_millis(3));
    };
    (ended, busy.as_secs_f64())
}

/// How long a process and those that it has waited for have used a processor, where the platform
/// tells. On a busy machine a process waits for its turn more than it runs.
fn processor_time(id: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let behind_name = stat.rsplit_once(") ")?.1;
    let fields = behind_name.split(' ').skip(11).take(4).map(str::parse::<u64>);
    // A tick is a hundredth of a second on every Linux.
    Some(Duration::from_millis(10 * fields.sum::<Result<u64, _>>().ok()?))
}

/// Runs each test once, unless that was done before.
pub fn recorded(folder: &Path, programs: &Programs, args: &Args) -> Vec<Test> {
    let Args { longest, jobs, .. } = *args;
    let kept = format!("tests-{}-{}.jsonl", longest.as_secs(), programs.random);
    let kept = folder.join(kept);
    let done = fs::read_to_string(&kept).unwrap_or_default();
    let done: Vec<Test> = done.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let done = Mutex::new(done.into_iter().map(|test| (test.name.clone(), test)).collect());
    let (all, ignored) = (listed(&programs.suite, &[]), listed(&programs.suite, &["--ignored"]));
    let is_left_out = |name: &String| {
        let module = name.split("::").next().expect("a name has a first part");
        LEFT_OUT.contains(&module) || ignored.contains(name)
    };
    let mut names: Vec<String> = all.into_iter().filter(|name| !is_left_out(name)).collect();
    names.extend(listed(&programs.unit, &[]).iter().map(|name| format!("{UNIT}{name}")));
    names.retain(|name| {
        is_asked_for(name, args) && !lock::<BTreeMap<String, Test>>(&done).contains_key(name)
    });
    let todo = Mutex::new(names);
    let file = fs::OpenOptions::new().append(true).create(true).open(&kept).expect("a file");
    let file = Mutex::new(BufWriter::new(file));
    thread::scope(|scope| {
        for job in 0..jobs {
            let (todo, done, file) = (&todo, &done, &file);
            let met = folder.join(format!("met-{job}"));
            scope.spawn(move || {
                loop {
                    let Some(name) = lock(todo).pop() else { return };
                    let test = measured(folder, programs, name, &met, longest);
                    append(&mut lock(file), &test);
                    lock(done).insert(test.name.clone(), test);
                }
            });
        }
    });
    let mut tests: Vec<Test> = done.into_inner().expect("nobody panics").into_values().collect();
    tests.retain(|test| is_asked_for(&test.name, args));
    tests
}

/// The names of tests.
fn listed(program: &Path, options: &[&str]) -> Vec<String> {
    let said = Command::new(program).arg("--list").args(options).output().expect("the tests");
    let said = String::from_utf8_lossy(&said.stdout);
    said.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect()
}

fn is_asked_for(name: &str, args: &Args) -> bool {
    args.tests.is_empty() || args.tests.iter().any(|part| name.contains(part))
}

fn measured(
    folder: &Path,
    programs: &Programs,
    name: String,
    met: &PathBuf,
    longest: Duration,
) -> Test {
    let _ = fs::remove_file(met);
    let path = met.to_str().expect("a name that is text");
    let (ended, seconds) = run(programs, folder, &name, ("MAZURKA_MET", path), longest);
    let bytes = fs::read(met).unwrap_or_default();
    let numbers = bytes.chunks_exact(4).map(|four| four.try_into().expect("four of them"));
    let mut numbers: Vec<u32> = numbers.map(u32::from_ne_bytes).collect();
    if ended != Ended::Passed {
        println!(
            "not used: {name}, which {}",
            match ended {
                Ended::Late => "takes too long",
                _ => "fails without a mutant",
            }
        );
        numbers.clear();
    }
    numbers.sort_unstable();
    numbers.dedup();
    Test { name, seconds, met: numbers }
}

pub fn append<T: Serialize>(file: &mut BufWriter<File>, what: &T) {
    serde_json::to_writer(&mut *file, what).expect("a file of the copy");
    file.write_all(b"\n").and_then(|()| file.flush()).expect("a file of the copy");
}

pub fn lock<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().expect("nobody panics")
}
