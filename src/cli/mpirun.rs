//! `mazurka mpirun`: verifies an MPI program, as `check` verifies a spec.

mod estimated;
mod saved;
mod searched;

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, ValueEnum, value_parser};

use super::bounds::Bounds;
use super::checkpoint::CheckpointArgs;
use super::execution::Execution;
use super::options::{LintArgs, MpiArgs, bytes, time};
use super::output::Output;
use super::session::Session;
use super::spec::Spec;
use super::verification::{ResultArgs, SearchArgs};
use super::{Exit, Failure, known, memory, replay};
use crate::explore::{Budget, Explorer, explore};
use crate::model::{AnySystem, Schedule, Semantics};
use crate::mpi::Unreceived;
use crate::property::Properties;
use crate::report::FirstGood;
use crate::report::lint::Levels;
use crate::study::MpiProgram;
use estimated::estimated;
pub(super) use saved::resume;
use searched::{MpiSearch, finish};

/// Verify an MPI program: explore its executions and report what is wrong
///
/// The program is compiled with `mazurka mpicc`, or for the ABI of MPI 5.0, or it is a script
/// (`python3 program.py`). Its ranks run as separate processes. A rank is run once for each
/// distinct sequence of results that it receives from MPI, not once for each execution. Mazurka
/// reports deadlocks, calls that do not match, wrong arguments, races for messages and for memory,
/// buffers that are accessed too early, requests that are never completed, crashes and failed
/// assertions, each with file and line and with an execution that leads to it. It warns about
/// communicators and other objects that are never freed.
///
/// All behaviour that MPI permits is explored: by default --buffering and --collectives are `any`,
/// so each standard send and each collective may end early or late. An error that is found with
/// another value is also found with `any`.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The number of ranks
    #[arg(short = 'n', long = "np", value_name = "RANKS", default_value = "2", value_parser = value_parser!(u32).range(i64::from(*RANKS.start())..=i64::from(*RANKS.end())))]
    ranks: u32,
    /// The program and its arguments: options for `mpirun` come before it
    #[arg(value_names = ["PROGRAM", "ARGUMENT"], required = true, num_args = 1.., trailing_var_arg = true)]
    command: Vec<OsString>,
    #[command(flatten)]
    mpi: MpiArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    lints: LintArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    /// Report that a rank hangs if it computes for longer than this without calling MPI
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    step_timeout: Duration,
    /// How far a rank's clock advances whenever the rank reads it: for example 10ms for a program
    /// that repeats something until enough time has passed
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = time)]
    tick: Duration,
    /// The memory that a rank may have; the result is not decided if one needs more
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = bytes)]
    rank_memory: u64,
    /// Which files ranks change: `own`, copies in each execution, or `real`, the real files
    /// whenever a rank is run
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    files: Whose,
    /// Keep at most N processes alive; others are run again from their beginning when they are
    /// needed
    #[arg(long, value_name = "N", default_value = "256", value_parser = value_parser!(u32).range(1..))]
    max_processes: u32,
    /// Do not search: show this execution, given as reports print it, or as a file with what
    /// --format json has printed (its first violation)
    #[arg(long, value_name = "SCHEDULE|RESULT.json")]
    schedule: Option<String>,
    /// With --schedule: wait for Enter after each step
    #[arg(long, requires = "schedule")]
    step: bool,
    /// Do not search: estimate within this time the number of classes, and how long a search takes
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["schedule", "checkpoint"])]
    estimate: Option<Duration>,
    /// If nothing is wrong, also show what the ranks print in the first execution that ended
    #[arg(long, conflicts_with = "schedule")]
    show: bool,
    #[command(flatten)]
    results: ResultArgs,
}

/// The possible numbers of ranks.
const RANKS: RangeInclusive<u32> = 1..=256;

/// Which files ranks change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    Own,
    Real,
}

/// The number of steps after which an execution counts as endless: more than for specs, because
/// programs run longer.
const ENDLESS: u32 = 100_000;

const EXAMPLES: &str = "\
Examples:
  mazurka mpicc -g ring.c -o ring
  mazurka mpirun -n 4 ./ring
  mazurka mpirun -n 4 --show ./ring
  mazurka mpirun -n 4 --buffering zero ./ring 100
  mazurka mpirun -n 3 --all --format json ./ring
  mazurka mpirun -n 4 --explorer random --executions 1000 ./ring
  mazurka mpirun -n 4 --deny leaks ./ring
  mazurka mpirun -n 4 --checkpoint ring.json ./ring
  mazurka mpirun -n 4 --estimate 1s ./ring

Exit codes: 0 explored, nothing violated; 1 a violation was found, or a denied warning; 2 the
command line is wrong, or the program cannot be run; 3 incomplete, nothing found so far: a limit or a
signal stopped it, or the program does something that cannot be explored.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let is_saved = args.checkpoint.file().is_some();
    let setting = args.search.setting(if is_saved { "parsimonious" } else { "udpor" })?;
    let limits = args.search.limits()?;
    let lints = args.lints()?;
    let drawing = args.results.direct([args.command[0].as_ref()], output)?;
    if let Some(schedule) = &args.schedule {
        return args.replay(schedule, output);
    }
    let variants = args.mpi.variants(Semantics::ANY);
    if let Some(file) = args.checkpoint.file() {
        let [semantics] = variants[..] else {
            let why = "`both` means several searches: --checkpoint is for one";
            return Err(Failure::Usage(why.into()));
        };
        let (jobs, setting) = (setting.options().jobs, setting.without_jobs());
        let budget = args.search.budget_of(&limits);
        let (input, interval) = (args.command[0].as_ref(), args.checkpoint.interval());
        let progress = args.search.progress(output);
        let session = Session { file, input, jobs, interval, progress, limits, lints };
        let asked = (args.program(semantics), setting, &budget);
        return saved::begin(asked, session, (&args.results, drawing), output);
    }
    let budget = args.search.budget(&limits, &judged())?;
    if let Some(time) = args.estimate {
        let [semantics] = variants[..] else {
            let why = "`both` means several searches: --estimate is for one";
            return Err(Failure::Usage(why.into()));
        };
        let (run, format) = (args.program(semantics), args.results.format_of_execution()?);
        let budget = Budget { endless: Some(ENDLESS), ..budget };
        return estimated(&run, (time, &budget), format, output);
    }
    let begin = Instant::now();
    let mut progress = args.search.progress(output);
    let mut reports = Vec::new();
    let mut drawn = None;
    for semantics in variants {
        let run = args.program(semantics);
        let system = run.system()?;
        let budget = Budget { endless: Some(ENDLESS), ..budget.after(begin.elapsed()) };
        let any = AnySystem::new(system.share());
        if let Some(refusal) = setting.refusal(&any, &budget) {
            return Err(Failure::Usage(refusal));
        }
        let mut first = FirstGood::new(&mut progress);
        let outcome = explore(&any, setting, budget.clone(), &mut first);
        let first = first.found.filter(|_| args.show);
        let outcome = system.runner().judged(outcome);
        let search = MpiSearch {
            run: &run,
            system: &system,
            setting,
            limits: &limits,
            lints: &lints,
            shortest: args.search.shortest,
        };
        reports.push(search.report(&outcome, &budget, memory::peak(), first));
        if drawn.is_none() && !outcome.violations.is_empty() {
            drawn = Some((Spec { subject: run.subject(), program: any }, outcome.violations));
        }
    }
    progress.finish();
    finish(&reports, &drawn, &limits, (&args.results, drawing), output)
}

/// The properties that are judged.
fn judged() -> Properties {
    Properties::default().with(Unreceived)
}

impl Args {
    /// The level of each lint. Lints about unreached code are refused, because they work only for
    /// specs.
    fn lints(&self) -> Result<Levels, Failure> {
        let levels = self.lints.levels()?;
        match levels.ask_about_all() {
            true => Err(Failure::Usage("lints about unreached code are for specs only".into())),
            false => Ok(levels),
        }
    }

    /// Shows the execution with this schedule.
    fn replay(&self, schedule: &str, output: &mut Output) -> Result<Exit, Failure> {
        let (schedule, recorded) = match schedule.strip_suffix(".json") {
            Some(_) => known::first_execution_in(Path::new(schedule))?,
            None => (schedule.to_owned(), Vec::new()),
        };
        let schedule: Schedule = schedule.parse()?;
        let [semantics] = self.mpi.variants(Semantics::ANY)[..] else {
            return Err(Failure::Usage(
                "--schedule needs one value of --buffering and of --collectives, not `both`".into(),
            ));
        };
        let run = self.program(semantics);
        let system = AnySystem::new(run.system()?);
        let mut execution = Execution::new(&system, false);
        let divergence = execution.follow_recorded(&schedule, &recorded, &Bounds::none())?;
        let mut report = execution.report(run.subject(), None);
        report.divergence = divergence;
        replay::show(
            &report,
            &execution.changes,
            self.results.format_of_execution()?,
            self.step,
            output,
        )
    }

    /// The program, with these semantics.
    fn program(&self, semantics: Semantics) -> MpiProgram {
        MpiProgram {
            command: self.command.clone(),
            ranks: self.ranks,
            folder: std::env::current_dir().unwrap_or_default(),
            semantics,
            step_timeout: self.step_timeout,
            tick: self.tick,
            rank_memory: self.rank_memory,
            changes_files: self.files == Whose::Real,
            max_processes: self.max_processes,
        }
    }
}
