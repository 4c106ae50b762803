//! Optimal DPOR: each Mazurkiewicz class once, and no exploration that leads nowhere.
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
//! Complete for finite executions. Nothing is ever blocked: what sleeps where a branch of a wakeup tree begins
//! is no weak initial of it, so it is awake at the end of the branch. That is asserted.
//!
//! **Up to a depth** the executions are those of the events up to that height ([`crate::trace::Heights`]), which are
//! finite. E is maximal when all that is enabled is too high. What is then too high had a race with what it came
//! too late for, and that is looked at, too ([`race::with_cut`]); x is none if it is itself too high. For
//! independent actions do not make one another too high, v is an execution within the bound. So each class is
//! visited once, and nothing is blocked.
//!
//! Departures:
//!
//! - The unit is the [`Strand`](crate::trace::Strand), and what the races are: [`crate::trace::race`]. The other
//!   choices of a process are races, too, not siblings: a branch that consists of a choice alone may
//!   have a sleeping action for a weak initial although the execution that needs it has not.
//! - v holds actions, not processes: which one is meant is known when it is made.
//! - notdep(i, E) leaves out what excludes x ([`Race::spoilers`]).
//! - The races of an event are found when it is executed, and kept for all executions that begin so. One
//!   is passed over if all that the execution does not share with the last one happens after i: then its v
//!   was part of that one's.

use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::order::{Order, Sorter};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Action, System};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{Execution, Reversal, SleepSet, WakeupTree, WakeupTrees};

/// Visits each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optimal {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Choosable for Optimal {
    const INFO: Info = Info {
        name: "optimal",
        summary: "dynamic partial order reduction with wakeup trees: never blocked",
        source: "Abdulla, Aronis, Jonsson, Sagonas (J. ACM 2017), algorithm 2",
        guarantee: Guarantee::EveryClassOnce,
        requires: None,
    };
    const TAKES: Takes = Takes { always_sleeps: true, ..Takes::ORDER };

    fn new(options: &Options) -> Self {
        Optimal { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Optimal {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        search(system, self.order, driver);
    }
}

/// Visits each class once.
fn search<S: System>(system: &S, order: Order, driver: &mut Driver<'_>) {
    let execution = Execution::bounded(system, driver.depth());
    driver.started(&execution.locals, execution.state());
    let mut search = Search {
        execution,
        sleep: SleepSet::default(),
        trees: WakeupTrees::default(),
        levels: vec![Level { wut: WakeupTree::EMPTY, is_new: true, races: 0 }],
        open: OpenChoices::default(),
        races: Vec::new(),
        shared: 0,
        v: Vec::new(),
        sorter: Sorter::new(order),
        enabled: Vec::new(),
        driver,
    };
    loop {
        match search.choose() {
            Some((action, below)) => search.push(action, below),
            None if search.execution.is_empty() => return,
            None => search.pop(),
        }
    }
}

/// A prefix of the execution.
struct Level {
    wut: WakeupTree,
    /// Has it been begun with an empty tree, and nothing been done about it yet?
    is_new: bool,
    /// How many races there were before its last action.
    races: usize,
}

struct Search<'s, 'd, 'o, S: System> {
    execution: Execution<'s, S>,
    sleep: SleepSet,
    trees: WakeupTrees,
    /// One more than the execution has actions.
    levels: Vec<Level>,
    open: OpenChoices,
    /// Those of the execution, in the order of its events.
    races: Vec<Race>,
    /// How many actions at its beginning the last complete execution had, too.
    shared: usize,
    /// Space for one.
    v: Vec<usize>,
    sorter: Sorter,
    enabled: Vec<Action>,
    driver: &'d mut Driver<'o>,
}

impl<S: System> Search<'_, '_, '_, S> {
    /// The first action of wut(E), with the tree below it.
    fn choose(&mut self) -> Option<(Action, WakeupTree)> {
        if self.driver.is_stopped() {
            return None;
        }
        let level = self.levels.last_mut().expect("a level for the empty execution");
        if std::mem::replace(&mut level.is_new, false) {
            return self.arrive().map(|action| (action, WakeupTree::EMPTY));
        }
        self.trees.take_first(&mut level.wut)
    }

    fn push(&mut self, action: Action, wut: WakeupTree) {
        debug_assert!(self.is_enabled(action), "{action:?} is not among {:?}", self.enabled);
        self.execution.push(action);
        self.sleep.descend(&mut self.execution);
        self.open.push(&self.execution);
        self.levels.push(Level { is_new: wut.is_empty(), wut, races: self.races.len() });
        self.driver.moved(&self.execution.locals, self.execution.state(), action);
        race::with_earlier(&mut self.execution, &self.open, &mut self.races);
        race::with_siblings(&mut self.execution, &mut self.races);
    }

    /// What does the model say? Its answer is left in `enabled`.
    fn is_enabled(&mut self, action: Action) -> bool {
        self.enabled.clear();
        self.execution.enabled(&mut self.enabled);
        self.enabled.contains(&action)
    }

    fn pop(&mut self) {
        let level = self.levels.pop().expect("a level to leave");
        self.races.truncate(level.races);
        self.sleep.ascend();
        let (action, footprint) = self.execution.pop();
        self.open.pop(self.execution.len());
        self.shared = self.shared.min(self.execution.len());
        self.sleep.put(action, footprint);
    }

    /// Finds out what there is to do at the end of a branch: some p ∈ enabled(E) ∖ Sleep.
    fn arrive(&mut self) -> Option<Action> {
        self.enabled.clear();
        self.execution.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            self.driver.ended(&mut self.execution);
            self.reverse_races();
            return None;
        }
        if self.execution.len() as u64 >= u64::from(self.driver.length_bound()) {
            self.driver.truncated(self.execution.state());
            return None;
        }
        self.sorter.sort(&self.execution, &mut self.enabled);
        let awake = self.enabled.iter().copied().find(|&action| !self.sleep.contains(action));
        assert!(awake.is_some(), "a branch of a wakeup tree left {:?} asleep", self.enabled);
        awake
    }

    /// Of the complete execution.
    fn reverse_races(&mut self) {
        let found = self.races.len();
        race::with_pending(&mut self.execution, &mut self.races);
        race::with_cut(&mut self.execution, &mut self.races);
        let new = self.levels[self.shared..].get(1).map_or(found, |level| level.races);
        for index in 0..self.races.len() {
            if index >= new || !self.is_done(&self.races[index]) {
                self.reverse(index);
            }
        }
        self.races.truncate(found);
        self.shared = self.execution.len();
    }

    /// Was this race, which the last complete execution had, too, reversed there with all of v?
    fn is_done(&self, race: &Race) -> bool {
        let order = self.execution.order();
        (self.shared..order.len()).all(|position| order.before(race.first, position))
    }

    /// Inserts v := notdep(i, E)·x into wut(pre(i)), unless something that sleeps there is in WI(v).
    fn reverse(&mut self, index: usize) {
        let race = &self.races[index];
        let mut reversal = Reversal::new(&mut self.execution, race);
        reversal.list(&mut self.v);
        let mut sleep = self.sleep.at(race.first);
        if !sleep.any(|(q, footprint)| reversal.has_weak_initial(&[], (*q, footprint), &self.v)) {
            self.trees.insert(&mut self.levels[race.first].wut, &mut reversal, &mut self.v);
        }
    }
}
