//! The text of an operation in a counterexample: `inbox.recv()`.

use super::process::Place;
use crate::model::{
    BarrierId, CellId, CollectiveId, CondvarId, MailboxId, MutexId, Objects, RwLockId, SemaphoreId,
};

/// The text of an operation, as its author would say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    /// The object.
    pub(super) on: On,
    /// The name of the method.
    pub(super) verb: &'static str,
}

/// The object of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum On {
    Mailbox(MailboxId),
    Mutex(MutexId),
    RwLock(RwLockId),
    Condvar(CondvarId),
    Semaphore(SemaphoreId),
    Barrier(BarrierId),
    Collective(CollectiveId),
    Cell(CellId),
    Nothing,
}

impl Text {
    /// The text in words.
    pub(super) fn shown(self, objects: &Objects) -> String {
        let object = match self.on {
            On::Mailbox(id) => objects.mailboxes.name(id.0),
            On::Mutex(id) => objects.mutexes.name(id.0),
            On::RwLock(id) => objects.rwlocks.name(id.0),
            On::Condvar(id) => objects.condvars.name(id.0),
            On::Semaphore(id) => objects.semaphores.name(id.0),
            On::Barrier(id) => objects.barriers.name(id.0),
            On::Collective(id) => objects.collectives.name(id.0),
            On::Cell(id) => objects.cells.name(id.0),
            On::Nothing => return format!("{}()", self.verb),
        };
        format!("{object}.{}()", self.verb)
    }
}

/// An operation at a place: all that its site depends on. Static texts are compared and hashed by
/// their addresses, which is quick. One place may have two addresses; then it has two sites that
/// are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    on: On,
    verb: usize,
    place: usize,
}

impl Spot {
    pub(super) fn new(Text { on, verb }: Text, place: Place) -> Spot {
        Spot { on, verb: verb.as_ptr().addr(), place: std::ptr::from_ref(place).addr() }
    }
}
