//! A log of searches on disk. Each run is written as soon as it is done, so that no search is run
//! twice.
//!
//! The file has a line of JSON for each run, with a [`Key`] that identifies the search. A line is
//! appended and flushed at once. If a study is interrupted, at most the current run is lost: an
//! incomplete line is removed before the file is used again. Lines with other keys (of other
//! studies or versions) stay.
//!
//! Several studies may use one file at the same time. Each locks it while it reads, and while it
//! removes an incomplete line and appends. So a line that another study is still writing is never
//! seen as incomplete.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::study::{Job, Measured, hash};

/// Identifies a search: a run with the same key need not be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Key {
    mazurka: String,
    /// The hash of the source text ([`hash`]).
    source: String,
    constants: BTreeMap<String, String>,
    by_statement: bool,
    allow_pending: bool,
    #[serde(default)]
    daemons: Vec<String>,
    #[serde(default)]
    unfair: bool,
    #[serde(default)]
    semantics: String,
    #[serde(default)]
    faults: String,
    setting: String,
    depth: Option<u32>,
    max_traces: Option<u64>,
    timeout: Option<Duration>,
    max_memory: Option<u64>,
    all: bool,
    #[serde(default)]
    repeat_for: Duration,
    /// The number of the repetition, from 0.
    repetition: u32,
}

impl Key {
    pub(super) fn new(job: &Job, repetition: u32) -> Key {
        let Job { case, setting, limits, all, repeat_for } = job;
        Key {
            mazurka: env!("CARGO_PKG_VERSION").into(),
            source: hash(&case.source),
            constants: case.defines.iter().cloned().collect(),
            by_statement: case.by_statement,
            allow_pending: case.allow_pending,
            daemons: case.daemons.clone(),
            unfair: case.unfair,
            semantics: case.semantics.options(),
            faults: case.faults.options(),
            setting: setting.clone(),
            depth: limits.depth,
            max_traces: limits.max_traces,
            timeout: limits.timeout,
            max_memory: limits.max_memory,
            all: *all,
            repeat_for: *repeat_for,
            repetition,
        }
    }
}

/// The result of one run of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    /// When it ended (RFC 3339).
    pub(super) at: String,
    /// The machine, in words (see [`machine`](super::machine)).
    pub(super) machine: String,
    pub(super) measured: Measured,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: Key,
    #[serde(flatten)]
    run: Run,
}

/// A log file, and the runs in it.
pub(super) struct Log {
    file: File,
    runs: HashMap<Key, Run>,
}

impl Log {
    /// Opens the file or creates it, and reads the runs.
    pub(super) fn open(path: &Path) -> io::Result<Log> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let bytes = locked(&mut file, |file| {
            cut_half_line(file)?;
            let mut bytes = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        })?;
        let lines = bytes.split(|&byte| byte == b'\n');
        // A line that cannot be parsed comes from another version.
        let entries = lines.filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
        let runs = entries.map(|Entry { key, run }| (key, run)).collect();
        Ok(Log { file, runs })
    }

    pub(super) fn find(&self, key: &Key) -> Option<&Run> {
        self.runs.get(key)
    }

    /// Adds a run. [`find`](Log::find) returns it from now on, even if it cannot be written.
    pub(super) fn add(&mut self, key: Key, run: Run) -> io::Result<()> {
        let entry = Entry { key: key.clone(), run: run.clone() };
        self.runs.insert(key, run);
        let line = serde_json::to_string(&entry).expect("runs are serialisable") + "\n";
        locked(&mut self.file, |file| {
            cut_half_line(file)?;
            file.write_all(line.as_bytes())?;
            file.flush()
        })
    }
}

/// Calls `act` while holding a lock on the file. On a file system without locks it is called
/// without protection.
fn locked<T>(file: &mut File, act: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    let done = act(file);
    // If the lock cannot be released now, it is released when the file is closed.
    let _ = file.unlock();
    done
}

/// Removes what follows the last complete line.
fn cut_half_line(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut whole = length;
    let mut byte = [0];
    while whole > 0 {
        file.seek(SeekFrom::Start(whole - 1))?;
        file.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        whole -= 1;
    }
    if whole < length { file.set_len(whole) } else { Ok(()) }
}

/// When and where these runs were measured: a sentence for each machine.
pub(super) fn origins<'r>(runs: impl Iterator<Item = &'r Run>) -> Vec<String> {
    let mut times: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        times.entry(&run.machine).or_default().insert(&run.at);
    }
    let sentence = |(machine, times): (&&str, &BTreeSet<&str>)| {
        let (first, last) = (times.first().unwrap_or(&""), times.last().unwrap_or(&""));
        format!("Measured from {first} to {last} on: {machine}.")
    };
    times.iter().map(sentence).collect()
}
