//! `mazurka merge`: combines the results of a search in parts.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::faster::Advice;
use super::options::LintArgs;
use super::output::Output;
use super::parts::{self, BEGINNING};
use super::verification::{self, Judged, ResultArgs};
use super::{Exit, Failure};
use crate::explore::{Disagreement, Outcome, Part, Place};
use crate::model::System;
use crate::property::Properties;
use crate::report::text::{plural, shown};
use crate::report::{Merged, ViolationReport};
use crate::study::{Stored, hash};

/// Combine the results of `check --branch` into the result of the whole search
///
/// The time is the sum of the times of all parts, and the memory is the maximum. With `exhaustive`
/// and `sleep`, everything else is as in the report of one search by `mazurka check`; with
/// `parsimonious` and --all, all figures are. With other explorers, violations may come in another
/// order, and with other executions that lead to them. If results are missing, a note lists them,
/// and if nothing wrong was found so far, the exit code is 3.
///
/// Branches and counterexamples are replayed before they are used. A result that says that nothing
/// was found is trusted.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder written by `check --branches`, and the results: files, or folders that contain
    /// them
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

Exit codes: 0 all results are there and nothing is violated; 1 a violation was found, or a denied
warning; 2 the command line is wrong, or the results are not of one search; 3 results are missing or
incomplete, nothing found so far.";

/// The most files with missing results that are listed.
const NAMED: usize = 10;

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let lints = args.lints.levels()?;
    verification::refuse_unreached(&lints)?;
    let files = parts::all(&args.paths)?;
    let drawing = args.results.direct(files.iter().map(|(path, _)| path.as_path()), output)?;
    let whole = join(&files)?;
    let searched = whole.searched(&files[0].0)?;
    let outcome = whole.part.outcome(&searched.budget);
    let of: Vec<_> = files.iter().map(|(path, stored)| (path.as_path(), &stored.part)).collect();
    replay((&searched.spec.program, &searched.properties), &outcome, &of)?;
    if let Some(missing) = missing(&whole.part, &files) {
        output.remark(missing);
    }
    let (limits, shortest) = (whole.task.limits(), whole.task.shortest);
    let source = whole.task.case().map_or("", |case| &case.source);
    let merged = Some(Merged { files: files.len(), source_hash: hash(source) });
    let (resumed_from, advice) = (None, Advice::default());
    let judged = Judged { limits, shortest, lints, merged, resumed_from, advice };
    let (peak, results) = (whole.peak_memory_bytes, (&args.results, drawing));
    verification::report(&searched, &outcome, peak, judged, results, output)
}

/// Joins all files into one part.
///
/// # Errors
/// If there are no files, they are not parts of one search, or the beginning of the search is
/// missing.
fn join(files: &[(PathBuf, Stored)]) -> Result<Stored, Failure> {
    let Some(((first, whole), rest)) = files.split_first() else {
        return Err(Failure::Usage("no part of a search was found".into()));
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
            Failure::Usage(format!(
                "branch {place} was searched twice and cut in different ways ({}): leave one of them out",
                names(files, &place)
            ))
        })?;
        whole.peak_memory_bytes = whole.peak_memory_bytes.max(stored.peak_memory_bytes);
    }
    if !whole.part.has_beginning() {
        return Err(Failure::Usage(format!(
            "the beginning of the search is missing: {BEGINNING} in the folder written by `check --branches`"
        )));
    }
    match whole.part.stray() {
        None => Ok(whole),
        Some(place) => Err(Failure::Usage(format!(
            "branch {place} is not one of this search: no file says where it was cut off ({})",
            names(files, place)
        ))),
    }
}

/// Replays the violations and leaks, because a file may contain anything.
pub(super) fn replay<S: System>(
    (program, properties): (&S, &Properties),
    outcome: &Outcome,
    files: &[(&Path, &Part)],
) -> Result<(), Failure> {
    let refused = |is_in: &dyn Fn(&Outcome) -> bool, what: &str, why: String| {
        let has = |part: &Part| part.done.values().any(|done| is_in(&done.outcome));
        let file = files.iter().find(|(_, part)| has(part));
        let name = file.map_or_else(|| "a file".to_owned(), |(path, _)| shown(path));
        Failure::Usage(format!("{name} has {what} that the program does not have: {why}"))
    };
    for violation in &outcome.violations {
        ViolationReport::replayed(program, "", violation, properties)
            .map_err(|why| refused(&|o| o.violations.contains(violation), "a violation", why))?;
    }
    for leak in &outcome.leaks {
        leak.check(program).map_err(|why| refused(&|o| o.leaks.contains(leak), "a leak", why))?;
    }
    Ok(())
}

/// The names of the files that have a result or a branch at this place.
fn names(files: &[(PathBuf, Stored)], place: &Place) -> String {
    let found = files.iter().filter(|(_, stored)| has(&stored.part, place));
    found.map(|(path, _)| shown(path)).collect::<Vec<_>>().join(", ")
}

fn has(part: &Part, place: &Place) -> bool {
    part.done.contains_key(place) || part.open.contains_key(place)
}

/// A text that lists the branches that were not searched, by file; `None` if all were.
fn missing(whole: &Part, files: &[(PathBuf, Stored)]) -> Option<String> {
    let missing = whole.missing();
    if missing.is_empty() {
        return None;
    }
    let is_beginning = |path: &Path| path.file_name().is_some_and(|name| name == BEGINNING);
    let dealt: Vec<_> = files.iter().filter(|(path, _)| !is_beginning(path)).collect();
    let counted = dealt.iter().filter_map(|(path, stored)| {
        let count = stored.part.open.keys().filter(|place| missing.contains(place)).count();
        let branches = plural(count as u64, "branch", "branches");
        (count > 0).then(|| format!("  {} ({branches} of it)\n", shown(path)))
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
    let is_dealt = |place: &Place| dealt.iter().any(|(_, stored)| has(&stored.part, place));
    let lost = missing.iter().filter(|place| !is_dealt(place));
    let (kept, gone): (Vec<&Place>, Vec<_>) =
        lost.partition(|place| whole.open.contains_key(place));
    for (places, what) in [
        (kept, format!("that only {BEGINNING} has: their own files are gone")),
        (gone, "that no file has: search again what they were cut off".to_owned()),
    ] {
        if let Some(first) = places.first() {
            let count = plural(places.len() as u64, "branch", "branches");
            text += &format!("  {count} ({first} for one) {what}\n");
        }
    }
    Some(text)
}
