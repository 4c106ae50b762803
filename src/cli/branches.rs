//! `mazurka check --branches` and `--branch`: a search as independent jobs, which any job system
//! can run.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, value_parser};

use super::output::Output;
use super::parts::{BEGINNING, Searched, name, strays};
use super::progress::Progress;
use super::spec::Spec;
use super::verification::{ResultArgs, SearchArgs};
use super::{Exit, Failure, files, interrupt, memory};
use crate::explore::{Budget, Explorer, OPTIONS, Outcome, Setting, Splits};
use crate::report::text::{plural, quoted_path, shown};
use crate::study::{Case, Limits, Searchable, Stored, Task, task};

/// Options for a search in parts.
#[derive(Args)]
pub(super) struct BranchArgs {
    /// Do not search: cut the search into branches, which can be searched anywhere and at any time,
    /// and write them to files in this folder. `mazurka merge` combines their results into one.
    /// With `exhaustive`, `parsimonious` and `sleep` the branches together make exactly the steps
    /// of one search. With `udpor`, `optimal` and `source` they also find each class once, but may
    /// take many times as long, because a branch does not know what the others have found
    #[arg(long, value_name = "DIR", conflicts_with_all = ["max_traces", "timeout", "max_memory", "jobs", "allow",
        "warn", "deny", "draw", "format", "output", "checkpoint"])]
    branches: Option<PathBuf>,
    /// With --branches: the number of files. Each gets branches from all over the search [default:
    /// 64]
    #[arg(long, value_name = "N", requires = "branches", value_parser = value_parser!(u32).range(1..=10_000))]
    count: Option<u32>,
    /// Search the branches in a file written by --branches, which is given in the place of SPEC.
    /// The result is for `mazurka merge`. When a signal, --timeout or --max-memory ends the search,
    /// the result also contains the remaining branches, and the search is continued with --branch
    /// on that result. With --branches: only cut these branches into more files
    #[arg(long, conflicts_with_all = GIVEN.iter().copied().chain(OPTIONS.iter().map(|option| option.name)))]
    branch: bool,
}

/// Options that a file of branches already determines, so the command line must not give them.
const GIVEN: [&str; 22] = [
    "defines",
    "granularity",
    "kinds",
    "max_crashes",
    "allow_pending",
    "buffering",
    "collectives",
    "polls",
    "explorer",
    "all",
    "shortest",
    "depth",
    "depth_measure",
    "max_traces",
    "allow",
    "warn",
    "deny",
    "keep_events",
    "checkpoint",
    "draw",
    "save",
    "format",
];

/// The default number of files that a search is cut into.
const FILES: NonZeroU32 = NonZeroU32::new(64).expect("not 0");
/// How long a branch may go on after it was asked to end; then it is given up.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

impl BranchArgs {
    /// Is SPEC a file of branches to be searched (`--branch`)?
    pub(super) fn is_branch(&self) -> bool {
        self.branch
    }

    /// The folder for the branches, if the search is only to be cut (`--branches`).
    pub(super) fn folder(&self) -> Option<&Path> {
        self.branches.as_deref()
    }

    fn count(&self) -> NonZeroU32 {
        self.count.and_then(NonZeroU32::new).unwrap_or(FILES)
    }
}

/// The search that these arguments describe.
///
/// # Errors
/// If the explorer cannot be used on the spec in branches. If `is_saved`: if the search cannot be
/// saved.
pub(super) fn task_of(
    (case, spec): (Case, &Spec),
    setting: Setting,
    (limits, budget): (&Limits, &Budget),
    (keep_events, is_saved): (Option<usize>, bool),
) -> Result<Task, Failure> {
    let refusal = match is_saved {
        true => task::refusal_to_save(&setting, &spec.program, budget),
        false => task::refusal(&setting, &spec.program, budget),
    };
    if let Some(refusal) = refusal {
        return Err(Failure::Usage(refusal));
    }
    Ok(Task {
        mazurka: env!("CARGO_PKG_VERSION").into(),
        program: Searchable::Spec(case),
        path: spec.subject.path.to_string_lossy().into_owned(),
        setting: setting.to_string(),
        depth: limits.depth,
        depth_measure: limits.depth_measure,
        all: budget.all,
        shortest: budget.shortest,
        keep_events,
    })
}

/// Cuts the open branches of a search and writes them to files in the folder.
pub(super) fn cut(
    input: &Path,
    mut stored: Stored,
    args: &BranchArgs,
    output: &Output,
) -> Result<Exit, Failure> {
    let folder = args.folder().expect("the caller has checked that there is a folder");
    prepare(folder)?;
    let Searched { spec, setting, budget, .. } = stored.searched(input)?;
    let budget = Budget { cancel: interrupt::flag()?, ..budget };
    if setting.profile().splits != Splits::Exactly {
        output.remark(format!(
            "note: branches of `{}` may take much longer than one search, because none knows what the others have \
             found; branches of `parsimonious` do not.\n",
            setting.profile().name
        ));
    }
    let mut progress = Progress::new(!output.is_quiet());
    let search = (&spec.program, setting);
    let parts = stored.part.cut(search, args.count(), &budget, &mut progress);
    progress.finish();
    let Some(parts) = parts.map_err(|stray| strays(input, stray))? else {
        output.remark("Interrupted: nothing was written.\n");
        return Ok(Exit::Incomplete);
    };
    let count = parts.len();
    for (index, part) in parts.into_iter().enumerate() {
        Stored::new(stored.task.clone(), part).write(&folder.join(name(index + 1)))?;
    }
    stored.note_memory();
    stored.write(&folder.join(BEGINNING))?;
    let quoted = quoted_path(folder);
    output.remark(match count {
        0 => format!("No branch is left: `mazurka merge {quoted}` prints the result.\n"),
        _ => format!(
            "{} of branches in {}. Search each, and merge the results:\n  \
             mazurka check --branch {} -o {}\n  ...\n  mazurka merge {quoted}\n",
            plural(count as u64, "file", "files"),
            shown(folder),
            quoted_path(&folder.join(name(1))),
            quoted_path(&folder.join("result-1.json")),
        ),
    });
    Ok(Exit::Fine)
}

/// Makes the folder. Refuses one that already has branches, because they could be mistaken for
/// branches of this search.
fn prepare(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, error))?;
    let is_taken = |name: &str| folder.join(name).exists();
    match is_taken(BEGINNING) || is_taken(&name(1)) {
        true => Err(Failure::Usage(format!(
            "{} has branches of a search already: choose another folder",
            shown(folder)
        ))),
        false => Ok(()),
    }
}

/// Searches the open branches in a file, or cuts them further.
pub(super) fn run(
    input: &Path,
    args: &BranchArgs,
    results: &ResultArgs,
    search: &SearchArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let limits = search.limits()?;
    let stored = Stored::read(input)?;
    match args.folder() {
        Some(_) => cut(input, stored, args, output),
        None => go_on((input, stored), results.file(), &limits, output),
    }
}

/// Searches the open branches in a file.
fn go_on(
    (input, mut stored): (&Path, Stored),
    result: Option<&Path>,
    limits: &Limits,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.direct(result, [input])?;
    let Searched { spec, setting, budget, .. } = stored.searched(input)?;
    let flag = interrupt::flag()?;
    let budget = Budget {
        timeout: limits.timeout.map(|timeout| timeout + GRACE_PERIOD),
        max_memory: limits
            .max_memory
            .map(|bytes| (bytes + bytes / 8, memory::in_use as fn() -> u64)),
        ..budget
    };
    let mut progress = Progress::new(!output.is_quiet());
    let search = (&spec.program, setting);
    let mut is_over = end(limits, &flag);
    let searched = stored.part.go_on(search, &budget, &mut is_over, &mut progress);
    progress.finish();
    searched.map_err(|stray| strays(input, stray))?;
    stored.note_memory();
    output.print(stored.text())?;
    let left = stored.part.left().count();
    let outcome = stored.part.outcome(&budget);
    output.remark(summary(&outcome, left, result));
    Ok(outcome.verdict().into())
}

/// Returns a function that says whether the search has to end: at an interrupt or a limit.
fn end(limits: &Limits, flag: &AtomicBool) -> impl FnMut() -> bool {
    let start = Instant::now();
    move || {
        flag.load(Ordering::Relaxed)
            || limits.timeout.is_some_and(|timeout| start.elapsed() >= timeout)
            || limits.max_memory.is_some_and(|bytes| memory::in_use() > bytes)
    }
}

/// A summary of the result, and of the branches that are left.
pub(super) fn summary(outcome: &Outcome, left: usize, result: Option<&Path>) -> String {
    let traces = plural(outcome.stats.traces, "execution", "executions");
    let found = match outcome.violations.len() as u64 {
        0 => "nothing wrong was found".into(),
        n => format!("{} found", plural(n, "violation was", "violations were")),
    };
    let rest = match (left as u64, result) {
        (0, _) => String::new(),
        (left, None) => format!(" {} left.", plural(left, "branch is", "branches are")),
        (left, Some(result)) => format!(
            " {} left; continue with\n  mazurka check --branch {} -o ...",
            plural(left, "branch is", "branches are"),
            quoted_path(result)
        ),
    };
    format!("{traces} explored, {found}.{rest}\n")
}
