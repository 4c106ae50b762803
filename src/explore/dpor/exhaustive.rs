//! Every interleaving, without reduction: the judge of all other explorers.
//!
//! ```text
//! Explore(E):
//!   for each p ∈ enabled(E):  Explore(E·p)
//! ```
//!
//! Up to a depth, it visits every interleaving of every class up to that causal depth: what is too high is not enabled.

use super::pending::Pending;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Depth, Explorer, Guarantee, Info};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::explore::walk::{self, Manner, Reached, Rule, Sleepers, Walk};
use crate::model::{Action, System};
use crate::trace::Names;

/// Visits every execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exhaustive;

impl Choosable for Exhaustive {
    const INFO: Info = Info {
        name: "exhaustive",
        summary: "every interleaving, without reduction; also tells their Mazurkiewicz classes",
        source: "",
        guarantee: Guarantee::EveryExecution,
        requires: None,
    };
    const TAKES: Takes = Takes { options: &["jobs"], ..Takes::NOTHING };

    fn new(_: &Options) -> Self {
        Exhaustive
    }
}

impl Explorer for Exhaustive {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn can_split(&self, _: Option<u32>) -> bool {
        true
    }

    fn splits_exactly(&self) -> bool {
        true
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let manner = Manner { order: None, sleep: Sleepers::None, depth: Depth::Causal };
        let mut rule = Everything::default();
        walk::explore(system, manner, &mut rule, driver);
        driver.stats.classes = Some(rule.names.counted() as u64);
    }
}

/// The rule: everything that is enabled is to be tried.
#[derive(Default)]
struct Everything {
    pending: Pending,
    names: Names,
}

impl<S: System> Rule<S> for Everything {
    #[inline]
    fn arrive(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        if let Some(last) = walk.execution.len().checked_sub(1) {
            self.names.push(walk.execution.order(), walk.execution.action(last));
        }
        let reached = walk.look();
        let is_open = reached == Reached::Open;
        // Nothing sleeps except at the beginning of a branch: the first actions of what others explore.
        let (is_start, sleep) = (walk.is_start(), &walk.sleep);
        let here = |&action: &Action| is_open && !(is_start && sleep.contains(action));
        self.pending.descend(walk.enabled.iter().copied().filter(here));
        if reached == Reached::End {
            self.names.count(walk.execution.order());
        }
    }

    #[inline]
    fn next(&mut self, _: &mut Walk<'_, '_, '_, S>) -> Option<Action> {
        self.pending.pop()
    }

    #[inline]
    fn leave(&mut self, walk: &mut Walk<'_, '_, '_, S>) {
        self.pending.ascend();
        if !walk.execution.is_empty() {
            self.names.pop();
        }
    }
}
