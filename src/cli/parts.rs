//! The files of a search in parts: what a search is, and a part of it ([`Part`]).
//!
//! All of them have one form, as JSON, whatever they are for: branches to be explored, results,
//! both. So a result that has something left to do is a file of branches, too. Each tells the whole
//! task, and can be taken to another machine alone.
//!
//! A file is written whole or not at all. Its checksum finds accidents, and nothing else: it has no
//! key, so whoever can write a file can make one up. So nothing in a file may break the program
//! that reads it. A branch is replayed on the model before it is explored, and so is a
//! counterexample before it is reported. That nothing was found in a branch is believed.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{self, read};
use super::log::hash;
use super::spec::Spec;
use super::{Failure, memory};
use crate::explore::{Budget, Part, Setting, Stray};
use crate::property::Properties;
use crate::report::text::shown;
use crate::study::{Task, task};

/// A part of a search, as it is written down.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    /// What else it says.
    checksum: String,
    pub(super) task: Task,
    /// The most memory of the processes that did it.
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) part: Part,
}

/// The name of the file that a search begins with.
pub(super) const BEGINNING: &str = "search.json";

/// The name of a file of branches.
pub(super) fn name(number: usize) -> String {
    format!("branch-{number}.json")
}

/// A part that is searched here.
pub(super) struct Searched {
    pub(super) spec: Spec,
    pub(super) setting: Setting,
    pub(super) properties: Properties,
    pub(super) budget: Budget,
}

impl Stored {
    pub(super) fn new(task: Task, part: Part) -> Stored {
        Stored { checksum: String::new(), task, peak_memory_bytes: None, part }
    }

    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Stored, Failure> {
        Stored::parse(path, &read(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Stored, Failure> {
        let refused = |why: String| Failure::Usage(format!("{}: {why}", shown(path)));
        let stored: Stored = serde_json::from_str(text).map_err(|error| {
            refused(format!(
                "this is no part of a search, as `check --branches` makes them: {error}"
            ))
        })?;
        let version = env!("CARGO_PKG_VERSION");
        if stored.task.mazurka != version {
            let other = &stored.task.mazurka;
            return Err(refused(format!("made by mazurka {other}; this is mazurka {version}")));
        }
        match stored.checksum == stored.sum() {
            true => Ok(stored),
            false => Err(refused("the file was changed after it was written".into())),
        }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let stored = Stored { checksum: self.sum(), ..self.clone() };
        serde_json::to_string_pretty(&stored).expect("parts are serialisable") + "\n"
    }

    fn sum(&self) -> String {
        let said = (&self.task, &self.peak_memory_bytes, &self.part);
        hash(&serde_json::to_string(&said).expect("parts are serialisable"))
    }

    /// Writes it to a file.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        files::write(path, &self.text())
    }

    /// Notes how much memory this process has used.
    pub(super) fn note_memory(&mut self) {
        self.peak_memory_bytes = self.peak_memory_bytes.max(memory::peak());
    }

    /// Compiles the program, and makes ready to search it.
    pub(super) fn searched(&self, path: &Path) -> Result<Searched, Failure> {
        let task = &self.task;
        let refused = |why: String| Failure::Usage(format!("{}: {why}", shown(path)));
        let spec = Spec::of_task(task)?;
        let setting: Setting = task.setting.parse().map_err(refused)?;
        let properties = Properties::default().allow_pending(task.case.allow_pending);
        let budget = Budget { properties: properties.clone(), ..task.budget() };
        if let Some(refusal) = task::refusal(&setting, &spec.program, &budget) {
            return Err(refused(refusal));
        }
        if let Some(stray) = self.part.refusal(&spec.program) {
            return Err(strays(path, stray));
        }
        Ok(Searched { spec, setting, properties, budget })
    }
}

/// The file has a branch that is not one of its search.
pub(super) fn strays(path: &Path, stray: Stray) -> Failure {
    Failure::Usage(format!("{}: {stray}", shown(path)))
}

/// The parts in these files and folders, with the names of their files. Of a folder only the files
/// count that have parts.
pub(super) fn all(given: &[PathBuf]) -> Result<Vec<(PathBuf, Stored)>, Failure> {
    let mut found = Vec::new();
    for path in given {
        if !path.is_dir() {
            found.push((path.clone(), Stored::read(path)?));
            continue;
        }
        for file in json_files(path)? {
            let text = read(&file)?;
            if is_part(&text) {
                let stored = Stored::parse(&file, &text)?;
                found.push((file, stored));
            }
        }
    }
    Ok(found)
}

/// Does it look like a part, perhaps like a bad one? Folders may hold other results as well.
fn is_part(text: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.get("part").is_some(),
        Err(_) => true,
    }
}

/// The JSON files in a folder, `branch-2.json` before `branch-10.json`.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refused =
        |error| Failure::Usage(format!("cannot read the folder {}: {error}", shown(folder)));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}
