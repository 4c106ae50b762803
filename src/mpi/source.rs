//! From addresses of a program to places in its source.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use addr2line::Loader;

use super::statement::{Form, statement};
use crate::model::Site;

/// The source of a program, according to its debug information.
pub(crate) struct Source {
    /// Paths below this folder are shown without it.
    base: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    /// The debug information, if the program can be read.
    loader: Option<Loader>,
    places: HashMap<u64, Option<Place>>,
    /// The lines of files that can be read.
    files: HashMap<Arc<str>, Vec<String>>,
}

/// A place in the source.
#[derive(Clone)]
struct Place {
    file: Arc<str>,
    line: u32,
    column: u32,
}

/// Whether this file is a system header.
fn is_header_of_system(file: &str) -> bool {
    file.starts_with("/usr/")
}

/// The source place of the code at this address. For code inlined from a system header, it is the
/// place of the call.
fn find(loader: &Loader, address: u64, base: &Path) -> Option<Place> {
    let mut frames = loader.find_frames(address).ok()?;
    let mut innermost = None;
    let mut own = None;
    while let (None, Some(frame)) = (&own, frames.next().ok()?) {
        match frame.location {
            Some(location) if location.file.is_some_and(|file| !is_header_of_system(file)) => {
                own = Some(location);
            }
            other => innermost = innermost.or(other),
        }
    }
    let location = own.or(innermost)?;
    let path = Path::new(location.file?);
    let shown = path.strip_prefix(base).unwrap_or(path);
    Some(Place {
        file: shown.to_string_lossy().into(),
        line: location.line?,
        column: location.column.unwrap_or(0),
    })
}

impl Source {
    /// The source of this program. Paths below `base` are shown relative to it.
    pub(crate) fn new(program: &Path, base: PathBuf) -> Source {
        let loader = Loader::new(program).ok();
        let known = Known { loader, places: HashMap::new(), files: HashMap::new() };
        Source { base, known: Mutex::new(known) }
    }

    /// The place of a call that returns to this address (as linked), with the text of its line. If
    /// the text is not available, it is `call`.
    pub(crate) fn site(&self, returns_to: u64, call: &str) -> Option<Site> {
        let mut known = self.known.lock().expect("nobody panics while reading a source");
        let address = returns_to.wrapping_sub(1);
        let Known { loader, places, files } = &mut *known;
        let find = || find(loader.as_ref()?, address, &self.base);
        let place = places.entry(address).or_insert_with(find).clone();
        let Place { file, line, column } = place?;
        let base = &self.base;
        let lines = files.entry(file.clone()).or_insert_with(|| {
            let text = std::fs::read(base.join(&*file)).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(String::from).collect()
        });
        let (line, text) = match Form::of(&file, lines) {
            // Letters may be small or capital there.
            Some(form) => {
                let (line, text) = statement(lines, line, form).unwrap_or((line, String::new()));
                (line, Some(text).filter(|text| text.to_lowercase().contains(&call.to_lowercase())))
            }
            None => {
                let text = lines.get(line as usize - 1).map(|text| text.trim());
                let written = text.filter(|text| text.contains(call));
                (line, written.map(|text| text.trim_end_matches(';').to_owned()))
            }
        };
        let text = text.unwrap_or_else(|| call.to_owned());
        Some(Site { file: Some(file), line, column, text })
    }

    /// Whether this place is in a system header.
    pub(crate) fn is_of_system(site: &Site) -> bool {
        site.file.as_deref().is_some_and(is_header_of_system)
    }

    /// The text with each address `{@1f}` replaced by a file and a line, which `find` knows.
    pub(crate) fn with_places(text: &str, find: impl Fn(u64) -> Option<Site>) -> String {
        let mut shown = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{@") {
            shown += before;
            let (address, behind) = after.split_once('}').unwrap_or((after, ""));
            match find(u64::from_str_radix(address, 16).unwrap_or(0)) {
                Some(Site { file, line, .. }) => {
                    let file = file.unwrap_or_default();
                    let name = Path::new(&*file).file_name().unwrap_or_default();
                    shown += &format!("{}:{line}", name.to_string_lossy());
                }
                None => shown += "an unknown place",
            }
            rest = behind;
        }
        shown + rest
    }
}
