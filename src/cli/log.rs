//! Runs of searches, written to disk as soon as they are done, so that none is done twice.
//!
//! The file has a line of JSON for each run, with a [`Key`] that says what was run; the line is
//! appended and flushed at once. However a study ends, at most the run under way is lost: an
//! incomplete line is cut off before anything else is done. Lines with other keys, of other studies
//! or versions, stay.
//!
//! Several studies may use one file at a time. Each holds a lock on it while it reads all of it,
//! and while it cuts off and appends; so an incomplete line is never one that another study is
//! still writing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::study::{Job, Measured};

/// What was run: a run with the same key need not be done again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Key {
    mazurka: String,
    /// The hash of the source text.
    source: String,
    constants: BTreeMap<String, String>,
    by_statement: bool,
    allow_pending: bool,
    #[serde(default)]
    daemons: Vec<String>,
    #[serde(default)]
    semantics: String,
    setting: String,
    depth: Option<u32>,
    max_traces: Option<u64>,
    timeout: Option<Duration>,
    max_memory: Option<u64>,
    all: bool,
    #[serde(default)]
    repeat_for: Duration,
    /// Which one of the repetitions, from 0 on.
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
            semantics: case.semantics.options(),
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

/// FNV-1a with 64 bits: the same on every platform, in every version.
pub(super) fn hash(text: &str) -> String {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(start, step))
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    /// When it ended.
    pub(super) at: String,
    /// On what machine.
    pub(super) machine: String,
    pub(super) measured: Measured,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: Key,
    #[serde(flatten)]
    run: Run,
}

/// The file.
pub(super) struct Log {
    file: File,
    runs: HashMap<Key, Run>,
}

impl Log {
    /// Opens it, or makes a new one.
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
        // A line that cannot be read is of another version.
        let entries = lines.filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
        let runs = entries.map(|Entry { key, run }| (key, run)).collect();
        Ok(Log { file, runs })
    }

    pub(super) fn find(&self, key: &Key) -> Option<&Run> {
        self.runs.get(key)
    }

    /// Adds a run, which is known from now on even if it cannot be written.
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

/// Does something while no other process does it. On a file system without locks there is no such
/// protection.
fn locked<T>(file: &mut File, act: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    let done = act(file);
    // If it cannot be released now, it is released when the file is closed.
    let _ = file.unlock();
    done
}

/// Cuts off what follows the last complete line.
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

/// When and where these runs were made, a sentence for each machine.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("a"), "af63dc4c8601ec8c");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }
}
