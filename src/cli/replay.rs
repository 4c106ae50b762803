//! `mazurka replay`: shows a known execution step by step, with the changes of each step.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Deserialize;
use serde_json::Value;

use super::bounds::BoundArgs;
use super::execution::{Execution, note_limit};
use super::options::{Allowed, Define, SpecArgs, Unit};
use super::output::{Format, Output, format};
use super::spec::Spec;
use super::{Exit, Failure, files, saved};
use crate::model::{Faults, Schedule, Semantics};
use crate::property::{Change, Recorded};
use crate::report::text::{self, shown};
use crate::report::{ExecutionReport, json};

/// Show a known execution step by step: each action and what it changed
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
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
    /// Wait for Enter after each step, if on a terminal
    #[arg(long)]
    step: bool,
    #[command(flatten)]
    bounds: BoundArgs,
    /// Write the execution to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the execution [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

const EXAMPLES: &str = "\
A schedule is a list of steps. Each is the number of a process or an actor, counted from 0: first
those that exist from the start, in order of declaration, then those that are spawned, in the order
in which this execution spawns them. 0,0,1 is two steps of the first and one of the second; 0x3 is
0,0,0.

The actions after a slash are repeated for ever: 0,1/2,0. If there are none, the execution ends.

If a step can have several outcomes, a number after a colon selects one; without it, it is 0.
  2:1   of a process: waitany returns 1, or choose the second number of its range
  2:-1  testany finds nothing
  2:1   a receive or probe at a p2p or bag mailbox gets message 1, counted in the order of sending
  2:1   of an actor: it takes message 1. Messages are numbered in the order in which this execution
        sends them, counted from 0, for all actors together; those that init sends come first
  2:-2  of an actor: it runs its first internal handler; 2:-3 its second

Examples:
  mazurka replay philosophers.maz --schedule 0x2,1x2,2x2
  mazurka check philosophers.maz -o result.json
  mazurka replay philosophers.maz result.json --step";

const MISSING_EXECUTION: &str = "replay what? Give the execution: `--schedule 0,1x2`, as `check` and `run` print it, or the \
    result of `mazurka check SPEC -o result.json` after the spec";

pub(super) fn run(mut args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let inputs = [Some(&args.spec.path), args.result.as_ref()];
    output.direct(args.output.as_deref(), inputs.into_iter().flatten().map(PathBuf::as_path))?;
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let mut known = None;
    let (text, recorded) = match (&args.result, &args.schedule) {
        (None, None) => return Err(Failure::Usage(MISSING_EXECUTION.into())),
        (None, Some(schedule)) => (schedule.clone(), Vec::new()),
        (Some(file), _) => {
            let result = read_result(file)?;
            add_constants(&mut args.spec.setup.defines, &result);
            if result["allow_pending"] == true {
                args.spec.setup.allow_pending = true;
            }
            if result["unfair"] == true {
                args.spec.setup.unfair = true;
            }
            let daemons = result["daemons"].as_array().into_iter().flatten();
            let daemons = daemons.filter_map(|name| name.as_str().map(String::from));
            args.spec.setup.allow.extend(daemons.map(Allowed::Daemons));
            if let Ok(known) = serde_json::from_value::<Semantics>(result.clone()) {
                args.spec.setup.mpi.complete(known);
            }
            if let Ok(known) = serde_json::from_value::<Faults>(result.clone()) {
                args.spec.setup.faults = known.into();
            }
            if result["granularity"] == "statement" {
                args.spec.setup.granularity = Unit::Statement;
            }
            let execution = execution_of(&result, args.violation);
            known = Some(result);
            execution.map_err(|why| Failure::Usage(format!("{}: {why}", shown(file))))?
        }
    };
    let schedule: Schedule = text.parse()?;
    let spec = Spec::load(&args.spec, output)?;
    if let Some(known) = &known {
        saved::note_change(known, &spec.subject, output);
    }
    let bounds = args.bounds.begin(output)?;
    let mut execution = Execution::new(&spec.program, spec.subject.allow_pending);
    execution.replay.stop_at(bounds.signal());
    let divergence = execution.follow_recorded(&schedule, &recorded, &bounds)?;
    let is_whole = bounds.reached().is_none() && divergence.is_none();
    let mut report = execution.report(spec.subject.clone(), None);
    report.divergence = divergence;
    if schedule.loop_from().is_some() && is_whole {
        execution.judge_loop(&schedule, &mut report)?;
    }
    let reached = bounds.reached();
    drop(bounds);
    let exit = show(&report, &execution.changes, format, args.step, output)?;
    note_limit(reached, output);
    Ok(exit)
}

/// Shows an execution. With `step`, waits for Enter after each step, if on a terminal.
pub(super) fn show(
    report: &ExecutionReport,
    changes: &[Vec<Change>],
    format: Format,
    step: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match format {
        Format::Json => output.print(json::render(report))?,
        Format::Text if output.is_quiet() => output.print(text::Upshot(report))?,
        Format::Text => {
            output.print(text::Title(report))?;
            let table = text::StepTable::new(&report.schedule, output.room());
            let table = table.with_loop(report.loop_from());
            output.print(format!("{}\n", table.header()))?;
            let pause = step && io::stdin().is_terminal() && io::stdout().is_terminal();
            if pause {
                output.note("Enter shows the next step, q skips the rest.\n");
            }
            for (index, changed) in changes.iter().enumerate() {
                if let Some(mark) = table.mark(index) {
                    output.print(format!("{mark}\n"))?;
                }
                let rows = text::ChangeRows(changed, output.room());
                output.print(format!("{}\n{rows}", table.row(index)))?;
                let is_last = index + 1 == changes.len();
                if pause && !is_last && !wait_for_enter() {
                    break;
                }
            }
            output.print(text::Ending(report, output.room()))?;
            if let Some(divergence) = &report.divergence {
                output.print(format!("\n{divergence}"))?;
            }
        }
    }
    Ok(report.verdict.into())
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

/// Waits for a line of input; false at the end of the input, or if the user types q.
fn wait_for_enter() -> bool {
    let mut line = String::new();
    matches!(io::stdin().lock().read_line(&mut line), Ok(n) if n > 0 && line.trim() != "q")
}
