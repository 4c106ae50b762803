//! What a process remembers about the objects it uses, besides its variables.
//!
//! The model wants operations to be well-formed: a wait names the process's own request. Programs
//! name the mutex instead. The books tell which request is meant, and whether there is one.

use crate::model::{BarrierId, CondvarId, Handle, MutexId, RwLockId, SemaphoreId, Value};

/// One thing to remember.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The process is in the queue of the mutex, by this request. Has it been told that it owns the
    /// mutex?
    Mutex { mutex: MutexId, handle: Handle, is_owned: bool },
    /// The process holds the reader-writer lock or waits for it, by this request.
    RwLock(RwLockId, Handle),
    /// It waits at the condition variable by this enrolment, or is about to wake by this
    /// notification.
    Condvar(CondvarId, Handle),
    /// So many of its waits there have ended without a notification.
    Strays { condvar: CondvarId, count: u32 },
    /// It has asked for a unit and not waited for it yet.
    Semaphore(SemaphoreId, Handle),
    /// It has arrived and waited this many times.
    Barrier { barrier: BarrierId, arrived: u32, passed: u32 },
    /// It has seen a communication complete.
    Received(Handle, Value),
    /// It has cancelled a receive.
    Cancelled(Handle),
    /// It has spawned this many processes of a template.
    Spawned { process: u32, count: u32 },
}

/// Everything to remember, in a fixed order, so that equal memories are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Books(Vec<Entry>);

impl Books {
    fn insert(&mut self, entry: Entry) {
        let at = self.0.partition_point(|other| order(other) <= order(&entry));
        self.0.insert(at, entry);
    }

    /// The request for a mutex that is in its queue.
    pub fn mutex(&self, wanted: MutexId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match *entry {
            Entry::Mutex { mutex, handle, .. } if mutex == wanted => Some(handle),
            _ => None,
        })
    }

    /// Notes that the process is in the queue now.
    pub fn requested(&mut self, mutex: MutexId, handle: Handle) {
        self.insert(Entry::Mutex { mutex, handle, is_owned: false });
    }

    /// Does the process know that it owns the mutex? Being first in its queue is not enough: it has
    /// to have waited, or to have been told so by a test.
    pub fn owns(&self, wanted: MutexId) -> bool {
        let is_owned = |entry: &Entry| match *entry {
            Entry::Mutex { mutex, is_owned, .. } => is_owned && mutex == wanted,
            _ => false,
        };
        self.0.iter().any(is_owned)
    }

    /// Notes that the process has been told that it owns the mutex.
    pub fn owned(&mut self, wanted: MutexId) {
        for entry in &mut self.0 {
            match entry {
                Entry::Mutex { mutex, is_owned, .. } if *mutex == wanted => *is_owned = true,
                _ => {}
            }
        }
    }

    /// Notes that it is no longer in the queue.
    pub fn unlocked(&mut self, unlocked: MutexId) {
        self.0.retain(|entry| !matches!(*entry, Entry::Mutex { mutex, .. } if mutex == unlocked));
    }

    /// The enrolment or notification at a condition variable that the process is busy with. It has
    /// one at a time.
    pub fn enrolled(&self, condvar: CondvarId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Condvar(id, handle) if *id == condvar => Some(*handle),
            _ => None,
        })
    }

    /// Notes an enrolment or a notification.
    pub fn enrol(&mut self, condvar: CondvarId, handle: Handle) {
        self.insert(Entry::Condvar(condvar, handle));
    }

    /// Notes that it is over.
    pub fn woken(&mut self, condvar: CondvarId) {
        self.0.retain(|entry| !matches!(entry, Entry::Condvar(id, _) if *id == condvar));
    }

    /// How many waits have ended without a notification.
    pub fn strays(&self, wanted: CondvarId) -> u32 {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Strays { condvar, count } if condvar == wanted => Some(count),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Notes one more.
    pub fn count_stray(&mut self, wanted: CondvarId) {
        let count = self.strays(wanted) + 1;
        self.0
            .retain(|entry| !matches!(entry, Entry::Strays { condvar, .. } if *condvar == wanted));
        self.insert(Entry::Strays { condvar: wanted, count });
    }

    /// The request for a reader-writer lock that is not unlocked.
    pub fn rwlock(&self, lock: RwLockId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match entry {
            Entry::RwLock(id, handle) if *id == lock => Some(*handle),
            _ => None,
        })
    }

    /// Notes that the process has asked for a reader-writer lock.
    pub fn entered(&mut self, lock: RwLockId, handle: Handle) {
        self.insert(Entry::RwLock(lock, handle));
    }

    /// Notes that it has unlocked it.
    pub fn left(&mut self, lock: RwLockId) {
        self.0.retain(|entry| !matches!(entry, Entry::RwLock(id, _) if *id == lock));
    }

    /// The oldest request for a unit that was not waited for.
    pub fn semaphore(&self, semaphore: SemaphoreId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Semaphore(id, handle) if *id == semaphore => Some(*handle),
            _ => None,
        })
    }

    /// Notes that the process has asked for a unit.
    pub fn asked(&mut self, semaphore: SemaphoreId, handle: Handle) {
        self.insert(Entry::Semaphore(semaphore, handle));
    }

    /// Notes that it has got the unit of its oldest request.
    pub fn acquired(&mut self, semaphore: SemaphoreId) {
        let oldest = |entry: &Entry| matches!(entry, Entry::Semaphore(id, _) if *id == semaphore);
        if let Some(at) = self.0.iter().position(oldest) {
            self.0.remove(at);
        }
    }

    /// How often the process has arrived at a barrier, and waited there.
    pub fn barrier(&self, id: BarrierId) -> (u32, u32) {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Barrier { barrier, arrived, passed } if barrier == id => Some((arrived, passed)),
            _ => None,
        });
        found.unwrap_or((0, 0))
    }

    /// Sets these numbers.
    pub fn set_barrier(&mut self, barrier: BarrierId, arrived: u32, passed: u32) {
        self.0
            .retain(|entry| !matches!(entry, Entry::Barrier { barrier: id, .. } if *id == barrier));
        self.insert(Entry::Barrier { barrier, arrived, passed });
    }

    /// The value of a communication that was seen complete.
    pub fn received(&self, comm: Handle) -> Option<&Value> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Received(handle, value) if *handle == comm => Some(value),
            _ => None,
        })
    }

    /// Notes that the communication was seen complete.
    pub fn completed(&mut self, comm: Handle, value: Value) {
        if self.received(comm).is_none() {
            self.insert(Entry::Received(comm, value));
        }
    }

    /// Notes that the receive was cancelled.
    pub fn cancelled(&mut self, comm: Handle) {
        self.insert(Entry::Cancelled(comm));
    }

    /// Was the receive cancelled?
    pub fn is_cancelled(&self, comm: Handle) -> bool {
        self.0.contains(&Entry::Cancelled(comm))
    }

    /// Forgets communications that no value on `stack` names.
    pub fn forget_unnamed(&mut self, stack: &[Value]) {
        self.0.retain(|entry| match entry {
            Entry::Received(handle, _) | Entry::Cancelled(handle) => {
                stack.iter().any(|value| names(value, *handle))
            }
            _ => true,
        });
    }

    /// The requests in the books.
    pub fn requests(&self) -> impl Iterator<Item = Handle> {
        self.0.iter().filter_map(|entry| match entry {
            Entry::Mutex { handle, .. } | Entry::RwLock(_, handle) => Some(*handle),
            Entry::Condvar(_, handle) => Some(*handle),
            Entry::Semaphore(_, handle) | Entry::Received(handle, _) => Some(*handle),
            Entry::Cancelled(handle) => Some(*handle),
            Entry::Barrier { .. } | Entry::Spawned { .. } | Entry::Strays { .. } => None,
        })
    }

    /// The same books with other numbers for the requests, in the same order of age.
    pub fn renamed(&self, name: &dyn Fn(Handle) -> Handle) -> Books {
        let renamed = self.0.iter().map(|entry| match entry.clone() {
            Entry::Mutex { mutex, handle, is_owned } => {
                Entry::Mutex { mutex, handle: name(handle), is_owned }
            }
            Entry::RwLock(lock, handle) => Entry::RwLock(lock, name(handle)),
            Entry::Condvar(condvar, handle) => Entry::Condvar(condvar, name(handle)),
            Entry::Semaphore(semaphore, handle) => Entry::Semaphore(semaphore, name(handle)),
            Entry::Received(handle, value) => Entry::Received(name(handle), value),
            Entry::Cancelled(handle) => Entry::Cancelled(name(handle)),
            other => other,
        });
        Books(renamed.collect())
    }

    /// How many processes of a template were spawned.
    pub fn spawned(&self, template: u32) -> u32 {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Spawned { process, count } if process == template => Some(count),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Notes one more.
    pub fn count_spawn(&mut self, process: u32) {
        let count = self.spawned(process) + 1;
        self.0
            .retain(|entry| !matches!(entry, Entry::Spawned { process: id, .. } if *id == process));
        self.insert(Entry::Spawned { process, count });
    }
}

/// Mutexes, then semaphores by age, then the rest, each by number.
fn order(entry: &Entry) -> (u8, u32, u32) {
    match entry {
        Entry::Mutex { mutex, .. } => (0, mutex.0, 0),
        Entry::Semaphore(semaphore, handle) => (1, semaphore.0, handle.0),
        Entry::Barrier { barrier, .. } => (2, barrier.0, 0),
        Entry::Received(handle, _) => (3, handle.0, 0),
        Entry::Cancelled(handle) => (3, handle.0, 1),
        Entry::Spawned { process, .. } => (4, *process, 0),
        Entry::RwLock(lock, _) => (5, lock.0, 0),
        Entry::Condvar(condvar, _) => (6, condvar.0, 0),
        Entry::Strays { condvar, .. } => (7, condvar.0, 0),
    }
}

/// Does the value contain this communication?
fn names(value: &Value, comm: Handle) -> bool {
    match value {
        Value::Comm(handle) => *handle == comm,
        Value::Tuple(parts) => parts.iter().any(|part| names(part, comm)),
        Value::List(items) => items.iter().any(|item| names(item, comm)),
        _ => false,
    }
}
