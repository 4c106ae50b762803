//! The walk of all explorers that go along executions: forward along one, and back to the last state with something
//! left to be tried.
//!
//! ```text
//! Explore(E, Sleep):
//!   arrive(E)                                            what the races of E ask for; what is to be tried from E
//!   while there is p that is to be tried from E:
//!     Explore(E·p, {q ∈ Sleep : q is independent of p after E})
//!     add p to Sleep
//! ```
//!
//! That is all these algorithms have in common, and all that is written here. They differ in their [`Rule`]: in what
//! is to be tried, in what a race means, and in what is remembered on the way back. A rule without sleep sets has
//! an empty Sleep.

use super::driver::Driver;
use super::explorer::Depth;
use super::order::{Order, Sorter};
use super::tree::Branch;
use crate::model::{Action, Footprint, Schedule, System};
use crate::trace::{Candidate, Execution, SleepSet};

/// What the explorers differ in that go along executions.
pub trait Rule<S: System> {
    /// The walk has gone on to E: finds out what the races of its last action ask for from earlier states, and begins
    /// what is to be tried from E.
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>);

    /// The next action to be tried from E.
    fn next(&mut self, walk: &mut Walk<'_, '_, '_, S>) -> Option<Action>;

    /// Nothing is to be tried from E any more, and its last action is about to be taken back.
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>);
}

/// How a walk goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// In which order enabled actions are tried; as they come, if there is none.
    pub order: Option<Order>,
    /// What of a sleep set goes on asleep after an independent action.
    pub sleep: Sleepers,
    /// What a depth bound measures.
    pub depth: Depth,
}

impl Manner {
    /// In this order, with or without sleep sets, up to a causal depth.
    pub fn new(order: Order, sleep_sets: bool) -> Manner {
        let sleep = if sleep_sets { Sleepers::All } else { Sleepers::Given };
        Manner { order: Some(order), sleep, depth: Depth::Causal }
    }

    /// In this order, with sleep sets, up to a causal depth.
    pub fn sleeping(order: Order) -> Manner {
        Manner { order: Some(order), sleep: Sleepers::All, depth: Depth::Causal }
    }
}

/// What of the sleep set of a state goes on asleep after an independent action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleepers {
    /// Everything: sleep sets (Godefroid 1996).
    All,
    /// What others explore ([`Branch::elsewhere`]).
    Given,
    /// Nothing: every interleaving is to be visited.
    None,
}

/// How far an execution goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Something is enabled.
    Open,
    /// Nothing is: it is complete.
    End,
    /// Nothing is that the depth bound allows, or that would not end a fruitless round.
    Cut,
    /// Something is, but it is too long.
    TooLong,
    /// The search is to end.
    Stop,
}

/// An execution, and what is asleep along it.
pub struct Walk<'s, 'd, 'o, S: System> {
    /// E
    pub execution: Execution<'s, S>,
    /// Sleep, for E and its prefixes.
    pub sleep: SleepSet,
    /// What is enabled after E, in the order of trying, after [`Walk::look`].
    pub enabled: Vec<Action>,
    /// How it goes about it.
    pub manner: Manner,
    /// Who keeps the accounts.
    pub driver: &'d mut Driver<'o>,
    sorter: Option<Sorter>,
    /// Longer executions are cut.
    max_length: usize,
    /// The length of the shortest prefix of E from which something else may be tried: what is left to do from shorter ones
    /// is left to others.
    start: usize,
}

/// Stack that a call must find left, and what is added when it does not.
const RED_ZONE: usize = 256 << 10;
const STACK: usize = 4 << 20;
/// So many calls in one another need less than the red zone: only then is it looked at again.
const FRAMES: usize = 16;

/// Explores what `rule` asks for, and one execution at least, in the branch that the driver says.
pub fn explore<S: System>(
    system: &S,
    manner: Manner,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let branch = driver.branch().clone();
    let mut walk = Walk::new(system, manner, driver);
    if branch.is_root() {
        walk.driver.started(&walk.execution.locals, walk.execution.state());
        walk.explore(rule);
    } else {
        walk.explore_branch(&branch, rule);
    }
}

impl<'s, 'd, 'o, S: System> Walk<'s, 'd, 'o, S> {
    fn new(system: &'s S, manner: Manner, driver: &'d mut Driver<'o>) -> Self {
        let (max_height, max_length) = match manner.depth {
            Depth::Causal => (driver.depth(), driver.length_bound()),
            Depth::Length => (None, driver.depth_bound()),
        };
        Walk {
            execution: Execution::bounded(system, max_height),
            sleep: SleepSet::default(),
            enabled: Vec::new(),
            manner,
            driver,
            sorter: manner.order.map(Sorter::new),
            max_length: max_length as usize,
            start: 0,
        }
    }

    /// Explore(E, Z), with E a prefix that nothing is to be tried from.
    fn explore_branch(&mut self, branch: &Branch, rule: &mut impl Rule<S>) {
        for &portable in &branch.prefix {
            rule.arrive(self);
            let p = self.named(portable);
            self.execution.push(p);
            self.fall_asleep();
        }
        self.start = branch.prefix.len();
        for &portable in &branch.elsewhere {
            let z = self.named(portable);
            let footprint = self.execution.footprint(z);
            self.sleep.give(z, footprint);
        }
        self.explore(rule);
        for _ in &branch.prefix {
            self.execution.pop();
            self.sleep.ascend();
            rule.leave(self);
        }
    }

    /// # Panics
    /// If it is not enabled: a branch is of one system.
    fn named(&self, portable: Action) -> Action {
        let action = self.execution.state().action_named(&self.execution.locals, portable);
        action.unwrap_or_else(|| panic!("{portable:?} of a branch is not enabled"))
    }

    // A call for each part of a step costs up to 4% of all instructions.
    /// Explore(E, Sleep)
    fn explore(&mut self, rule: &mut impl Rule<S>) {
        rule.arrive(self);
        while let Some(p) = self.next(rule) {
            self.push(p);
            if self.execution.len().is_multiple_of(FRAMES) {
                stacker::maybe_grow(RED_ZONE, STACK, || self.explore(rule));
            } else {
                self.explore(rule);
            }
            self.pop();
        }
        rule.leave(self);
    }

    #[inline(always)]
    fn next(&mut self, rule: &mut impl Rule<S>) -> Option<Action> {
        if self.execution.len() < self.start || self.driver.is_stopped() {
            None
        } else {
            rule.next(self)
        }
    }

    /// E := E·p
    #[inline(always)]
    fn push(&mut self, p: Action) {
        self.execution.push(p);
        self.fall_asleep();
        self.driver.moved(&self.execution.locals, self.execution.state(), p);
        if self.driver.is_to_split() {
            self.split();
        }
    }

    /// The sleep set of E·p.
    #[inline(always)]
    fn fall_asleep(&mut self) {
        let sleep = self.manner.sleep;
        self.sleep.descend_with(&mut self.execution, |is_given| match sleep {
            Sleepers::All => true,
            Sleepers::Given => is_given,
            Sleepers::None => false,
        });
    }

    /// Leaves to others what is left to do from the prefix where the walk began.
    #[cold]
    fn split(&mut self) {
        let length = self.start;
        self.start += 1;
        let state = self.execution.state();
        let mut prefix = Schedule::of(state);
        prefix.truncate(length);
        let order = self.execution.order();
        let next = (self.execution.action(length), order.footprint(length));
        let asleep = self.sleep.at(length).map(|((action, footprint), _)| (*action, footprint));
        let portable = |(action, footprint): (Action, &Footprint)| {
            state.portable(action, matches!(footprint, Footprint::Handler { .. }))
        };
        let elsewhere = asleep.chain([next]).map(portable).collect();
        self.driver.split_off(Branch { prefix, elsewhere });
    }

    /// Is anything ever asleep?
    pub fn has_sleepers(&self) -> bool {
        self.manner.sleep == Sleepers::All || self.sleep.has_given()
    }

    /// Is E where the walk begins?
    pub fn is_start(&self) -> bool {
        self.execution.len() == self.start
    }

    /// Takes p back, and adds it to Sleep.
    #[inline(always)]
    fn pop(&mut self) {
        self.sleep.ascend();
        let (p, footprint) = self.execution.pop();
        if self.manner.sleep == Sleepers::All || self.driver.can_split() {
            self.sleep.put(p, footprint);
        }
    }

    /// Finds out what is enabled after E, and tells the driver if E goes no further.
    #[inline(always)]
    pub fn look(&mut self) -> Reached {
        self.enabled.clear();
        if self.driver.is_stopped() {
            return Reached::Stop;
        }
        self.execution.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            let is_end = self.driver.ended(&mut self.execution);
            return if is_end { Reached::End } else { Reached::Cut };
        }
        if let Some(sorter) = &mut self.sorter {
            sorter.sort(&self.execution, &mut self.enabled);
        }
        if self.execution.len() >= self.max_length {
            self.driver.truncated(&self.execution.locals, self.execution.state());
            return Reached::TooLong;
        }
        Reached::Open
    }

    /// What is enabled after E, for a backtrack set.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.enabled.iter().map(|&action| {
            Candidate::new(action, self.execution.strand(action), self.sleep.contains(action))
        })
    }

    /// Sorts pending actions into the order of trying.
    pub fn sort(&mut self, actions: &mut [Action]) {
        if let Some(sorter) = &mut self.sorter {
            sorter.sort(&self.execution, actions);
        }
    }

    /// Tells the driver that everything enabled is asleep.
    pub fn blocked(&mut self) {
        self.driver.blocked(&self.execution.locals, self.execution.state());
    }
}
