//! An MPI program, and how its ranks are run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Semantics;

/// An MPI program, and how its ranks are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MpiProgram {
    /// The program and its arguments.
    #[serde(with = "words")]
    pub command: Vec<OsString>,
    /// The number of ranks.
    pub ranks: u32,
    /// The working directory.
    pub folder: PathBuf,
    /// What the MPI standard leaves open.
    pub semantics: Semantics,
    /// How long a rank may compute between two calls of MPI.
    pub step_timeout: Duration,
    /// How far a rank's clock advances whenever the rank reads it.
    pub tick: Duration,
    /// The memory that a rank may have, in bytes.
    pub rank_memory: u64,
    /// Whether ranks change the real files, and not copies.
    pub changes_files: bool,
    /// The maximum number of processes that are alive.
    pub max_processes: u32,
}

impl MpiProgram {
    /// The program without its arguments.
    pub fn program(&self) -> &Path {
        Path::new(&self.command[0])
    }

    /// The program, or the script if the program is an interpreter of Python.
    pub fn source(&self) -> &Path {
        let is_python = self
            .program()
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"python"));
        let scripts = self.command.iter().skip(1).map(Path::new);
        let mut scripts =
            scripts.filter(|word| word.extension().is_some_and(|ending| ending == "py"));
        scripts.next().filter(|_| is_python).unwrap_or(self.program())
    }

    /// A word that cannot be written to a file, because it is not in UTF-8; `None` if there is
    /// none.
    pub(crate) fn unwritable(&self) -> Option<&OsString> {
        self.command.iter().find(|word| word.to_str().is_none())
    }
}

/// Words as texts in UTF-8.
mod words {
    use std::ffi::OsString;

    use serde::ser::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        words: &[OsString],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        texts.ok_or_else(|| S::Error::custom("a word is not in UTF-8"))?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Ok(texts.into_iter().map(OsString::from).collect())
    }
}
