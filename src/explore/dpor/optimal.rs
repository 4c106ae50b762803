//! Optimal DPOR: each Mazurkiewicz class once, and no blocked exploration.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), algorithm 2.
//!
//! ```text
//! Explore(E, Sleep, WuT):
//!   if E is maximal:
//!     for each race (i, x) of E:
//!       v := notdep(i, E)·x
//!       if no q ∈ sleep(pre(i)) is in WI(v):  insert v into wut(pre(i))
//!   else:
//!     wut(E) := WuT, or {p} for a p ∈ enabled(E) ∖ Sleep if WuT is empty
//!     while there is p ∈ wut(E), the first one:
//!       Explore(E·p, {q ∈ sleep(E) : q is independent of p after E}, the tree below p in wut(E))
//!       add p to sleep(E); take p off wut(E)
//! ```
//!
//! Complete for finite executions. No exploration is ever blocked: an action that sleeps where a
//! branch of a wakeup tree begins is not a weak initial of the branch, so at the end of the branch
//! it is awake. This is asserted.
//!
//! **Up to a depth** the executions are those of the events up to that height
//! ([`crate::trace::Heights`]), which are finite. E is maximal if every enabled action is beyond
//! the bound. Such an action may have races with the actions that pushed it beyond the bound; these
//! races are handled, too ([`race::with_cut`]), unless x itself is beyond the bound. Since
//! independent actions do not change one another's height, v is an execution within the bound. So
//! each class is visited once, and no exploration is blocked.
//!
//! **In a branch** of a search ([`crate::explore::tree`]) the actions of the initial sleep set are
//! explored by other searches, which add nothing to the wakeup trees here. So such an action covers
//! v only if v contains it, and an exploration may be blocked. The races of a blocked E are handled
//! like those of a maximal one.
//!
//! Departures:
//!
//! - The unit of scheduling is the [`Strand`](crate::trace::Strand), and the races are those of
//!   [`crate::trace::race`]. Another choice of a process is handled as a race, not as a sibling in
//!   the tree: a sleeping action may be a weak initial of a branch that consists only of the
//!   choice, although it is not a weak initial of the execution that needs the choice.
//! - v consists of actions, not of processes: when v is built, the actions are known.
//! - notdep(i, E) leaves out events in conflict with x ([`Race::conflicting`]).
//! - The races of an event are found when it is executed, and kept for all executions with this
//!   prefix. A race is skipped if all events after the common prefix with the last complete
//!   execution happen after i: then its v was handled there.

use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Profile, Splits, depth_in_other_order};
use crate::explore::order::Order;
use crate::explore::parallel::demands::Inbox;
use crate::explore::pieces::Sizes;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Reached, Rule, Walk, WalkOptions};
use crate::model::{Action, System};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{Below, Continuation, Execution, Reversal, Ticket, WakeupTree, WakeupTrees};

/// Visits each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optimal {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Optimal {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        Optimal { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Optimal {
    fn profile(&self) -> Profile {
        Profile {
            name: "optimal",
            summary: "dynamic partial order reduction with wakeup trees: never blocked",
            source: "Abdulla, Aronis, Jonsson, Sagonas (J. ACM 2017), algorithm 2",
            guarantee: Guarantee::EveryClassOnce,
            takes: Takes { always_sleeps: true, ..Takes::PIECES },
            splits: Splits::Roughly,
            takes_help: !matches!(self.order, Order::Random(_)),
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, _: &S, budget: &Budget) -> Option<String> {
        depth_in_other_order(self.profile().name, self.order, budget)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        walk::explore(system, WalkOptions::sleeping(self.order), &mut Wakeup::default(), driver);
    }
}

/// The data of one prefix of the execution.
struct Level {
    wut: WakeupTree,
    /// The action to try if wut was empty: some p ∈ enabled(E) ∖ Sleep.
    any: Option<Action>,
    /// The number of races before its last action.
    races: usize,
}

/// The rule, with its wakeup trees and races.
#[derive(Default)]
struct Wakeup {
    trees: WakeupTrees,
    /// WuT: the tree below the action that was chosen last.
    below: WakeupTree,
    /// The levels: one more than the execution has actions.
    levels: Vec<Level>,
    sizes: Sizes,
    open: OpenChoices,
    /// The races of the execution, in the order of its events.
    races: Vec<Race>,
    /// The length of its common prefix with the last complete execution.
    shared: usize,
    /// Scratch space for v.
    v: Vec<usize>,
}

impl<S: System> Rule<S> for Wakeup {
    /// Handles the races of E if E is maximal; else wut(E) := WuT, or {p} for a p ∈ enabled(E) ∖
    /// Sleep if WuT is empty.
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let races = self.races.len();
        if !walk.execution.is_empty() {
            self.open.push(&walk.execution, |_, _| ());
            race::with_earlier(&mut walk.execution, &self.open, &mut self.races);
            race::with_siblings(&mut walk.execution, &mut self.races);
        }
        let wut = std::mem::take(&mut self.below);
        let is_end_of_branch = wut.is_empty();
        self.levels.push(Level { wut, any: None, races });
        self.sizes.arrive(walk.driver.stats.transitions);
        if is_end_of_branch {
            match walk.look() {
                Reached::Open => match awake(walk) {
                    Some(p) => self.levels.last_mut().expect("that of E").any = Some(p),
                    None => {
                        walk.blocked();
                        self.reverse_races(walk);
                    }
                },
                Reached::End | Reached::Cut => self.reverse_races(walk),
                Reached::TooLong | Reached::Stop => {}
            }
        }
    }

    /// Removes the first p ∈ wut(E), and returns it. What begins with a p that was given away is
    /// added from where it was explored.
    #[inline]
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        loop {
            let level = self.levels.last_mut().expect("that of E");
            if level.any.is_some() {
                return level.any.take();
            }
            let (p, below) = self.trees.take_first(&mut level.wut)?;
            debug_assert!(is_enabled(walk, p), "{p:?} is not among {:?}", walk.enabled);
            self.below = match below {
                Below::Tree(below) => below,
                Below::Given(ticket) if self.is_added(walk, ticket) => {
                    if walk.driver.is_stopped() {
                        return None;
                    }
                    walk.put_to_sleep(p);
                    continue;
                }
                Below::Given(_) => WakeupTree::EMPTY,
            };
            return Some(p);
        }
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let level = self.levels.pop().expect("that of E");
        self.sizes.leave(walk.driver.stats.transitions);
        self.races.truncate(level.races);
        self.open.leave(&walk.execution);
        self.shared = self.shared.min(walk.execution.len().saturating_sub(1));
    }

    fn share(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        match walk.driver.has_helpers() {
            true => self.offer(walk),
            false => walk.split(),
        }
    }
}

/// Some p ∈ enabled(E) ∖ Sleep.
fn awake<S: System>(walk: &Walk<'_, '_, '_, S>) -> Option<Action> {
    let awake = walk.enabled.iter().copied().find(|&action| !walk.sleep.contains(action));
    let enabled = &walk.enabled;
    let may_block = walk.sleep.has_given();
    assert!(awake.is_some() || may_block, "a path of a wakeup tree left {enabled:?} asleep");
    awake
}

/// Is `action` enabled in the model? Refills `enabled`.
fn is_enabled<S: System>(walk: &mut Walk<'_, '_, '_, S>, action: Action) -> bool {
    walk.enabled.clear();
    walk.execution.enabled(&mut walk.enabled);
    walk.enabled.contains(&action)
}

impl Wakeup {
    /// Handles the races of the complete execution.
    fn reverse_races<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let found = self.races.len();
        race::with_pending(&mut walk.execution, &mut self.races);
        race::with_cut(&mut walk.execution, &mut self.races);
        let new = self.levels[self.shared..].get(1).map_or(found, |level| level.races);
        for index in 0..self.races.len() {
            if index >= new || !self.is_done(&walk.execution, &self.races[index]) {
                self.reverse(walk, index);
            }
        }
        self.races.truncate(found);
        self.shared = walk.execution.len();
    }

    /// For a race that the last complete execution had, too: was it reversed there with the same v?
    fn is_done<S: System>(&self, execution: &Execution<'_, S>, race: &Race) -> bool {
        let order = execution.order();
        (self.shared..order.len()).all(|position| order.before(race.first, position))
    }

    /// Inserts v := notdep(i, E)·x into wut(pre(i)), unless an action that sleeps there is in
    /// WI(v).
    fn reverse<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, index: usize) {
        let (race, start) = (&self.races[index], walk.piece_start());
        let mut reversal = Reversal::new(&mut walk.execution, race);
        reversal.list(&mut self.v);
        let is_covered = walk.sleep.at(race.first).any(|((q, effect), is_given)| {
            reversal.has_weak_initial(&[], (*q, effect), &self.v)
                && (!is_given || reversal.has_process(q.process, &self.v))
        });
        if is_covered {
            return;
        }
        if race.first < start {
            let demand = walk.outbox.demand(&mut reversal, &self.v);
            return walk.demand(demand);
        }
        self.trees.insert(&mut self.levels[race.first].wut, &mut reversal, &mut self.v);
    }

    /// Offers a leaf of a wakeup tree to a thread that has no work.
    #[cold]
    fn offer<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        let Wakeup { trees, levels, sizes, .. } = self;
        let given = walk.offer_piece(sizes, |at| {
            let wut = &levels[at].wut;
            let leaf = trees.first_leaf(wut)?;
            Some((trees.path_to(wut, &leaf).collect(), leaf))
        });
        if let Some((leaf, ticket)) = given {
            trees.give(&leaf, ticket);
        }
    }

    /// Adds what a piece of this search has found, which was given away. Returns false if nobody
    /// has explored it.
    #[cold]
    fn is_added<S: System>(&mut self, walk: &mut Walk<'_, '_, '_, S>, ticket: Ticket) -> bool {
        let mut inbox = Inbox::default();
        let is_added = walk.claim_piece(ticket, |walk, demand| {
            let (at, start) = (demand.at as usize, walk.piece_start());
            let mut received = inbox.open(&mut walk.execution, demand, &mut self.v);
            if at < start {
                let demand = walk.outbox.demand(&mut received, &self.v);
                return walk.demand(demand);
            }
            self.trees.insert(&mut self.levels[at].wut, &mut received, &mut self.v);
        });
        if is_added {
            self.shared = self.shared.min(walk.execution.len());
        }
        is_added
    }
}
