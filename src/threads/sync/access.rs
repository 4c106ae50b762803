//! Accesses to the cells of atomics.

use std::sync::atomic::Ordering::{self, Relaxed, SeqCst};

use crate::model::{Access, CellId, Op, Opaque, Update, Value};
use crate::systems::history::{Asked, Told};
use crate::threads::ask::{Place, Running, ask};
use crate::threads::system::Made;

/// What was written last in the world, for destructors that run when it ends.
pub(super) fn now(cell: CellId) -> Option<u64> {
    Running::try_current()?.now.borrow().get(&cell).copied()
}

pub(super) fn leave(cell: CellId, bits: u64) {
    Running::current().now.borrow_mut().insert(cell, bits);
}

pub(in crate::threads) fn new_cell(what: &'static str, place: Place) -> CellId {
    CellId(Running::current().make(Made::Cell, what, place))
}

/// Tells the content before.
pub(in crate::threads) fn update_cell(
    cell: CellId,
    update: impl Update,
    text: &'static str,
    place: Place,
) -> Option<Told> {
    let update = Value::Opaque(Opaque::updating(update));
    let access = |update| Op::Access(cell, Access::Update(update));
    ask(Asked::with(update, access), text, place)
}

/// Notes which orderings a program asks for.
pub(super) fn note(ordering: Ordering) {
    if ordering != SeqCst
        && let Some(running) = Running::try_current()
    {
        running.shared.is_weak.store(true, Relaxed);
    }
}
