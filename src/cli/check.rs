//! `mazurka check`: explores a spec and reports what is wrong with it.

use std::iter::once;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::drawing::{self, Effort, Format as Drawing, MAX_EVENTS, MAX_NODES};
use super::options::{ExplorerArgs, LimitArgs, LintArgs, SpecArgs};
use super::output::{Format, Output, format};
use super::progress::Progress;
use super::spec::{Spec, refusal};
use super::{Exit, Failure, files, interrupt, lint, memory};
use crate::explore::prefix::Extent;
use crate::explore::{Budget, K, Listed, Setting, Violation, explore};
use crate::model::System;
use crate::property::Properties;
use crate::report::text::{self, shown};
use crate::report::viewer::{Asked, View, Viewer};
use crate::report::{CheckReport, Variants, json};

/// Verify a spec: explore its executions and report what is wrong
///
/// Reports deadlocks (with who waits for what), failed assertions, violated `final` and `invariant` blocks and run-time
/// errors, each with the steps that lead to it and the command that replays them.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// The algorithm; `mazurka explorers` lists them
    #[arg(long, value_name = "NAME", default_value = DEFAULT_EXPLORER)]
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
    #[command(flatten)]
    lints: LintArgs,
    /// Keep every event of the unfolding in memory (udpor), so that their number is exact even if there are many
    #[arg(long)]
    keep_events: bool,
    /// Draw what is wrong, if anything: all violations found as a page to step through (.html), or the first one as a
    /// space-time diagram (.svg, .dot, .json). Nothing is written if nothing is wrong: see `mazurka draw`. What a page shows
    /// is searched for as long as --timeout says once more, and for 20 s at most
    #[arg(long, value_name = "FILE")]
    draw: Option<PathBuf>,
    /// Write the result to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the result [default: what FILE ends in, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

const DEFAULT_EXPLORER: &str = "udpor";

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz
  mazurka check philosophers.maz -D N=5 --timeout 30s
  mazurka check philosophers.maz --all --explorer exhaustive
  mazurka check philosophers.maz --shortest
  mazurka check philosophers.maz --order random --seed 7
  mazurka check philosophers.maz --draw deadlock.html
  mazurka check philosophers.maz -o result.json
  mazurka replay philosophers.maz result.json

Exit codes: 0 explored, nothing violated; 1 a violation was found, or what is denied; 2 the command line or the spec is
wrong; 3 not complete, nothing found so far: a limit or a signal stopped it, or the explorer may miss
executions (see `mazurka explorers`).
Ctrl-C ends the search and prints what it has; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let setting = Listed::named(&args.explorer).map_err(Failure::Usage).and_then(|explorer| {
        Setting::new(explorer, args.options.options()?).map_err(Failure::Usage)
    })?;
    let limits = args.limits.limits()?;
    let lints = args.lints.levels()?;
    let drawing = args.draw.as_deref().map(Drawing::of).transpose()?;
    let path = args.spec.path.as_path();
    output.direct(args.output.as_deref(), once(path))?;
    if let Some(drawing) = &args.draw {
        files::keep(drawing, once(path))?;
    }
    let format = format(args.format, args.output.as_deref(), Format::Text);
    let mut variants = Spec::variants(&args.spec, output)?;
    if let Some(refusal) = refusal(&setting, &variants[0].program, &limits) {
        return Err(Failure::Usage(refusal));
    }
    if let Some(refusal) = lint::refusal(&lints, &setting) {
        return Err(Failure::Usage(refusal));
    }
    if lints.ask_about_all() {
        variants = variants.into_iter().map(Spec::observed).collect();
    }
    let allow_pending = variants[0].subject.allow_pending;
    let properties = Properties::default().allow_pending(allow_pending);
    let mut budget = Budget {
        all: args.all || args.shortest,
        shortest: args.shortest,
        properties: properties.clone(),
        cancel: interrupt::flag(),
        ..limits.budget(memory::in_use)
    };
    if args.keep_events {
        budget.keep_events = usize::MAX;
    }
    let mut progress = Progress::new(!output.is_quiet());
    let mut reports = Vec::new();
    let mut drawn = None;
    for (index, spec) in variants.iter().enumerate() {
        let outcome = explore(&spec.program, setting, budget.clone(), &mut progress);
        let subject = spec.subject.clone();
        let judged = (limits.clone(), properties.clone());
        let peak = memory::peak();
        let report = CheckReport::new(subject, &spec.program, setting, judged, &outcome, peak);
        let mut warnings = report.warnings;
        if outcome.is_complete() {
            warnings.extend(lint::unreached(spec));
        }
        let warnings = lints.applied(warnings);
        reports.push(CheckReport { shortest: args.shortest, warnings, ..report });
        if drawn.is_none() && (!outcome.violations.is_empty() || index + 1 == variants.len()) {
            drawn = Some((spec, outcome.violations));
        }
    }
    progress.finish();
    let (quiet, room) = (output.is_quiet(), output.room());
    match (format, &reports[..]) {
        (Format::Json, [report]) => output.print(json::render(report))?,
        (Format::Json, reports) => output.print(json::render(&Variants::new(reports)))?,
        (Format::Text, [report]) => output.print(text::Check { report, quiet, room })?,
        (Format::Text, reports) => output.print(text::Checks { reports, quiet, room })?,
    }
    if let (Some(file), Some(format), Some((spec, violations))) = (&args.draw, drawing, &drawn) {
        let effort = Effort::within(&reports[0].limits);
        output.remark(draw(file, format, spec, violations, effort)?);
    }
    match reports.iter().any(CheckReport::is_denied) {
        true => Ok(Exit::Violation),
        false => Ok(Variants::new(&reports).verdict.into()),
    }
}

/// Draws what was found, and returns a note about it.
pub(super) fn draw<P: System>(
    file: &Path,
    format: Drawing,
    spec: &Spec<P>,
    violations: &[Violation],
    effort: Effort,
) -> Result<String, Failure> {
    let Some(first) = violations.first() else {
        let file = shown(file);
        return Ok(format!("Nothing wrong was found, so {file} was not written.\n"));
    };
    let limit = MAX_EVENTS as usize;
    let text = match format {
        Drawing::Html => drawing::render(&page(spec, violations, effort)?),
        format => drawing::picture(&drawing::chart(spec, &first.schedule, limit)?, format),
    };
    files::write(file, &text)?;
    Ok(format!("Drawn: {}\n", shown(file)))
}

fn page<P: System>(
    spec: &Spec<P>,
    violations: &[Violation],
    effort: Effort,
) -> Result<Viewer, Failure> {
    let asked = violations.iter().enumerate().map(|(index, violation)| Asked {
        name: format!("Violation {}", index + 1),
        schedule: violation.schedule.clone(),
    });
    let extent = Extent { events: MAX_EVENTS as usize, calls: MAX_NODES as usize };
    let page = drawing::page(spec, asked.collect(), K::Optimal, extent, effort)?;
    Ok(Viewer { start: View::SpaceTime, ..page })
}
