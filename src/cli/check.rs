//! `mazurka check`: explores a spec and reports what is wrong with it.

use clap::Args as ClapArgs;

use super::branches::{self, BranchArgs};
use super::drawing::Effort;
use super::options::{LintArgs, SpecArgs};
use super::output::Output;
use super::parts::Stored;
use super::progress::Progress;
use super::spec::{Spec, refusal};
use super::verification::{self, ResultArgs, SearchArgs};
use super::{Exit, Failure, lint, memory};
use crate::explore::{Part, explore};
use crate::property::Properties;
use crate::report::{CheckReport, Variants};

/// Verify a spec: explore its executions and report what is wrong
///
/// Reports deadlocks (with who waits for what), failed assertions, violated `final` and `invariant` blocks and run-time
/// errors, each with the steps that lead to it and the command that replays them.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    lints: LintArgs,
    /// Keep every event of the unfolding in memory (udpor), so that their number is exact even if there are many
    #[arg(long)]
    keep_events: bool,
    #[command(flatten)]
    branches: BranchArgs,
    #[command(flatten)]
    results: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz
  mazurka check philosophers.maz -D N=5 --timeout 30s
  mazurka check philosophers.maz --all --explorer exhaustive
  mazurka check philosophers.maz --shortest
  mazurka check philosophers.maz --order random --seed 7
  mazurka check philosophers.maz --draw deadlock.html
  mazurka check philosophers.maz -o result.json
  mazurka check philosophers.maz --explorer sleep --branches jobs
  mazurka replay philosophers.maz result.json

Exit codes: 0 explored, nothing violated; 1 a violation was found, or what is denied; 2 the command line or the spec is
wrong; 3 not complete, nothing found so far: a limit or a signal stopped it, or the explorer may miss
executions (see `mazurka explorers`).
Ctrl-C ends the search and prints what it has; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.branches.is_branch() {
        return branches::run(&args.spec.path, &args.branches, &args.results, &args.search, output);
    }
    let setting = args.search.setting()?;
    let limits = args.search.limits()?;
    let lints = args.lints.levels()?;
    let drawing = args.results.direct([args.spec.path.as_path()], output)?;
    if args.branches.folder().is_some() {
        let keep_events = args.keep_events.then_some(usize::MAX);
        let budget = args.search.budget_of(&limits);
        let task = branches::task_of(&args.spec, setting, (&limits, &budget), keep_events, output)?;
        let whole = Stored::new(task, Part::whole());
        return branches::cut(&args.spec.path, whole, &args.branches, output);
    }
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
    let mut budget = args.search.budget(&limits, &properties);
    if args.keep_events {
        budget.keep_events = usize::MAX;
    }
    let mut progress = Progress::new(!output.is_quiet());
    let mut reports = Vec::new();
    let mut drawn = None;
    for spec in &variants {
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
        reports.push(CheckReport { shortest: args.search.shortest, warnings, ..report });
        if drawn.is_none() && !outcome.violations.is_empty() {
            drawn = Some((spec, outcome.violations));
        }
    }
    progress.finish();
    args.results.print(&reports, output)?;
    if let Some(drawing) = drawing {
        let found = drawn.as_ref().map(|(spec, violations)| (*spec, &violations[..]));
        verification::draw(drawing, found, Effort::within(&limits), output)?;
    }
    match reports.iter().any(CheckReport::is_denied) {
        true => Ok(Exit::Violation),
        false => Ok(Variants::new(&reports).verdict.into()),
    }
}
