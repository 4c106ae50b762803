//! `mazurka reproduce`: a table of a paper beside our results, or the experiment of a paper that
//! prints plots.

#[cfg(unix)]
mod mpi_bugs;
mod stateful;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use clap::value_parser;

use super::batch::Batch;
use super::output::{Output, TableFormat, format};
use super::{Exit, Failure, spec};
use crate::explore::Setting;
use crate::report::json;
use crate::study::{Job, Ran};
use crate::workshop::papers::{self, Paper, PrintedSearch};
use crate::workshop::reproduction::{self, Reproduction};

/// Reproduce a table or an experiment of a paper, with its figures or claims beside ours
///
/// The programs and the printed figures are built in. Each search runs in a process of its own.
/// Figures that differ are marked, with the reason in a footnote.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Which table, experiment or suite
    #[arg(value_name = "TABLE", value_parser = PossibleValuesParser::new(names()))]
    table: String,
    /// Also run searches that take longer than some seconds; `stateful`: use more and larger
    /// clients
    #[arg(long)]
    full: bool,
    /// `mpi-bugs`: the folder of the suite
    #[arg(long, value_name = "FOLDER")]
    suite: Option<PathBuf>,
    /// `mpi-bugs`: only programs whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// `mpi-bugs`: the number of ranks of programs, where the suite does not say it [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=256))]
    ranks: Option<u32>,
    /// `mpi-bugs`: list the tests with a wrong answer or none, with a wrong kind or place of the
    /// error, with a disputed label, or with a report or a warning where nothing is expected
    #[arg(long)]
    list: bool,
    /// Write the table to this file [default: standard output]; `stateful`: write all results and
    /// plots to this folder, and log every search there, so that the same command runs only missing
    /// searches the next time
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the table [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

/// The name of the experiment that has no table.
const STATEFUL: &str = "stateful";

/// The name of the command for suites of programs with MPI.
#[cfg(unix)]
const MPI_BUGS: &str = "mpi-bugs";

fn names() -> impl Iterator<Item = &'static str> {
    #[cfg(unix)]
    let others = [STATEFUL, MPI_BUGS];
    #[cfg(not(unix))]
    let others = [STATEFUL];
    papers::names().chain(others)
}

const EXAMPLES: &str = "\
Tables:
  udpor          FORTE 2019, table 1: UDPOR and an exhaustive search on programs with mailboxes
  transdpor      FORTE 2012, table 1: DPOR and TransDPOR on programs with actors
  sleep-sets     FORTE 2012, table 2: DPOR and TransDPOR with sleep sets
  quasi-optimal  programs of the CAV 2018 artefact, with locks: UDPOR by k, source and optimal DPOR

Experiment:
  stateful       S-POR, DE-S-POR and DL-S-POR on 84 clients of seven data structures, and the time
                 to the first error on 80 clients with a misplaced lock: quantiles, speed-ups, and whether
                 the claims of Cirisci, Enea, Farzan and Mutluergil are confirmed. All searches of
                 a client must agree. It takes about ten minutes, 30 s for a search at most; with
                 --full there are 108 and 160 clients and 10 minutes. Its folder gets report.md,
                 clients.csv, errors.csv, plots as SVG, and runs.jsonl, the searches

Suites:
  mpi-bugs       MPI programs with and without errors: what is found in the programs of the folder given
                 by --suite, by category. Supported are the layouts of the MPI Bugs Initiative,
                 MPI-BugBench, RMARaceBench, MPI-CorrBench (a folder with a folder `correct`),
                 MPICH's test/mpi with its parts in Fortran, and tests and examples of mpi4py, for the
                 `python3` that is found first

Examples:
  mazurka reproduce udpor
  mazurka reproduce mpi-bugs --suite gencodes --list
  mazurka reproduce mpi-bugs --suite mpi4py/test --ranks 3
  mazurka reproduce transdpor -o transdpor.md
  mazurka reproduce stateful -o stateful

Exit codes: 0 every figure is as printed, or its difference is explained; 1 one differs without an
explanation, or searches of a client disagree; 2 the command line is wrong; 3 interrupted.
Ctrl-C ends the searches and prints the results so far; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.table == STATEFUL {
        return stateful::run(&args, output);
    }
    #[cfg(unix)]
    if args.table == MPI_BUGS {
        return mpi_bugs::run(&args, output);
    }
    output.direct(args.output.as_deref(), [])?;
    let format = format(args.format, args.output.as_deref(), TableFormat::Text);
    let paper = papers::named(&args.table).expect("a table, as the command line knows");
    let searches = paper.searches(args.full);
    let mut batch = Batch::new(searches.len(), output.is_quiet())?;
    let mut ran = BTreeMap::new();
    let mut not_run = 0;
    for search in searches {
        match result(&paper, &search, &mut batch)? {
            Some(result) => {
                ran.insert(search, result);
            }
            None => not_run += 1,
        }
    }
    batch.finish();
    let result = Reproduction { paper, ran, full: args.full, not_run };
    match format {
        TableFormat::Text => output.print(reproduction::Text(&result, output.room()))?,
        TableFormat::Markdown => output.print(reproduction::Document(&result))?,
        TableFormat::Csv => output.print(reproduction::csv(&result))?,
        TableFormat::Json => {
            let object = reproduction::Object::new(&result, env!("CARGO_PKG_VERSION"));
            output.print(json::render(&object))?;
        }
    }
    Ok(match (result.is_whole(), result.is_surprising()) {
        (false, _) => Exit::Incomplete,
        (true, true) => Exit::Violation,
        (true, false) => Exit::Fine,
    })
}

/// Runs a search and returns its result; `None` after an interrupt.
fn result(
    paper: &Paper,
    search: &PrintedSearch,
    batch: &mut Batch,
) -> Result<Option<Ran>, Failure> {
    let job = paper.job(search);
    match refusal(&job)? {
        Some(why) => Ok(Some(Ran::Refused(why))),
        None => Ok(batch.run(&job, None)),
    }
}

fn refusal(job: &Job) -> Result<Option<String>, Failure> {
    let setting: Setting = job.setting.parse().map_err(Failure::Usage)?;
    let program = job.case.compile().map_err(|errors| Failure::Usage(errors.render(false)))?;
    Ok(spec::refusal(&setting, &program, &job.limits))
}
