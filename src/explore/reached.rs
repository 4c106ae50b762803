//! The states that a search reaches, each with a way to it.
//!
//! For a certificate: only a search that stores every state has a list of all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::observer::{End, Observer};
use super::result::{Outcome, Stats, Violation, ViolationKind};
use crate::model::{Action, Locals, Schedule, State, Status, System};
use crate::property::Position;

/// An observer that keeps a way to every state, and passes on the figures.
pub struct Reached<'o> {
    watcher: &'o mut dyn Observer,
    /// By the numbers of states.
    states: Vec<(Schedule, End)>,
    /// The number of those in which nothing is possible.
    ends: u64,
}

impl<'o> Reached<'o> {
    /// Knows the initial state of this system. `watcher` is shown the figures.
    pub fn new<S: System>(system: &S, watcher: &'o mut dyn Observer) -> Self {
        let mut reached = Reached { watcher, states: Vec::new(), ends: 0 };
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        reached.add(Position::new(&locals, &state));
        reached
    }

    /// The first way to each state, with what is wrong there: a process has failed, an invariant or
    /// a `final` block does not hold, or it is a deadlock. `outcome` is the result of the search.
    ///
    /// # Errors
    /// Why there is no such list: in a state, all processes wait in loops.
    pub fn states(self, outcome: &Outcome) -> Result<BTreeMap<Schedule, End>, &'static str> {
        let is_livelock = |one: &Violation| one.kind == ViolationKind::Livelock;
        let do_all_wait =
            outcome.stats.traces != self.ends || outcome.violations.iter().any(is_livelock);
        match do_all_wait {
            true => Err("an execution waits in a loop for ever"),
            false => Ok(self.states.into_iter().collect()),
        }
    }

    fn add(&mut self, at: Position<'_>) {
        let has_failed = |process| matches!(at.status(process), Status::Failed(_));
        let is_violating = at.processes().any(has_failed) || at.broken_invariant().is_some();
        self.states.push((at.schedule(), End { is_violating, ..End::default() }));
    }
}

impl Observer for Reached<'_> {
    fn trace(&mut self, at: Position<'_>, end: End) {
        self.ends += 1;
        let (_, here) = self.states.last_mut().expect("the initial state");
        here.is_deadlocked |= end.is_deadlocked;
        here.is_violating |= end.is_deadlocked || at.final_failure().is_some();
    }

    fn transition(&mut self, _: u32, _: &[Action], to: u32, at: Position<'_>) {
        if to as usize == self.states.len() {
            self.add(at);
        }
    }

    fn progress(&mut self, stats: &Stats, elapsed: Duration) {
        self.watcher.progress(stats, elapsed);
    }
}
