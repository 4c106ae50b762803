//! `mpirun --checkpoint` and `mazurka resume`: a search of an MPI program that is saved.
//!
//! Ranks are run again when the search goes on. What they have done that cannot be explored, and
//! how they have used files, is saved beside the search.

use std::num::NonZeroU32;

use super::super::checkpoint::{self, Searching};
use super::super::output::Output;
use super::super::session::{Session, judged as judged_by, say_how_to_go_on};
use super::super::spec::Spec;
use super::super::verification::{ResultArgs, Wanted};
use super::super::{Exit, Failure};
use super::searched::{MpiSearch, finish};
use super::{ENDLESS, RANKS, judged};
use crate::explore::{Budget, Kept, Part, Setting};
use crate::model::{AnySystem, System};
use crate::report::CheckReport;
use crate::report::text::shown;
use crate::study::{MpiProgram, Searchable, Stored, Task, task};

/// Begins the search, or goes on from the checkpoint if there is one.
pub(super) fn begin(
    (run, setting, budget): (MpiProgram, Setting, &Budget),
    session: Session<'_>,
    results: (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    if let Some(word) = run.unwritable() {
        let word = shown(word.as_ref());
        return Err(Failure::Usage(format!("--checkpoint: {word} is not a text in UTF-8")));
    }
    let (path, hash) = (run.source().to_owned(), run.hash()?);
    let task = Task {
        mazurka: env!("CARGO_PKG_VERSION").into(),
        program: Searchable::Mpi { run, hash },
        path: path.to_string_lossy().into_owned(),
        setting: setting.to_string(),
        depth: session.limits.depth,
        depth_measure: session.limits.depth_measure,
        all: budget.all,
        shortest: budget.shortest,
        keep_events: None,
    };
    let whole = Stored::new(task, Part::whole());
    let (stored, resumed_from) = checkpoint::known(session.file, whole)?;
    go_on(stored, resumed_from, session, results, output)
}

/// Goes on with the search in this file.
pub(in super::super) fn resume(
    stored: Stored,
    session: Session<'_>,
    results: (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = Some(shown(session.file));
    go_on(stored, name, session, results, output)
}

fn go_on(
    mut stored: Stored,
    resumed_from: Option<String>,
    mut session: Session<'_>,
    results: (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = session.file;
    let refused = |why: String| Failure::Usage(format!("{}: {why}", shown(file)));
    let Searchable::Mpi { run, hash } = stored.task.program.clone() else {
        return Err(refused("no search of an MPI program".into()));
    };
    if run.command.is_empty() || !RANKS.contains(&run.ranks) {
        return Err(refused("the file says nothing that can be run".into()));
    }
    if run.hash()? != hash {
        let program = shown(run.source());
        return Err(refused(format!("{program} has changed since the search was saved")));
    }
    let setting: Setting = stored.task.setting.parse().map_err(refused)?;
    let system = run.system()?;
    let budget = Budget { properties: judged(), endless: Some(ENDLESS), ..stored.task.budget() };
    let any = AnySystem::new(system.share());
    if let Some(refusal) = task::refusal_to_save(&setting, &any, &budget) {
        return Err(refused(refusal));
    }
    if stored.noted.as_ref().is_some_and(|noted| !system.recall(noted)) {
        return Err(refused("what ranks have done cannot be read".into()));
    }
    let jobs = session.jobs.unwrap_or(NonZeroU32::MIN);
    let searching = Searching {
        system: &any,
        setting,
        properties: &budget.properties,
        how: Kept::of_processes(jobs),
    };
    // Ranks are not run beside the search.
    let nothing = |_: &Budget, _| None;
    let found =
        checkpoint::search(&mut stored, searching, (&mut session, nothing), &budget, output)?;
    let outcome = system.runner().judged(found.outcome);
    let peak = stored.peak_memory_bytes;
    let judged = judged_by(&stored, session.limits, session.lints, resumed_from);
    let search = MpiSearch {
        run: &run,
        system: &system,
        setting,
        limits: &judged.limits,
        lints: &judged.lints,
        shortest: judged.shortest,
    };
    let report = search.report(&outcome, &found.left, peak, None);
    let report = CheckReport { resumed_from: judged.resumed_from, ..report };
    let drawn = (!outcome.violations.is_empty())
        .then(|| (Spec { subject: run.subject(), program: any }, outcome.violations));
    let exit = finish(&[report], &drawn, &judged.limits, results, output)?;
    found.saved?;
    if found.is_open {
        say_how_to_go_on(file, output);
    }
    Ok(exit)
}
