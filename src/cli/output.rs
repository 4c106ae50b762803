//! Where results and messages go.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

use super::{Failure, files};
use crate::report::text::shown;

/// When to use colours; `Auto` asks whether the output is a terminal.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// How to print a result: for people, or as one JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

/// How to print a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    Text,
    Csv,
    #[value(alias = "md")]
    Markdown,
    Json,
}

/// The format asked for, or else the one of the file's ending, or else text.
pub(super) fn format<F: ValueEnum>(given: Option<F>, file: Option<&Path>, text: F) -> F {
    let ending = file.and_then(Path::extension).and_then(OsStr::to_str);
    given.or_else(|| F::from_str(ending?, true).ok()).unwrap_or(text)
}

/// The width of texts if there is no terminal that tells another one.
const ROOM: usize = 80;

/// Where results go.
enum Target {
    Stdout,
    /// Made with the first result, so that a command that fails leaves an old file as it was.
    File(PathBuf, Option<File>),
}

/// Results to standard output or a file, and messages to standard error, with colours as wished.
pub(super) struct Output {
    choice: ColorChoice,
    target: Target,
    /// Has the reader of standard output gone away?
    closed: bool,
    quiet: bool,
}

impl Output {
    /// `quiet`: results only.
    pub(super) fn new(when: When, quiet: bool) -> Self {
        let choice = match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::AlwaysAnsi,
            When::Never => ColorChoice::Never,
        };
        Output { choice, target: Target::Stdout, closed: false, quiet }
    }

    /// Is only the result wanted?
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// How wide a text may be.
    pub(super) fn room(&self) -> usize {
        let width = match self.target {
            Target::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Target::File(..) => None,
        };
        width.map_or(ROOM, |(width, _)| usize::from(width.0)).max(1)
    }

    /// From now on results go to this file, if one is given. It must be none of those that are read.
    pub(super) fn direct<'p>(
        &mut self,
        file: Option<&Path>,
        inputs: impl IntoIterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        if let Some(file) = file {
            files::keep(file, inputs)?;
            self.target = Target::File(file.to_owned(), None);
        }
        Ok(())
    }

    /// Prints a result. A reader that has gone away (`| head`) is no failure: the result stands.
    pub(super) fn print(&mut self, text: impl Display) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        if let Target::File(path, file) = &mut self.target {
            let named = |error| io::Error::other(format!("{}: {error}", shown(path)));
            return write(path, file, &text.to_string()).map_err(named);
        }
        let mut stream = AutoStream::new(io::stdout().lock(), self.choice);
        let written = stream.write_all(text.to_string().as_bytes()).and_then(|()| stream.flush());
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }

    /// Prints a note on standard error.
    pub(super) fn remark(&self, text: impl Display) {
        if !self.quiet {
            self.note(text);
        }
    }

    /// Warns on standard error.
    pub(super) fn warn(&self, message: &str) {
        let style = anstyle::AnsiColor::Yellow.on_default().bold();
        self.note(format!("{style}warning{style:#}: {message}\n"));
    }

    /// Prints a text on standard error as it is.
    pub(super) fn note(&self, text: impl Display) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.choice);
        // If even that cannot be written, there is nobody to tell.
        let _ = stream.write_all(text.to_string().as_bytes());
    }

    /// Prints an error on standard error.
    pub(super) fn error(&self, message: &str) {
        let style = anstyle::AnsiColor::Red.on_default().bold();
        self.note(format!("{style}error{style:#}: {message}\n"));
    }
}

/// Appends to the file, which is made when there is something to write. A file has no colours.
fn write(path: &Path, file: &mut Option<File>, text: &str) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        None => file.insert(File::create(path)?),
    };
    file.write_all(strip_str(text).to_string().as_bytes())
}
