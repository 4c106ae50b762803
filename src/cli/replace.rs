//! Writes a file atomically: if the program or the machine stops, the file has its old contents or
//! all of the new ones.
//!
//! The text goes to a temporary file in the folder of the target, which is then renamed. The name
//! of the temporary file depends only on the name of the target, and the writer holds a lock on the
//! file. A killed program has lost its lock, so the next program that writes the same target
//! removes the temporary file that was left.
//!
//! Two kinds of targets cannot be replaced: a file that is not regular (a pipe, a device), and a
//! file that is known only by its descriptor (`/dev/stdout`). There the text is appended.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::study::hash;

/// Writes this to the file at `path`, or to the target if that is a link.
pub(super) fn write(path: &Path, contents: &(impl AsRef<[u8]> + ?Sized)) -> io::Result<()> {
    let contents = contents.as_ref();
    match replaceable(path)? {
        Some(target) => replace(&target, contents),
        None => OpenOptions::new().append(true).open(path)?.write_all(contents),
    }
}

/// The most links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// The path behind all links, if it names a regular file or does not exist. `None` if the text must
/// be appended instead.
fn replaceable(path: &Path) -> io::Result<Option<PathBuf>> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(None);
    }
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if is_descriptor(&target) {
            return Ok(None);
        }
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(Some(target)),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Does the path stand for an open file? Linux has such paths, as links into `/proc`.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.is_some_and(|folder| folder.starts_with("/proc"))
}

fn replace(target: &Path, text: &[u8]) -> io::Result<()> {
    let former = match OpenOptions::new().write(true).open(target) {
        Ok(former) => Some(former),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let temporary = temporary_of(target)?;
    let mut file = create(&temporary)?;
    let written = fill(&mut file, former, text).and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        // If this fails, too, the first error is reported.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The path of the temporary file for this target. Its length does not depend on the name of the
/// target.
fn temporary_of(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(ErrorKind::NotFound)?;
    Ok(target.with_file_name(format!(".mazurka-{}", hash(name.as_encoded_bytes()))))
}

/// Creates and locks the temporary file. Waits for a program that is writing it, and removes the
/// file of a killed one.
fn create(temporary: &Path) -> io::Result<File> {
    loop {
        match OpenOptions::new().write(true).create_new(true).open(temporary) {
            Ok(file) if is_own(&file, temporary)? => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => remove_dead(temporary)?,
            Err(error) => return Err(error),
        }
    }
}

/// Locks the file, and returns whether it still has this name.
fn is_own(file: &File, name: &Path) -> io::Result<bool> {
    // On a file system without locks, two programs that write the same target at the same time may
    // disturb each other.
    match file.lock() {
        Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    Ok(is_at(file, name))
}

#[cfg(unix)]
fn is_at(file: &File, name: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let named = fs::symlink_metadata(name).map(identity);
    file.metadata().map(identity).is_ok_and(|own| named.is_ok_and(|named| named == own))
}

/// On these systems an open file cannot be renamed or removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Removes a temporary file that a killed program has left. If another program is writing the file,
/// waits for it instead.
fn remove_dead(temporary: &Path) -> io::Result<()> {
    let is_file = fs::symlink_metadata(temporary).is_ok_and(|found| found.is_file());
    // The lock is held until the file is removed, so no other program begins to write it.
    let file = is_file.then(|| OpenOptions::new().write(true).open(temporary).ok()).flatten();
    if let Some(file) = &file
        && !is_own(file, temporary)?
    {
        return Ok(());
    }
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes the text, and gives the file the mode of the former one and, where this is permitted, the
/// owner.
fn fill(file: &mut File, former: Option<File>, text: &[u8]) -> io::Result<()> {
    file.write_all(text)?;
    if let Some(former) = former {
        let former = former.metadata()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let _ = fchown(&*file, Some(former.uid()), Some(former.gid()));
        }
        file.set_permissions(former.permissions())?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The file that a killed program has left is longer than the new text, and it is not locked.
    #[test]
    fn what_a_killed_writer_has_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["result.json", &"n".repeat(255)] {
            let target = folder.path().join(name);
            fs::write(temporary_of(&target).unwrap(), "left over").unwrap();
            write(&target, "new").unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        }
        assert_eq!(names(folder.path()), ["n".repeat(255), "result.json".into()]);
    }

    #[test]
    fn of_many_writers_each_writes_all_of_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("result");
        let texts: Vec<String> = ["a", "b", "c", "d"].map(|text| text.repeat(100_000)).into();
        thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| write(&target, text).unwrap()));
            }
            for _ in 0..50 {
                let found = fs::read_to_string(&target);
                assert!(found.is_err() || texts.contains(&found.unwrap()));
            }
        });
        assert_eq!(names(folder.path()), ["result"]);
    }

    #[test]
    fn what_cannot_be_replaced_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("folder");
        fs::create_dir(&target).unwrap();
        assert!(write(&target, "text").is_err());
        assert!(write(Path::new(""), "text").is_err());
        assert!(write(&folder.path().join("no/result"), "text").is_err());
        assert_eq!(names(folder.path()), ["folder"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_modes_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/old"), "old").unwrap();
        fs::set_permissions(at("sub/old"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("sub/to-old", at("link")).unwrap();
        symlink("old", at("sub/to-old")).unwrap();
        symlink("sub/new", at("to-new")).unwrap();
        symlink("round", at("round")).unwrap();
        for (name, behind) in [("link", "sub/old"), ("to-new", "sub/new")] {
            write(&at(name), "text").unwrap();
            assert!(at(name).is_symlink());
            assert_eq!(fs::read_to_string(at(behind)).unwrap(), "text");
        }
        assert_eq!(fs::metadata(at("sub/old")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(write(&at("round"), "text").is_err());
        assert_eq!(names(&at("sub")), ["new", "old", "to-old"]);
    }
}
