//! Places in a program that may have several files. If all places are in one file, it is named
//! once; otherwise each line comes with its file.

use std::sync::Arc;

/// The file of all these places, if it is the same for all.
pub(super) fn one_file<'f>(
    files: impl IntoIterator<Item = &'f Option<Arc<str>>>,
) -> Option<&'f str> {
    let mut files = files.into_iter();
    let first = files.next()?.as_deref()?;
    files.all(|file| file.as_deref() == Some(first)).then_some(first)
}

/// `12`, or `src/bank.rs:12` where the file has to be named.
pub(super) fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (None, Some(line)) => line.to_string(),
        (_, None) => String::new(),
    }
}
