//! Where results and messages go.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

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
    Markdown,
    Json,
}

/// Standard output and standard error, with colours as wished.
pub(super) struct Output {
    choice: ColorChoice,
    /// Nobody reads standard output any more.
    closed: bool,
}

impl Output {
    pub(super) fn new(when: When) -> Self {
        let choice = match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::AlwaysAnsi,
            When::Never => ColorChoice::Never,
        };
        Output { choice, closed: false }
    }

    /// Prints a result. A reader that has gone away (`| head`) is no failure: the result stands.
    pub(super) fn print(&mut self, text: impl Display) -> io::Result<()> {
        if self.closed {
            return Ok(());
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

    /// Prints to standard error as it is.
    pub(super) fn note(&self, text: impl Display) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.choice);
        // If even that cannot be written, there is nobody to tell.
        let _ = stream.write_all(text.to_string().as_bytes());
    }

    /// Says on standard error what is wrong.
    pub(super) fn error(&self, message: &str) {
        let style = anstyle::AnsiColor::Red.on_default().bold();
        self.note(format!("{style}error{style:#}: {message}\n"));
    }
}
