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
//! Of the executions of a class exactly one is completed: the least one, where the actions of a state are
//! compared in the order in which they are tried there. Nothing is asked of the program. An exploration is
//! blocked where everything enabled sleeps; what begins there was explored from some other state.
//!
//! Up to a depth, what is too high is not enabled ([`crate::trace::Heights`]). Independent actions do not make one
//! another too high, and that is all that sleep sets ask for.

use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::order::{Order, Sorter};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{Action, System};
use crate::trace::{Execution, SleepSet};

/// Completes each class once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleep {
    /// The order in which enabled actions are tried.
    pub order: Order,
}

impl Choosable for Sleep {
    const INFO: Info = Info {
        name: "sleep",
        summary: "every state's enabled actions, but those that sleep sets show to be explored already",
        source: "Godefroid (LNCS 1032, 1996), chapter 5",
        guarantee: Guarantee::EveryClassOnce,
        requires: None,
    };
    const TAKES: Takes = Takes { always_sleeps: true, ..Takes::ORDER };

    fn new(options: &Options) -> Self {
        Sleep { order: options.order.unwrap_or_default() }
    }
}

impl Explorer for Sleep {
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
        sorter: Sorter::new(order),
        pending: Vec::new(),
        levels: vec![0],
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
    sorter: Sorter,
    /// The actions still to be tried on all levels, newest level last, the next one of each last.
    pending: Vec<Action>,
    /// Where the pending actions of each level begin.
    levels: Vec<usize>,
    driver: &'d mut Driver<'o>,
}

impl<S: System> Search<'_, '_, '_, S> {
    /// Finds out what there is to do in a state just reached.
    fn arrive(&mut self) {
        let Search { execution, sleep, pending, driver, .. } = self;
        let mark = self.levels[self.levels.len() - 1];
        if driver.is_stopped() {
            return;
        }
        execution.enabled(pending);
        if pending.len() == mark {
            driver.ended(execution);
        } else if execution.len() as u64 >= u64::from(driver.length_bound()) {
            driver.truncated(execution.state());
            pending.truncate(mark);
        } else {
            self.sorter.sort(execution, &mut pending[mark..]);
            pending[mark..].reverse();
            keep_from(pending, mark, |&action| !sleep.contains(action));
            if pending.len() == mark {
                driver.blocked(execution.state());
            }
        }
    }

    fn choose(&mut self) -> Option<Action> {
        let mark = self.levels[self.levels.len() - 1];
        let is_left = self.pending.len() > mark && !self.driver.is_stopped();
        is_left.then(|| self.pending.pop()).flatten()
    }

    fn push(&mut self, action: Action) {
        self.execution.push(action);
        self.sleep.descend(&mut self.execution);
        self.levels.push(self.pending.len());
        self.driver.moved(&self.execution.locals, self.execution.state(), action);
        self.arrive();
    }

    fn pop(&mut self) {
        let mark = self.levels.pop().expect("a level to leave");
        self.pending.truncate(mark);
        self.sleep.ascend();
        let (action, footprint) = self.execution.pop();
        self.sleep.put(action, footprint);
    }
}

/// Of the elements from `mark` on keeps those that `keep` holds of, in order.
fn keep_from<T: Copy>(list: &mut Vec<T>, mark: usize, keep: impl Fn(&T) -> bool) {
    let mut kept = mark;
    for index in mark..list.len() {
        if keep(&list[index]) {
            list[kept] = list[index];
            kept += 1;
        }
    }
    list.truncate(kept);
}
