//! Places in a program that has several files: the file is told with each line, unless it is one
//! for all.

use std::sync::Arc;

/// The file that all these places are in, if they tell one and the same.
pub(super) fn one_file<'f>(
    files: impl IntoIterator<Item = &'f Option<Arc<str>>>,
) -> Option<&'f str> {
    let mut files = files.into_iter();
    let first = files.next()?.as_deref()?;
    files.all(|file| file.as_deref() == Some(first)).then_some(first)
}

/// `12`, or `src/bank.rs:12` where the file has to be told.
pub(super) fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (None, Some(line)) => line.to_string(),
        (_, None) => String::new(),
    }
}
