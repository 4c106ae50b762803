//! The files of a search in parts: each has the search task and a part of the search ([`Part`]).
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
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files;
use super::log::hash;
use super::spec::Spec;
use super::{Failure, memory};
use crate::explore::{Budget, Part, Setting, Stray};
use crate::model::masked;
use crate::property::Properties;
use crate::report::text::shown;
use crate::study::{Searchable, Task, task};

/// A part of a search, as it is stored in a file.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The hash of the other fields.
    checksum: String,
    pub(crate) task: Task,
    /// The largest peak memory of the processes that have searched this part.
    pub(super) peak_memory_bytes: Option<u64>,
    /// For a checkpoint: the time that the search has taken so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<Duration>,
    /// For a checkpoint: what the system has noted ([`System::noted`]).
    ///
    /// [`System::noted`]: crate::model::System::noted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noted: Option<String>,
    pub(crate) part: Part,
}

/// The name of the file with the beginning of the search.
pub(super) const BEGINNING: &str = "search.json";

/// The name of the file of branches with this number.
pub(super) fn name(number: usize) -> String {
    format!("branch-{number}.json")
}

/// A name in the first value that the second one does not have in the same place.
fn strange<'v>(value: &'v Value, known: &Value) -> Option<&'v str> {
    match (value, known) {
        (Value::Object(fields), Value::Object(known)) => {
            fields.iter().find_map(|(name, value)| match known.get(name) {
                None => Some(name.as_str()),
                Some(known) => strange(value, known),
            })
        }
        (Value::Array(items), Value::Array(known)) => {
            items.iter().zip(known).find_map(|(item, known)| strange(item, known))
        }
        _ => None,
    }
}

/// A part that is ready to be searched in this process.
pub(super) struct Searched {
    pub(super) spec: Spec,
    pub(super) setting: Setting,
    pub(super) properties: Properties,
    pub(super) budget: Budget,
}

impl Stored {
    pub(crate) fn new(task: Task, part: Part) -> Stored {
        let (checksum, peak_memory_bytes, spent, noted) = Default::default();
        Stored { checksum, task, peak_memory_bytes, spent, noted, part }
    }

    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Stored, Failure> {
        Stored::parse(path, &files::read_of_search(path)?)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Stored, Failure> {
        let refused = |why: String| Failure::Usage(format!("{}: {why}", shown(path)));
        let made_by = |other: &str| {
            let (other, this) = (masked(other), env!("CARGO_PKG_VERSION"));
            (other != this)
                .then(|| refused(format!("made by mazurka {other}; this is mazurka {this}")))
        };
        let stored: Stored = serde_json::from_str(text).map_err(|error| {
            // Another version may have other fields.
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            value["task"]["mazurka"].as_str().and_then(made_by).unwrap_or_else(|| {
                refused(format!(
                    "this is not a part of a search, as `check --branches` and \
                     `check --checkpoint` write them: {error}"
                ))
            })
        })?;
        if let Some(refused) = made_by(&stored.task.mazurka) {
            return Err(refused);
        }
        if stored.checksum != stored.sum() {
            return Err(refused("the file was changed after it was written".into()));
        }
        // A field without a content may be left out, so a damaged name leaves the checksum right.
        let text: Value = serde_json::from_str(text).expect("it was read");
        let known = serde_json::to_value(&stored).expect("parts are serialisable");
        match strange(&text, &known) {
            None => Ok(stored),
            Some(name) => Err(refused(format!("no such file has a field `{}`", masked(name)))),
        }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let stored = Stored { checksum: self.sum(), ..self.clone() };
        serde_json::to_string_pretty(&stored).expect("parts are serialisable") + "\n"
    }

    fn sum(&self) -> String {
        let Stored { task, peak_memory_bytes, spent, noted, part, .. } = self;
        let said = (task, peak_memory_bytes, spent, noted, part);
        hash(serde_json::to_string(&said).expect("parts are serialisable"))
    }

    /// Writes the part to a file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
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
                    "a check of a program in Rust, which goes on with it itself"
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
