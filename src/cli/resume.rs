//! `mazurka resume`: goes on with a search that was saved.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args as ClapArgs, value_parser};

use super::checkpoint::{self, IntervalArgs};
#[cfg(unix)]
use super::mpirun;
use super::options::{EndArgs, LintArgs};
use super::output::Output;
use super::progress::ProgressArgs;
use super::session::Session;
use super::verification::{self, ResultArgs};
use super::{Exit, Failure, states};
use crate::report::text::shown;
use crate::study::{Searchable, Stored};

/// Go on with a search that `check` or `mpirun` has saved (`--checkpoint`)
///
/// The file has the program, the explorer and its options, and what is done so far. What it says to
/// be done is trusted, and the report says "resumed from FILE". The search is saved to the same
/// file. With `exhaustive`, `parsimonious`, `sleep` and explorers of states the final figures are
/// those of a search that was not interrupted; with other explorers they are those of a search with
/// `--checkpoint` that was not interrupted. (`parsimonious` may show another execution with the
/// same violation, and without --all it may find another violation first. So may `prefix`.)
///
/// The file of an MPI program names the program, which is run: take such files only from whom you
/// would take a program.
///
/// Files that `check --branches`, `check --branch` and `check` under `mpirun` have written are
/// taken, too.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file that --checkpoint has written
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The number of threads, for `exhaustive`, `parsimonious`, `sleep` and `stateful` [default:
    /// one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    #[command(flatten)]
    interval: IntervalArgs,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    end: EndArgs,
    #[command(flatten)]
    lints: LintArgs,
    #[command(flatten)]
    results: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz --timeout 1h --checkpoint search.json
  mazurka resume search.json
  mazurka resume search.json --timeout 1h -o result.json

Exit codes: as for `check`; 2 also if FILE is damaged, or no checkpoint.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let lints = args.lints.levels()?;
    verification::refuse_unreached(&lints)?;
    let limits = args.end.limits()?;
    let file = args.file.as_path();
    let drawing = args.results.direct([file], output)?;
    let session = Session {
        file,
        input: file,
        jobs: args.jobs.and_then(NonZeroU32::new),
        interval: args.interval.checkpoint_interval,
        progress: args.progress.progress(output),
        limits,
        lints,
    };
    let (name, results) = (Some(shown(file)), (&args.results, drawing));
    if let Some((stored, state)) = states::read(file)? {
        return states::go_on(stored, Some(state), (name, session), results, output);
    }
    let stored = Stored::read(file)?;
    match stored.task.program {
        #[cfg(unix)]
        Searchable::Mpi { .. } => mpirun::resume(stored, session, results, output),
        _ => checkpoint::go_on(stored, name, session, results, output),
    }
}
