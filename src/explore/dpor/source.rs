//! Source-DPOR: each Mazurkiewicz class completed once, with as few detours as source sets leave.
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
//! Complete for finite executions, and with the sleep sets no class is completed twice; but an exploration may
//! be blocked. Up to a depth the executions are those of the events up to that height, as in
//! [`super::optimal`], and what is too high where one ends is looked at for the races that it would have had.
//! Departures:
//!
//! - The unit is the [`Strand`](crate::trace::Strand), and what the races are: [`crate::trace::race`]. A strand
//!   brings all its choices.
//! - An initial of v that sleeps at pre(i) counts as being in the set. What begins with it is explored.
//! - A message that an actor refuses at the end of an execution has no event whose races could be looked at, so
//!   those are looked for at the end; also where the exploration is blocked. (What is asleep there might never
//!   let the guard hold again.) So it is with actions that are too high.

use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::order::{Order, Sorter};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Action, System};
use crate::trace::race::{self, OpenChoices, Race};
use crate::trace::{Execution, SleepSet, SourceSets};

/// Completes each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Choosable for Source {
    const INFO: Info = Info {
        name: "source",
        summary: "dynamic partial order reduction with source sets and sleep sets",
        source: "Abdulla, Aronis, Jonsson, Sagonas (J. ACM 2017), algorithm 1",
        guarantee: Guarantee::EveryClassOnce,
        requires: None,
    };
    const TAKES: Takes = Takes { always_sleeps: true, ..Takes::ORDER };

    fn new(options: &Options) -> Self {
        Source { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Source {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn may_block(&self) -> bool {
        true
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        search(system, self.order, driver);
    }
}

/// Completes each class once.
fn search<S: System>(system: &S, order: Order, driver: &mut Driver<'_>) {
    let execution = Execution::bounded(system, driver.depth());
    driver.started(&execution.locals, execution.state());
    let mut search = Search {
        execution,
        sleep: SleepSet::default(),
        backtrack: SourceSets::default(),
        open: OpenChoices::default(),
        races: Vec::new(),
        sorter: Sorter::new(order),
        enabled: Vec::new(),
        driver,
    };
    search.arrive();
    loop {
        match search.choose() {
            Some(action) => search.push(action),
            None if search.execution.is_empty() => return,
            None => search.pop(),
        }
    }
}

struct Search<'s, 'd, 'o, S: System> {
    execution: Execution<'s, S>,
    sleep: SleepSet,
    backtrack: SourceSets,
    open: OpenChoices,
    /// Those just found.
    races: Vec<Race>,
    sorter: Sorter,
    enabled: Vec<Action>,
    driver: &'d mut Driver<'o>,
}

impl<S: System> Search<'_, '_, '_, S> {
    fn choose(&mut self) -> Option<Action> {
        if self.driver.is_stopped() { None } else { self.backtrack.take_next() }
    }

    fn push(&mut self, action: Action) {
        self.execution.push(action);
        self.sleep.descend(&mut self.execution);
        self.open.push(&self.execution);
        self.driver.moved(&self.execution.locals, self.execution.state(), action);
        race::with_earlier(&mut self.execution, &self.open, &mut self.races);
        self.reverse_races();
        self.arrive();
    }

    fn pop(&mut self) {
        self.backtrack.ascend();
        self.sleep.ascend();
        let (action, footprint) = self.execution.pop();
        self.open.pop(self.execution.len());
        self.sleep.put(action, footprint);
    }

    /// Finds out what there is to do in a state just reached.
    fn arrive(&mut self) {
        self.backtrack.descend();
        if self.driver.is_stopped() {
            return;
        }
        self.enabled.clear();
        self.execution.enabled(&mut self.enabled);
        if self.enabled.is_empty() {
            self.driver.ended(&mut self.execution);
            self.end();
        } else if self.execution.len() as u64 >= u64::from(self.driver.length_bound()) {
            self.driver.truncated(self.execution.state());
        } else if !self.start() {
            self.driver.blocked(self.execution.state());
            self.end();
        }
    }

    /// backtrack(E) := {p} for a p ∈ enabled(E) ∖ Sleep, if there is one.
    fn start(&mut self) -> bool {
        self.sorter.sort(&self.execution, &mut self.enabled);
        for &action in &self.enabled {
            let strand = self.execution.strand(action);
            self.backtrack.offer(action, strand, self.sleep.contains(action));
        }
        self.backtrack.start()
    }

    /// The execution goes no further.
    fn end(&mut self) {
        race::with_pending(&mut self.execution, &mut self.races);
        race::with_cut(&mut self.execution, &mut self.races);
        self.reverse_races();
    }

    fn reverse_races(&mut self) {
        while let Some(race) = self.races.pop() {
            self.reverse(&race);
        }
    }

    /// Unless an initial of v is in backtrack(pre(i)), adds one.
    fn reverse(&mut self, race: &Race) {
        let execution = &self.execution;
        let mut added = None;
        if race.is_initial {
            let strand = race.strand();
            if self.backtrack.covers_strand(race.first, strand) {
                return;
            }
            added = Some(strand);
        }
        let spoilers = race.spoilers(execution);
        for position in race.first + 1..execution.len() {
            let causes = execution.order().direct_predecessors(position);
            let is_first = causes.last().is_none_or(|&last| (last as usize) < race.first);
            if is_first && race.keeps(execution, &spoilers, position) {
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
