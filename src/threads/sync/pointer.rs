//! [`std::sync::atomic::AtomicPtr`].

use std::fmt;
use std::panic::Location;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::AtomicPtr as Plain;
use std::sync::atomic::Ordering::{self, Relaxed, SeqCst};

use super::access::{leave, new_cell, note, now, update_cell};
use crate::model::{Access, CellId, Op, Value};
use crate::systems::history::tree::NodeId;
use crate::systems::history::{Asked, Told};
use crate::threads::ask::{Place, Running, ask, ask_for};
use crate::threads::token::{Pointers, Repointing, Word};

/// A pointer: see [`std::sync::atomic::AtomicPtr`].
///
/// What is read from it is who has written it. Where that points is in memory.
pub struct AtomicPtr<T> {
    cell: CellId,
    first: Plain<T>,
}

impl<T> AtomicPtr<T> {
    /// A pointer that begins with this one.
    #[track_caller]
    pub fn new(pointer: *mut T) -> AtomicPtr<T> {
        let cell = new_cell("AtomicPtr", Location::caller());
        AtomicPtr { cell, first: Plain::new(pointer) }
    }

    fn first(&self) -> *mut T {
        self.first.load(Relaxed)
    }

    /// Asks for an operation, and returns the pointer that was found. Afterwards another thread may
    /// free the atomic.
    fn found(&self, place: Place, ask: impl FnOnce() -> Option<Told>) -> (Option<Value>, *mut T) {
        Running::try_current().inspect(|running| running.uses(self, place));
        let (cell, first) = (self.cell, self.first());
        match ask() {
            Some(Told::Value(content)) => {
                let address = Word::of(&content)
                    .map(|word| Running::current().pointers.borrow()[&word.by].new);
                (Some(content), address.map_or(first, with_exposed_provenance_mut))
            }
            _ => (None, now(cell).map_or(first, |at| with_exposed_provenance_mut(at as usize))),
        }
    }

    /// Notes what the operation writes that the thread asks for next, and returns its history.
    fn note(&self, expected: *mut T, new: *mut T) -> NodeId {
        let running = Running::current();
        let all = [expected, new, self.first()].map(|pointer| pointer.expose_provenance());
        let [expected, new, first] = all;
        let by = running.node.get();
        running.pointers.borrow_mut().insert(by, Pointers { expected, new, first });
        by
    }

    /// The pointer.
    #[track_caller]
    pub fn load(&self, ordering: Ordering) -> *mut T {
        note(ordering);
        let (read, place) = (Op::Access(self.cell, Access::Read), Location::caller());
        self.found(place, || ask_for(read, "load", place)).1
    }

    /// Writes this pointer.
    #[track_caller]
    pub fn store(&self, pointer: *mut T, ordering: Ordering) {
        note(ordering);
        let cell = self.cell;
        let word = Word::new(0, None, self.note(pointer, pointer), None);
        let write = |word| Op::Access(cell, Access::Write(word));
        ask(Asked::with(word.value(), write), "store", Location::caller());
        leave(cell, pointer.expose_provenance() as u64);
    }

    /// Writes this pointer, and returns the one before.
    #[track_caller]
    pub fn swap(&self, pointer: *mut T, ordering: Ordering) -> *mut T {
        note(ordering);
        let (cell, by, place) = (self.cell, self.note(pointer, pointer), Location::caller());
        let (_, old) = self.found(place, || repoint(cell, by, false, "swap", place));
        leave(cell, pointer.expose_provenance() as u64);
        old
    }

    /// Writes `new` if the pointer is `current`. Returns the pointer before.
    ///
    /// # Errors
    /// With the pointer, if it is not `current`.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        note(success);
        note(failure);
        let (cell, by, place) = (self.cell, self.note(current, new), Location::caller());
        let (content, old) =
            self.found(place, || repoint(cell, by, true, "compare_exchange", place));
        let is_expected = match content {
            Some(content) => Running::current().shared.finds_expected(by, &content),
            None => old == current,
        };
        if !is_expected {
            return Err(old);
        }
        leave(cell, new.expose_provenance() as u64);
        Ok(old)
    }

    /// As [`compare_exchange`](Self::compare_exchange); it may fail for no reason, if threads
    /// may ([`spurious_failures`](crate::threads::Builder::spurious_failures)).
    ///
    /// # Errors
    /// With the pointer, if it is not `current`, or for no reason.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        if Running::current().fails_for_nothing(Location::caller()) {
            return Err(self.load(failure));
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// Writes what this function makes of the pointer, as often as another thread comes in between.
    /// Returns the pointer before.
    ///
    /// # Errors
    /// With the pointer, if the function returns `None`.
    #[track_caller]
    pub fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        mut change: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        let mut pointer = self.load(fetch);
        while let Some(new) = change(pointer) {
            match self.compare_exchange(pointer, new, set, fetch) {
                Ok(old) => return Ok(old),
                Err(found) => pointer = found,
            }
        }
        Err(pointer)
    }

    /// The pointer.
    #[track_caller]
    pub fn into_inner(self) -> *mut T {
        self.load(SeqCst)
    }

    /// The pointer, to be changed. Nobody else can access the atomic meanwhile.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut *mut T {
        // From now on it is another atomic, which begins with what is left here.
        *self = AtomicPtr::new(self.load(SeqCst));
        self.first.get_mut()
    }

    /// Calls the function with the pointer, to be changed.
    #[track_caller]
    pub fn with_mut<R>(&mut self, work: impl FnOnce(&mut *mut T) -> R) -> R {
        work(self.get_mut())
    }
}

fn repoint(
    cell: CellId,
    by: NodeId,
    expects: bool,
    text: &'static str,
    place: Place,
) -> Option<Told> {
    let shared = Running::current().shared.clone();
    update_cell(cell, Repointing { shared, by, expects }, text, place)
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> Self {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicPtr").finish_non_exhaustive()
    }
}
