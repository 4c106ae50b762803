//! Results for the machines that build and test software: JUnit XML and SARIF.
//!
//! Both formats know only tests that pass and tests that fail. A search that was stopped has shown
//! nothing, and must not count as passed: it is an error in JUnit, and a result of the rule
//! `not-decided` in SARIF. The texts are bounded, as servers refuse large files.

mod junit;
mod rows;
mod sarif;

pub(crate) use junit::{Case, Judged, junit};
pub(crate) use rows::rows;
pub(crate) use sarif::sarif;

use super::text::{Check, plain, stop_sentence};
use super::{CheckReport, ViolationReport};
use crate::explore::{Verdict, ViolationKind};

/// The longest text of a report, in bytes.
const MOST_TEXT: usize = 1 << 16;

/// The test case of a search, as on the command line: `check -D N=4`.
pub(crate) fn case(report: &CheckReport) -> Case {
    Case {
        class: report.subject.spec.clone(),
        name: name(report),
        seconds: report.stats.wall_seconds,
        judged: judged(report),
    }
}

fn judged(report: &CheckReport) -> Judged {
    let text = || bounded(&plain(Check { report, quiet: false, room: 100 }), MOST_TEXT);
    if let [first, rest @ ..] = &report.violations[..] {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        let (kind, message) = (kind(first.kind), headline(first) + &more);
        return Judged::Failed { kind, message, text: text() };
    }
    if report.is_denied() {
        let message = "a warning that is denied".to_owned();
        return Judged::Failed { kind: "denied", message, text: text() };
    }
    if report.verdict == Verdict::Ok && report.complete {
        return Judged::Passed;
    }
    let reason = report.stopped_by.map_or("incomplete", |reason| reason.word());
    Judged::Undecided { reason: reason.into(), message: undecided(report), text: text() }
}

/// What is different in this search from a search without options that change the program.
fn name(report: &CheckReport) -> String {
    let mut name = "check".to_owned();
    for define in &report.subject.defines {
        name += &format!(" -D {define}");
    }
    if let Some(semantics) = report.subject.semantics {
        name += &format!(" --buffering {}", semantics.buffering);
    }
    name
}

/// The sentence about a search that was stopped and has found nothing.
fn undecided(report: &CheckReport) -> String {
    let why = report.stopped_by.map(|reason| stop_sentence(reason, report));
    format!("not decided: {}", why.unwrap_or_default())
}

/// What is wrong, in one line.
fn headline(violation: &ViolationReport) -> String {
    match &violation.process {
        Some(process) => format!("{process}: {}", violation.message),
        None => violation.message.clone(),
    }
}

fn kind(kind: ViolationKind) -> &'static str {
    Verdict::from(kind).word()
}

/// The beginning of a text, up to the end of a line, and how much is left out.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    let left_out = text[end..].lines().count();
    format!("{}.. {left_out} more lines are left out\n", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_the_end_of_a_line() {
        assert_eq!(bounded("one\ntwo\n", 8), "one\ntwo\n");
        assert_eq!(bounded("one\ntwo\nthree\n", 8), "one\ntwo\n.. 1 more lines are left out\n");
        assert_eq!(bounded("one\ntwo\nthree\n", 6), "one\n.. 2 more lines are left out\n");
        assert_eq!(bounded("éé", 3), "é.. 1 more lines are left out\n");
    }
}
