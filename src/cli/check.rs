//! `mazurka check`: explores a spec and reports what is wrong with it.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::branches::{self, BranchArgs};
use super::checkpoint::{self, CheckpointArgs};
use super::drawing::Effort;
use super::faster::{Advice, advice};
use super::growth::in_all;
use super::options::{ReportedArgs, SpecArgs};
use super::output::Output;
#[cfg(feature = "mpi")]
use super::post::Post;
use super::session::Session;
use super::spec::{Spec, refusal};
use super::verification::{self, ResultArgs, SearchArgs};
use super::{Exit, Failure, certificate, lint, memory};
#[cfg(feature = "mpi")]
use super::{
    machines::{self, Coordinator},
    verification::Judged,
};
use crate::explore::{Budget, Part, Setting, explore};
use crate::property::Properties;
use crate::report::lint::Levels;
use crate::report::{CheckReport, Variants};
use crate::study::{Case, Limits, Stored};

/// Verify a spec: explore its executions and report what is wrong
///
/// Reports deadlocks (and which process waits for what), failed assertions, violated `final` and
/// `invariant` blocks, and run-time errors, each with the steps that lead to it and the command
/// that replays them.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    lints: ReportedArgs,
    /// Keep every event of the unfolding in memory (udpor), so that the number of events is exact
    /// even if there are many
    #[arg(long)]
    keep_events: bool,
    #[command(flatten)]
    branches: BranchArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    /// Write a certificate to this file: all classes of executions, all states (`stateful`), or all
    /// events (`prefix`), which `mazurka audit` can check without any search. Explores everything,
    /// as with --all
    #[arg(long, value_name = "FILE", conflicts_with_all = ["branch", "branches", "checkpoint"])]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    results: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz
  mazurka check philosophers.maz -D N=5 --timeout 30s
  mazurka check philosophers.maz --all --explorer exhaustive
  mazurka check philosophers.maz --explorer udpor:k=1+order=lca
  mazurka check philosophers.maz --shortest
  mazurka check philosophers.maz --order random --seed 7
  mazurka check philosophers.maz -D N=20 --explorer pct --executions 1000 --seed 7
  mazurka check philosophers.maz --draw deadlock.html
  mazurka check philosophers.maz -o result.json
  mazurka check philosophers.maz --certificate philosophers.cert
  mazurka check philosophers.maz --explorer sleep --branches jobs
  mazurka check philosophers.maz --checkpoint search.json
  mazurka replay philosophers.maz result.json

Exit codes: 0 explored, nothing violated; 1 a violation was found, or a denied warning; 2 the
command line or the spec is wrong; 3 incomplete, nothing found so far: a limit or a signal stopped
it, or the explorer may miss executions (see `mazurka explorers`).
Ctrl-C ends the search and prints what it has; a second Ctrl-C ends at once.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    #[cfg(feature = "mpi")]
    if let Some(post) = Post::open() {
        return match post.rank() {
            0 => by_ranks(args, post, output),
            _ => machines::work(post),
        };
    }
    if args.branches.is_branch() {
        return branches::run(&args.spec.path, &args.branches, &args.results, &args.search, output);
    }
    let limits = args.search.limits()?;
    let lints = args.lints.levels(&args.spec.setup.lints())?;
    if args.branches.folder().is_some() || args.checkpoint.file().is_some() {
        return in_parts(&args, limits, lints, output);
    }
    let default = match () {
        () if args.keep_events || args.certificate.is_some() => "udpor",
        () if lints.ask_about_all() => "udpor",
        () => "auto",
    };
    let setting = args.search.setting(default)?;
    let drawing = args.results.direct([args.spec.path.as_path()], output)?;
    let (case, mut variants) = Spec::variants(&args.spec, output)?;
    if let Some(file) = &args.certificate {
        certificate::may_be_written(file, &args.spec.path, (&setting, &limits), &variants)?;
    }
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
    let mut budget = args.search.budget(&limits, &properties)?;
    if args.keep_events {
        budget.keep_events = usize::MAX;
    }
    budget.all |= args.certificate.is_some();
    let mut progress = args.search.progress(output);
    let mut reports = Vec::new();
    let (mut drawn, mut certified) = (None, None);
    for spec in &variants {
        let semantics = spec.subject.semantics.unwrap_or(case.semantics);
        let case = Case { semantics, ..case.clone() };
        let guess = |budget: &Budget, time| in_all(&case, &spec.program, setting, (budget, time));
        let outcome = progress.beside(guess, &budget, |progress| match args.certificate {
            Some(_) => {
                let found = certificate::search(spec, setting, budget.clone(), progress);
                certified = Some(found.1);
                found.0
            }
            None => {
                let quick = setting.on_all_processors();
                explore(&spec.program, quick, budget.clone(), progress)
            }
        });
        let subject = spec.subject.clone();
        let judged = (limits.clone(), properties.clone());
        let peak = memory::peak();
        let report = CheckReport::new(subject, &spec.program, setting, judged, &outcome, peak);
        let mut warnings = report.warnings;
        if outcome.is_complete() {
            warnings.extend(lint::unreached(spec));
        }
        let warnings = lints.applied(warnings);
        let advice = advice((&case, spec), setting, &limits, &budget, &outcome);
        let Advice { faster, estimate, states_in_all } = advice;
        let shortest = args.search.shortest;
        reports.push(CheckReport { shortest, warnings, faster, estimate, states_in_all, ..report });
        if drawn.is_none() && !outcome.violations.is_empty() {
            drawn = Some((spec, outcome.violations));
        }
    }
    progress.finish();
    args.results.print(&reports, output)?;
    let exit = match reports.iter().any(CheckReport::is_denied) {
        true => Exit::Violation,
        false => Variants::new(&reports).verdict.into(),
    };
    if let Some((file, certified)) = args.certificate.as_ref().zip(certified) {
        certificate::write(file, certified, output)?;
    }
    if let Some(drawing) = drawing {
        let found = drawn.as_ref().map(|(spec, violations)| (*spec, &violations[..]));
        verification::draw(drawing, found, (Effort::within(&limits), exit), output)?;
    }
    Ok(exit)
}

/// A search that is cut into branches, or saved.
fn in_parts(
    args: &Args,
    limits: Limits,
    lints: Levels,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = args.checkpoint.file();
    let (case, spec) = Spec::with_case(&args.spec, output)?;
    let budget = args.search.budget_of(&limits);
    let default = match (in_branches(args, &limits), file) {
        ("parsimonious", Some(file)) if args.search.names_no_explorer() => {
            checkpoint::favourite(file, &spec.program, &budget, output)?
        }
        (default, _) => default,
    };
    let setting = args.search.setting(default)?;
    let drawing = args.results.direct([args.spec.path.as_path()], output)?;
    let (jobs, setting) = (setting.options().jobs, setting.without_jobs());
    let whole = whole(args, (case, &spec), setting, &limits)?;
    let Some(file) = file else {
        if jobs.is_some() {
            let why = "--jobs is for a search: a search is cut by one thread";
            return Err(Failure::Usage(why.into()));
        }
        return branches::cut(&args.spec.path, whole, &args.branches, output);
    };
    verification::refuse_unreached(&lints)?;
    let interval = args.checkpoint.interval();
    let (input, progress) = (&args.spec.path, args.search.progress(output));
    let session = Session { file, input, jobs, interval, progress, limits, lints };
    checkpoint::begin(whole, session, (&args.results, drawing), output)
}

/// The explorer of a search in branches, if none is named: one whose branches repeat nothing, if it
/// can do what is asked.
fn in_branches(args: &Args, limits: &Limits) -> &'static str {
    match limits.depth.is_none() && !args.keep_events {
        true => "parsimonious",
        false => "udpor",
    }
}

/// The whole search as one part that has not begun.
fn whole(
    args: &Args,
    spec: (Case, &Spec),
    setting: Setting,
    limits: &Limits,
) -> Result<Stored, Failure> {
    let keep_events = args.keep_events.then_some(usize::MAX);
    let how = (keep_events, args.checkpoint.file().is_some());
    let budget = args.search.budget_of(limits);
    let task = branches::task_of(spec, setting, (limits, &budget), how)?;
    Ok(Stored::new(task, Part::whole()))
}

/// Rank 0: coordinates the search, which the other ranks of the MPI job carry out.
#[cfg(feature = "mpi")]
fn by_ranks(args: Args, post: Post, output: &mut Output) -> Result<Exit, Failure> {
    let mut ranks = Coordinator::new(post, args.checkpoint.file());
    let result = searched_by(&args, &mut ranks, output);
    ranks.dismiss();
    result
}

#[cfg(feature = "mpi")]
fn searched_by(args: &Args, ranks: &mut Coordinator, output: &mut Output) -> Result<Exit, Failure> {
    if args.branches.is_branch() || args.branches.folder().is_some() {
        let text = "branches are searched or cut by one process, without `mpirun`";
        return Err(Failure::Usage(text.into()));
    }
    if args.certificate.is_some() {
        let text = "certificates are written by a search of one process, without `mpirun`";
        return Err(Failure::Usage(text.into()));
    }
    let lints = args.lints.levels(&args.spec.setup.lints())?;
    verification::refuse_unreached(&lints)?;
    let limits = args.search.limits()?;
    if limits.max_traces.is_some() || limits.max_memory.is_some() {
        let text = "--max-traces and --max-memory are limits of one process: not under `mpirun`";
        return Err(Failure::Usage(text.into()));
    }
    let path = args.spec.path.as_path();
    let drawing = args.results.direct([path], output)?;
    let (case, spec) = Spec::with_case(&args.spec, output)?;
    let setting = args.search.setting(in_branches(args, &limits))?;
    let whole = whole(args, (case, &spec), setting, &limits)?;
    let (mut stored, resumed_from) = ranks.resume(whole)?;
    let searched = stored.searched(path)?;
    let outcome = ranks.search(&mut stored, &searched, &limits, output)?;
    let shortest = stored.task.shortest;
    let (merged, advice) = (None, Advice::default());
    let judged = Judged { limits, shortest, lints, merged, resumed_from, advice };
    verification::report(
        &searched,
        &outcome,
        memory::peak(),
        judged,
        (&args.results, drawing),
        output,
    )
}
