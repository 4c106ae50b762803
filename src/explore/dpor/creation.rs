//! The order "before" in the sense of creation, for actors: the actions that a message needed to be
//! sent.
//!
//! In Tasharofi et al. (FORTE 2012), definition 5, an action is before a message if it sent the
//! message, or happens before the action that sent it. An action at the receiver of the message
//! that is not before it races with the message: they could be handled in the other order. (Plain
//! happens-before orders any two actions of one actor, and would leave nothing to reorder.)
//!
//! An internal handler counts as a message to its own actor, sent by the last run of this handler,
//! or by the start of the actor if it has not run.

use crate::model::{Action, Choice, Handled, Locals, Op, ProcessId, Status, System};
use crate::trace::Execution;

/// The position of the action that sent this message; `None` for a message that exists from the
/// start, and for an internal handler.
pub(crate) fn creator<S: System>(execution: &Execution<'_, S>, message: Action) -> Option<usize> {
    match message.choice.handled() {
        Handled::Internal(_) => None,
        Handled::Message(id) => execution.state().message(id).creator(),
    }
}

/// The positions of the receiver's actions that are not before the message, oldest first. (The
/// message is given as an action of its receiver.)
pub(crate) fn not_before<'e, S: System>(
    execution: &'e Execution<'_, S>,
    message: Action,
) -> &'e [u32] {
    let of_receiver = execution.order().of_process(message.process);
    let known = match message.choice.handled() {
        Handled::Message(_) => creator(execution, message).map_or(0, |creator| {
            let clock = execution.order().clock(creator);
            clock.get(message.process.index()).copied().unwrap_or(0) as usize
        }),
        Handled::Internal(_) => {
            let runs = |&at: &u32| execution.state().action(at as usize) == message;
            of_receiver.iter().rposition(runs).map_or(0, |last| last + 1)
        }
    };
    &of_receiver[known..]
}

/// The positions after `i` of the actions that are before the message, in order.
pub(crate) fn creators<S: System>(
    execution: &Execution<'_, S>,
    i: usize,
    message: Action,
) -> impl Iterator<Item = usize> {
    let creator = creator(execution, message);
    let end = creator.map_or(0, |creator| creator + 1);
    let is_creator = move |&j: &usize| j + 1 == end || execution.order().before(j, end - 1);
    (i + 1..end).filter(is_creator)
}

/// The messages that the handler at this position of the execution sent.
pub(crate) fn sent_by<S: System>(
    execution: &Execution<'_, S>,
    position: usize,
) -> impl Iterator<Item = Action> {
    let (first, count) = execution.state().sent_at(position);
    (first..first + count).map(|at| message_at(execution, at))
}

/// The pending messages of an actor.
pub(crate) fn pending<S: System>(
    execution: &Execution<'_, S>,
    actor: ProcessId,
) -> impl Iterator<Item = Action> {
    execution.state().inboxes().pending(actor).map(|at| message_at(execution, at))
}

/// A message of the log as an action of its receiver.
fn message_at<S: System>(execution: &Execution<'_, S>, at: u32) -> Action {
    let message = &execution.state().inboxes().log()[at as usize];
    Action { process: message.to, choice: Choice::message(message.id) }
}

/// Appends to `waiting` all messages whose last race may have changed by the last action, at
/// position `last`: the pending messages and internal handlers of the actor that executed it, and
/// the messages that it sent. They need not be enabled, because a guard may hold again.
pub(crate) fn newly_racing<S: System>(
    execution: &Execution<'_, S>,
    last: usize,
    waiting: &mut Vec<Action>,
) {
    if !execution.order().effect(last).is_handler() {
        return;
    }
    let (first, _) = execution.state().sent_at(last);
    let Action { process, choice } = execution.state().action(last);
    let older = execution.state().inboxes().pending(process).take_while(|&at| at < first);
    waiting.extend(older.map(|at| message_at(execution, at)));
    waiting.extend(sent_by(execution, last));
    // The actor may have failed in this action, so the handlers that it had before count.
    if let Some(Op::Handle { internals }) = execution.locals.op(execution.state().before(last)) {
        let others = (0..*internals).map(Choice::internal).filter(|&other| other != choice);
        waiting.extend(others.map(|choice| Action { process, choice }));
    }
}

/// The actions of a reversed race after the first: those before the message, then the message, then
/// the action at `i` with which it races. In reverse order.
pub(crate) fn wanted_order<S: System>(
    execution: &Execution<'_, S>,
    i: usize,
    message: Action,
) -> Vec<Action> {
    let made = creators(execution, i, message).map(|k| execution.action(k));
    let mut order: Vec<_> = made.chain([message, execution.action(i)]).skip(1).collect();
    order.reverse();
    order
}

/// Is every process that exists from the start an actor?
pub(crate) fn has_only_actors<S: System>(system: &S) -> bool {
    let locals = Locals::new(system);
    let is_actor = |&id| matches!(locals.status(id), Status::At(Op::Handle { .. }));
    locals.initial().iter().all(|id| is_actor(id) || locals.status(*id).has_ended())
}
