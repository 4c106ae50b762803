//! A check that is saved, and goes on in another process.
//!
//! The file has the format of `check --checkpoint`. A program cannot be told from a file, so there
//! is no command that goes on: the same check does, if its file exists. It is removed when the
//! search is over, so that the next run of the test searches again.

use std::env;
use std::fs;
use std::io::Write;
use std::num::NonZeroU32;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::How;
use crate::explore::{Budget, Kept, Observer, Outcome, Part, Saving, Setting, StopReason, keep};
use crate::model::{AnySystem, System};
use crate::report::ViolationReport;
use crate::report::text::shown;
use crate::study::{Searchable, Stored, Task, hash, task};

/// Where a search is saved, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub(super) file: PathBuf,
    pub(super) interval: Duration,
    /// The place in the source that asks for it.
    pub(super) place: &'static Location<'static>,
}

impl Checkpoint {
    /// The file as reports name it.
    pub(super) fn name(&self) -> String {
        shown(&self.file)
    }

    /// What the system had noted when the search was saved, if it was.
    pub(crate) fn noted(&self) -> Option<String> {
        self.file.exists().then(|| self.read().noted)?
    }

    fn read(&self) -> Stored {
        let text = fs::read_to_string(&self.file);
        let stored = text.map_err(|error| error.to_string()).and_then(|text| Stored::of(&text));
        stored.unwrap_or_else(|why| panic!("{}: {why}", self.name()))
    }

    /// Writes the file beside the old one, which it then replaces.
    fn write(&self, stored: &Stored) {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let written =
            NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).and_then(|mut new| {
                new.write_all(stored.text().as_bytes())?;
                new.as_file().sync_all()?;
                Ok(new.persist(&self.file)?)
            });
        if let Err(error) = written {
            panic!("cannot write {}: {error}", self.name());
        }
    }

    /// Why this search cannot be saved, in a sentence; `None` if it can.
    pub(super) fn refusal(
        system: &AnySystem<'_>,
        setting: Option<Setting>,
        budget: &Budget,
    ) -> Option<String> {
        match setting {
            None => Some("an explorer that is given as a value cannot be saved".into()),
            Some(_) if budget.max_traces.is_some() => {
                Some("a search that is saved has no limit to its executions".into())
            }
            Some(setting) => task::refusal(&setting, system, budget),
        }
    }

    /// Begins the search, or goes on with it unless `is_new`. Returns also whether it was resumed.
    pub(super) fn explored(
        &self,
        system: &AnySystem<'_>,
        (how, setting): (&How, Setting),
        (budget, is_new): (&Budget, bool),
        observer: &mut dyn Observer,
    ) -> (Outcome, bool) {
        let whole = Stored::new(self.task(how, setting), Part::whole());
        let known = (!is_new && self.file.exists()).then(|| self.read());
        if let Some(known) = &known
            && let Some(why) = known.task.difference(&whole.task)
        {
            let file = self.name();
            panic!("{file} is the checkpoint of another search ({why}): remove it");
        }
        let goes_on =
            |known: &Stored| known.noted.as_ref().is_none_or(|noted| system.recall(noted));
        let known = known.filter(goes_on);
        let is_resumed = known.is_some();
        let mut stored = known.unwrap_or(whole);
        let mut part = std::mem::take(&mut stored.part);
        let (start, before) = (Instant::now(), stored.spent.unwrap_or_default());
        let mut save = |part: &Part| {
            stored.part = part.clone();
            stored.spent = Some(before + start.elapsed());
            stored.noted = system.noted();
            self.write(&stored);
        };
        // An error is found before anything is searched.
        save(&part);
        let saving = Saving { interval: self.interval, save: &mut save };
        let jobs = how.jobs.or(setting.options().jobs).unwrap_or(NonZeroU32::MIN);
        let kept = Kept::of_processes(jobs);
        let search = (system, setting.without_jobs());
        let found = keep(&mut part, search, kept, budget, saving, observer);
        let file = self.name();
        let mut outcome = found.unwrap_or_else(|stray| panic!("{file}: {stray}"));
        for violation in &outcome.violations {
            let replayed = ViolationReport::replayed(system, "", violation, &budget.properties);
            if let Err(why) = replayed {
                panic!("{file} has a violation that the program does not have: {why}");
            }
        }
        outcome.elapsed += before;
        if !outcome.stopped_by.is_some_and(StopReason::is_external) {
            // If it stays, the next search has nothing to do.
            let _ = fs::remove_file(&self.file);
        }
        (outcome, is_resumed)
    }

    fn task(&self, how: &How, setting: Setting) -> Task {
        let place = format!("{}:{}", self.place.file(), self.place.line());
        Task {
            mazurka: env!("CARGO_PKG_VERSION").into(),
            program: Searchable::Test { place: place.clone(), hash: hash_of_program() },
            path: place,
            setting: setting.without_jobs().to_string(),
            depth: how.limits.depth,
            depth_measure: how.limits.depth_measure,
            all: how.all,
            shortest: how.shortest,
            keep_events: None,
        }
    }
}

/// The hash of the program that runs this.
fn hash_of_program() -> String {
    static HASH: OnceLock<String> = OnceLock::new();
    let read = || env::current_exe().and_then(fs::read).map(hash).unwrap_or_default();
    HASH.get_or_init(read).clone()
}
