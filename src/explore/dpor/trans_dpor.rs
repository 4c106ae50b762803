//! TransDPOR: DPOR for actors, with one message at a time in a backtrack set.
//!
//! Tasharofi, Karmani, Lauterburg, Legay, Marinov, Agha (FORTE 2012), figure 2, as printed.
//!
//! ```text
//! Explore(S):
//!   κ := the state after S
//!   for each message m that is pending in κ:
//!     if there is a last i in S that m is in race with, and pre(S, i) is not frozen:
//!       E := { the first j > i that is before m, or else m itself } ∩ enabled(pre(S, i))
//!       if E ⊈ backtrack(pre(S, i)):  add it, and freeze pre(S, i)
//!   if something is enabled in κ:
//!     backtrack(κ) := the first of it
//!     for each m in backtrack(κ) that is not done:  thaw κ;  Explore(S.m)
//! ```
//!
//! Races of actors are transitive. Suppose that a message is in race with i, but not added because
//! the state is frozen. Then it is also in race with the message that was added, so its race shows
//! again when that message is explored, if it is still needed. Hence the explorer is only for
//! programs of actors: two reads of a cell are both in race with a write, but not with one another;
//! mailboxes and mutexes are similar. Internal handlers count as messages ([`super::creation`]).
//!
//! Departures: races already handled are skipped, as in [`super::backtrack_sets`]. And with sleep
//! sets, a message that is asleep is not added and does not freeze the state. The paper does not
//! say how to combine the two. If a sleeping message were added, it would never be explored, and
//! the messages that it holds back would never be added: for the paper's example, `registry`, only
//! four of six classes would be found.
//!
//! Every class is visited: also with guards, with guards that turn false again, with internal
//! handlers, with actors that fail, and up to a depth. The proof in the paper covers executions
//! that end; the rest is tested. TransDPOR never executes more than DPOR in the same order.
//!
//! The same algorithm over configurations, [`crate::explore::configurations::backtracking`], is for
//! all programs.
//!
//! The numbers in the paper come from its tool, which differs from its figure: see
//! [`super::trans_dpor_tool`].

use super::by_races::{ByRaces, Races};
use super::creation::{creators, has_only_actors, newly_racing, not_before};
use super::trans_dpor_tool::{self, Tool};
use crate::explore::budget::Budget;
use crate::explore::configurations::backtracking::{self, Added};
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Profile};
use crate::explore::order::Order;
use crate::explore::over::Over;
use crate::explore::settings::options::{Options, Takes};
use crate::explore::walk::{self, Walk, WalkOptions};
use crate::model::{Action, System};
use crate::trace::{BacktrackSets, Strand};

/// TransDPOR: visits every class. Over executions only for programs of actors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransDpor {
    /// The order in which enabled actions are tried.
    pub order: Order,
    /// Are sleep sets (Godefroid 1996) added? (Only over executions.)
    pub sleep_sets: bool,
    /// What the search walks along. The paper's tool knows only executions.
    pub over: Over,
    /// Is the rule that of the paper's tool (`trans_dpor_tool`)? It visited every class in all our
    /// tests, but this is not proved.
    pub of_tool: bool,
}

impl TransDpor {
    /// The published algorithm, with these options.
    pub fn published(options: &Options) -> Self {
        let &Options { order, sleep_sets, over, .. } = options;
        let (order, over) = (order.unwrap_or_default(), over.unwrap_or_default());
        TransDpor { order, sleep_sets, over, of_tool: false }
    }

    /// The algorithm of the tool, with these options.
    pub fn of_tool(options: &Options) -> Self {
        TransDpor { of_tool: true, ..TransDpor::published(options) }
    }
}

impl Explorer for TransDpor {
    fn profile(&self) -> Profile {
        if self.of_tool {
            return Profile {
                name: "transdpor-tool",
                summary: "TransDPOR as the tool of its paper implements it, to reproduce its numbers",
                source: "Tasharofi et al. (FORTE 2012), table 1",
                requires: Some("actors only, without guards"),
                takes: Takes { options: &["order", "seed", "sleep-sets"], ..Takes::ORDER },
                may_block: self.sleep_sets,
                ..Profile::default()
            };
        }
        let profile = Profile {
            name: "transdpor",
            summary: "DPOR for actors, which relies on their transitive races",
            source: "Tasharofi et al. (FORTE 2012)",
            requires: (self.over == Over::Executions).then_some("actors only"),
            takes: Takes { options: &["order", "seed", "sleep-sets", "over"], ..Takes::ORDER },
            ..Profile::default()
        };
        self.over.promise(profile, self.sleep_sets)
    }

    fn refusal<S: System>(&self, system: &S, _: &Budget) -> Option<String> {
        if self.of_tool {
            return trans_dpor_tool::refusal(system);
        }
        (self.over == Over::Executions && !has_only_actors(system)).then(|| {
            "`transdpor` is for programs of actors only: it relies on transitive races, and races at \
             mailboxes, mutexes and cells are not transitive (`dpor`, and `transdpor` over \
             configurations, are for all programs)"
                .into()
        })
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let options = WalkOptions::new(self.order, self.sleep_sets);
        match self.over {
            _ if self.of_tool => {
                walk::explore(system, options, &mut ByRaces::new(Tool::default()), driver);
            }
            Over::Executions => {
                walk::explore(system, options, &mut ByRaces::new(OneAtATime::default()), driver);
            }
            Over::Configurations => {
                backtracking::explore(system, self.order, Added::OneAtATime, (), driver);
            }
        }
    }
}

/// The rule, with scratch space for messages.
#[derive(Default)]
struct OneAtATime {
    waiting: Vec<Action>,
}

impl<S: System> Races<S> for OneAtATime {
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets) {
        let last = walk.execution.len() - 1;
        self.waiting.clear();
        newly_racing(&walk.execution, last, &mut self.waiting);
        walk.sort(&mut self.waiting);
        for &message in &self.waiting {
            if let Some(&i) = not_before(&walk.execution, message).last()
                && !backtrack.is_frozen(i as usize)
            {
                reverse(walk, backtrack, i as usize, message);
            }
        }
    }
}

/// Adds to the backtrack set of the state before `i` the first action after `i` that is before the
/// message, or the message itself if there is no such action. Adds nothing if it is not enabled
/// there, asleep, or in the set already.
fn reverse<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    i: usize,
    message: Action,
) {
    let first = creators(&walk.execution, i, message).next();
    let first = first.map_or(message, |j| walk.execution.action(j));
    let strand = Strand::of(first, true);
    if backtrack.find(i, strand).is_some_and(|m| !m.is_chosen && !m.is_asleep) {
        backtrack.add(i, strand);
        backtrack.freeze(i);
    }
}
