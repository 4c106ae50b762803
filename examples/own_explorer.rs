//! An explorer of one's own: iterative deepening, run next to those that come with Mazurka.
//!
//! ```text
//! for h = 1, 2, ..:
//!   visit each class of executions of height h at most; tell of those that have exactly that height
//!   end if none was cut
//! ```
//!
//! The height of an execution is the length of its longest chain of actions that happen before one another. So what is
//! found first lies as few such steps deep as possible. Each round is a search with sleep sets. `cargo run --example
//! own_explorer` compares it with two other explorers on philosophers who may deadlock.

use mazurka::explore::{Budget, Driver, Explorer, Guarantee, Optimal, Profile, Udpor};
use mazurka::lang;
use mazurka::model::System;
use mazurka::report::comparison::{Comparison, Printer, Style};
use mazurka::study::Row;
use mazurka::trace::{Execution, SleepSet};

/// Each class once, the low ones first.
#[derive(Clone, Copy, Debug)]
pub struct Deepening;

impl Explorer for Deepening {
    fn profile(&self) -> Profile {
        Profile {
            name: "deepening",
            summary: "sleep sets up to height 1, 2, ..",
            guarantee: Guarantee::EveryClassOnce,
            may_block: true,
            ..Profile::default()
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let last = driver.depth_bound();
        for height in 1..=last {
            let mut execution = Execution::new(system).up_to(height);
            if height == 1 {
                let (locals, state) = execution.parts();
                driver.started(locals, state);
            }
            let (is_first, is_last) = (height == 1, height == last);
            let sleep = SleepSet::default();
            let mut round = Round { execution, sleep, is_first, is_last, has_cut: false, driver };
            round.explore();
            if !round.has_cut || driver.is_stopped() {
                return;
            }
        }
    }
}

/// The search up to a height.
struct Round<'s, 'd, 'o, S: System> {
    execution: Execution<'s, S>,
    sleep: SleepSet,
    is_first: bool,
    is_last: bool,
    /// Was an action too high?
    has_cut: bool,
    driver: &'d mut Driver<'o>,
}

impl<S: System> Round<'_, '_, '_, S> {
    /// Explore(E, Sleep)
    fn explore(&mut self) {
        let mut enabled = Vec::new();
        self.execution.enabled(&mut enabled);
        let is_cut = !self.execution.cut().is_empty();
        self.has_cut |= is_cut;
        if enabled.is_empty() {
            return self.end(is_cut);
        }
        enabled.retain(|&action| !self.sleep.contains(action));
        if enabled.is_empty() {
            return self.driver.blocked(&self.execution.locals, self.execution.state());
        }
        for action in enabled {
            if self.driver.is_stopped() {
                return;
            }
            self.execution.push(action);
            self.sleep.descend(&mut self.execution);
            let (locals, state) = self.execution.parts();
            self.driver.moved(locals, state, action);
            self.explore();
            self.sleep.ascend();
            let (action, effect) = self.execution.pop();
            self.sleep.put(action, effect);
        }
    }

    /// E goes no further. Lower executions were told of in an earlier round, and higher ones will be in a later one.
    fn end(&mut self, is_cut: bool) {
        let is_new = self.is_first || self.execution.has_tops();
        if if is_cut { self.is_last } else { is_new } {
            self.driver.ended(&mut self.execution);
        }
    }
}

const PHILOSOPHERS: &str = "
    const N = 3;
    mutex fork[N];
    process Philosopher[i in 0..N] {
        lock(fork[i]);
        lock(fork[(i + 1) % N]);
        unlock(fork[(i + 1) % N]);
        unlock(fork[i]);
    }
";

/// A table of three explorers, and what they disagree about.
pub fn compared() -> (String, Vec<String>) {
    let program = lang::compile("philosophers.maz", PHILOSOPHERS, &[]).expect("a valid program");
    let budget = Budget { all: true, ..Budget::default() };
    let rows = [
        Row::of("philosophers", &program, Deepening, budget.clone()),
        Row::of("philosophers", &program, Optimal::default(), budget.clone()),
        Row::of("philosophers", &program, Udpor::default(), budget),
    ];
    let names: Vec<_> = rows.iter().map(|row| row.searcher.to_string()).collect();
    let mut printer = Printer::new(Style::Markdown, &names);
    let table = rows.iter().map(|row| printer.row(row)).collect();
    let comparison = Comparison { rows: rows.into(), ..Comparison::default() };
    (table, comparison.disagreements())
}

#[allow(dead_code)] // The tests call what it calls.
fn main() {
    let (table, disagreements) = compared();
    println!("{table}{}", disagreements.join("\n"));
}
