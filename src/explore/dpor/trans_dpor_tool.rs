//! TransDPOR as the tool of its paper implements it.
//!
//! Figure 2 of Tasharofi et al. (FORTE 2012) explores 13 executions of the paper's example, `registry`, where the
//! paper draws 10. The rule below is another one. It reproduces the figures of the paper's table 1 exactly.
//! It looks at *all* races of a message, not only the last, when the message is sent and again when it is taken. And it
//! may take back what it added.
//!
//! ```text
//! after e, which took m:
//!   for each message x that e sent, in order, for each i in race with x, in order:
//!     j := the first after i that is before x;  propose j to pre(i), for j's receiver
//!   for each i in race with m, in order:
//!     j := the first after i that is before m, or else m;  propose j to pre(i), for m's receiver
//!
//! propose c to κ for r:
//!   if κ is frozen and what was last taken from κ is r's: do nothing
//!   if c is in backtrack(κ), or asleep, or not enabled in κ: do nothing
//!   if κ is frozen: take out again what was added last
//!   add c to backtrack(κ), and freeze κ
//! ```
//!
//! It does not look at pending messages that are never taken. So it misses executions if guards refuse messages: of the
//! three classes of `dining(2)` it finds one, in order `fifo` or `eca`. Without guards all messages are taken in the end.
//! Then it visited every class of every program that it was tried on. But nobody has proved that, so it is not promised.
//!
//! One departure, which makes no difference to programs in which no actor fails: the messages that a failed actor
//! leaves are looked at as if they were taken when it fails, or when they are sent if that is later.

use super::by_races::{ByRaces, Races};
use super::creation::{has_only_actors, makers, not_before, pending, sent_by};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::{Explorer, Guarantee, Info};
use crate::explore::order::Order;
use crate::explore::settings::options::{Choosable, Options, Takes};
use crate::explore::walk::{self, Manner, Walk};
use crate::model::{Action, ProcessId, System};
use crate::trace::{BacktrackSets, Execution, Strand};

/// Visits every class, as far as is known. Nobody has proved it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransDporTool {
    /// The order in which enabled actions are tried.
    pub order: Order,
    /// Adds sleep sets (Godefroid 1996).
    pub sleep_sets: bool,
}

impl Choosable for TransDporTool {
    const INFO: Info = Info {
        name: "transdpor-tool",
        summary: "TransDPOR as the tool of its paper implements it, to reproduce its numbers",
        source: "Tasharofi et al. (FORTE 2012), table 1",
        guarantee: Guarantee::SomeClasses,
        requires: Some("actors only, without guards"),
    };
    const TAKES: Takes = Takes { options: &["order", "seed", "sleep-sets"], ..Takes::ORDER };

    fn new(options: &Options) -> Self {
        TransDporTool { order: options.order.unwrap_or_default(), sleep_sets: options.sleep_sets }
    }
}

impl Explorer for TransDporTool {
    fn info(&self) -> Info {
        Self::INFO
    }

    fn may_block(&self) -> bool {
        self.sleep_sets
    }

    fn refusal<S: System>(&self, system: &S, _: &Budget) -> Option<String> {
        refusal(system)
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        let manner = Manner::new(self.order, self.sleep_sets);
        walk::explore(system, manner, &mut ByRaces::new(Tool::default()), driver);
    }
}

fn refusal<S: System>(system: &S) -> Option<String> {
    if !has_only_actors(system) {
        return Some(
            "`transdpor-tool` is for programs of actors only (`dpor` is for all programs)".into(),
        );
    }
    (system.actors().has_guards() || system.actors().has_internals()).then(|| {
        "`transdpor-tool` is not for programs with guards or internal handlers: it may miss executions there \
         (`transdpor` does not)"
            .into()
    })
}

/// The rule, with scratch space for what an action sent.
#[derive(Default)]
struct Tool {
    sent: Vec<Action>,
}

impl<S: System> Races<S> for Tool {
    fn reverse(&mut self, walk: &mut Walk<'_, '_, '_, S>, backtrack: &mut BacktrackSets) {
        let e = walk.execution.len() - 1;
        self.sent.clear();
        self.sent.extend(sent_by(&walk.execution, e));
        for &x in &self.sent {
            propose_for(walk, backtrack, x, |j| j.process);
        }
        let m = walk.execution.state().action(e);
        propose_for(walk, backtrack, m, |_| m.process);
        self.lost(walk, backtrack, e);
    }
}

impl Tool {
    /// Handles messages that nobody will take any more as if they were taken now: those to an actor that has just failed,
    /// and those just sent to one that failed before.
    fn lost<S: System>(
        &mut self,
        walk: &mut Walk<'_, '_, '_, S>,
        backtrack: &mut BacktrackSets,
        e: usize,
    ) {
        let has_failed = |execution: &Execution<'_, S>, actor| {
            execution.locals.status(execution.state().local(actor)).has_ended()
        };
        let actor = walk.execution.order().process(e);
        self.sent.retain(|x| x.process != actor && has_failed(&walk.execution, x.process));
        if has_failed(&walk.execution, actor) {
            self.sent.extend(pending(&walk.execution, actor));
        }
        for &x in &self.sent {
            propose_for(walk, backtrack, x, |_| x.process);
        }
    }
}

/// Proposes to the state before each action that is in race with the message the first action after it that
/// is before the message, or else the message.
fn propose_for<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    message: Action,
    receiver: impl Fn(Action) -> ProcessId,
) {
    for index in 0..not_before(&walk.execution, message).len() {
        let i = not_before(&walk.execution, message)[index] as usize;
        if walk.execution.state().action(i) == message {
            break;
        }
        let first = makers(&walk.execution, i, message).next();
        let first = first.map_or(message, |j| walk.execution.state().action(j));
        propose(walk, backtrack, i, first, receiver(first));
    }
}

/// Adds `proposed` to the backtrack set of the state before `i`, in place of what was added there since the
/// last action was taken from it, unless that concerns the receiver of the action taken.
fn propose<S: System>(
    walk: &mut Walk<'_, '_, '_, S>,
    backtrack: &mut BacktrackSets,
    i: usize,
    proposed: Action,
    receiver: ProcessId,
) {
    if backtrack.is_frozen(i) && walk.execution.state().action(i).process == receiver {
        return;
    }
    let strand = Strand::of(proposed, true);
    if backtrack.find(i, strand).is_none_or(|found| found.is_chosen || found.is_asleep) {
        return;
    }
    if backtrack.is_frozen(i) {
        backtrack.drop_last(i);
    }
    backtrack.add(i, strand);
    backtrack.freeze(i);
}
