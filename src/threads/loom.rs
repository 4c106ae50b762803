//! A search with the options that loom has, for tests that were written for it.
//!
//! loom's options mostly bound what it explores. Here everything is explored, one execution for
//! each class, so most of them have no effect. Those that end a search end it here, too.

use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::builder;
use crate::check::Checked;

/// Options of a search, with the names that they have in loom. [`threads::Builder`] has more.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::sync::Arc;
///
/// let mut builder = mazurka::model::Builder::new();
/// builder.preemption_bound = Some(2);
/// builder.check(|| {
///     let x = Arc::new(AtomicU32::new(0));
///     let writer = {
///         let x = x.clone();
///         mazurka::thread::spawn(move || x.store(1, SeqCst))
///     };
///     assert!(x.load(SeqCst) < 2);
///     writer.join().unwrap();
/// });
/// ```
///
/// Environment variables of loom have no effect.
///
/// [`threads::Builder`]: crate::threads::Builder
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// No effect: there may be any number of threads.
    pub max_threads: usize,
    /// The largest number of steps of an execution. If one has more, [`check`](Builder::check)
    /// panics, because the search is not complete. Any number to begin with.
    pub max_branches: usize,
    /// The search ends after this many executions. If nothing was found in them, the test passes,
    /// though it proves nothing.
    pub max_permutations: Option<usize>,
    /// The search ends after this time. If nothing was found, the test passes, though it proves
    /// nothing.
    pub max_duration: Option<Duration>,
    /// No effect: executions with more preemptions are explored, too.
    pub preemption_bound: Option<usize>,
    /// No effect: searches are not continued later.
    pub checkpoint_file: Option<PathBuf>,
    /// No effect.
    pub checkpoint_interval: usize,
    /// No effect: everything is explored from the start.
    pub expect_explicit_explore: bool,
    /// No effect: reports always have the places in the source.
    pub location: bool,
    /// No effect: a violation is shown step by step; see also [`fn@crate::model`].
    pub log: bool,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            max_threads: usize::MAX,
            max_branches: usize::MAX,
            max_permutations: None,
            max_duration: None,
            preemption_bound: None,
            checkpoint_file: None,
            checkpoint_interval: 0,
            expect_explicit_explore: false,
            location: true,
            log: false,
        }
    }
}

impl Builder {
    /// A search without limits.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// No effect: searches are not continued later.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores the executions of the closure.
    ///
    /// # Panics
    /// With a counterexample; or with the reason why the search is not complete, unless
    /// `max_permutations` or `max_duration` is given.
    #[track_caller]
    pub fn check(&self, closure: impl Fn() + Send + Sync + 'static) {
        let mut search = builder::Builder::new();
        if let Ok(steps) = u32::try_from(self.max_branches) {
            search = search.depth(steps);
        }
        if let Some(executions) = self.max_permutations {
            search = search.max_traces(executions as u64);
        }
        if let Some(time) = self.max_duration {
            search = search.timeout(time);
        }
        let is_limited = self.max_permutations.is_some() || self.max_duration.is_some();
        let enough = if is_limited { Checked::has_found_nothing } else { Checked::is_ok };
        search.require(enough, Arc::new(closure), Location::caller());
    }
}
