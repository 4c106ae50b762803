//! Steps at mailboxes, semaphores, barriers, latches and cells; processes, variables, control flow.

use std::sync::Arc;

use super::assembly::{Assembly, Origin};
use super::{
    Barrier, Cell, Child, Communication, Condition, Expression, Latch, Mailbox, Semaphore, Step,
    Template, Variable, Variables,
};
use crate::lang::code::Visible;
use crate::lang::hir::SendMode;
use crate::lang::objects::{self, ObjectKind};
use crate::lang::program::MAX_CHOICES;
use crate::model::{Completion, Envelope, Object};

/// A step of this word of the language, on one object.
#[track_caller]
pub(super) fn act(name: &'static str, word: &'static str, object: Object) -> Step {
    let (kind, number) = of(object);
    Step::new(name, [object], move |code| {
        code.object(number);
        code.word(kind, word, 1);
    })
}

/// The kind of an object, and its number.
fn of(object: Object) -> (ObjectKind, u32) {
    match object {
        Object::Cell(id) => (ObjectKind::Cell, id.0),
        Object::Mutex(id) => (ObjectKind::Mutex, id.0),
        Object::RwLock(id) => (ObjectKind::RwLock, id.0),
        Object::Condvar(id) => (ObjectKind::Condvar, id.0),
        Object::Semaphore(id) => (ObjectKind::Semaphore, id.0),
        Object::Barrier(id) => (ObjectKind::Barrier, id.0),
        Object::Latch(id) => (ObjectKind::Latch, id.0),
        Object::Collective(id) => (ObjectKind::Collective, id.0),
        Object::Mailbox(id) => (ObjectKind::Mailbox, id.0),
    }
}

/// Emits a send that leaves the communication on the stack. At a p2p or bag mailbox its source is
/// the index of its process among those that exist from the start, unless `envelope` says another
/// one; -1 for a process that was spawned.
fn post_send(
    code: &mut Assembly,
    Mailbox(mailbox): Mailbox,
    value: &Expression,
    Envelope { src, tag }: Envelope,
    completion: Completion,
) -> Origin {
    let is_of_network = code.is_of_network(mailbox);
    let own = || code.rank().map_or(-1, i64::from);
    let src = src.or_else(|| is_of_network.then(own));
    code.object(mailbox.0);
    code.value(value);
    [src, tag].into_iter().flatten().for_each(|number| code.int(number));
    let mode = match completion {
        Completion::Late => SendMode::Synchronous,
        _ => SendMode::Buffered,
    };
    code.visible(Visible::Isend { src: src.is_some(), tag: tag.is_some(), mode });
    Origin { is_receive: false, is_of_network }
}

/// Emits a receive that leaves the communication on the stack.
fn post_receive(
    code: &mut Assembly,
    Mailbox(mailbox): Mailbox,
    Envelope { src, tag }: Envelope,
) -> Origin {
    code.object(mailbox.0);
    [src, tag].into_iter().flatten().for_each(|number| code.int(number));
    code.visible(Visible::Irecv { src: src.is_some(), tag: tag.is_some() });
    Origin { is_receive: true, is_of_network: code.is_of_network(mailbox) }
}

/// A send with a name.
#[track_caller]
pub(super) fn named_send(
    step: &'static str,
    name: Communication,
    mailbox: Mailbox,
    value: Expression,
    envelope: Envelope,
    completion: Completion,
) -> Step {
    Step::new(step, [Object::Mailbox(mailbox.0)], move |code| {
        let origin = post_send(code, mailbox, &value, envelope, completion);
        code.keep(name, origin);
    })
}

/// Sends a value and waits until it is received.
#[track_caller]
pub fn send(mailbox: Mailbox, value: impl Into<Expression>) -> Step {
    let value = value.into();
    Step::new("send", [Object::Mailbox(mailbox.0)], move |code| {
        post_send(code, mailbox, &value, Envelope::default(), Completion::Early);
        code.visible(Visible::Wait);
    })
    .with_result()
}

/// Waits for a message and receives it.
#[track_caller]
pub fn recv(mailbox: Mailbox) -> Step {
    Step::new("recv", [Object::Mailbox(mailbox.0)], move |code| {
        post_receive(code, mailbox, Envelope::default());
        code.visible(Visible::Wait);
    })
    .with_result()
}

/// Starts to send a value; the communication continues in the background.
#[track_caller]
pub fn isend(name: Communication, mailbox: Mailbox, value: impl Into<Expression>) -> Step {
    isend_with(name, mailbox, value, Envelope::default())
}

/// Starts to send a value with a source or a tag, like [`isend`].
#[track_caller]
pub fn isend_with(
    name: Communication,
    mailbox: Mailbox,
    value: impl Into<Expression>,
    envelope: Envelope,
) -> Step {
    named_send("isend", name, mailbox, value.into(), envelope, Completion::Early)
}

/// Starts to receive; the communication continues in the background.
#[track_caller]
pub fn irecv(name: Communication, mailbox: Mailbox) -> Step {
    irecv_with(name, mailbox, Envelope::default())
}

/// Starts to receive a message with this source or tag, like [`irecv`].
#[track_caller]
pub fn irecv_with(name: Communication, mailbox: Mailbox, pattern: Envelope) -> Step {
    Step::new("irecv", [Object::Mailbox(mailbox.0)], move |code| {
        let origin = post_receive(code, mailbox, pattern);
        code.keep(name, origin);
    })
}

/// Waits for a communication; the result is the value received.
#[track_caller]
pub fn wait(name: Communication) -> Step {
    Step::new("wait", [], move |code| {
        code.begun(name, "no communication was begun that could be waited for");
        code.visible(Visible::Wait);
    })
    .with_result()
}

/// Tests whether a communication is complete. The result is 0 or 1.
#[track_caller]
pub fn test(name: Communication) -> Step {
    Step::new("test", [], move |code| {
        code.begun(name, "no communication was begun that could be tested");
        code.visible(Visible::Test);
    })
    .with_result()
}

/// Waits for one of several communications; the result is its index in the list.
#[track_caller]
pub fn wait_any(names: &[Communication]) -> Step {
    let names: Box<[_]> = names.into();
    Step::new("wait_any", [], move |code| {
        code.all_begun(&names, false);
        code.visible(Visible::WaitAny);
    })
    .with_result()
}

/// Tests whether one of several communications is complete. The result is its index in the list, or
/// -1.
#[track_caller]
pub fn test_any(names: &[Communication]) -> Step {
    let names: Box<[_]> = names.into();
    Step::new("test_any", [], move |code| {
        code.all_begun(&names, true);
        code.visible(Visible::TestAny);
    })
    .with_result()
}

/// The value that a communication has received. The process must have observed its completion.
#[track_caller]
pub fn value_of(name: Communication) -> Step {
    Step::new("value_of", [], move |code| {
        code.begun(name, "the value of a communication that was not begun");
        code.received();
    })
    .with_result()
}

/// Acquires a unit of a semaphore: requests it and waits.
#[track_caller]
pub fn acquire(semaphore: Semaphore) -> Step {
    act("acquire", "acquire", Object::Semaphore(semaphore.0))
}

/// Requests a unit of a semaphore, without waiting.
#[track_caller]
pub fn async_acquire(semaphore: Semaphore) -> Step {
    act("async_acquire", "async_acquire", Object::Semaphore(semaphore.0))
}

/// Waits for the unit that was requested first, of those not waited for yet.
#[track_caller]
pub fn acquire_wait(semaphore: Semaphore) -> Step {
    act("acquire_wait", "acquire_wait", Object::Semaphore(semaphore.0))
}

/// Releases a unit of a semaphore.
#[track_caller]
pub fn release(semaphore: Semaphore) -> Step {
    act("release", "release", Object::Semaphore(semaphore.0))
}

/// Arrives at a barrier and waits until all have arrived.
#[track_caller]
pub fn barrier(barrier: Barrier) -> Step {
    act("barrier", "barrier", Object::Barrier(barrier.0))
}

/// Arrives at a barrier, without waiting.
#[track_caller]
pub fn arrive(barrier: Barrier) -> Step {
    act("arrive", "async_barrier", Object::Barrier(barrier.0))
}

/// Waits for the next round of a barrier in which this process has arrived.
#[track_caller]
pub fn barrier_wait(barrier: Barrier) -> Step {
    act("barrier_wait", "barrier_wait", Object::Barrier(barrier.0))
}

/// Counts a latch down.
#[track_caller]
pub fn count_down(latch: Latch) -> Step {
    act("count_down", "count_down", Object::Latch(latch.0))
}

/// Waits until a latch is counted down to zero.
#[track_caller]
pub fn latch_wait(latch: Latch) -> Step {
    act("latch_wait", "wait", Object::Latch(latch.0))
}

/// Reads a cell.
#[track_caller]
pub fn read(cell: Cell) -> Step {
    Step::new("read", [Object::Cell(cell.0)], move |code| {
        code.object(cell.0.0);
        code.visible(Visible::Act(&objects::cell::READ, 0));
    })
    .with_result()
}

/// Writes a cell.
#[track_caller]
pub fn write(cell: Cell, value: impl Into<Expression>) -> Step {
    let value = value.into();
    Step::new("write", [Object::Cell(cell.0)], move |code| {
        code.object(cell.0.0);
        code.value(&value);
        code.visible(Visible::Act(&objects::cell::WRITE, 0));
    })
}

#[track_caller]
fn access(word: &'static str, cell: Cell, values: impl Into<Box<[Expression]>>) -> Step {
    let values = values.into();
    Step::new(word, [Object::Cell(cell.0)], move |code| {
        code.object(cell.0.0);
        values.iter().for_each(|value| code.value(value));
        code.word(ObjectKind::Cell, word, 1 + values.len());
    })
    .with_result()
}

/// Writes `new` if the cell contains `old`; the result is whether it did (0 or 1).
#[track_caller]
pub fn cas(cell: Cell, old: impl Into<Expression>, new: impl Into<Expression>) -> Step {
    access("cas", cell, [old.into(), new.into()])
}

/// Adds to a cell; the result is its previous content.
#[track_caller]
pub fn fetch_add(cell: Cell, addend: impl Into<Expression>) -> Step {
    access("fetch_add", cell, [addend.into()])
}

/// Writes a cell; the result is its previous content.
#[track_caller]
pub fn swap(cell: Cell, value: impl Into<Expression>) -> Step {
    access("swap", cell, [value.into()])
}

/// Chooses a number. The search tries every number of the range, which has at most 10,000.
#[track_caller]
pub fn choose(range: std::ops::Range<i64>) -> Step {
    let (lo, hi) = (range.start, range.end);
    let count = hi.checked_sub(lo);
    assert!(matches!(count, Some(1..=MAX_CHOICES)), "choose from {lo}..{hi}");
    Step::new(format!("choose({lo}..{hi})"), [], move |code| {
        code.int(lo);
        code.int(hi);
        code.visible(Visible::Choose);
    })
    .with_result()
}

/// A visible step without effect.
#[track_caller]
pub fn local() -> Step {
    Step::new("local", [], |code| code.visible(Visible::Local))
}

/// Spawns a process; `argument` is the initial value of its first variable.
#[track_caller]
pub fn spawn(name: Child, template: Template, argument: impl Into<Expression>) -> Step {
    let argument = argument.into();
    Step::new("spawn", [], move |code| {
        code.value(&argument);
        code.spawn(template, name);
    })
}

/// Waits until a process has ended.
#[track_caller]
pub fn join(name: Child) -> Step {
    Step::new("join", [], move |code| {
        code.child(name);
        code.visible(Visible::Join);
    })
}

/// Sets a variable. Other processes cannot see this step.
#[track_caller]
pub fn set(variable: Variable, value: impl Into<Expression>) -> Step {
    let value = value.into();
    Step::new("set", [], move |code| {
        code.value(&value);
        code.set(variable);
    })
}

/// Fails unless the condition holds. The failure shows `what`.
#[track_caller]
pub fn assert_that(
    what: impl Into<String>,
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
) -> Step {
    let (what, holds): (String, Condition) = (what.into(), Arc::new(holds));
    Step::new(format!("assert_that({what:?})"), [], move |code| {
        code.condition(&holds);
        code.assert(&what);
    })
}

/// Runs the first steps if the condition holds, otherwise the second ones.
#[track_caller]
pub fn branch(
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
    then: impl IntoIterator<Item = Step>,
    otherwise: impl IntoIterator<Item = Step>,
) -> Step {
    let holds: Condition = Arc::new(holds);
    let [then, otherwise] = [then.into_iter().collect(), otherwise.into_iter().collect()];
    let [then, otherwise]: [Vec<_>; 2] = [then, otherwise];
    Step::new("branch", [], move |code| code.branch(&holds, &then, &otherwise))
}

/// Repeats steps while the condition holds.
#[track_caller]
pub fn repeat_while(
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
    steps: impl IntoIterator<Item = Step>,
) -> Step {
    let (holds, steps): (Condition, Vec<_>) = (Arc::new(holds), steps.into_iter().collect());
    Step::new("repeat_while", [], move |code| code.repeat(&holds, &steps))
}
