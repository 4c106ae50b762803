//! `check --checkpoint` and `mazurka resume`: a search that is saved to a file, and goes on from it
//! in another process.
//!
//! The checkpoint of a search of classes is a file in the format of `check --branches`
//! ([`Stored`]): the task, the results so far, and the branches that are left. So it can also be
//! cut into branches, and searched on many machines. That of a search that cannot be cut is of
//! another kind ([`super::states`]).
//!
//! It is written to a temporary file, which then replaces the file of that name: whenever the
//! program is killed, the file is the last checkpoint or the one before it.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use super::faster::advice;
use super::growth::in_all;
use super::merge::replay;
use super::options::time;
use super::output::Output;
use super::parts::strays;
use super::progress::InAll;
use super::session::{Session, judged, say_how_to_go_on};
use super::verification::{self, Judged, ResultArgs, Wanted};
use super::{Exit, Failure, branches, files, interrupt, memory, states};
use crate::explore::{Auto, Budget, Explorer, Kept, Outcome, Part, Place, Saving, Setting, keep};
use crate::lang::Program;
use crate::model::System;
use crate::property::Properties;
use crate::report::text::shown;
use crate::study::Stored;

/// Options for a search that is saved.
#[derive(Args)]
pub(super) struct CheckpointArgs {
    /// Save the search to this file every minute, at a limit, at a signal (SIGINT, SIGTERM), and
    /// when it is done. `mazurka resume FILE` goes on from there. If FILE is already a checkpoint
    /// of this search, go on from it. For `prefix`, for explorers of states, and for those
    /// that can search a single branch
    #[arg(long, value_name = "FILE", conflicts_with = "max_traces")]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    interval: IntervalArgs,
}

impl CheckpointArgs {
    /// The file for the checkpoint, if one is wanted.
    pub(super) fn file(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// The time between two checkpoints.
    pub(super) fn interval(&self) -> Duration {
        self.interval.checkpoint_interval
    }
}

/// How often a search is saved.
#[derive(Args)]
pub(super) struct IntervalArgs {
    /// The time between two checkpoints
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = time)]
    pub(super) checkpoint_interval: Duration,
}

/// Begins the search, or goes on from the checkpoint if there is one.
pub(super) fn begin(
    whole: Stored,
    session: Session<'_>,
    results: (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    if !session.file.exists() && is_of_states(&whole)? {
        return states::go_on(whole, None, (None, session), results, output);
    }
    if let Some((stored, body)) = states::read(session.file)? {
        let name = fitting(session.file, &stored, &whole)?;
        return states::go_on(stored, Some(body), (Some(name), session), results, output);
    }
    let (stored, resumed_from) = known(session.file, whole)?;
    go_on(stored, resumed_from, session, results, output)
}

/// The explorer for a search that is saved, if none is named: that of the checkpoint, if there is
/// one. If not, the one that [`Auto`] would rather have; with options that it does not take,
/// another one.
pub(super) fn favourite(
    file: &Path,
    program: &Program,
    budget: &Budget,
    output: &Output,
) -> Result<&'static str, Failure> {
    if file.exists() && !files::is_stdin(file) {
        let stored = match states::read(file)? {
            Some((stored, _)) => stored,
            None => Stored::read(file)?,
        };
        let setting: Setting = stored.task.setting.parse().map_err(Failure::Usage)?;
        return Ok(setting.profile().name);
    }
    // A short search is better begun than chosen.
    let timeout = budget.timeout.map(|timeout| timeout / 4);
    let budget = Budget { cancel: interrupt::flag()?, timeout, ..budget.clone() };
    let favourite = Auto::default().favourite(program, &budget);
    // Its branches repeat nothing, and those of UDPOR do.
    let name = favourite.filter(|&name| name != "udpor").unwrap_or("parsimonious");
    output.remark(format!("The search is by {name}, which can be saved.\n"));
    Ok(name)
}

/// Is it a search whose explorer writes its state?
fn is_of_states(stored: &Stored) -> Result<bool, Failure> {
    let setting: Setting = stored.task.setting.parse().map_err(Failure::Usage)?;
    Ok(setting.profile().can_be_saved)
}

/// The search in this file, with the name of the file; or `whole`, if there is no such file.
///
/// # Errors
/// If the file cannot be read, or is of another search.
pub(super) fn known(file: &Path, whole: Stored) -> Result<(Stored, Option<String>), Failure> {
    if !file.exists() {
        return Ok((whole, None));
    }
    let known = Stored::read(file)?;
    let name = fitting(file, &known, &whole)?;
    Ok((known, Some(name)))
}

/// The name of a file, which has this search. Refuses it if that is another search than `whole`.
fn fitting(file: &Path, known: &Stored, whole: &Stored) -> Result<String, Failure> {
    let name = shown(file);
    match known.task.difference(&whole.task) {
        None => Ok(name),
        Some(why) => Err(Failure::Usage(format!(
            "{name} is the checkpoint of another search ({why}): remove it, or choose another name"
        ))),
    }
}

/// Goes on with a search of a spec, saves it now and then, and reports its result.
pub(super) fn go_on(
    mut stored: Stored,
    resumed_from: Option<String>,
    mut session: Session<'_>,
    (results, drawing): (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let searched = stored.searched(session.input)?;
    let jobs = session.with_jobs(searched.setting).options().jobs;
    let searching = Searching {
        system: &searched.spec.program,
        setting: searched.setting,
        properties: &searched.properties,
        how: Kept::by(jobs.unwrap_or(NonZeroU32::MIN)),
    };
    let (program, setting) = (&searched.spec.program, searched.setting);
    let case = stored.task.case().cloned();
    let case = case.as_ref().expect("the program is a spec");
    let guess = |budget: &Budget, time| in_all(case, program, setting, (budget, time));
    let found = search(&mut stored, searching, (&mut session, guess), &searched.budget, output)?;
    let Session { file, limits, lints, .. } = session;
    let outcome = found.outcome;
    if !stored.part.has_beginning() {
        let left = stored.part.left().count();
        output.remark(branches::summary(&outcome, left, Some(file)));
        found.saved?;
        return Ok(outcome.verdict().into());
    }
    let advice = advice((case, &searched.spec), setting, &limits, &searched.budget, &outcome);
    let judged = Judged { advice, ..judged(&stored, limits, lints, resumed_from) };
    let peak = stored.peak_memory_bytes;
    let exit = verification::report(&searched, &outcome, peak, judged, (results, drawing), output)?;
    found.saved?;
    if found.is_open {
        say_how_to_go_on(file, output);
    }
    Ok(exit)
}

/// What is searched, and how.
pub(super) struct Searching<'s, S> {
    pub(super) system: &'s S,
    pub(super) setting: Setting,
    pub(super) properties: &'s Properties,
    pub(super) how: Kept,
}

/// A search that was saved.
pub(super) struct Found {
    pub(super) outcome: Outcome,
    /// What is left of the limits.
    pub(super) left: Budget,
    /// Is something left to be searched?
    pub(super) is_open: bool,
    /// Could the file be written?
    pub(super) saved: Result<(), Failure>,
}

/// Goes on with a search, and saves it now and then.
pub(super) fn search<S: System>(
    stored: &mut Stored,
    searching: Searching<'_, S>,
    (session, guess): (&mut Session<'_>, impl FnOnce(&Budget, Duration) -> Option<InAll> + Send),
    budget: &Budget,
    output: &mut Output,
) -> Result<Found, Failure> {
    let Searching { system, setting, properties, how } = searching;
    let &mut Session { file, interval, ref limits, ref mut progress, .. } = session;
    if files::is_stdin(file) {
        return Err(Failure::Usage("a search is saved to a file: it needs a name".into()));
    }
    refuse_forged(stored, file)?;
    let (start, before) = (Instant::now(), stored.spent.unwrap_or_default());
    let budget = Budget {
        cancel: interrupt::flag()?,
        timeout: limits.timeout,
        max_memory: limits.budget(memory::in_use).max_memory,
        ..budget.clone()
    };
    // An error is found before anything is searched.
    stored.write(file)?;
    let mut part = std::mem::take(&mut stored.part);
    let mut saved = Ok(());
    let mut save = |part: &Part| {
        stored.part = part.clone();
        stored.spent = Some(before + start.elapsed());
        stored.noted = system.noted();
        stored.note_memory();
        saved = stored.write(file);
        if let Err(Failure::Usage(why)) = &saved {
            output.warn(why);
        }
    };
    let saving = Saving { interval, save: &mut save };
    let outcome = progress.beside(guess, &budget, |progress| {
        keep(&mut part, (system, setting), how, &budget, saving, progress)
    });
    progress.finish();
    let mut outcome = outcome.map_err(|stray| strays(file, stray))?;
    replay((system, properties), &outcome, &[(file, &part)])?;
    outcome.elapsed += before;
    let is_open = part.left().next().is_some();
    stored.part = part;
    Ok(Found { outcome, left: budget.after(start.elapsed()), is_open, saved })
}

/// Refuses a file whose pieces are not those of one search.
fn refuse_forged(stored: &Stored, file: &Path) -> Result<(), Failure> {
    let refused = |place: &Place, why: &str| {
        Err(Failure::Usage(format!("{}: branch {place} {why}", shown(file))))
    };
    let part = &stored.part;
    if !part.has_beginning() {
        return Ok(());
    }
    if let Some(place) = part.stray() {
        return refused(place, "is not one of this search: it was never cut off");
    }
    let is_lost = |place: &&&Place| !part.open.contains_key(**place);
    match part.missing().iter().find(is_lost) {
        Some(place) => refused(place, "is missing: `mazurka merge` joins results and branches"),
        None => Ok(()),
    }
}
