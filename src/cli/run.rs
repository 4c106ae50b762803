//! `mazurka run`: shows one random or scripted execution.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::bounds::BoundArgs;
use super::execution::{Execution, note_limit};
use super::options::SpecArgs;
use super::output::{Format, Output, format};
use super::spec::Spec;
use super::{Exit, Failure};
use crate::explore::ENDLESS;
use crate::model::Schedule;
use crate::random::SplitMix64;
use crate::report::{json, text};

/// Show one execution of a spec, random or scripted, step by step
///
/// It stops at the first failed assertion or run-time error, when no process can move, or at
/// --depth. A random execution is a test, not a proof: `check` explores all of them.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// The seed of the random choices: another seed may give another execution [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take these steps, as printed by `check` or `run`; with --seed, continue at random after them
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<String>,
    /// Cut the execution after N steps
    #[arg(long, value_name = "N", default_value_t = ENDLESS)]
    depth: u32,
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
Examples:
  mazurka run philosophers.maz
  mazurka run philosophers.maz --seed 42 -D N=5
  mazurka run philosophers.maz --schedule 0,1,2 --seed 42

Exit codes: 0 all processes ended, nothing wrong; 1 a deadlock, a failed assertion or an error;
2 the command line, the spec or the schedule is wrong; 3 something could still move at the end.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let script = args.schedule.as_deref().unwrap_or_default();
    let script: Schedule =
        script.parse().map_err(|why| Failure::Usage(format!("--schedule: {why}")))?;
    let seed = match args.schedule {
        Some(_) => args.seed,
        None => Some(args.seed.unwrap_or(0)),
    };
    output.direct(args.output.as_deref(), [args.spec.path.as_path()])?;
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let spec = Spec::load(&args.spec, output)?;
    let bounds = args.bounds.begin(output)?;
    let mut execution = Execution::new(&spec.program, spec.subject.allow_pending);
    execution.replay.stop_at(bounds.signal());
    execution.follow(&script, &bounds)?;
    if let Some(seed) = seed {
        let mut random = SplitMix64::new(seed);
        execution.at_random(&mut random, args.depth as usize, &|| bounds.reached().is_some())?;
    }
    let report = execution.report(spec.subject.clone(), seed);
    let reached = bounds.reached();
    drop(bounds);
    match format {
        Format::Json => output.print(json::render(&report))?,
        Format::Text if output.is_quiet() => output.print(text::Upshot(&report))?,
        Format::Text => {
            output.print(text::Title(&report))?;
            output.print(text::StepTable::new(&report.schedule, output.room()))?;
            output.print(text::Ending(&report, output.room()))?;
            let command = text::replay_command(&report.subject, &report.replay);
            output.print(format!("\nThis execution with all it changes:\n  {command}\n"))?;
        }
    }
    note_limit(reached, output);
    Ok(report.verdict.into())
}
