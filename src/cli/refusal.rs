//! Error reports for bad input: for people on standard error, and with `--format json` also as an
//! object on standard output, so that a program that reads results always finds one.

use std::ffi::OsString;
use std::process::ExitCode;

use serde::Serialize;

use super::output::Output;
use crate::lang::{Diagnostic, Diagnostics, Severity};
use crate::model::printable;
use crate::report::json;

/// The JSON object for a wrong command line or spec.
#[derive(Serialize)]
struct Refusal {
    mazurka: &'static str,
    verdict: &'static str,
    diagnostics: Vec<Listed>,
    /// The number of further diagnostics, which are not listed.
    #[serde(rename = "untold")]
    omitted: usize,
}

/// A diagnostic in the JSON object.
#[derive(Serialize)]
struct Listed {
    severity: &'static str,
    message: String,
    /// The file; `None`, like `line` and `column`, if the mistake is not in a file.
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    /// The text under the offending place; may be empty.
    label: String,
    /// Advice.
    help: Vec<String>,
}

/// Do the arguments ask for JSON? This does not use clap, which may have rejected them.
pub(super) fn wants_json(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.collect();
    let apart = args.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    apart || args.iter().any(|arg| arg == "--format=json")
}

/// Reports arguments that clap has rejected, or prints the help that they ask for. Returns the exit
/// code.
pub(super) fn of_arguments(error: &clap::Error, json: bool) -> ExitCode {
    let text = error.render().to_string();
    // A request for help is not an error.
    if error.use_stderr() && json {
        say(vec![without_place(text.trim_start_matches("error: ").trim_end())], 0);
    }
    // If this cannot be written, the error cannot be reported.
    let _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}

/// Reports a command that cannot be carried out. Returns the exit code.
pub(super) fn of_usage(message: &str, json: bool, output: &Output) -> ExitCode {
    if json {
        say(vec![without_place(message)], 0);
    }
    output.error(&printable(message));
    ExitCode::from(2)
}

/// Reports the mistakes in a spec. Returns the exit code.
pub(super) fn of_spec(diagnostics: &Diagnostics, json: bool, output: &Output) -> ExitCode {
    if json {
        let all = diagnostics.iter().map(|diagnostic| listed(diagnostic, diagnostics));
        say(all.collect(), diagnostics.omitted());
    }
    output.note(diagnostics.render(true));
    ExitCode::from(2)
}

fn say(diagnostics: Vec<Listed>, omitted: usize) {
    let mazurka = env!("CARGO_PKG_VERSION");
    let refusal = Refusal { mazurka, verdict: "usage-error", diagnostics, omitted };
    // If this cannot be written, the exit code still reports the error.
    let _ = Output::new(super::output::When::Never, false).print(json::render(&refusal));
}

fn without_place(message: &str) -> Listed {
    let (message, label, help) = (message.to_owned(), String::new(), Vec::new());
    Listed { severity: "error", message, file: None, line: None, column: None, label, help }
}

fn listed(diagnostic: &Diagnostic, all: &Diagnostics) -> Listed {
    let place = diagnostic.span.map(|span| all.position(span));
    Listed {
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
