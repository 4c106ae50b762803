//! Output of results and messages.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::path::{Path, PathBuf};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};

use super::{Failure, files, replace};
use crate::report::text::shown;

/// When to use colours. `Auto`: if the output is a terminal.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// The format of a result: text for people, or one JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

/// The format of the result of a search: for people, or for programs and servers of several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ResultFormat {
    Text,
    Json,
    /// JUnit XML: a test case for each search
    #[value(alias = "xml")]
    Junit,
    /// SARIF: the violations with their places and executions
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    Text,
    Csv,
    #[value(alias = "md")]
    Markdown,
    Json,
}

/// Where to write a result, and how.
#[derive(Args)]
pub(super) struct FileArgs {
    /// Write the result to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the result [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

impl FileArgs {
    /// The file, if one is given.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// How to write the result.
    pub(super) fn format(&self) -> Format {
        format(self.format, self.file(), Format::Text)
    }
}

/// The given format, or else the format by the ending of the file's name, or else `text`.
pub(super) fn format<F: ValueEnum>(given: Option<F>, file: Option<&Path>, text: F) -> F {
    let ending = file.and_then(Path::extension).and_then(OsStr::to_str);
    given.or_else(|| F::from_str(ending?, true).ok()).unwrap_or(text)
}

/// The width of a text if neither a terminal nor `COLUMNS` limits it.
const BOUNDLESS: usize = 10_000;

/// The destination of results.
enum Target {
    Stdout,
    /// A file and its contents so far. It is written at the end, if there is a result: a command
    /// that fails leaves an old file unchanged.
    File(PathBuf, String),
}

/// Writes results to standard output or to a file, and messages to standard error.
pub(super) struct Output {
    choice: ColorChoice,
    target: Target,
    /// Has the reader of standard output gone away?
    closed: bool,
    quiet: bool,
}

impl Output {
    /// Output with colours as in `when`. With `quiet`, notes are not printed.
    pub(super) fn new(when: When, quiet: bool) -> Self {
        let choice = match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::AlwaysAnsi,
            When::Never => ColorChoice::Never,
        };
        Output { choice, target: Target::Stdout, closed: false, quiet }
    }

    /// A second output for messages only: it writes to the same standard error, and drops results.
    pub(super) fn messages(&self) -> Output {
        Output { choice: self.choice, target: Target::Stdout, closed: true, quiet: self.quiet }
    }

    /// Is only the result wanted?
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The width for texts, in columns: that of the terminal, or else the environment variable
    /// `COLUMNS`, or else [`BOUNDLESS`].
    pub(super) fn room(&self) -> usize {
        let width = match self.target {
            Target::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Target::File(..) => None,
        };
        let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
        width.map(|(width, _)| usize::from(width.0)).or_else(asked).unwrap_or(BOUNDLESS).max(1)
    }

    /// Sends results to this file from now on, if one is given.
    ///
    /// # Errors
    /// If the file is one of the inputs.
    pub(super) fn direct<'p>(
        &mut self,
        file: Option<&Path>,
        inputs: impl IntoIterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        if let Some(file) = file {
            files::keep(file, inputs)?;
            self.target = Target::File(file.to_owned(), String::new());
        }
        Ok(())
    }

    /// Prints a result. A closed pipe (`| head`) is not an error: the exit code still reports the
    /// result.
    pub(super) fn print(&mut self, text: impl Display) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        if let Target::File(_, results) = &mut self.target {
            // A file has no colours.
            results.push_str(&strip_str(&text.to_string()).to_string());
            return Ok(());
        }
        let mut stream = AutoStream::new(io::stdout().lock(), self.choice);
        let written = stream.write_all(text.to_string().as_bytes()).and_then(|()| stream.flush());
        self.unless_closed(written)
    }

    /// Prints a result that is not a text, as it is, on standard output.
    pub(super) fn print_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = io::stdout().lock();
        let written = stream.write_all(bytes).and_then(|()| stream.flush());
        self.unless_closed(written)
    }

    fn unless_closed(&mut self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }

    /// Writes the file, if results go to a file and there are any. If that fails, they are printed
    /// instead, so that no result is lost.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let Target::File(path, results) = mem::replace(&mut self.target, Target::Stdout) else {
            return Ok(());
        };
        if results.is_empty() {
            return Ok(());
        }
        replace::write(&path, &results).map_err(|error| {
            // If this fails, too, the first error is reported.
            let _ = self.print(&results);
            io::Error::other(format!("{}: {error}", shown(&path)))
        })
    }

    /// Prints a note on standard error, unless the output is quiet.
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
        // If this cannot be written either, the error cannot be reported.
        let _ = stream.write_all(text.to_string().as_bytes());
    }

    /// Prints an error on standard error.
    pub(super) fn error(&self, message: &str) {
        let style = anstyle::AnsiColor::Red.on_default().bold();
        self.note(format!("{style}error{style:#}: {message}\n"));
    }
}
