//! `mazurka mpirun`: verifies an MPI program, as `check` does a spec.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, value_parser};

use super::options::{ExplorerArgs, LimitArgs, MpiArgs, time};
use super::output::{Format, Output, format};
use super::progress::Progress;
use super::{Exit, Failure, interrupt, memory};
use crate::explore::{Budget, Explorer, Listed, Setting, explore};
use crate::model::Semantics;
use crate::mpi::{Launch, Ranks, Unreceived};
use crate::property::Properties;
use crate::report::text::{self, shown};
use crate::report::{CheckReport, Subject, Variants, json};
use crate::study::Limits;
use crate::systems::history::History;

/// Verify an MPI program: explore its executions and report what is wrong
///
/// The program is compiled with `mazurka mpicc`. Its ranks run as processes of their own, each once for every distinct history
/// of what it is told, and not once for each execution. Reported are deadlocks, calls that do not fit together, wrong arguments,
/// races for messages, buffers that are touched too early, requests and other objects that are never freed, crashes
/// and failed assertions, each with file and line, and with an execution that leads there.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The number of ranks
    #[arg(short = 'n', long = "np", value_name = "RANKS", default_value = "2", value_parser = value_parser!(u32).range(1..=256))]
    ranks: u32,
    /// The program, made by `mazurka mpicc`
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// What the program is called with
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
    #[command(flatten)]
    mpi: MpiArgs,
    /// The algorithm; `mazurka explorers` lists them
    #[arg(long, value_name = "NAME", default_value = "udpor")]
    explorer: String,
    #[command(flatten)]
    options: ExplorerArgs,
    /// Explore everything instead of stopping at the first violation
    #[arg(long)]
    all: bool,
    /// Explore everything, and for each violation report the execution with the fewest steps, then the fewest switches
    /// between processes; the shortest comes first
    #[arg(long)]
    shortest: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// A rank that computes for longer than this without a call of MPI hangs
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    step_timeout: Duration,
    /// Keep at most this many processes alive; others are run again from their beginning when they are needed
    #[arg(long, value_name = "N", default_value = "256", value_parser = value_parser!(u32).range(1..))]
    max_processes: u32,
    /// Write the result to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the result [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

const EXAMPLES: &str = "\
Examples:
  mazurka mpicc -g ring.c -o ring
  mazurka mpirun -n 4 ./ring
  mazurka mpirun -n 4 --buffering zero ./ring 100
  mazurka mpirun -n 3 --all --format json ./ring

Exit codes: 0 explored, nothing violated; 1 a violation was found; 2 the command line is wrong, or the program cannot
be run; 3 not complete, nothing found so far.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let setting = Listed::named(&args.explorer).map_err(Failure::Usage).and_then(|explorer| {
        Setting::new(explorer, args.options.options()?).map_err(Failure::Usage)
    })?;
    let limits = args.limits.limits()?;
    output.direct(args.output.as_deref(), [args.program.as_path()])?;
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let properties = Properties::default().with(Unreceived);
    let budget = Budget {
        all: args.all || args.shortest,
        shortest: args.shortest,
        properties: properties.clone(),
        cancel: interrupt::flag(),
        ..limits.budget(memory::in_use)
    };
    let mut progress = Progress::new(!output.is_quiet());
    let mut reports = Vec::new();
    for semantics in args.mpi.variants() {
        let system = args.system(semantics)?;
        if let Some(refusal) = setting.refusal(&system, &limits.budget(memory::in_use)) {
            return Err(Failure::Usage(refusal));
        }
        let outcome = explore(&system, setting, budget.clone(), &mut progress);
        let judged: (Limits, _) = (limits.clone(), properties.clone());
        let peak = memory::peak();
        let report =
            CheckReport::new(args.subject(semantics), &system, setting, judged, &outcome, peak);
        reports.push(CheckReport { shortest: args.shortest, ..report });
    }
    progress.finish();
    let (quiet, room) = (output.is_quiet(), output.room());
    match (format, &reports[..]) {
        (Format::Json, [report]) => output.print(json::render(report))?,
        (Format::Json, reports) => output.print(json::render(&Variants::new(reports)))?,
        (Format::Text, [report]) => output.print(text::Check { report, quiet, room })?,
        (Format::Text, reports) => output.print(text::Checks { reports, quiet, room })?,
    }
    Ok(Variants::new(&reports).verdict.into())
}

impl Args {
    fn system(&self, semantics: Semantics) -> Result<History<Ranks>, Failure> {
        let launch = Launch {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            size: self.ranks,
            semantics,
            step_timeout: self.step_timeout,
            base: std::env::current_dir().unwrap_or_default(),
        };
        let ranks = Ranks::new(launch).map_err(Failure::Usage)?;
        Ok(History::new(ranks).max_processes(self.max_processes as usize))
    }

    fn subject(&self, semantics: Semantics) -> Subject {
        let program = shown(&self.program);
        let constants = BTreeMap::from([("ranks".to_owned(), self.ranks.into())]);
        Subject { spec: program, constants, semantics: Some(semantics), ..Subject::in_rust(false) }
    }
}
