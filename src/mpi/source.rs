//! From addresses of a program to places in its source; and lines of Python, which are numbers, too
//! (`c/python.c`).

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
    /// The files of Python, by the numbers that stand for them.
    named: HashMap<u64, Arc<str>>,
}

/// The highest bit of a place that is a line of Python. A number for the file follows, and the
/// line.
const OF_PYTHON: u64 = 1 << 63;

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

/// The lines of a file, which are read when they are first needed.
fn lines<'a>(
    files: &'a mut HashMap<Arc<str>, Vec<String>>,
    file: &Arc<str>,
    base: &Path,
) -> &'a [String] {
    files.entry(file.clone()).or_insert_with(|| {
        let text = std::fs::read(base.join(&**file)).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(String::from).collect()
    })
}

impl Source {
    /// The source of this program. Paths below `base` are shown relative to it.
    pub(crate) fn new(program: &Path, base: PathBuf) -> Source {
        let loader = Loader::new(program).ok();
        let (places, files, named) = Default::default();
        Source { base, known: Mutex::new(Known { loader, places, files, named }) }
    }

    /// Learns which number stands for which file of Python: `1a2b:/home/user/a.py`.
    pub(crate) fn learn(&self, number_and_file: &str) {
        let Some((number, file)) = number_and_file.split_once(':') else { return };
        let Ok(number) = u64::from_str_radix(number, 16) else { return };
        let path = Path::new(file);
        let shown = path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy();
        let mut known = self.known.lock().expect("nobody panics while reading a source");
        known.named.entry(number).or_insert_with(|| shown.into());
    }

    /// The place that is a line of Python, with the call and the text of the line; `None` if it is
    /// another place.
    pub(crate) fn site_in_python(&self, place: u64, call: &str) -> Option<Site> {
        let (number, line) = ((place ^ OF_PYTHON) >> 32, place as u32);
        let mut known = self.known.lock().expect("nobody panics while reading a source");
        let Known { files, named, .. } = &mut *known;
        let file = named.get(&number)?.clone();
        let text = lines(files, &file, &self.base).get((line as usize).wrapping_sub(1));
        let text = text.map_or(call.to_owned(), |text| match text.contains(call) {
            true => text.trim().to_owned(),
            false => format!("{call}: {}", text.trim()),
        });
        Some(Site { file: Some(file), line, column: 0, text })
    }

    /// The place of a call that returns to this address (as linked), with the text of its line. If
    /// the text is not available, it is `call`.
    pub(crate) fn site(&self, returns_to: u64, call: &str) -> Option<Site> {
        let mut known = self.known.lock().expect("nobody panics while reading a source");
        let address = returns_to.wrapping_sub(1);
        let Known { loader, places, files, .. } = &mut *known;
        let find = || find(loader.as_ref()?, address, &self.base);
        let place = places.entry(address).or_insert_with(find).clone();
        let Place { file, line, column } = place?;
        let lines = lines(files, &file, &self.base);
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
