//! Sleep sets alone: each Mazurkiewicz class completed once, but nearly every state visited.
//!
//! Godefroid (LNCS 1032, 1996), chapter 5; the sets are [`crate::trace::SleepSet`].
//!
//! ```text
//! Explore(E, Sleep):
//!   for each a ∈ enabled(E) ∖ Sleep:
//!     Explore(E·a, {b ∈ Sleep : b is independent of a after E})
//!     Sleep := Sleep ∪ {a}
//! ```
//!
//! Exactly one execution of each class is completed: the lexicographically least one, where the
//! actions of a state are compared in the order in which they are tried. The program needs no
//! special properties. An exploration is blocked if every enabled action sleeps; the classes of its
//! continuations are completed elsewhere.
//!
//! Up to a depth, actions beyond the bound count as not enabled ([`crate::trace::Heights`]).
//! Independent actions do not change one another's height, and sleep sets need no more than that.

use super::pending::Pending;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits};
use crate::explore::order::Order;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Reached, Rule, Walk, WalkOptions};
use crate::model::{Action, System};

/// Completes each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleep {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Sleep {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Sleep { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Sleep {
    fn profile(&self) -> Profile {
        Profile {
            name: "sleep",
            summary: "every enabled action, except those that sleep sets show to be explored already",
            source: "Godefroid (LNCS 1032, 1996), chapter 5",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { always_sleeps: true, ..Takes::PIECES },
            both_depths: true,
            may_block: true,
            splits: Splits::Exactly,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        walk::explore(system, WalkOptions::sleeping(self.order), &mut Awake::default(), driver);
    }
}

/// The rule: try every action that is enabled and awake.
#[derive(Default)]
struct Awake {
    pending: Pending,
}

impl<S: System> Rule<S> for Awake {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let reached = walk.look();
        let (is_open, sleep) = (reached == Reached::Open, &walk.sleep);
        let awake = |action: &Action| is_open && !sleep.contains(*action);
        self.pending.descend(walk.enabled.iter().rev().copied().filter(awake));
        if is_open && self.pending.is_empty() {
            walk.blocked();
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        self.pending.pop()
    }

    #[inline]
    fn leave(&mut self, _: &mut Walk<'_, '_, '_, S>) {
        self.pending.ascend();
    }
}
