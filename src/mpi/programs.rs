//! What ranks are started from: a program that `mazurka mpicc` has made, or another one, which gets
//! the library by `LD_PRELOAD`.
//!
//! The second kind is compiled for the ABI of MPI 5.0, or is an interpreter that loads such code:
//! its calls meet the functions of the library, whose types and constants are those of the ABI. Its
//! accesses to memory are not seen.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::Object;

/// A file that ranks can be started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// What is started, with its whole path.
    pub(super) file: PathBuf,
    /// Arguments before those of the user: the script that an interpreter runs.
    pub(super) before: Vec<OsString>,
    /// Whether the library is not in it.
    pub(super) is_foreign: bool,
}

impl Program {
    /// The program with this path, or with this name in `PATH`.
    ///
    /// # Errors
    /// If it does not exist, or ranks cannot be started from it: a sentence.
    pub(super) fn find(named: &Path) -> Result<Program, String> {
        let name = named.display();
        let path = located(named);
        let is = fs::metadata(&path).map_err(|error| format!("{name}: {error}"))?;
        if !is.is_file() {
            return Err(format!("{name}: it is not a program"));
        }
        let path = std::path::absolute(&path).map_err(|error| format!("{name}: {error}"))?;
        let text = fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
        let contains = |mark: &[u8]| text.windows(mark.len()).any(|part| part == mark);
        let is_foreign = !contains(b"MAZURKA_SOCKET");
        // Its functions would take the place of those of our library, and fail.
        if contains(b"libtsan.so") || contains(b"libclang_rt.tsan") {
            let remedy = "link it with `mazurka mpicc`, or with -fno-sanitize=thread";
            return Err(format!(
                "{name}: it is linked with the library of -fsanitize=thread: {remedy}"
            ));
        }
        if is_foreign {
            if let Some(line) = text.strip_prefix(b"#!") {
                let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
                return Program::of_script(&path, line).map_err(|why| format!("{name}: {why}"));
            }
            let remedy = "compile it with `mazurka mpicc`";
            if contains(b"libmpi.so") || contains(b"libmpich.so") {
                return Err(format!(
                    "{name}: it is linked with another implementation of MPI: {remedy}"
                ));
            }
            let elf = object::File::parse(&*text).ok();
            let is_loaded = elf.is_some_and(|elf| elf.section_by_name(".interp").is_some());
            if !is_loaded || is.permissions().mode() & 0o6000 != 0 {
                let why =
                    "was not made by `mazurka mpicc`, and the library cannot be loaded into it";
                return Err(format!("{name}: it {why}: {remedy}"));
            }
        }
        Ok(Program { file: path, before: Vec::new(), is_foreign })
    }

    /// The interpreter of a script, which begins with this line.
    fn of_script(script: &Path, line: &[u8]) -> Result<Program, String> {
        let words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let mut words = words.map(|word| OsString::from_vec(word.to_vec()));
        let mut first = words.next().map(PathBuf::from).ok_or("its first line names nothing")?;
        if first.file_name().is_some_and(|name| name == "env") {
            let next = words.find(|word| word != "-S");
            first = next.map(PathBuf::from).ok_or("its first line names nothing")?;
        }
        // Tools that choose between versions of Python put a script in its place.
        let name = script.file_name().unwrap_or_default();
        if name.as_bytes().starts_with(b"python") {
            return Program::find(&real_python(script)?);
        }
        let mut found = Program::find(&first)?;
        found.before.extend(words);
        found.before.push(script.into());
        Ok(found)
    }
}

/// Where a program is that is called by this name.
pub(crate) fn located(named: &Path) -> PathBuf {
    let is_plain = named.components().count() == 1 && !named.is_file();
    let folders = std::env::var_os("PATH").filter(|_| is_plain).unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(named));
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|is| is.is_file() && is.permissions().mode() & 0o111 != 0)
    };
    places.find(is_program).unwrap_or_else(|| named.to_owned())
}

/// The interpreter that this script starts.
fn real_python(script: &Path) -> Result<PathBuf, String> {
    let mut asked = Command::new(script);
    asked.args(["-c", "import sys; print(sys.executable)"]).stdin(Stdio::null());
    let answer = asked.output().map_err(|error| error.to_string())?;
    let path = answer.stdout.trim_ascii();
    match answer.status.success() && !path.is_empty() {
        true => Ok(PathBuf::from(OsString::from_vec(path.to_vec()))),
        false => Err("the interpreter that it starts is unknown".into()),
    }
}
