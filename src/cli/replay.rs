//! `mazurka replay`: a known execution, step by step, with what each step changes.

use std::fs;
use std::io::{self, BufRead, IsTerminal};

use clap::Args as ClapArgs;
use serde_json::Value;

use super::execution::Execution;
use super::options::{Define, SpecArgs, Unit};
use super::output::{Format, Output};
use super::spec::Spec;
use super::{Exit, Failure};
use crate::property::schedule;
use crate::report::{json, text};

/// Show a known execution step by step: each action and what it changed
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// A result of `check` or `run` in JSON: replays its violation, with its constants
    #[arg(value_name = "FILE", required_unless_present = "schedule", conflicts_with = "schedule")]
    file: Option<String>,
    /// The execution, as `check` and `run` print it
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Which violation of FILE, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "schedule")]
    violation: usize,
    /// Wait for Enter after each step, if on a terminal
    #[arg(long)]
    step: bool,
    /// How to print the execution
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
A schedule is a list of process numbers, in order of declaration: 0,0,1 is two steps of the first
process and one of the second. 2:1 is a step of process 2 with its outcome number 1, where an
operation has several; 0x3 is 0,0,0.

Examples:
  mazurka replay philosophers.maz --schedule 0x2,1x2,2x2
  mazurka check philosophers.maz --format json > result.json
  mazurka replay philosophers.maz result.json --step";

pub(super) fn run(mut args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let text = match &args.file {
        None => args.schedule.unwrap_or_default(),
        Some(file) => {
            let result = read_result(file)?;
            add_constants(&mut args.spec.setup.defines, &result);
            if result["allow_pending"] == true {
                args.spec.setup.allow_pending = true;
            }
            if result["granularity"] == "statement" {
                args.spec.setup.granularity = Unit::Statement;
            }
            schedule_of(&result, args.violation)
                .map_err(|why| Failure::Usage(format!("{file}: {why}")))?
        }
    };
    let schedule = schedule::parse(&text).map_err(Failure::Usage)?;
    let spec = Spec::load(&args.spec, output)?;
    let mut execution = Execution::new(&spec.program, spec.subject.allow_pending);
    for action in schedule {
        execution.take(action)?;
    }
    let report = execution.report(&spec, None);
    match args.format {
        Format::Json => output.print(json::render(&report))?,
        Format::Text => {
            output.print(text::Title(&report))?;
            let table = text::StepTable::new(&report.schedule);
            output.print(format!("{}\n", table.header()))?;
            let pause = args.step && io::stdin().is_terminal() && io::stdout().is_terminal();
            if pause {
                output.note("Enter shows the next step, q skips the rest.\n");
            }
            for (index, changes) in execution.changes.iter().enumerate() {
                let rows = text::ChangeRows(changes);
                output.print(format!("{}\n{rows}", table.row(index)))?;
                let is_last = index + 1 == execution.changes.len();
                if pause && !is_last && !wait_for_enter() {
                    break;
                }
            }
            output.print(text::Ending(&report))?;
        }
    }
    Ok(report.verdict.into())
}

fn read_result(file: &str) -> Result<Value, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::Usage(format!("cannot read {file}: {error}")))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::Usage(format!("{file} is no JSON result of `mazurka check`: {error}"))
    })
}

/// The schedule of the violation with this number, or of the execution if that is all there is.
fn schedule_of(result: &Value, number: usize) -> Result<String, String> {
    let violations = result["violations"].as_array().map_or(&[][..], Vec::as_slice);
    let found = number.checked_sub(1).and_then(|index| violations.get(index));
    let replay = match (found, violations.len()) {
        (Some(violation), _) => &violation["replay"],
        (None, 0) if number == 1 && result["replay"].is_string() => &result["replay"],
        (None, 0) => return Err("the result has no violation to replay".into()),
        (None, 1) => return Err(format!("the result has 1 violation, not {number}")),
        (None, n) => return Err(format!("the result has violations 1 to {n}, not {number}")),
    };
    let replay = replay.as_str().ok_or("the violation has no `replay`; is this a result?")?;
    Ok(replay.into())
}

/// The constants of the result, where the command line does not set them.
fn add_constants(defines: &mut Vec<Define>, result: &Value) {
    for (name, value) in result["constants"].as_object().into_iter().flatten() {
        let is_set = defines.iter().any(|define| &define.name == name);
        if !is_set {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            defines.push(Define { name: name.clone(), value });
        }
    }
}

/// Is more wanted?
fn wait_for_enter() -> bool {
    let mut line = String::new();
    matches!(io::stdin().lock().read_line(&mut line), Ok(n) if n > 0 && line.trim() != "q")
}
