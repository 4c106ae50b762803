//! The files of a search in parts: what a search is, and a part of it ([`Part`]).
//!
//! All of them have one form, as JSON, whatever they are for: branches to be explored, results, both. So a result that has
//! something left to do is a file of branches, too. Each tells the whole task, and can be taken to another machine alone.
//!
//! A file is written whole or not at all, and its checksum tells whether it is as it was written: nobody else
//! has made a schedule up that the program does not allow.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::files::{cannot_write, read};
use super::log::hash;
use super::spec::Spec;
use super::{Failure, memory};
use crate::explore::{Budget, Part, Setting};
use crate::property::Properties;
use crate::report::text::shown;
use crate::study::Task;

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

    /// Writes it to a file: all of it or nothing, whenever the machine stops.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let write = || {
            let mut file = new_in(folder)?;
            file.write_all(self.text().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|error| cannot_write(path, error))
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
        if let Some(refusal) = self.part.refusal(&spec.program) {
            return Err(refused(format!("a branch is not one of this program: {refusal}")));
        }
        Ok(Searched { spec, setting, properties, budget })
    }
}

/// A file without a name, for all who may read files of this user.
fn new_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// The parts in these files and folders, with the names of their files. Of a folder only the files count that have parts.
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
