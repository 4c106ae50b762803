//! SARIF 2.1.0 (OASIS, 2020), the format in which tools for static analysis report findings: each
//! violation is a result, and its counterexample a code flow.
//!
//! A code flow may have a thread flow for each process. Viewers show one at a time, so the steps
//! are one thread flow here, in the order of the execution, each with the name of its process.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::{MOST_TEXT, bounded, headline, kind, undecided};
use crate::property::Step;
use crate::report::lint::Level;
use crate::report::{CheckReport, ViolationReport};

/// The most steps of a counterexample: its first and its last ones.
const MOST_STEPS: usize = 1000;

/// The rule of a search that was stopped.
const UNDECIDED: &str = "not-decided";

/// What our own rules are about. The other rules are lints, which have names that say it.
const RULES: [(&str, &str); 6] = [
    ("deadlock", "Processes wait for ever."),
    ("livelock", "Processes repeat loops for ever, and nothing changes."),
    ("assertion", "An assertion, a final block or an invariant fails."),
    ("error", "A process fails at run time."),
    ("liveness", "What must happen in the end never happens."),
    (UNDECIDED, "The search was stopped and has found nothing so far. This is no success."),
];

/// The log of these searches, as one run.
pub(crate) fn sarif(reports: &[CheckReport]) -> Value {
    let results: Vec<Value> = reports.iter().flat_map(results).collect();
    let version = reports.first().map_or("", |report| report.subject.mazurka);
    let used: BTreeSet<&str> = results.iter().filter_map(|r| r["ruleId"].as_str()).collect();
    let rules: Vec<Value> = used.into_iter().map(rule).collect();
    let is_decided = |report: &CheckReport| report.complete || !report.violations.is_empty();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "mazurka", "version": version, "rules": rules}},
            "invocations": [{"executionSuccessful": reports.iter().all(is_decided)}],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(id: &str) -> Value {
    let about = RULES.iter().find(|(known, _)| *known == id);
    let text = about.map_or_else(|| format!("A lint: {id}."), |(_, text)| (*text).to_owned());
    json!({"id": id, "shortDescription": {"text": text}})
}

fn results(report: &CheckReport) -> Vec<Value> {
    let violations = report.violations.iter().map(|violation| result(report, violation));
    let is_stopped = !report.complete && report.violations.is_empty();
    let stopped = is_stopped.then(|| {
        let reason = report.stopped_by.map(|reason| reason.word());
        json!({
            "ruleId": UNDECIDED,
            "level": "note",
            "message": {"text": bounded(&undecided(report), MOST_TEXT)},
            "locations": [place(&uri(&report.subject.path), None, None)],
            "properties": {"stoppedBy": reason},
        })
    });
    let warnings = report.warnings.iter().map(|warning| {
        let level = if warning.level == Level::Deny { "error" } else { "warning" };
        let file = file(report, &warning.file);
        json!({
            "ruleId": warning.lint.name(),
            "level": level,
            "message": {"text": bounded(&warning.message, MOST_TEXT)},
            "locations": [place(&file, warning.line, warning.column)],
        })
    });
    violations.chain(stopped).chain(warnings).collect()
}

fn result(report: &CheckReport, violation: &ViolationReport) -> Value {
    let file = file(report, &violation.file);
    let mut text = headline(violation);
    for waiting in &violation.blocked {
        text +=
            &format!("\n{} waits at {} for {}", waiting.process, waiting.action, waiting.waits_for);
    }
    if let Some(from) = violation.loop_from.filter(|&from| from < violation.schedule.len()) {
        text += &format!("\nThe steps from {} on are repeated for ever", from + 1);
    }
    let steps = &violation.schedule;
    let ends = MOST_STEPS / 2;
    let mut locations = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if steps.len() <= MOST_STEPS || at < ends || at >= steps.len() - ends {
            locations.push(location(report, at, step));
        }
    }
    if locations.len() < steps.len() {
        text += &format!("\n{} steps are left out", steps.len() - locations.len());
    }
    let mut result = json!({
        "ruleId": kind(violation.kind),
        "level": "error",
        "message": {"text": bounded(&text, MOST_TEXT)},
        "locations": [place(&file, violation.line, violation.column)],
        "properties": {"explorer": report.explorer, "constants": report.subject.constants},
    });
    // A schedule is as long as its execution.
    if steps.len() <= MOST_STEPS {
        result["properties"]["replay"] = violation.replay.as_str().into();
    }
    if !locations.is_empty() {
        result["codeFlows"] = json!([{"threadFlows": [{"locations": locations}]}]);
    }
    result
}

/// A step as a location of the thread flow.
fn location(report: &CheckReport, at: usize, step: &Step) -> Value {
    let file = step.file.as_deref().unwrap_or(&report.subject.spec);
    let mut location = place(&self::file(report, file), step.line, step.column);
    let outcome = step.outcome.as_ref().map(|outcome| format!(" -> {outcome}"));
    let text = format!("{}: {}{}", step.process, step.action, outcome.unwrap_or_default());
    location["message"] = json!({"text": bounded(&text, MOST_TEXT)});
    json!({"location": location, "executionOrder": at + 1})
}

fn place(uri: &str, line: Option<u32>, column: Option<u32>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri}});
    // Lines and columns are counted from 1.
    if let Some(line) = line.filter(|&line| line > 0) {
        place["region"] = json!({"startLine": line});
        if let Some(column) = column.filter(|&column| column > 0) {
            place["region"]["startColumn"] = column.into();
        }
    }
    json!({"physicalLocation": place})
}

/// The address of a file that a report names.
fn file(report: &CheckReport, name: &str) -> String {
    match name == report.subject.spec {
        true => uri(&report.subject.path),
        false => uri(Path::new(name)),
    }
}

/// A path as an address: relative if the path is. Letters that an address cannot have are encoded.
fn uri(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = if text.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in text.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_addresses() {
        assert_eq!(uri(Path::new("specs/a b.maz")), "specs/a%20b.maz");
        assert_eq!(uri(Path::new("/tmp/é.maz")), "file:///tmp/%C3%A9.maz");
        assert_eq!(uri(Path::new("-")), "-");
    }
}
