//! `mazurka compare`: several explorers on the same specs, side by side.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::batch::Batch;
use super::explorers::ExplorerNames;
use super::options::{ExplorerArgs, LimitArgs, SetupArgs};
use super::output::{Output, format};
use super::spec::{case, compile, constants, refusal};
use super::{Exit, Failure, folders};
use crate::explore::{EXPLORERS, OPTIONS, Options, Setting};
use crate::lang::Program;
use crate::report::comparison::{self, Comparison, Printer, Style};
use crate::report::{ci, json};
use crate::study::{Case, Job, Ran, Row, foreseen};

/// Run several explorers on the same specs, side by side
///
/// Every explorer explores everything (but see --first), each in a process of its own, so that its
/// memory can be measured. Explorers with the same guarantee must have the same result; if they do
/// not, a note below the table says so.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Specs, and folders: all .maz files in a folder and below; `-` reads standard input
    #[arg(value_name = "SPEC", required = true)]
    specs: Vec<PathBuf>,
    /// The explorers, each perhaps with options, as below [default: all that can run on the
    /// program]
    #[arg(
        long,
        alias = "explorer",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = ExplorerNames,
        hide_possible_values = true
    )]
    explorers: Vec<String>,
    #[command(flatten)]
    options: ExplorerArgs,
    #[command(flatten)]
    setup: SetupArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Stop each search at its first violation
    #[arg(long)]
    first: bool,
    /// Write the table to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the table [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Csv,
    #[value(alias = "md")]
    Markdown,
    Json,
    /// JUnit XML: a test case for each row
    #[value(alias = "xml")]
    Junit,
}

/// The default time limit of a row. Limits are needed, because some explorers visit all
/// interleavings.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The default memory limit of a row, in bytes.
const MAX_MEMORY: u64 = 2 << 30;

const EXAMPLES: &str = "\
Explorers are named as for `check`, separated by commas.
The options of one explorer follow a colon, joined by +:
  k=K  order=ORDER  seed=N  sleep-sets  over=WHAT  executions=N  bug-depth=D
Options outside of the list apply to all explorers that take them and do not set them.

Limits apply to each row. The defaults are --timeout 30s and --max-memory 2GiB; `none` removes a
limit. With several specs, -D sets a constant in each spec that has it.

Examples:
  mazurka compare philosophers.maz
  mazurka compare philosophers.maz --explorers udpor:k=1,udpor:k=2,udpor --timeout 10s
  mazurka compare a.maz b.maz --explorers udpor,udpor:order=lca,udpor:order=random+seed=7
  mazurka compare specs/mutex --explorers udpor --timeout 5s -o mutex.csv

Exit codes: 0 nothing is violated; 1 a violation was found, or explorers disagree; 2 the command
line or a spec is wrong; 3 some row is incomplete, and none has found anything. (A row that was
refused, or whose explorer may miss executions, counts only if no other row of that spec is
complete.)
Ctrl-C ends the comparison and prints the rows it has; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let settings = settings(&args.explorers, args.options.options())?;
    let limits = args.limits.limits_or(Some(TIMEOUT), Some(MAX_MEMORY))?;
    let paths = folders::specs(&args.specs, output)?;
    output.direct(args.output.as_deref(), paths.iter().map(PathBuf::as_path))?;
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let programs = programs(&args, &paths, output)?;
    let mut comparison = Comparison { limits: limits.clone(), ..Comparison::default() };
    let mut jobs = Vec::new();
    for (case, program) in &programs {
        for &setting in &settings {
            let job = Job {
                case: case.clone(),
                setting: setting.to_string(),
                limits: limits.clone(),
                all: !args.first,
                repeat_for: Duration::ZERO,
            };
            match refusal(&setting, program, &limits) {
                Some(why) if args.explorers.is_empty() => {
                    comparison.leave_out(setting.explorer().profile().name, &case.name, why);
                }
                refusal => jobs.push((job, setting, program, refusal)),
            }
        }
    }
    if let [(.., Some(why)), rest @ ..] = jobs.as_slice()
        && rest.iter().all(|(.., refusal)| refusal.is_some())
    {
        return Err(Failure::Usage(why.clone()));
    }
    let total = jobs.iter().filter(|(.., refusal)| refusal.is_none()).count();
    let mut batch = Batch::new(total, output.is_quiet())?;
    let names: Vec<_> = settings.iter().map(Setting::to_string).collect();
    let mut printer = style(format, output.room()).map(|style| Printer::new(style, &names));
    for (job, setting, program, refusal) in jobs {
        let expected = foreseen(&comparison.rows, &job.case, &setting);
        let ran = refusal.map(Ran::Refused).or_else(|| batch.run(&job, expected));
        let Some(ran) = ran else {
            comparison.not_run += 1;
            continue;
        };
        let row = Row {
            spec: job.case.name.clone(),
            constants: constants(program),
            defines: job.case.constants(),
            searcher: setting.into(),
            ran,
        };
        if let Some(printer) = &mut printer {
            batch.aside(|| output.print(printer.row(&row)))?;
        }
        comparison.rows.push(row);
    }
    batch.finish();
    match printer {
        Some(printer) => output.print(printer.foot(&comparison, output.is_quiet()))?,
        None if format == Format::Junit => output.print(ci::junit(&ci::rows(&comparison)))?,
        None => {
            let object = comparison::Object::new(&comparison, env!("CARGO_PKG_VERSION"));
            output.print(json::render(&object))?;
        }
    }
    let disagreements = comparison.disagreements();
    if format == Format::Csv {
        disagreements.iter().for_each(|disagreement| output.error(disagreement));
    }
    match comparison.verdict().into() {
        Exit::Fine | Exit::Incomplete if !disagreements.is_empty() => Ok(Exit::Violation),
        exit => Ok(exit),
    }
}

/// The style in which rows are printed as soon as they are done; `None` for a format in which
/// the result is one object.
fn style(format: Format, room: usize) -> Option<Style> {
    match format {
        Format::Text => Some(Style::Text(room)),
        Format::Markdown => Some(Style::Markdown),
        Format::Csv => Some(Style::Csv),
        Format::Json | Format::Junit => None,
    }
}

/// The explorers to run, each with its options.
fn settings(items: &[String], options: Options) -> Result<Vec<Setting>, Failure> {
    let mut settings: Vec<Setting> = match items {
        [] => {
            let all = EXPLORERS.iter();
            all.map(|explorer| Setting::with_what_fits(explorer, options)).collect()
        }
        items => {
            let read = |item: &String| item.trim().parse().map(|s: Setting| s.completed(options));
            items.iter().map(read).collect::<Result<_, _>>().map_err(Failure::Usage)?
        }
    };
    for option in OPTIONS.iter().filter(|option| option.is_given(&options)) {
        let alone = option.alone(&options);
        let is_idle =
            |s: &Setting| alone.understood(&s.explorer().profile().takes) == Options::default();
        if alone != Options::default() && settings.iter().all(is_idle) {
            let flag = option.flag();
            return Err(Failure::Usage(format!("{flag} means nothing to any of these explorers")));
        }
    }
    let mut seen = BTreeSet::new();
    settings.retain(|setting| seen.insert(setting.to_string()));
    Ok(settings)
}

/// The specs as programs to explore, each with what it was compiled from.
fn programs(
    args: &Args,
    paths: &[PathBuf],
    output: &Output,
) -> Result<Vec<(Case, Program)>, Failure> {
    args.setup.refuse_lints()?;
    let cases = paths.iter().map(|path| case(path, &args.setup));
    let mut cases: Vec<_> = cases.collect::<Result<_, _>>()?;
    if cases.len() > 1 {
        keep_own_constants(&mut cases)?;
    }
    let compiled = cases.into_iter().map(|case| {
        let program = compile(&case, output)?;
        Ok((case, program))
    });
    compiled.collect()
}

/// Removes from each case the settings of constants that its program does not have.
///
/// # Errors
/// If no program has a constant that is set.
pub(super) fn keep_own_constants(cases: &mut [Case]) -> Result<(), Failure> {
    let all = |cases: &[Case]| -> BTreeSet<String> {
        cases.iter().flat_map(|case| &case.defines).map(|(name, _)| name.clone()).collect()
    };
    let wanted = all(cases);
    for case in &mut *cases {
        // A program that does not compile is reported later.
        if let Ok(program) = (Case { defines: Vec::new(), ..case.clone() }).compile() {
            let names: BTreeSet<_> = program.constants().map(|(name, _)| name).collect();
            case.defines.retain(|(name, _)| names.contains(name.as_str()));
        }
    }
    match wanted.difference(&all(cases)).next() {
        Some(name) => Err(Failure::Usage(format!("none of the specs has a constant `{name}`"))),
        None => Ok(()),
    }
}
