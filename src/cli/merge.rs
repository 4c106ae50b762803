//! `mazurka merge`: the one result of a search that was done in parts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::options::LintArgs;
use super::output::Output;
use super::parts::{self, BEGINNING, Stored};
use super::verification::{self, Judged, ResultArgs};
use super::{Exit, Failure};
use crate::explore::{Disagreement, Part, Place};
use crate::report::text::{plural, shown};

/// Make one result of those of `check --branch`: that of the whole search
///
/// It is what `mazurka check` would have told of the spec in one search, but that the time is that of all parts together and the
/// memory the most that one of them had. If results are missing it says which, and if nothing wrong was found so far, the
/// exit code is 3.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder that `check --branches` has written, and the results: files, or folders that have them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    lints: LintArgs,
    #[command(flatten)]
    results: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz -D N=6 --all --explorer sleep --branches parts --count 4
  mazurka check --branch parts/branch-1.json -o parts/result-1.json
  mazurka merge parts

Exit codes: 0 everything is there and nothing is violated; 1 a violation was found, or what is denied; 2 the command line
is wrong, or the results are not of one search; 3 results are missing or not complete, nothing found so far.";

/// The most files that are named as missing.
const NAMED: usize = 10;

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let lints = args.lints.levels()?;
    verification::refuse_unreached(&lints)?;
    let files = parts::all(&args.paths)?;
    let drawing = args.results.direct(files.iter().map(|(path, _)| path.as_path()), output)?;
    let whole = join(&files)?;
    let searched = whole.searched(&files[0].0)?;
    let outcome = whole.part.outcome(&searched.budget);
    if let Some(missing) = missing(&whole.part, &files) {
        output.remark(missing);
    }
    let (limits, shortest) = (whole.task.limits(), whole.task.shortest);
    let judged = Judged { limits, shortest, lints };
    let (peak, results) = (whole.peak_memory_bytes, (&args.results, drawing));
    verification::tell(&searched, &outcome, peak, judged, results, output)
}

/// All of them as one part, which has the beginning of the search.
fn join(files: &[(PathBuf, Stored)]) -> Result<Stored, Failure> {
    let Some(((first, whole), rest)) = files.split_first() else {
        return Err(Failure::Usage("there is no part of a search".into()));
    };
    let mut whole = whole.clone();
    for (path, stored) in rest {
        let refused = |why: &str| {
            let (first, path) = (shown(first), shown(path));
            Failure::Usage(format!("{first} and {path} are not of one search: {why}"))
        };
        if let Some(why) = whole.task.difference(&stored.task) {
            return Err(refused(why));
        }
        let joined = whole.part.join(stored.part.clone());
        joined.map_err(|Disagreement(place)| {
            let others: Vec<_> = files.iter().filter(|(_, other)| has(&other.part, &place)).collect();
            let names = others.iter().map(|(path, _)| shown(path)).collect::<Vec<_>>().join(", ");
            Failure::Usage(format!(
                "branch {place} was searched twice and cut in different ways ({names}): leave one of them out"
            ))
        })?;
        whole.peak_memory_bytes = whole.peak_memory_bytes.max(stored.peak_memory_bytes);
    }
    match whole.part.has_beginning() {
        true => Ok(whole),
        false => Err(Failure::Usage(format!(
            "the beginning of the search is missing: {BEGINNING} in the folder that `check --branches` has written"
        ))),
    }
}

fn has(part: &Part, place: &Place) -> bool {
    part.done.contains_key(place) || part.open.contains_key(place)
}

/// Which files have branches that nobody has searched, if some have.
fn missing(whole: &Part, files: &[(PathBuf, Stored)]) -> Option<String> {
    let missing: BTreeSet<_> = whole.missing().map(|(place, _)| place).collect();
    if missing.is_empty() {
        return None;
    }
    let is_beginning = |path: &Path| path.file_name().is_some_and(|name| name == BEGINNING);
    let counted =
        files.iter().filter(|(path, _)| !is_beginning(path)).filter_map(|(path, stored)| {
            let count = stored.part.open.keys().filter(|place| missing.contains(place)).count();
            (count > 0).then(|| {
                format!(
                    "  {} ({} of it)\n",
                    shown(path),
                    plural(count as u64, "branch", "branches")
                )
            })
        });
    let counted: Vec<_> = counted.collect();
    let mut text = format!(
        "{} not searched yet:\n",
        plural(missing.len() as u64, "branch is", "branches are")
    );
    text.extend(counted.iter().take(NAMED).map(String::as_str));
    if counted.len() > NAMED {
        text +=
            &format!("  and {} more\n", plural((counted.len() - NAMED) as u64, "file", "files"));
    }
    Some(text)
}
