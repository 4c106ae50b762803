//! The specs to mix: all that are shipped, in pieces.

use std::fs;
use std::path::{Path, PathBuf};

use super::mutation::tokens;

/// Every spec below `folder`, in the order of their paths. Large ones are left out: they are slow to shrink.
pub fn corpus(folder: &Path) -> Vec<Vec<String>> {
    const LARGEST: usize = 4000;
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry of a folder").path()) {
            match path.is_dir() {
                true => pending.push(path),
                false => paths.push(path),
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "maz"));
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).expect("a readable spec"));
    texts.filter(|text| text.len() < LARGEST).map(|text| tokens(&text)).collect()
}
