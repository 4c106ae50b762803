//! `mazurka replay`: shows a known execution step by step, with the changes of each step.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::bounds::BoundArgs;
use super::execution::{Execution, note_limit};
use super::known::KnownArgs;
use super::options::SpecArgs;
use super::output::{Format, Output, format};
use super::spec::Spec;
use super::{Exit, Failure};
use crate::property::Change;
use crate::report::text;
use crate::report::{ExecutionReport, json};

/// Show a known execution step by step: each action and what it changed
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    known: KnownArgs,
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
  2:1   of an actor, or of a receive or probe at a p2p or bag mailbox: it takes message 1. Messages
        are numbered in the order in which this execution sends them, counted from 0, to all actors
        and at all such mailboxes together; those that init sends come first
  2:-2  of an actor: it runs its first internal handler; 2:-3 its second

Examples:
  mazurka replay philosophers.maz --schedule 0x2,1x2,2x2
  mazurka check philosophers.maz -o result.json
  mazurka replay philosophers.maz result.json --step";

const MISSING_EXECUTION: &str = "replay what? Give the execution: `--schedule 0,1x2`, as `check` and `run` print it, or the \
    result of `mazurka check SPEC -o result.json` after the spec";

pub(super) fn run(mut args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let inputs = [Some(args.spec.path.as_path()), args.known.file()];
    output.direct(args.output.as_deref(), inputs.into_iter().flatten())?;
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let known = args.known.read(&mut args.spec)?;
    let Some(known) = known else { return Err(Failure::Usage(MISSING_EXECUTION.into())) };
    let spec = Spec::load(&args.spec, output)?;
    known.note_change(&spec.subject, output);
    let bounds = args.bounds.begin(output)?;
    let mut execution = Execution::new(&spec.program, spec.subject.allow_pending);
    execution.replay.stop_at(bounds.signal());
    let divergence = execution.follow_recorded(&known.schedule, &known.recorded, &bounds)?;
    let is_whole = bounds.reached().is_none() && divergence.is_none();
    let mut report = execution.report(spec.subject.clone(), None);
    report.divergence = divergence;
    if known.schedule.loop_from().is_some() && is_whole {
        execution.judge_loop(&known.schedule, &mut report)?;
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

/// Waits for a line of input; false at the end of the input, or if the user types q.
fn wait_for_enter() -> bool {
    let mut line = String::new();
    matches!(io::stdin().lock().read_line(&mut line), Ok(n) if n > 0 && line.trim() != "q")
}
