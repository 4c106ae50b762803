//! Source-DPOR: each Mazurkiewicz class completed once; source sets avoid most blocked
//! explorations.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), algorithm 1.
//!
//! ```text
//! Explore(E, Sleep):
//!   if there is p ∈ enabled(E) ∖ Sleep:
//!     backtrack(E) := {p}
//!     while there is p ∈ backtrack(E) ∖ Sleep:
//!       for each race (i, x) of the new event of E·p:
//!         v := notdep(i, E·p)·x
//!         if I(v) ∩ backtrack(pre(i)) = ∅:  add some q ∈ I(v) to backtrack(pre(i))
//!       Explore(E·p, {q ∈ Sleep : q is independent of p after E})
//!       add p to Sleep
//! ```
//!
//! Complete for finite executions, and with the sleep sets no class is completed twice; but an
//! exploration may be blocked. Up to a depth the executions are those of the events up to that
//! height, as in [`super::optimal`]. At the end of an execution, the races that actions beyond the
//! bound would have had are handled, too. Departures:
//!
//! - The unit of scheduling is the [`Strand`](crate::trace::Strand), and the races are those of
//!   [`crate::trace::race`]. All choices of a strand are added together.
//! - An initial of v that sleeps at pre(i) counts as an element of the set, because the executions
//!   that begin with it are explored.
//! - A message that an actor refuses until the end of an execution has no event that could have
//!   races. So its races are handled at the end, even if the exploration is blocked. (After the
//!   sleeping actions the guard might never hold again.) Actions beyond the depth bound are treated
//!   in the same way.

use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits, depth_in_other_order};
use crate::explore::order::Order;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Reached, Rule, Walk, WalkOptions};
use crate::model::{Action, System};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{BacktrackSets, Execution};

/// Completes each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Source {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Source { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Source {
    fn profile(&self) -> Profile {
        Profile {
            name: "source",
            summary: "dynamic partial order reduction with source sets and sleep sets",
            source: "Abdulla, Aronis, Jonsson, Sagonas (J. ACM 2017), algorithm 1",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { always_sleeps: true, ..Takes::ORDER },
            may_block: true,
            splits: Splits::Roughly,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        depth_in_other_order(self.profile().name, self.order, budget)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        walk::explore(
            system,
            WalkOptions::sleeping(self.order),
            &mut SourceSets::default(),
            driver,
        );
    }
}

/// The rule, with its backtrack sets and races.
#[derive(Default)]
struct SourceSets {
    backtrack: BacktrackSets,
    open: OpenChoices,
    /// The races just found.
    races: Vec<Race>,
}

impl<S: System> Rule<S> for SourceSets {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
            race::with_earlier(&mut walk.execution, &self.open, &mut self.races);
            self.reverse_races(&walk.execution);
        }
        let reached = walk.look();
        self.backtrack.push(walk.candidates());
        match reached {
            // backtrack(E) := {p} for a p ∈ enabled(E) ∖ Sleep
            Reached::Open if self.backtrack.start() => {}
            Reached::Open => {
                walk.blocked();
                self.end(&mut walk.execution);
            }
            Reached::End | Reached::Cut => self.end(&mut walk.execution),
            Reached::TooLong | Reached::Stop => {}
        }
    }

    /// Some p ∈ backtrack(E) ∖ Sleep.
    #[inline]
    fn next(&mut self, _: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        self.backtrack.take_first()
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        self.backtrack.pop();
        self.open.leave(&walk.execution);
    }
}

impl SourceSets {
    /// Handles the end of E: the races of messages that were refused, and of actions beyond the
    /// bound.
    fn end<S: System>(&mut self, execution: &mut Execution<'_, S>) {
        race::with_pending(execution, &mut self.races);
        race::with_cut(execution, &mut self.races);
        self.reverse_races(execution);
    }

    fn reverse_races<S: System>(&mut self, execution: &Execution<'_, S>) {
        while let Some(race) = self.races.pop() {
            self.reverse(execution, &race);
        }
    }

    /// Adds an initial of v to backtrack(pre(i)), unless one is in it.
    fn reverse<S: System>(&mut self, execution: &Execution<'_, S>, race: &Race) {
        let mut added = None;
        if race.is_initial {
            let strand = race.strand();
            if self.backtrack.covers_strand(race.first, strand) {
                return;
            }
            added = Some(strand);
        }
        let conflicting = race.conflicting(execution);
        for position in race.first + 1..execution.len() {
            let causes = execution.order().direct_predecessors(position);
            let is_first = causes.last().is_none_or(|&last| (last as usize) < race.first);
            if is_first && race.keeps(execution, &conflicting, position) {
                let action = execution.action(position);
                if self.backtrack.covers(race.first, action) {
                    return;
                }
                added = added.or_else(|| Some(execution.strand_at(position)));
            }
        }
        let strand = added.expect("a sequence has an initial");
        self.backtrack.add(race.first, strand);
    }
}
