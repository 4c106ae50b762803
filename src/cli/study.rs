//! `mazurka study`: measures what UDPOR's k costs and saves, for many values of constants; with
//! plots.
//!
//! A study is planned first: every spec with every combination of constants, by every explorer with
//! every k, `--repeat` times. Runs that are in the [`log`] are taken from it. The others are run,
//! each search in a process of its own, and logged. Then all results are written.

mod estimate;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::{Args as ClapArgs, value_parser};

use super::batch::Batch;
use super::compare::keep_own_constants;
use super::explorers::ExplorerNames;
use super::files::{self, cannot_write, keep};
use super::log::{self, Key, Log, Run};
use super::options::{FaultArgs, LimitArgs, MpiArgs, SetupArgs, Unit};
use super::output::{Output, TableFormat};
use super::spec::{case, compile, constants, refusal};
use super::{Exit, Failure, folders, machine};
use crate::explore::{K, Setting, StopReason};
use crate::lang::Program;
use crate::report::json;
use crate::report::text::{quoted, shown};
use crate::study::{Case, Job, Point, Ran, Sweep, ks, product};
use crate::workshop::study::{self, Facts, Picture, Study};
use estimate::Estimate;

/// Study what k costs and saves, for many values of constants
///
/// Runs UDPOR (and other explorers, with --explorers) for each k and each combination of constants,
/// each search in a process of its own, and reports which k is optimal and which is fastest. Every
/// run is logged in the output folder as soon as it is done: the same command runs only missing
/// runs the next time.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Specs, and folders: all .maz files in a folder and below; `-` reads standard input
    #[arg(value_name = "SPEC", required = true)]
    specs: Vec<PathBuf>,
    /// The values of k: numbers, ranges without their end, `optimal`
    #[arg(short, long, value_name = "LIST", default_value = "1..5,optimal", value_parser = all_ks)]
    k: Ks,
    /// Give a constant of the specs one value or several: N=3..7 (3, 4, 5 and 6) or N=2,4,8; may be
    /// given for several constants
    #[arg(short = 'D', value_name = "NAME=VALUES", value_parser = value_parser!(Sweep))]
    sweeps: Vec<Sweep>,
    /// The explorers, each perhaps with options, as for `compare`
    #[arg(
        long,
        alias = "explorer",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = ExplorerNames,
        hide_possible_values = true,
        default_value = "udpor"
    )]
    explorers: Vec<String>,
    /// Run each search N times; its time is the median. The fastest k is reported only with three
    /// runs or more, and only if all runs with that k were faster than all other runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// The folder for the runs and the results
    #[arg(short, long, value_name = "DIR", default_value = "study")]
    output: PathBuf,
    /// How to print the table; the folder has it in all formats
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: TableFormat,
    /// What counts as an action: an `operation` only, or also each `statement` that only computes
    #[arg(long, value_name = "UNIT", default_value = "operation")]
    granularity: Unit,
    /// Let messages to actors stay pending: a state in which nothing else waits is then not a
    /// deadlock
    #[arg(long)]
    allow_pending: bool,
    #[command(flatten)]
    faults: FaultArgs,
    #[command(flatten)]
    mpi: MpiArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The k of a study.
#[derive(Clone)]
struct Ks(Vec<K>);

fn all_ks(text: &str) -> Result<Ks, String> {
    ks(text).map(Ks)
}

const EXAMPLES: &str = "\
k applies to `udpor`, unless the list of explorers sets it (udpor:k=2); others run once for each
point. Ranges exclude their end, as in specs: 1..5 is 1, 2, 3, 4. With several -D, all combinations
are run. Limits apply to each run. With several specs, -D sets a constant in each spec that has it.

The output folder gets study.csv, study.md, study.json, plots as SVG, and report.html with
everything and the command to repeat it. Its runs.jsonl is the log of runs; without it, all searches
are run again.

Examples:
  mazurka study ssbexp.maz -D K=2..8
  mazurka study ssbexp.maz -D K=2..8 --k 1..4,optimal --repeat 5 --timeout 30s -o ssbexp
  mazurka study dispatcher.maz -D S=2..6 -D R=2 --explorers udpor,udpor:order=lca,optimal

Exit codes: 0 nothing is violated; 1 a violation was found, or explorers disagree; 2 the command
line or a spec is wrong; 3 some run is incomplete, and none has found anything.
Ctrl-C ends the study and writes the points it has; a second Ctrl-C ends at once.";

/// A point of the study: a program and an explorer with its options.
struct Planned {
    job: Job,
    setting: Setting,
    constants: BTreeMap<String, serde_json::Value>,
    refusal: Option<String>,
    /// The number of its program, for estimates.
    program: usize,
}

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let paths = folders::specs(&args.specs, output)?;
    let plan = plan(&args, &paths, output)?;
    if let [Planned { refusal: Some(why), .. }, rest @ ..] = plan.as_slice()
        && rest.iter().all(|planned| planned.refusal.is_some())
    {
        return Err(Failure::Usage(why.clone()));
    }
    let folder = args.output.as_path();
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
    // Refuse to overwrite inputs before anything is run. Pictures are checked when they are
    // written, because their names depend on the results.
    for name in ["runs.jsonl", "report.html", "study.csv", "study.md", "study.json"] {
        keep(&folder.join(name), paths.iter().map(PathBuf::as_path))?;
    }
    let path = folder.join("runs.jsonl");
    let mut log = Log::open(&path).map_err(|error| cannot_write(&path, error))?;
    let (failed, logged) = run_missing(&plan, args.repeat, &mut log, output)?;
    let study = gather(&plan, args.repeat, &log, failed);
    let used = plan.iter().flat_map(|planned| found(planned, args.repeat, &log));
    let facts = Facts {
        command: command(),
        version: env!("CARGO_PKG_VERSION"),
        date: now(),
        origins: log::origins(used),
    };
    // Results are shown even if they cannot be written.
    let written = write(&study, &facts, folder, &paths);
    let files = written.as_deref().map_or(String::new(), |files| list(files, folder));
    let exit = show(&study, args.format, &files, output)?;
    logged.map_err(|error| cannot_write(&path, error))?;
    written.map(|_| exit)
}

/// All points, in the order of the table.
fn plan(args: &Args, paths: &[PathBuf], output: &Output) -> Result<Vec<Planned>, Failure> {
    let settings = settings(&args.explorers, &args.k.0)?;
    let given = args.limits.limits()?;
    let mut plan = Vec::new();
    for (number, (case, program)) in programs(args, paths, output)?.iter().enumerate() {
        for &setting in &settings {
            let limits = given.clone();
            let refusal = refusal(&setting, program, &given);
            let setting_text = setting.to_string();
            let job = Job {
                case: case.clone(),
                setting: setting_text,
                limits,
                all: true,
                repeat_for: Duration::ZERO,
            };
            let constants = constants(program);
            plan.push(Planned { job, setting, constants, refusal, program: number });
        }
    }
    Ok(plan)
}

/// The explorers. One that takes a k, and has none yet, is in the list once for each k.
fn settings(items: &[String], ks: &[K]) -> Result<Vec<Setting>, Failure> {
    let read = |item: &String| item.trim().parse::<Setting>().map_err(Failure::Usage);
    let families: Vec<_> = items.iter().map(read).collect::<Result<_, _>>()?;
    let mut settings: Vec<_> = families.into_iter().flat_map(|s| s.for_each_k(ks)).collect();
    let mut seen = BTreeSet::new();
    settings.retain(|setting| seen.insert(setting.to_string()));
    Ok(settings)
}

/// The programs: each spec with each combination of values for its constants.
fn programs(
    args: &Args,
    paths: &[PathBuf],
    output: &Output,
) -> Result<Vec<(Case, Program)>, Failure> {
    let mut names = BTreeSet::new();
    if let Some(twice) = args.sweeps.iter().find(|sweep| !names.insert(&sweep.name)) {
        let name = &twice.name;
        return Err(Failure::Usage(format!("-D sets {name} twice: write {name}=A,B for both")));
    }
    let setup = SetupArgs {
        defines: Vec::new(),
        granularity: args.granularity,
        faults: args.faults,
        allow_pending: args.allow_pending,
        allow: Vec::new(),
        unfair: false,
        mpi: args.mpi.clone(),
    };
    let mut cases: Vec<_> =
        paths.iter().map(|path| case(path, &setup)).collect::<Result<_, Failure>>()?;
    for case in &mut cases {
        let first = |sweep: &Sweep| (sweep.name.clone(), sweep.values[0].clone());
        case.defines = args.sweeps.iter().map(first).collect();
    }
    if cases.len() > 1 {
        keep_own_constants(&mut cases)?;
    }
    let mut programs = Vec::new();
    for case in cases {
        let own = |sweep: &&Sweep| case.defines.iter().any(|(name, _)| *name == sweep.name);
        let sweeps: Vec<Sweep> = args.sweeps.iter().filter(own).cloned().collect();
        for (index, defines) in product(&sweeps).into_iter().enumerate() {
            let case = Case { defines, ..case.clone() };
            // Warnings are about the source text, so they are printed for the first combination
            // only.
            let program = match (index, case.compile()) {
                (1.., Ok(program)) => program,
                _ => compile(&case, output)?,
            };
            programs.push((case, program));
        }
    }
    Ok(programs)
}

/// Runs that ended without a result, by key; and the first error in writing the log, if any.
type Unlogged = (Vec<(Key, Ran)>, io::Result<()>);

/// Runs the searches that are not in the log. Stops at an interrupt, and if the log cannot be
/// written.
fn run_missing(
    plan: &[Planned],
    repeat: u32,
    log: &mut Log,
    output: &Output,
) -> Result<Unlogged, Failure> {
    let mut estimate = Estimate::default();
    let mut missing = Vec::new();
    let mut known = 0;
    for (point, planned) in plan.iter().enumerate().filter(|(_, p)| p.refusal.is_none()) {
        for key in (0..repeat).map(|n| Key::new(&planned.job, n)) {
            match log.find(&key) {
                Some(run) => {
                    known += 1;
                    estimate.learn(point, planned.program, run.measured.stats.wall_seconds);
                }
                None => missing.push((point, key)),
            }
        }
    }
    if known > 0 {
        output
            .remark(format!("{known} of {} runs are known from before.\n", known + missing.len()));
    }
    let machine = machine::machine();
    let mut batch = Batch::new(missing.len(), output.is_quiet())?;
    let (mut failed, mut logged) = (Vec::new(), Ok(()));
    for (index, (point, key)) in missing.iter().enumerate() {
        let left = missing[index..].iter().map(|&(point, _)| (point, plan[point].program));
        batch.expect(estimate.of(left));
        match batch.run(&plan[*point].job, None) {
            Some(Ran::Measured(measured)) => {
                if measured.stopped_by != Some(StopReason::Interrupted) {
                    estimate.learn(*point, plan[*point].program, measured.stats.wall_seconds);
                    let (at, machine) = (now(), machine.clone());
                    logged = log.add(key.clone(), Run { at, machine, measured });
                    if logged.is_err() {
                        break;
                    }
                }
            }
            Some(other) => failed.push((key.clone(), other)),
            None => break,
        }
    }
    batch.finish();
    Ok((failed, logged))
}

/// The logged runs of a point.
fn found<'l>(planned: &Planned, repeat: u32, log: &'l Log) -> impl Iterator<Item = &'l Run> {
    (0..repeat).filter_map(move |n| log.find(&Key::new(&planned.job, n)))
}

/// Puts the points together from the log and the failed runs. A point with missing runs counts as
/// not run.
fn gather(plan: &[Planned], repeat: u32, log: &Log, failed: Vec<(Key, Ran)>) -> Study {
    let mut study = Study::default();
    for planned in plan {
        let run = |n| {
            let key = Key::new(&planned.job, n);
            let known = log.find(&key).map(|run| Ran::Measured(run.measured.clone()));
            let failure = || failed.iter().find(|(other, _)| *other == key);
            known.or_else(|| failure().map(|(_, ran)| ran.clone()))
        };
        let runs = match &planned.refusal {
            Some(why) => Some(vec![Ran::Refused(why.clone())]),
            None => (0..repeat).map(run).collect(),
        };
        match runs {
            Some(runs) => {
                let constants = planned.constants.clone();
                let point = Point::new(&planned.job.case, constants, planned.setting.into(), runs);
                study.points.push(point);
            }
            None => study.not_run += 1,
        }
    }
    study
}

/// Writes all results to files in the folder, and returns the names of the files.
fn write(
    study: &Study,
    facts: &Facts,
    folder: &Path,
    inputs: &[PathBuf],
) -> Result<Vec<String>, Failure> {
    let pictures = study::pictures(study);
    let object = study::Object::new(study, env!("CARGO_PKG_VERSION"));
    let mut files = vec![
        ("report.html".to_owned(), study::html(study, &pictures, facts)),
        ("study.csv".to_owned(), study::csv(study)),
        ("study.md".to_owned(), study::Document(study).to_string()),
        ("study.json".to_owned(), json::render(&object)),
    ];
    files.extend(pictures.into_iter().map(|Picture { file, svg, .. }| (file, svg)));
    for (name, text) in &files {
        let path = folder.join(name);
        keep(&path, inputs.iter().map(PathBuf::as_path))?;
        files::write(&path, text)?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}

/// A sentence that lists the files that were written.
fn list(files: &[String], folder: &Path) -> String {
    let (results, plots): (Vec<_>, Vec<_>) =
        files.iter().map(String::as_str).partition(|file| !file.ends_with(".svg"));
    let plots = match plots.len() {
        0 => "no plots, because no constant and no k has several values".to_owned(),
        1 => "1 plot".to_owned(),
        n => format!("{n} plots"),
    };
    format!("\nIn {}: {}; {plots}.\n", shown(folder), results.join(", "))
}

fn show(
    study: &Study,
    format: TableFormat,
    files: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match format {
        TableFormat::Text if output.is_quiet() => {
            output.print(study::Text(study, output.room()))?
        }
        TableFormat::Text => {
            output.print(format!("{}{files}", study::Text(study, output.room())))?
        }
        TableFormat::Markdown => output.print(study::Document(study))?,
        TableFormat::Csv => output.print(study::csv(study))?,
        TableFormat::Json => {
            let object = study::Object::new(study, env!("CARGO_PKG_VERSION"));
            output.print(json::render(&object))?;
        }
    }
    match study.comparison().verdict().into() {
        Exit::Fine | Exit::Incomplete if !study.disagreements().is_empty() => Ok(Exit::Violation),
        exit => Ok(exit),
    }
}

/// The current time (RFC 3339).
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The command line of this process, quoted for a shell.
pub(super) fn command() -> String {
    let words = std::env::args_os().skip(1).map(quoted);
    ["mazurka".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}
