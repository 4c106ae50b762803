//! The bounds of a search as `loom` writes them.

use std::time::Duration;

use super::Builder;

/// Bounds of a search, as fields: for tests that were written for the crate `loom`. Others use
/// [`threads::Builder`](Builder).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Bounds {
    /// The most steps in an execution. The search is not complete if an execution has more.
    pub max_branches: usize,
    /// The most executions.
    pub max_permutations: Option<usize>,
    /// The time for the search.
    pub max_duration: Option<Duration>,
    /// Has no effect: executions are explored however often threads are preempted.
    pub preemption_bound: Option<usize>,
}

impl Bounds {
    /// No bounds.
    pub fn new() -> Bounds {
        Bounds::default()
    }

    /// Explores the executions of the closure.
    ///
    /// # Panics
    /// With a counterexample, or with the reason why the search is not complete.
    #[track_caller]
    pub fn check(&self, closure: impl Fn() + Send + Sync + 'static) {
        let mut search = Builder::new();
        if let Ok(steps) = self.max_branches.try_into() {
            search = search.depth(steps);
        }
        if let Some(executions) = self.max_permutations {
            search = search.max_traces(executions as u64);
        }
        if let Some(time) = self.max_duration {
            search = search.timeout(time);
        }
        search.check(closure);
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            max_branches: usize::MAX,
            max_permutations: None,
            max_duration: None,
            preemption_bound: None,
        }
    }
}
