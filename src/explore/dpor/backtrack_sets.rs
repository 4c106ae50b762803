//! DPOR: backtrack sets from the races of the executions visited.
//!
//! Flanagan and Godefroid, *Dynamic partial-order reduction for model checking software* (POPL
//! 2005), figure 3; for actors as in Tasharofi et al. (FORTE 2012), figure 2 without the underlined
//! lines.
//!
//! ```text
//! Explore(S):
//!   κ := the state after S
//!   for each strand m that waits in κ:
//!     if there is a last i in S that m is in race with:
//!       E := { m' enabled in pre(S, i) : m' = m, or some j > i is of m' and before m }
//!       if E = ∅ add all that is enabled to backtrack(pre(S, i))
//!       else if E ∩ backtrack(pre(S, i)) = ∅ add the first of E to it
//!   if something is enabled in κ:
//!     backtrack(κ) := the first of it
//!     for each m in backtrack(κ) that is not done:  Explore(S.m)
//! ```
//!
//! A *strand* is a schedulable unit: a process, a message to an actor, or an internal handler. The
//! walk itself is [`crate::explore::walk`].
//!
//! **Actors.** m is in race with i if i is at the receiver of m and not before m in the sense of
//! creation ([`super::creation`]). All pending messages are considered, enabled or not: a guard
//! that is false now may hold in another state.
//!
//! **Processes.** The next action of p is in race with i if it depends on i, and i neither happens
//! before p's last action nor starts p. Waits, joins and the passing of a barrier are in no race,
//! because they depend only on what enables them. All enabled actions of a process are added
//! together: the values of a `choose`, and the complete communications that a `waitany` may return.
//!
//! **Open choices** are races without a dependence. Suppose that i is a `waitany` that returned one
//! of its communications while another was incomplete. The action that completes the other could
//! have come first, and then the `waitany` could have returned the other one. So i also counts as a
//! test that finds the other communication incomplete. The completing action does depend on such a
//! test.
//!
//! # Departures
//!
//! - A race that was handled in the state before is not handled again: the second time E ∩
//!   backtrack(pre(S, i)) ≠ ∅. New races concern the last action: the messages at its actor and the
//!   messages that it sent; the next actions of its process and of processes that it started; and
//!   actions of other processes that depend on it.
//! - For processes not only the last race counts, but every immediate race. In the paper, earlier
//!   races show when the last one is reversed. That fails if dependence is conditional: an unlock
//!   races with a failed lock test only if it makes the tester the owner, and after the reversal of
//!   a race with another unlock this may no longer be so. It also fails with sleep sets, if the
//!   reversed execution is blocked before the race shows.
//! - With sleep sets, E has only its *minimal* elements: no action after i is before them. If an
//!   added element cannot begin the reversed race, the reversed race may be blocked by sleeping
//!   actions and is never explored. With the E above, which contains p itself whenever p is
//!   enabled, `lastzero(2)` loses one of its five classes (in order `eca`), and some programs of
//!   guarded actors lose classes, too. Minimal elements are initials of the reversed race, as
//!   source sets require (Abdulla, Aronis, Jonsson, Sagonas, J. ACM 2017). If one of them is asleep
//!   or in the set, nothing need be added.
//!
//! # Guarantee
//!
//! It visits every class of complete executions, whatever the order of trying: without sleep sets
//! the backtrack sets are persistent sets, with sleep sets they are source sets. But without sleep
//! sets a class may be visited several times, and with them an exploration may be blocked. If
//! executions are cut at a depth, it also visits every class of executions up to that depth.
//!
//! The same algorithm over configurations is [`crate::explore::configurations::backtracking`].

use super::backtrack_candidates::BacktrackCandidates;
use super::by_races::{ByRaces, Races};
use super::creation::{creators, newly_racing, not_before, wanted_order};
use super::of_processes::OfProcesses;
use crate::explore::configurations::backtracking::{self, Added};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::order::Order;
use crate::explore::over::Over;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Walk, WalkOptions};
use crate::model::{Action, System};
use crate::trace::{BacktrackSets, Strand};

/// DPOR with backtrack sets: visits every class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dpor {
    /// The order in which enabled actions are tried.
    pub order: Order,
    /// Are sleep sets (Godefroid 1996) added? (Only over executions.)
    pub sleep_sets: bool,
    /// What the search walks along.
    pub over: Over,
}

impl Dpor {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        let &Options { order, sleep_sets, over, .. } = options;
        Dpor { order: order.unwrap_or_default(), sleep_sets, over: over.unwrap_or_default() }
    }
}

impl Explorer for Dpor {
    fn profile(&self) -> Profile {
        let profile = Profile {
            name: "dpor",
            summary: "dynamic partial order reduction: backtrack sets from races",
            source: "Flanagan, Godefroid (POPL 2005)",
            takes: Takes { options: &["order", "seed", "sleep-sets", "over"], ..Takes::ORDER },
            ..Profile::default()
        };
        self.over.promise(profile, self.sleep_sets)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        if self.over == Over::Configurations {
            backtracking::explore(system, self.order, Added::ForEachRace, (), driver);
            return;
        }
        let options = WalkOptions::new(self.order, self.sleep_sets);
        walk::explore(system, options, &mut ByRaces::new(LastRaces::default()), driver);
    }
}

/// The rule of DPOR: backtrack points for the last races of enabled actions.
#[derive(Default)]
pub(crate) struct LastRaces {
    /// Does the execution after a backtrack point for messages follow the reversed order first?
    with_orders: bool,
    waiting: Vec<Action>,
    e: BacktrackCandidates,
    processes: OfProcesses,
}

impl<S: System> Races<S> for LastRaces {
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets) {
        let last = walk.execution.len() - 1;
        self.races_of_messages(walk, backtrack, last);
        self.processes.races(walk, backtrack, &mut self.e, last);
    }
}

impl LastRaces {
    /// The rule of DPOR, where the execution after a backtrack point for messages follows the
    /// reversed order first.
    pub(crate) fn with_orders() -> Self {
        LastRaces { with_orders: true, ..LastRaces::default() }
    }

    fn races_of_messages<S: System>(
        &mut self,
        walk: &mut Walk<'_, '_, '_, S>,
        backtrack: &mut BacktrackSets,
        last: usize,
    ) {
        self.waiting.clear();
        newly_racing(&walk.execution, last, &mut self.waiting);
        walk.sort(&mut self.waiting);
        for index in 0..self.waiting.len() {
            let m = self.waiting[index];
            let Some(&i) = not_before(&walk.execution, m).last() else { continue };
            let i = i as usize;
            self.e.clear();
            for j in creators(&walk.execution, i, m) {
                self.e.put(walk, i, j);
            }
            if self.e.is_empty() || !walk.has_sleepers() {
                self.e.push(Strand::of(m, true));
            }
            if self.e.reverse(backtrack, i) && self.with_orders {
                let order = wanted_order(&walk.execution, i, m);
                backtrack.want(i, order);
            }
        }
    }
}
