//! `mazurka count`: the number of executions of a spec.

use std::time::Duration;

use clap::Args as ClapArgs;

use super::options::{SpecArgs, bytes, time};
use super::output::{FileArgs, Format, Output};
use super::progress::Progress;
use super::spec::Spec;
use super::{Exit, Failure, interrupt, memory};
use crate::explore::{Budget, count};
use crate::property::Properties;
use crate::report::count::{CountReport, Text};
use crate::report::json;
use crate::study::Limits;

/// Count the interleavings of a spec: its complete executions, where each order of actions counts
///
/// They are not visited one by one, but counted on the state graph by addition: the time depends on
/// the number of states, not on the number of interleavings. If executions may be endless, the
/// result says so.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// Stop after this time: 30s, 5m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// Stop when this much memory is allocated: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
    #[command(flatten)]
    file: FileArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka count philosophers.maz
  mazurka count philosophers.maz -D N=5 --format json

Exit codes: 0 counted, and nothing is violated; 1 some execution violates something; 2 the command line or the
spec is wrong; 3 stopped by a limit or a signal before everything was counted, nothing found so far.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.max_memory.is_some() {
        memory::is_known()?;
    }
    let limits = Limits { timeout: args.timeout, max_memory: args.max_memory, ..Limits::default() };
    output.direct(args.file.file(), [args.spec.path.as_path()])?;
    let spec = Spec::load(&args.spec, output)?;
    let budget = Budget {
        properties: Properties::default().allow_pending(spec.subject.allow_pending),
        cancel: interrupt::flag()?,
        ..limits.budget(memory::in_use)
    };
    let mut progress = Progress::new(!output.is_quiet());
    let count = count(&spec.program, budget, &mut progress);
    progress.finish();
    let report =
        CountReport::new(spec.subject.clone(), &spec.program, limits, &count, memory::peak());
    match args.file.format() {
        Format::Json => output.print(json::render(&report))?,
        Format::Text => output.print(Text(&report))?,
    }
    Ok(report.verdict.into())
}
