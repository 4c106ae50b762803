//! The classes that a search completes, each with its end.
//!
//! For a certificate ([`crate::trace`] has the normal form): only a search that completes an
//! execution of each class, and runs each to its end, has a list of all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::observer::{End, Observer};
use super::result::Stats;
use crate::model::{Schedule, System};
use crate::property::Position;
use crate::trace::{Execution, representative};

/// An observer that keeps every complete execution, and passes on the figures.
pub struct Collected<'o> {
    watcher: &'o mut dyn Observer,
    ends: Vec<(Schedule, End)>,
}

impl<'o> Collected<'o> {
    /// Nothing so far. `watcher` is shown the figures.
    pub fn new(watcher: &'o mut dyn Observer) -> Self {
        Collected { watcher, ends: Vec::new() }
    }

    /// The classes, each by its normal form, with their ends. The normal form goes on with the
    /// process born first of those whose next event has all its causes.
    ///
    /// Also returns whether the program may have loops that wait, which no search runs to an end.
    ///
    /// # Errors
    /// Why there is no such list: an execution waits in a loop, so it has no end.
    pub fn classes<S: System>(
        self,
        system: &S,
    ) -> Result<(BTreeMap<Schedule, End>, bool), &'static str> {
        let mut execution = Execution::new(system);
        let mut classes = BTreeMap::new();
        for (schedule, end) in self.ends {
            while !execution.is_empty() {
                execution.pop();
            }
            for &action in &*schedule {
                let named = execution.state().action_named(&execution.locals, action);
                execution.push(named.expect("a search reports what can be replayed"));
            }
            if !execution.state().is_terminal(&execution.locals) || end.is_livelocked {
                return Err("an execution waits in a loop for ever");
            }
            classes.insert(representative(&mut execution), end);
        }
        Ok((classes, execution.locals.some_may_return()))
    }
}

impl Observer for Collected<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        self.ends.push((at.schedule(), end));
    }

    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        self.watcher.progress(stats, elapsed);
    }
}
