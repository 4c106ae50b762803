//! `mazurka mpirun`: verifies an MPI program, as `check` verifies a spec.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, ValueEnum, value_parser};

use super::bounds::Bounds;
use super::drawing::{Effort, Format};
use super::execution::Execution;
use super::options::{LintArgs, MpiArgs, bytes, time};
use super::output::Output;
use super::spec::Spec;
use super::verification::{self, ResultArgs, SearchArgs};
use super::{Exit, Failure, known, memory, replay};
use crate::explore::{Budget, Explorer, explore};
use crate::model::{Schedule, Semantics};
use crate::mpi::{Diagnosis, Files, Launch, Others, RANK_MEMORY, Ranks, Slip, TICK, Unreceived};
use crate::property::Properties;
use crate::report::dot;
use crate::report::lint;
use crate::report::lint::Levels;
use crate::report::text::{quoted, shown};
use crate::report::{CheckReport, FirstGood, Shown, Subject, Variants, ViolationReport};
use crate::study::Limits;
use crate::systems::history::History;

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
    #[arg(short = 'n', long = "np", value_name = "RANKS", default_value = "2", value_parser = value_parser!(u32).range(1..=256))]
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
    /// If nothing is wrong, also show what the ranks print in the first execution that ended
    #[arg(long, conflicts_with = "schedule")]
    show: bool,
    #[command(flatten)]
    results: ResultArgs,
}

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

Exit codes: 0 explored, nothing violated; 1 a violation was found, or a denied warning; 2 the
command line is wrong, or the program cannot be run; 3 incomplete, nothing found so far: a limit or a
signal stopped it, or the program does something that cannot be explored.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let setting = args.search.setting("udpor")?;
    let limits = args.search.limits()?;
    let lints = args.lints()?;
    let drawing = args.results.direct([args.program()], output)?;
    if let Some(schedule) = &args.schedule {
        return args.replay(schedule, output);
    }
    let properties = Properties::default().with(Unreceived);
    let budget = Budget { endless: Some(ENDLESS), ..args.search.budget(&limits, &properties)? };
    let begin = Instant::now();
    let mut progress = args.search.progress(output);
    let mut reports = Vec::new();
    let mut drawn = None;
    for semantics in args.mpi.variants(Semantics::ANY) {
        let system = args.system(semantics)?;
        if let Some(refusal) = setting.refusal(&system, &budget) {
            return Err(Failure::Usage(refusal));
        }
        let left = || budget.after(begin.elapsed());
        let mut first = FirstGood::new(&mut progress);
        let outcome = explore(&system, setting, left(), &mut first);
        let first = first.found.filter(|_| args.show);
        let outcome = system.runner().judged(outcome);
        let judged: (Limits, _) = (limits.clone(), properties.clone());
        let peak = memory::peak();
        let subject = args.subject(semantics);
        let mut report = CheckReport::new(subject, &system, setting, judged, &outcome, peak);
        let others = Others::new(&system, setting, &left());
        for (report, violation) in report.violations.iter_mut().zip(&outcome.violations) {
            rephrase(report, others.finding(violation));
        }
        // A rank that waits for a failed rank is not reported as a separate deadlock.
        report.violations.retain(|found| !found.kind.is_standstill() || found.failed.is_empty());
        report.mark_alike();
        report.shortest = args.search.shortest;
        report.unsupported = system.runner().reservation();
        report.unseen = system.runner().unseen().map(Into::into);
        if outcome.is_complete() && !system.runner().have_called() {
            report.warnings.push(lint::of_no_calls(&report.subject));
        }
        report.warnings = lints.applied(report.warnings);
        if report.violations.is_empty() {
            report.shown = first.map(|schedule| Shown::of(&system, &schedule));
        }
        reports.push(report);
        let subject = args.subject(semantics);
        if drawn.is_none() && drawing.is_some() && !outcome.violations.is_empty() {
            drawn = Some((Spec { subject, program: system }, outcome.violations.clone()));
        }
    }
    progress.finish();
    args.results.print(&reports, output)?;
    let exit = match reports.iter().any(CheckReport::is_denied) {
        true => Exit::Violation,
        false => Variants::new(&reports).verdict.into(),
    };
    if let Some((file, Format::Dot)) = drawing
        && let Some(report) = reports.iter().find(|report| !report.violations.is_empty())
        && let [first, ..] = &report.violations[..]
        && first.kind.is_standstill()
    {
        let graph = dot::wait_for_graph(&report.subject, first);
        verification::write_drawing(file, &graph, output)?;
    } else if let Some(drawing) = drawing {
        let found = drawn.as_ref().map(|(spec, violations)| (spec, &violations[..]));
        verification::draw(drawing, found, (Effort::within(&limits), exit), output)?;
    }
    Ok(exit)
}

/// Puts the diagnosis, in terms of MPI, into the report of a violation.
fn rephrase(report: &mut ViolationReport, found: Diagnosis) {
    report.message = match found.slip {
        Slip::Assertion => format!("assertion failed: {}", found.message),
        slip => format!("{slip}: {}", found.message),
    };
    report.slip = Some(found.slip.name());
    report.places = found.places.into_iter().collect();
}

impl Args {
    fn program(&self) -> &Path {
        Path::new(&self.command[0])
    }

    /// The program, or the script if the program is an interpreter of Python.
    fn source(&self) -> &Path {
        let is_python = self
            .program()
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"python"));
        let scripts = self.command.iter().skip(1).map(Path::new);
        let mut scripts =
            scripts.filter(|word| word.extension().is_some_and(|ending| ending == "py"));
        scripts.next().filter(|_| is_python).unwrap_or(self.program())
    }

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
        let system = self.system(semantics)?;
        let mut execution = Execution::new(&system, false);
        let divergence = execution.follow_recorded(&schedule, &recorded, &Bounds::none())?;
        let mut report = execution.report(self.subject(semantics), None);
        report.divergence = divergence;
        replay::show(
            &report,
            &execution.changes,
            self.results.format_of_execution()?,
            self.step,
            output,
        )
    }

    fn system(&self, semantics: Semantics) -> Result<History<Ranks>, Failure> {
        let launch = Launch {
            arguments: self.command[1..].to_vec(),
            semantics,
            step_timeout: self.step_timeout,
            tick: self.tick,
            rank_memory: self.rank_memory,
            files: match self.files {
                Whose::Own => Files::Own,
                Whose::Real => Files::Real,
            },
            base: std::env::current_dir().unwrap_or_default(),
            ..Launch::new(self.program(), self.ranks)
        };
        let ranks = Ranks::new(launch).map_err(Failure::Usage)?;
        Ok(History::new(ranks).max_processes(self.max_processes as usize))
    }

    fn subject(&self, semantics: Semantics) -> Subject {
        let program = shown(self.source());
        let constants = BTreeMap::from([("ranks".to_owned(), self.ranks.into())]);
        let (buffering, leaving) = (semantics.buffering, semantics.leaving);
        let mut before = format!("mazurka mpirun -n {}", self.ranks);
        before += &format!(" --buffering {buffering} --collectives {leaving}");
        if semantics.max_polls != Semantics::default().max_polls {
            before += &format!(" --polls {}", semantics.max_polls);
        }
        if self.tick != TICK {
            before += &format!(" --tick {}", humantime::format_duration(self.tick));
        }
        if self.rank_memory != RANK_MEMORY {
            before += &format!(" --rank-memory {}", self.rank_memory);
        }
        if self.files == Whose::Real {
            before += " --files real";
        }
        let after = self.command.iter().map(quoted).collect::<Vec<_>>().join(" ");
        Subject {
            spec: program,
            path: self.source().to_owned(),
            constants,
            semantics: Some(semantics),
            command: Some([before, after]),
            ..Subject::in_rust(false)
        }
    }
}
