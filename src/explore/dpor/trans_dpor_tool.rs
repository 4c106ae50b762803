//! TransDPOR as the tool of its paper implements it.
//!
//! Figure 2 of Tasharofi et al. (FORTE 2012) explores 13 executions of the paper's example,
//! `registry`, where the paper draws 10. The rule below differs, and reproduces the figures of the
//! paper's table 1 exactly. It considers *all* races of a message, not only the last one, when the
//! message is sent and again when it is taken. And it may remove again what it has added.
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
//! It ignores pending messages that are never taken. So it misses executions if guards refuse
//! messages: of the three classes of `dining(2)` it finds one, in order `fifo` or `eca`. Without
//! guards all messages are taken in the end. Then it visited every class of every program that was
//! tried. This is not proved, so it is not promised.
//!
//! One departure, which makes no difference to programs in which no actor fails: the messages that
//! a failed actor leaves are treated as taken when it fails, or when they are sent if that is
//! later.

use super::by_races::Races;
use super::creation::{creators, has_only_actors, not_before, pending, sent_by};
use crate::explore::walk::Walk;
use crate::model::{Action, ProcessId, System};
use crate::trace::{BacktrackSets, Execution, Strand};

/// Why it cannot be used on this system, in a sentence; `None` if it can.
pub(crate) fn refusal<S: System>(system: &S) -> Option<String> {
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

/// The rule, with scratch space for the messages that an action sent.
#[derive(Default)]
pub(crate) struct Tool {
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
    /// Handles messages that will never be taken as if they were taken now: the messages of an
    /// actor that has just failed, and messages just sent to an actor that failed before.
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

/// For each action i in race with the message: proposes to the state before i the first action
/// after i that is before the message, or the message if there is none.
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
        let first = creators(&walk.execution, i, message).next();
        let first = first.map_or(message, |j| walk.execution.state().action(j));
        propose(walk, backtrack, i, first, receiver(first));
    }
}

/// Adds `proposed` to the backtrack set of the state before `i`. If the set is frozen, `proposed`
/// replaces the last addition, unless the last action taken from the set is at `receiver`; then
/// nothing is added.
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
