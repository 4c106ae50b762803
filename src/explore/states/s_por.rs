//! S-POR: states once, and invisible operations first.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 1.
//!
//! ```text
//! Explore(s):
//!   if s was not visited:
//!     for all t ∈ safeSet(s):
//!       (s, a, s') := next(s, t);  push s';  Explore(s');  pop
//! ```
//!
//! safeSet(s) is one process whose operation no other can interfere with, or else all enabled processes
//! ([`SafeSets`](super::safe_set::SafeSets)). Sound: a safe set is a persistent set, and along a cycle some state is
//! explored in full ([`super::depth_first`]). The paper assumes that there are neither deadlocks nor
//! cycles. The first assumption is not needed here, because nothing is ever disabled by another process.

use super::batches::Plan;
use super::depth_first::{self, DepthFirst, Reduction};
use super::settings::{Stateful, Switch};
use crate::explore::budget::Depth;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::model::{ProcessId, System};

/// Visits the states that safe sets lead to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SPor(pub Stateful);

impl Choosable for SPor {
    const INFO: Info = Info {
        name: "s-por",
        summary: "states once, and operations first that nobody can interfere with (safe sets)",
        source: "Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023)",
        guarantee: Guarantee::EveryEnd,
        requires: None,
    };
    const TAKES: Takes = Takes::of_stored(SWITCHES);

    fn new(options: &Options) -> Self {
        SPor(options.stateful())
    }
}

impl Explorer for SPor {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn guarantee(&self) -> Guarantee {
        self.0.guarantee(Self::INFO.guarantee)
    }

    fn depth(&self) -> Depth {
        Depth::Length
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        depth_first::explore(system, (self.0, Plan::default()), &mut SafeSetReduction, driver);
    }
}

/// The optimisations that can be switched off.
const SWITCHES: &[Switch] = &[Switch::SafeSets, Switch::ProgramPoints, Switch::LiveVariables];

struct SafeSetReduction;

impl<S: System> Reduction<S> for SafeSetReduction {
    fn next(&mut self, search: &mut DepthFirst<'_, S>) -> Option<ProcessId> {
        let visited_first = search.settings.visited_first();
        let top = search.top();
        let rest = top.safe.without(&top.explored);
        search.first(&rest, visited_first)
    }
}
