//! The specs in the folders that a command is given.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Failure;
use super::output::Output;
use crate::report::text::shown;

/// The given specs, where each folder is replaced by the specs in it.
pub(super) fn specs(given: &[PathBuf], output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for spec in given {
        match spec.is_dir() {
            true => paths.extend(specs_in(spec, output)?),
            false => paths.push(spec.clone()),
        }
    }
    Ok(paths)
}

/// The .maz files in a folder and its subfolders, ordered by name. Links are followed, but no
/// folder is visited twice, so links may form cycles. Warns about broken links.
fn specs_in(folder: &Path, output: &Output) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    let mut seen = BTreeSet::new();
    // Links come last: a folder that is also reached without a link is listed under its own name.
    let mut pending = VecDeque::from([folder.to_owned()]);
    while let Some(folder) = pending.pop_front() {
        let refused =
            |error| Failure::Usage(format!("cannot read the folder {}: {error}", shown(&folder)));
        if !seen.insert(fs::canonicalize(&folder).map_err(refused)?) {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(refused)? {
            let path = entry.map_err(refused)?.path();
            match (path.is_symlink(), fs::metadata(&path)) {
                (true, Err(error)) => output.warn(&broken(&path, &error)),
                (true, Ok(found)) if found.is_dir() => pending.push_back(path),
                (false, Ok(found)) if found.is_dir() => pending.push_front(path),
                _ if path.extension().is_some_and(|extension| extension == "maz") => {
                    paths.push(path);
                }
                _ => {}
            }
        }
    }
    paths.sort();
    match paths.is_empty() {
        true => Err(Failure::Usage(format!("there are no .maz files in {}", shown(folder)))),
        false => Ok(paths),
    }
}

fn broken(link: &Path, error: &io::Error) -> String {
    let target = fs::read_link(link).map_or(String::new(), |to| format!(" to {}", shown(&to)));
    format!("{} is left out: a broken link{target} ({error})", shown(link))
}
