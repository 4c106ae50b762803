//! Answers to bad input: for people on standard error, and with `--format json` also as an object
//! on standard output, so that a program that reads results always finds one.

use std::ffi::OsString;
use std::process::ExitCode;

use serde::Serialize;

use super::output::Output;
use crate::lang::{Diagnostic, Diagnostics, Severity};
use crate::model::printable;
use crate::report::json;

/// The command line or the spec is wrong.
#[derive(Serialize)]
struct Refusal {
    mazurka: &'static str,
    verdict: &'static str,
    diagnostics: Vec<Told>,
    /// How many more there are.
    untold: usize,
}

/// One mistake.
#[derive(Serialize)]
struct Told {
    severity: &'static str,
    message: String,
    /// `None`, like the next two, if the mistake is not in a file.
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    /// The text about the place.
    label: String,
    /// What the author might do about it.
    help: Vec<String>,
}

/// Do the arguments ask for JSON? This does not use the parser, which may have refused them.
pub(super) fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.collect();
    let apart = args.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    apart || args.iter().any(|arg| arg == "--format=json")
}

/// Answers arguments that are invalid, or that ask for help.
pub(super) fn of_arguments(error: &clap::Error, json: bool) -> ExitCode {
    let text = error.render().to_string();
    // Asking for help is no mistake.
    if error.use_stderr() && json {
        say(vec![without_place(text.trim_start_matches("error: ").trim_end())], 0);
    }
    // If that cannot be written, there is nobody to tell.
    let _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}

/// Answers a command line that cannot be followed.
pub(super) fn of_usage(message: &str, json: bool, output: &Output) -> ExitCode {
    if json {
        say(vec![without_place(message)], 0);
    }
    output.error(&printable(message));
    ExitCode::from(2)
}

/// Answers a spec with mistakes.
pub(super) fn of_spec(diagnostics: &Diagnostics, json: bool, output: &Output) -> ExitCode {
    if json {
        let told = diagnostics.iter().map(|diagnostic| told(diagnostic, diagnostics));
        say(told.collect(), diagnostics.untold());
    }
    output.note(diagnostics.render(true));
    ExitCode::from(2)
}

fn say(diagnostics: Vec<Told>, untold: usize) {
    let mazurka = env!("CARGO_PKG_VERSION");
    let refusal = Refusal { mazurka, verdict: "usage-error", diagnostics, untold };
    // The exit code tells that something is wrong, even if nobody reads the text.
    let _ = Output::new(super::output::When::Never, false).print(json::render(&refusal));
}

fn without_place(message: &str) -> Told {
    let (message, label, help) = (message.to_owned(), String::new(), Vec::new());
    Told { severity: "error", message, file: None, line: None, column: None, label, help }
}

fn told(diagnostic: &Diagnostic, all: &Diagnostics) -> Told {
    let place = diagnostic.span.map(|span| all.position(span));
    Told {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: diagnostic.message.clone(),
        file: place.map(|_| all.name().to_owned()),
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
        label: diagnostic.label.clone(),
        help: diagnostic.hints.clone(),
    }
}
