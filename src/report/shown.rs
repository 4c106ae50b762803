//! What real processes print in an execution in which nothing is wrong.
//!
//! A verified program has no counterexample that its output could be shown with. So one of its
//! executions is shown: the first one that a search has followed to a good end ([`FirstGood`]),
//! replayed on the model.

use std::time::Duration;

#[cfg(feature = "json")]
use serde::Serialize;

use crate::explore::{End, Observer, Stats};
use crate::model::{Action, Schedule, System};
use crate::property::{Position, Printed, Replay};

/// An execution with what it prints.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Shown {
    /// The output of each process.
    pub(crate) printed: Vec<Printed>,
    /// The execution as an argument of `--schedule`.
    pub(crate) replay: String,
}

impl Shown {
    /// The output of this execution.
    ///
    /// # Panics
    /// If the schedule is not an execution of the system.
    pub(crate) fn of<S: System>(system: &S, schedule: &Schedule) -> Shown {
        let mut replay = Replay::new(system);
        replay.follow(schedule).expect("an execution of the system");
        Shown { printed: replay.printed(), replay: Schedule::of(replay.state()).to_string() }
    }
}

/// An observer that keeps the first execution that ends well, and forwards all notifications.
pub struct FirstGood<'o> {
    observer: &'o mut dyn Observer,
    /// The execution, if there is one.
    pub(crate) found: Option<Schedule>,
}

impl<'o> FirstGood<'o> {
    /// Forwards notifications to this observer.
    pub(crate) fn new(observer: &'o mut dyn Observer) -> Self {
        FirstGood { observer, found: None }
    }
}

impl Observer for FirstGood<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        if self.found.is_none() && !end.is_violating {
            self.found = Some(at.schedule());
        }
        self.observer.trace(at, end);
    }

    fn blocked(&mut self, at: Position<'_>) {
        self.observer.blocked(at);
    }

    fn truncated(&mut self, at: Position<'_>) {
        self.observer.truncated(at);
    }

    fn transition(&mut self, from: u32, actions: &[Action], to: u32, at: Position<'_>) {
        self.observer.transition(from, actions, to, at);
    }

    fn follows_transitions(&self) -> bool {
        self.observer.follows_transitions()
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        self.observer.progress(stats, elapsed);
    }
}
