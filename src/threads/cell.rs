//! [`std::cell::UnsafeCell`], with accesses that race found.
//!
//! An access is no visible operation. But each is compared with those before: if another thread has
//! accessed the cell, one of the two writes, and nothing orders them, then they race. Locks,
//! atomics of any ordering, spawns and joins order what threads do. So where a program asks for
//! less than sequential consistency, it may have races that are not found.

use std::fmt;
use std::panic::Location;
use std::sync::{Mutex as Plain, PoisonError};

use super::ask::{Place, Running};
use crate::systems::history::tree::NodeId;

/// A cell whose content can be reached through shared references.
pub struct UnsafeCell<T: ?Sized> {
    accesses: Plain<Accesses>,
    // A lock of the standard library, so that the cell can be shared without `unsafe`.
    value: Plain<T>,
}

/// The accesses that a later one has to come after: the last write, and the reads since.
#[derive(Default)]
struct Accesses {
    write: Option<Access>,
    reads: Vec<Access>,
}

#[derive(Clone, Copy)]
struct Access {
    thread: NodeId,
    /// The history of the thread then.
    node: NodeId,
    place: Place,
}

impl<T> UnsafeCell<T> {
    /// A cell with this content.
    pub fn new(value: T) -> UnsafeCell<T> {
        Running::current().shared.tracks();
        UnsafeCell { accesses: Plain::default(), value: Plain::new(value) }
    }

    /// The content.
    pub fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads: calls the function with a pointer to the content.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.during(false, Location::caller(), |pointer| read(pointer))
    }

    /// Writes: calls the function with a pointer to the content.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.during(true, Location::caller(), write)
    }

    /// Reads: a pointer to the content, which counts as one access, now.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        self.note(false, Location::caller());
        ConstPtr(self.pointer())
    }

    /// Writes: a pointer to the content, which counts as one access, now.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        self.note(true, Location::caller());
        MutPtr(self.pointer())
    }

    /// An access that lasts as long as the function. If others may act meanwhile, it is one at the
    /// end as well.
    fn during<R>(&self, is_write: bool, place: Place, access: impl FnOnce(*mut T) -> R) -> R {
        let now = || Running::try_current().map(|running| running.node.get());
        self.note(is_write, place);
        let begin = now();
        let result = access(self.pointer());
        if now() != begin {
            self.note(is_write, place);
        }
        result
    }

    fn pointer(&self) -> *mut T {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        &raw mut *value
    }

    fn note(&self, is_write: bool, place: Place) {
        let Some(running) = Running::try_current() else { return };
        running.is_seen();
        running.uses(self, place);
        let mut accesses = self.accesses.lock().unwrap_or_else(PoisonError::into_inner);
        let node = running.node.get();
        let access = Access { thread: running.thread.get(), node, place };
        let knows = |other: &&Access| running.knows(access.thread, other.thread, other.node);
        let reads = accesses.reads.iter().filter(|_| is_write);
        if let Some(other) = accesses.write.iter().chain(reads).find(|other| !knows(other)) {
            let what = |is_write| if is_write { "write" } else { "read" };
            let other_writes = accesses.write.is_some_and(|write| write.node == other.node);
            let message = format!(
                "data race: a {} of a cell in line {} and a {} in line {} are not ordered",
                what(other_writes),
                other.place.line(),
                what(is_write),
                place.line()
            );
            running.note_race(message, place);
        }
        match is_write {
            true => *accesses = Accesses { write: Some(access), reads: Vec::new() },
            false => accesses.reads.push(access),
        }
    }
}

/// A pointer through which the content of a cell is read.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized>(*const T);

/// A pointer through which the content of a cell is written.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized>(*mut T);

impl<T: ?Sized> ConstPtr<T> {
    /// Calls the function with the pointer.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0)
    }

    /// The content.
    ///
    /// # Safety
    /// As for a pointer of [`std::cell::UnsafeCell`]: nobody writes the content meanwhile.
    #[expect(unsafe_code, reason = "the caller has to know that nobody writes it")]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: promised by the caller.
        unsafe { &*self.0 }
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// Calls the function with the pointer.
    pub fn with<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0)
    }

    /// The content.
    ///
    /// # Safety
    /// As for a pointer of [`std::cell::UnsafeCell`]: nobody else accesses the content meanwhile.
    #[expect(unsafe_code, reason = "the caller has to know that nobody else accesses it")]
    #[expect(clippy::mut_from_ref, reason = "as a pointer does")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: promised by the caller.
        unsafe { &mut *self.0 }
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}
