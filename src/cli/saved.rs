//! Violations that are kept (`--save DIR`), each in a file of its own, to be replayed later,
//! perhaps on a program that has changed.
//!
//! A file is the result of the search in JSON with this violation alone, and in `saved` the hash of
//! the program and the command that replays it. Its name is that of the program, the kind of the
//! violation, and a hash of program and execution: the same finding is kept once.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::output::Output;
use super::{Failure, files};
use crate::report::text::{plural, quoted_path, shown};
use crate::report::{CheckReport, Subject, json as as_json};
use crate::study::hash;

/// Writes the violations of these reports to files in the folder, which is made if need be.
pub(super) fn save(
    folder: &Path,
    reports: &[CheckReport],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut saved = Vec::new();
    for report in reports {
        let result = serde_json::to_value(report).expect("reports are serialisable");
        for index in 0..report.violations.len() {
            let (name, text) = file_of(&report.subject, result.clone(), index, folder);
            fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, error))?;
            files::write(&name, &text)?;
            saved.push(name);
        }
    }
    output.finish()?;
    if let [first, ..] = &saved[..] {
        let many = plural(saved.len() as u64, "violation", "violations");
        let replay = command(&reports[0].subject, first);
        output.remark(format!(
            "Saved {many} in {}. Replay the first with\n  {replay}\n",
            shown(folder)
        ));
    }
    Ok(())
}

/// The file of the violation with this index, and its contents.
fn file_of(subject: &Subject, mut result: Value, index: usize, folder: &Path) -> (PathBuf, String) {
    let violation = result["violations"][index].take();
    let kind = violation["kind"].as_str().unwrap_or("violation").to_owned();
    let program_hash = hash_of(subject);
    let replay = violation["replay"].as_str().unwrap_or_default();
    let mark = hash(format!("{program_hash} {replay} {}", result["constants"]));
    let stem = subject.path.file_stem().unwrap_or("program".as_ref()).to_string_lossy();
    let stem = if stem == "-" { "program".into() } else { stem };
    let file = folder.join(format!("{stem}-{kind}-{}.json", &mark[..8]));
    result["violations"] = Value::Array(vec![violation]);
    let command = command(subject, &file);
    result["saved"] = json!({ "program_hash": program_hash, "command": command });
    (file, as_json::render(&result))
}

/// The command that replays the execution in a file.
fn command(subject: &Subject, file: &Path) -> String {
    let file = quoted_path(file);
    match &subject.command {
        Some([before, after]) => format!("{before} --schedule {file} {after}"),
        None if files::is_stdin(&subject.path) => format!("mazurka replay SPEC {file}"),
        None => format!("mazurka replay {} {file}", quoted_path(&subject.path)),
    }
}

/// The hash of the program: the text of a spec, or the file of a binary.
fn hash_of(subject: &Subject) -> String {
    match fs::read(&subject.path) {
        Ok(contents) if !files::is_stdin(&subject.path) => hash(contents),
        _ => hash(&subject.source),
    }
}

/// A note if this result was saved for another program than the one at hand.
pub(super) fn note_change(result: &Value, subject: &Subject, output: &Output) {
    let known = result["saved"]["program_hash"].as_str();
    if known.is_some_and(|known| known != hash_of(subject)) {
        output.note(format!("{} has changed since this execution was saved.\n", subject.spec));
    }
}
