//! Known executions that are to be followed: a schedule on the command line, or a result in JSON.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::options::{Allowed, Define, SpecArgs, Unit};
use super::output::Output;
use super::{Failure, files, saved};
use crate::model::{Faults, Schedule, Semantics};
use crate::property::Recorded;
use crate::report::Subject;
use crate::report::text::shown;

/// Which execution.
#[derive(Args)]
pub(super) struct KnownArgs {
    /// A result of `check` or `run` in JSON: replay its violation, with its constants and options.
    /// If the spec has changed since, the same operations are followed as far as possible
    #[arg(value_name = "RESULT", conflicts_with = "schedule")]
    result: Option<PathBuf>,
    /// The execution, as `check` and `run` print it
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Which violation of RESULT, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "schedule")]
    violation: usize,
}

/// A known execution.
pub(super) struct Known {
    pub(super) schedule: Schedule,
    /// Its steps as they were recorded; none if it is only a schedule.
    pub(super) recorded: Vec<Recorded>,
    /// The result that it comes from.
    result: Option<Value>,
}

impl KnownArgs {
    /// The file that it is read from.
    pub(super) fn file(&self) -> Option<&Path> {
        self.result.as_deref()
    }

    /// Reads the execution, if one is given. If it is a result, the spec gets its constants and
    /// options, unless the command line has set them.
    pub(super) fn read(&self, spec: &mut SpecArgs) -> Result<Option<Known>, Failure> {
        let Some(file) = &self.result else {
            let Some(text) = &self.schedule else { return Ok(None) };
            return Ok(Some(Known { schedule: text.parse()?, recorded: Vec::new(), result: None }));
        };
        let result = read_result(file)?;
        let setup = &mut spec.setup;
        add_constants(&mut setup.defines, &result);
        if result["allow_pending"] == true {
            setup.allow_pending = true;
        }
        if result["unfair"] == true {
            setup.unfair = true;
        }
        let daemons = result["daemons"].as_array().into_iter().flatten();
        let daemons = daemons.filter_map(|name| name.as_str().map(String::from));
        setup.allow.extend(daemons.map(Allowed::Daemons));
        if let Ok(known) = serde_json::from_value::<Semantics>(result.clone()) {
            setup.mpi.complete(known);
        }
        if let Ok(known) = serde_json::from_value::<Faults>(result.clone()) {
            setup.faults = known.into();
        }
        if result["granularity"] == "statement" {
            setup.granularity = Unit::Statement;
        }
        let execution = execution_of(&result, self.violation);
        let (text, recorded) =
            execution.map_err(|why| Failure::Usage(format!("{}: {why}", shown(file))))?;
        Ok(Some(Known { schedule: text.parse()?, recorded, result: Some(result) }))
    }
}

impl Known {
    /// Says so if the spec has changed since the result was saved.
    pub(super) fn note_change(&self, subject: &Subject, output: &Output) {
        if let Some(result) = &self.result {
            saved::note_change(result, subject, output);
        }
    }
}

/// The first violation of a result in JSON: its schedule, and its steps as they were recorded.
#[cfg(unix)]
pub(super) fn first_execution_in(file: &Path) -> Result<(String, Vec<Recorded>), Failure> {
    execution_of(&read_result(file)?, 1)
        .map_err(|why| Failure::Usage(format!("{}: {why}", shown(file))))
}

fn read_result(file: &Path) -> Result<Value, Failure> {
    serde_json::from_str(&files::read(file)?).map_err(|error| {
        let file = shown(file);
        Failure::Usage(format!("{file} is not a JSON result of `mazurka check`: {error}"))
    })
}

/// The violation with this number (from 1), or the execution if the result has no violations: its
/// schedule, and its steps as they were recorded.
fn execution_of(result: &Value, number: usize) -> Result<(String, Vec<Recorded>), String> {
    let violations = result["violations"].as_array().map_or(&[][..], Vec::as_slice);
    let found = number.checked_sub(1).and_then(|index| violations.get(index));
    let execution = match (found, violations.len()) {
        (Some(violation), _) => violation,
        (None, 0) if number == 1 && result["replay"].is_string() => result,
        (None, 0) => return Err("the result has no violation to replay".into()),
        (None, 1) => return Err(format!("the result has 1 violation, not {number}")),
        (None, n) => return Err(format!("the result has violations 1 to {n}, not {number}")),
    };
    let replay = &execution["replay"];
    let replay = replay.as_str().ok_or("the violation has no `replay`; is this a result?")?;
    let steps = Vec::<Recorded>::deserialize(&execution["schedule"]);
    Ok((replay.into(), steps.unwrap_or_default()))
}

/// Adds the constants of the result that the command line does not set.
fn add_constants(defines: &mut Vec<Define>, result: &Value) {
    for (name, value) in result["constants"].as_object().into_iter().flatten() {
        let is_set = defines.iter().any(|define| &define.name == name);
        if !is_set {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            defines.push(Define { name: name.clone(), value });
        }
    }
}
