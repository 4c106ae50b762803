//! Probes by a process at a mailbox whose receiver is another process.
//!
//! Only one process may receive at a p2p or bag mailbox, so the unfolding has no conflicts between
//! operations of two receivers. A probe that sees a message therefore stays enabled in the
//! unfolding when another process takes the message. No execution continues with the probe then.
//! But some execution begins with the probe, and continues until the other process receives there,
//! which is a violation.

use crate::explore::driver::Driver;
use crate::model::{Action, Op, State, System};
use crate::unfolding::{Configuration, EventId, Unfolding};

/// Is e, an event of en(C), a probe for a message that another process has taken?
#[inline]
pub(crate) fn is_too_late<S: System>(
    unfolding: &Unfolding<'_, S>,
    c: &Configuration,
    e: EventId,
) -> bool {
    let has_messages = !c.state().network().sends().is_empty();
    if !has_messages || !matches!(unfolding.op(e), Op::Probe { .. }) {
        return false;
    }
    let Action { process, choice } = unfolding.action(e);
    let mut is_possible = false;
    c.state().choices(&unfolding.locals, process, |possible| is_possible |= possible == choice);
    !is_possible
}

/// Reports the violation: by the execution that has the causes of e first, then e, then the rest of
/// C.
pub(crate) fn report<S: System>(
    unfolding: &mut Unfolding<'_, S>,
    c: &Configuration,
    e: EventId,
    driver: &mut Driver<'_>,
) {
    let is_before = |&f: &EventId| unfolding.structure.is_at_or_before(f, e);
    let (before, after): (Vec<_>, Vec<_>) = c.events().iter().copied().partition(is_before);
    let order = before.into_iter().chain([e]).chain(after);
    let actions: Vec<Action> = order.map(|event| unfolding.action(event)).collect();
    let mut state = State::initial(&mut unfolding.locals);
    for action in actions {
        state.step(&mut unfolding.locals, action);
        if state.is_crowded() {
            return driver.moved(&mut unfolding.locals, &state, action);
        }
    }
    unreachable!("another process receives there, or the message would be there");
}
