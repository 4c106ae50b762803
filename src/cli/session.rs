//! A process that does a part of a search that is saved: what it was asked for, and what it says in
//! the end.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use super::faster::Advice;
use super::output::Output;
use super::progress::Progress;
use super::verification::Judged;
use crate::explore::{Options, Setting};
use crate::report::lint::Levels;
use crate::report::text::quoted_path;
use crate::study::{Limits, Stored};

/// A process that does a part of a search.
pub(super) struct Session<'s> {
    /// The file of the checkpoint.
    pub(super) file: &'s Path,
    /// What the user has named as the program, for messages.
    pub(super) input: &'s Path,
    /// The number of threads; `None` for one per processor.
    pub(super) jobs: Option<NonZeroU32>,
    pub(super) interval: Duration,
    pub(super) progress: Progress,
    pub(super) limits: Limits,
    pub(super) lints: Levels,
}

/// What the report of this search needs, besides the outcome.
pub(super) fn judged(
    stored: &Stored,
    limits: Limits,
    lints: Levels,
    resumed_from: Option<String>,
) -> Judged {
    let (task, shortest) = (&stored.task, stored.task.shortest);
    let limits = Limits { depth: task.depth, depth_measure: task.depth_measure, ..limits };
    Judged { limits, shortest, lints, merged: None, resumed_from, advice: Advice::default() }
}

/// Says how the search in this file goes on.
pub(super) fn say_how_to_go_on(file: &Path, output: &Output) {
    let file = quoted_path(file);
    output.remark(format!("Saved: `mazurka resume {file}` goes on.\n"));
}

impl Session<'_> {
    /// The setting with the number of threads that was asked for: by default one per processor.
    pub(super) fn with_jobs(&self, setting: Setting) -> Setting {
        setting.completed(Options { jobs: self.jobs, ..Options::default() }).on_all_processors()
    }
}
