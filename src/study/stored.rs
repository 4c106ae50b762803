//! A part of a search as a text, which is all that a process needs to go on with it.
//!
//! The checksum detects accidental changes only: it has no key, so anyone who can write a file can
//! forge one. So nothing in a text may break the program that reads it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Task;
use crate::explore::Part;
use crate::model::masked;

/// A part of a search, as it is stored in a file.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The hash of the other fields.
    checksum: String,
    pub(crate) task: Task,
    /// The largest peak memory of the processes that have searched this part.
    pub(crate) peak_memory_bytes: Option<u64>,
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

/// The 64-bit FNV-1a hash of a text or a file, as 16 hexadecimal digits: the same on every platform
/// and in every version.
pub(crate) fn hash(contents: impl AsRef<[u8]>) -> String {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", contents.as_ref().iter().copied().fold(start, step))
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

impl Stored {
    pub(crate) fn new(task: Task, part: Part) -> Stored {
        let (checksum, peak_memory_bytes, spent, noted) = Default::default();
        Stored { checksum, task, peak_memory_bytes, spent, noted, part }
    }

    /// The part that was written as this text.
    ///
    /// # Errors
    /// Why it is none, in a sentence.
    pub(crate) fn of(text: &str) -> Result<Stored, String> {
        let made_by = |other: &str| {
            let (other, this) = (masked(other), env!("CARGO_PKG_VERSION"));
            (other != this).then(|| format!("made by mazurka {other}; this is mazurka {this}"))
        };
        let stored: Stored = serde_json::from_str(text).map_err(|error| {
            // Another version may have other fields.
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            value["task"]["mazurka"].as_str().and_then(made_by).unwrap_or_else(|| {
                format!(
                    "this is not a part of a search, as `check --branches` and \
                     `check --checkpoint` write them: {error}"
                )
            })
        })?;
        if let Some(refused) = made_by(&stored.task.mazurka) {
            return Err(refused);
        }
        if stored.checksum != stored.sum() {
            return Err("the file was changed after it was written".into());
        }
        // A field without a content may be left out, so a damaged name leaves the checksum right.
        let text: Value = serde_json::from_str(text).expect("it was read");
        let known = serde_json::to_value(&stored).expect("parts are serialisable");
        match strange(&text, &known) {
            None => Ok(stored),
            Some(name) => Err(format!("no such file has a field `{}`", masked(name))),
        }
    }

    /// The text of the part.
    pub(crate) fn text(&self) -> String {
        let stored = Stored { checksum: self.sum(), ..self.clone() };
        serde_json::to_string_pretty(&stored).expect("parts are serialisable") + "\n"
    }

    fn sum(&self) -> String {
        let Stored { task, peak_memory_bytes, spent, noted, part, .. } = self;
        let said = (task, peak_memory_bytes, spent, noted, part);
        hash(serde_json::to_string(&said).expect("parts are serialisable"))
    }
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
