//! The files of a search in parts: each has the search task and a part of the search
//! ([`Part`](crate::explore::Part)).
//!
//! All files have the same JSON format, whether they hold branches to explore, results, or both. So
//! an incomplete result is also a file of branches. Each file contains the whole task, so it can be
//! moved to another machine without other files.
//!
//! Files are written atomically. The checksum detects accidental changes only: it has no key, so
//! anyone who can write a file can forge one. So nothing in a file may break the program that reads
//! it. A branch is replayed on the model before it is explored, and so is a counterexample before
//! it is reported. A result that says that nothing was found is trusted.

use std::fs;
use std::path::{Path, PathBuf};

use super::files;
use super::spec::Spec;
use super::{Failure, memory};
use crate::explore::{Budget, Setting, Stray};
use crate::property::Properties;
use crate::report::text::shown;
use crate::study::{Searchable, Stored, task};

/// The name of the file with the beginning of the search.
pub(super) const BEGINNING: &str = "search.json";

/// The name of the file of branches with this number.
pub(super) fn name(number: usize) -> String {
    format!("branch-{number}.json")
}

/// A part that is ready to be searched in this process.
pub(super) struct Searched {
    pub(super) spec: Spec,
    pub(super) setting: Setting,
    pub(super) properties: Properties,
    pub(super) budget: Budget,
}

impl Stored {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Stored, Failure> {
        Stored::parse(path, &files::read_of_search(path)?)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Stored, Failure> {
        Stored::of(text).map_err(|why| Failure::Usage(format!("{}: {why}", shown(path))))
    }

    /// Writes the part to a file.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        files::write(path, &self.text())
    }

    /// Includes the peak memory of this process in
    /// [`peak_memory_bytes`](Stored::peak_memory_bytes).
    pub(super) fn note_memory(&mut self) {
        self.peak_memory_bytes = self.peak_memory_bytes.max(memory::peak());
    }

    /// Compiles the program and checks that the explorer and the branches fit it. `path` is for
    /// messages.
    pub(super) fn searched(&self, path: &Path) -> Result<Searched, Failure> {
        let searched = self.prepared(path)?;
        let Searched { spec, setting, budget, .. } = &searched;
        if let Some(refusal) = task::refusal(setting, &spec.program, budget) {
            return Err(Failure::Usage(format!("{}: {refusal}", shown(path))));
        }
        if let Some(stray) = self.part.refusal(&spec.program) {
            return Err(strays(path, stray));
        }
        Ok(searched)
    }

    /// Compiles the program. `path` is for messages.
    pub(super) fn prepared(&self, path: &Path) -> Result<Searched, Failure> {
        let task = &self.task;
        let refused = |why: String| Failure::Usage(format!("{}: {why}", shown(path)));
        let Some(case) = task.case() else {
            let why = match task.program {
                Searchable::Test { .. } => {
                    "a check in a program in Rust: run that again, and it goes on"
                }
                _ => "a search of an MPI program, which only `mazurka resume` goes on with",
            };
            return Err(refused(why.into()));
        };
        let spec = Spec::again(Path::new(&task.path), case)?;
        let setting: Setting = task.setting.parse().map_err(refused)?;
        let properties = Properties::default().allow_pending(case.allow_pending);
        let budget = Budget { properties: properties.clone(), ..task.budget() };
        Ok(Searched { spec, setting, properties, budget })
    }
}

/// The failure for a file with a branch that does not belong to its search.
pub(super) fn strays(path: &Path, stray: Stray) -> Failure {
    Failure::Usage(format!("{}: {stray}", shown(path)))
}

/// The parts in these files and folders, with the names of their files. Files in a folder that hold
/// no part are skipped.
pub(super) fn all(given: &[PathBuf]) -> Result<Vec<(PathBuf, Stored)>, Failure> {
    let mut found = Vec::new();
    for path in given {
        if !path.is_dir() {
            found.push((path.clone(), Stored::read(path)?));
            continue;
        }
        for file in json_files(path)? {
            let text = files::read_of_search(&file)?;
            if is_part(&text) {
                let stored = Stored::parse(&file, &text)?;
                found.push((file, stored));
            }
        }
    }
    Ok(found)
}

/// Does the text look like a part, perhaps a damaged one? Folders may contain other JSON files.
fn is_part(text: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.get("part").is_some(),
        Err(_) => true,
    }
}

/// The JSON files in a folder, by length of the name and then by name, so `branch-2.json` comes
/// before `branch-10.json`.
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
