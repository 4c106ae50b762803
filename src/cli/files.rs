//! Files that a command reads and writes. A result never overwrites an input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use same_file::is_same_file;

use super::{Failure, replace};
use crate::report::text::shown;

/// Does this name standard input?
pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The largest size of an input file, in MiB. Larger ones are refused, because devices and pipes
/// may have no end.
const MAX_MIB: u64 = 64;

/// The same for files that a search has written.
const MAX_MIB_OF_SEARCHES: u64 = 4096;

/// The text of a file, or of standard input.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    read_up_to(path, MAX_MIB)
}

/// The text of a file that a search has written, which may be large.
pub(super) fn read_of_search(path: &Path) -> Result<String, Failure> {
    // What is no regular file may have no end.
    read_up_to(path, if path.is_file() { MAX_MIB_OF_SEARCHES } else { MAX_MIB })
}

fn read_up_to(path: &Path, max_mib: u64) -> Result<String, Failure> {
    let (bytes, what) = match is_stdin(path) {
        true => (bounded(io::stdin().lock(), max_mib), "standard input".to_owned()),
        false => (fs::File::open(path).and_then(|file| bounded(file, max_mib)), shown(path)),
    };
    let bytes = bytes.map_err(|error| match fs::read_link(path) {
        Ok(target) => {
            let target = shown(&target);
            Failure::Usage(format!("cannot read {what}, a link to {target}: {error}"))
        }
        Err(_) => Failure::Usage(format!("cannot read {what}: {error}")),
    })?;
    if bytes.len() as u64 > max_mib << 20 {
        return Err(Failure::Usage(format!(
            "{what} is larger than {max_mib} MiB, the most that is read"
        )));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Usage(format!("{what} is not a text in UTF-8")))?;
    // A byte order mark is not a part of the text.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn bounded(source: impl Read, max_mib: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take((max_mib << 20) + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file atomically: on an error the old file stays.
pub(super) fn write(path: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    replace::write(path, contents).map_err(|error| cannot_write(path, error))
}

#[cfg(unix)]
pub(super) fn cannot_read(path: &Path, error: io::Error) -> Failure {
    Failure::Usage(format!("cannot read {}: {error}", shown(path)))
}

pub(super) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    Failure::Usage(format!("cannot write {}: {error}", shown(path)))
}

/// Refuses to write `output` if it is one of the inputs, under any name or link.
pub(super) fn keep<'p>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Failure> {
    // A file that does not exist yet is not an input. Only regular files are compared, because a
    // comparison opens them, and opening a pipe would wait for its other end.
    let is_input = |input: &&Path| {
        !is_stdin(input)
            && input.is_file()
            && output.is_file()
            && is_same_file(input, output).unwrap_or(false)
    };
    match inputs.into_iter().find(is_input) {
        None => Ok(()),
        Some(input) => Err(Failure::Usage(format!(
            "{} is not written, as that would overwrite {}, which is read: choose another name",
            shown(output),
            shown(input)
        ))),
    }
}
