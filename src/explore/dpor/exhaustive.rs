//! Every interleaving, without reduction: the reference for all other explorers.
//!
//! ```text
//! Explore(E):
//!   for each p ∈ enabled(E):  Explore(E·p)
//! ```
//!
//! Up to a causal depth, it visits every interleaving of every class up to that depth: actions
//! beyond the bound count as not enabled. Up to a number of steps, it visits every execution of
//! that length, and every shorter one that ends.
//!
//! Classes are counted by the numbers that this search gives to events. A piece of a search also
//! stores the [`representative`] of each class, so that a class that several pieces complete is
//! counted once.

use std::collections::BTreeSet;

use super::pending::Pending;
use crate::explore::budget::Depth;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Reached, Rule, SleepPolicy, Walk, WalkOptions};
use crate::model::{Action, Schedule, System};
use crate::trace::{Names, representative};

/// Visits every execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exhaustive;

impl Exhaustive {
    /// The explorer with these options.
    pub fn new(_: &Options) -> Self {
        Exhaustive
    }
}

impl Explorer for Exhaustive {
    fn profile(&self) -> Profile {
        Profile {
            name: "exhaustive",
            summary: "every interleaving, without reduction; also counts Mazurkiewicz classes",
            guarantee: Guarantee::EveryExecution,
            takes: Takes { options: &["jobs"], ..Takes::NOTHING },
            both_depths: true,
            splits: Splits::Exactly,
            knows_when_stuck: true,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let options = WalkOptions { order: None, sleep: SleepPolicy::None, depth: Depth::Causal };
        let mut rule = Everything::default();
        walk::explore(system, options, &mut rule, driver);
        driver.stats.classes = Some(rule.names.counted() as u64);
        if driver.can_split() {
            driver.note_classes(rule.completed);
        }
    }
}

/// The rule: try every enabled action.
#[derive(Default)]
struct Everything {
    pending: Pending,
    names: Names,
    /// The classes that a piece of a search has completed.
    completed: BTreeSet<Schedule>,
}

impl<S: System> Rule<S> for Everything {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        if let Some(last) = walk.execution.len().checked_sub(1) {
            self.names.push(walk.execution.order(), walk.execution.action(last));
        }
        let reached = walk.look();
        let is_open = reached == Reached::Open;
        // Actions sleep only where a branch begins: those that are explored elsewhere.
        let (is_start, sleep) = (walk.is_start(), &walk.sleep);
        let here = |&action: &Action| is_open && !(is_start && sleep.contains(action));
        self.pending.descend(walk.enabled.iter().copied().filter(here));
        let is_new = reached == Reached::End && self.names.count(walk.execution.order());
        if is_new && walk.driver.can_split() {
            self.completed.insert(representative(&mut walk.execution));
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        self.pending.pop()
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        self.pending.ascend();
        if !walk.execution.is_empty() {
            self.names.pop();
        }
    }
}
