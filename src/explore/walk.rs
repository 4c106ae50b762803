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
use crate::model::{Action, System};
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
    /// With sleep sets (Godefroid 1996).
    pub sleep_sets: bool,
    /// What a depth bound measures.
    pub depth: Depth,
}

impl Manner {
    /// In this order, with sleep sets, up to a causal depth.
    pub fn sleeping(order: Order) -> Manner {
        Manner { order: Some(order), sleep_sets: true, depth: Depth::Causal }
    }
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
}

/// Stack that a call must find left, and what is added when it does not.
const RED_ZONE: usize = 64 << 10;
const STACK: usize = 4 << 20;

/// Explores what `rule` asks for, and one execution at least.
pub fn explore<S: System>(
    system: &S,
    manner: Manner,
    rule: &mut impl Rule<S>,
    driver: &mut Driver<'_>,
) {
    let mut walk = Walk::new(system, manner, driver);
    walk.driver.started(&walk.execution.locals, walk.execution.state());
    walk.explore(rule);
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
        }
    }

    /// Explore(E, Sleep)
    fn explore(&mut self, rule: &mut impl Rule<S>) {
        rule.arrive(self);
        while let Some(p) = self.next(rule) {
            self.push(p);
            stacker::maybe_grow(RED_ZONE, STACK, || self.explore(rule));
            self.pop();
        }
        rule.leave(self);
    }

    fn next(&mut self, rule: &mut impl Rule<S>) -> Option<Action> {
        if self.driver.is_stopped() { None } else { rule.next(self) }
    }

    /// E := E·p
    #[inline]
    fn push(&mut self, p: Action) {
        self.execution.push(p);
        self.sleep.descend(&mut self.execution);
        self.driver.moved(&self.execution.locals, self.execution.state(), p);
    }

    /// Takes p back, and adds it to Sleep.
    #[inline]
    fn pop(&mut self) {
        self.sleep.ascend();
        let (p, footprint) = self.execution.pop();
        if self.manner.sleep_sets {
            self.sleep.put(p, footprint);
        }
    }

    /// Finds out what is enabled after E, and tells the driver if E goes no further.
    #[inline]
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
            self.driver.truncated(self.execution.state());
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
        self.driver.blocked(self.execution.state());
    }
}
