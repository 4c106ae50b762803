//! What a process remembers about the objects that it uses, besides its variables.
//!
//! In the model a wait names a request of the process. In programs it names the mutex instead. The
//! books map each object to the open request of the process, if there is one.

use crate::model::{BarrierId, CondvarId, Handle, MutexId, RwLockId, SemaphoreId, Value};

/// One fact about an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The process is in the queue of the mutex, with this request. `is_owned`: has the process
    /// observed that it owns the mutex?
    Mutex { mutex: MutexId, handle: Handle, is_owned: bool },
    /// The process holds the reader-writer lock or waits for it, with this request.
    RwLock(RwLockId, Handle),
    /// The process waits at the condition variable with this enrolment, or is about to wake because
    /// of this notification.
    Condvar(CondvarId, Handle),
    /// `count` waits of the process at this condition variable have ended without a notification.
    Strays { condvar: CondvarId, count: u32 },
    /// The process has requested a unit and has not waited for it yet.
    Semaphore(SemaphoreId, Handle),
    /// The number of arrivals of the process at a barrier, and the number of its completed waits
    /// there.
    Barrier { barrier: BarrierId, arrived: u32, passed: u32 },
    /// The process has observed that this communication is complete, with this value.
    Received(Handle, Value),
    /// The process has cancelled this receive.
    Cancelled(Handle),
    /// The number of processes of a template that the process has spawned.
    Spawned { process: u32, count: u32 },
}

/// All facts, in a canonical order, so that books with the same facts are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Books(Vec<Entry>);

impl Books {
    fn insert(&mut self, entry: Entry) {
        let at = self.0.partition_point(|other| order(other) <= order(&entry));
        self.0.insert(at, entry);
    }

    /// The request of the process in the queue of a mutex.
    pub fn mutex(&self, wanted: MutexId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match *entry {
            Entry::Mutex { mutex, handle, .. } if mutex == wanted => Some(handle),
            _ => None,
        })
    }

    /// Notes that the process has joined the queue of a mutex.
    pub fn requested(&mut self, mutex: MutexId, handle: Handle) {
        self.insert(Entry::Mutex { mutex, handle, is_owned: false });
    }

    /// Does the process know that it owns the mutex? To be first in the queue is not enough: the
    /// process must have waited, or a test must have succeeded.
    pub fn owns(&self, wanted: MutexId) -> bool {
        let is_owned = |entry: &Entry| match *entry {
            Entry::Mutex { mutex, is_owned, .. } => is_owned && mutex == wanted,
            _ => false,
        };
        self.0.iter().any(is_owned)
    }

    /// Notes that the process has observed that it owns the mutex.
    pub fn owned(&mut self, wanted: MutexId) {
        for entry in &mut self.0 {
            match entry {
                Entry::Mutex { mutex, is_owned, .. } if *mutex == wanted => *is_owned = true,
                _ => {}
            }
        }
    }

    /// Notes that the process has left the queue of a mutex.
    pub fn unlocked(&mut self, unlocked: MutexId) {
        self.0.retain(|entry| !matches!(*entry, Entry::Mutex { mutex, .. } if mutex == unlocked));
    }

    /// The current enrolment or notification of the process at a condition variable. It has at most
    /// one at a time.
    pub fn enrolled(&self, condvar: CondvarId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Condvar(id, handle) if *id == condvar => Some(*handle),
            _ => None,
        })
    }

    /// Sets the current enrolment or notification at a condition variable.
    pub fn enrol(&mut self, condvar: CondvarId, handle: Handle) {
        self.insert(Entry::Condvar(condvar, handle));
    }

    /// Notes that the wait at a condition variable is over.
    pub fn woken(&mut self, condvar: CondvarId) {
        self.0.retain(|entry| !matches!(entry, Entry::Condvar(id, _) if *id == condvar));
    }

    /// The number of waits at a condition variable that have ended without a notification.
    pub fn strays(&self, wanted: CondvarId) -> u32 {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Strays { condvar, count } if condvar == wanted => Some(count),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Counts one more wait at a condition variable that has ended without a notification.
    pub fn count_stray(&mut self, wanted: CondvarId) {
        let count = self.strays(wanted) + 1;
        self.0
            .retain(|entry| !matches!(entry, Entry::Strays { condvar, .. } if *condvar == wanted));
        self.insert(Entry::Strays { condvar: wanted, count });
    }

    /// The request for a reader-writer lock that the process has not unlocked yet.
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

    /// Notes that the process has unlocked a reader-writer lock.
    pub fn left(&mut self, lock: RwLockId) {
        self.0.retain(|entry| !matches!(entry, Entry::RwLock(id, _) if *id == lock));
    }

    /// The oldest request for a unit of a semaphore that the process has not waited for.
    pub fn semaphore(&self, semaphore: SemaphoreId) -> Option<Handle> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Semaphore(id, handle) if *id == semaphore => Some(*handle),
            _ => None,
        })
    }

    /// Notes that the process has requested a unit of a semaphore.
    pub fn asked(&mut self, semaphore: SemaphoreId, handle: Handle) {
        self.insert(Entry::Semaphore(semaphore, handle));
    }

    /// Notes that the process has got the unit of its oldest request for a semaphore.
    pub fn acquired(&mut self, semaphore: SemaphoreId) {
        let oldest = |entry: &Entry| matches!(entry, Entry::Semaphore(id, _) if *id == semaphore);
        if let Some(at) = self.0.iter().position(oldest) {
            self.0.remove(at);
        }
    }

    /// The number of arrivals of the process at a barrier, and of its completed waits there.
    pub fn barrier(&self, id: BarrierId) -> (u32, u32) {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Barrier { barrier, arrived, passed } if barrier == id => Some((arrived, passed)),
            _ => None,
        });
        found.unwrap_or((0, 0))
    }

    /// Sets the numbers that [`barrier`](Books::barrier) returns.
    pub fn set_barrier(&mut self, barrier: BarrierId, arrived: u32, passed: u32) {
        self.0
            .retain(|entry| !matches!(entry, Entry::Barrier { barrier: id, .. } if *id == barrier));
        self.insert(Entry::Barrier { barrier, arrived, passed });
    }

    /// The value of a communication that the process has observed complete.
    pub fn received(&self, comm: Handle) -> Option<&Value> {
        self.0.iter().find_map(|entry| match entry {
            Entry::Received(handle, value) if *handle == comm => Some(value),
            _ => None,
        })
    }

    /// Notes that the process has observed a communication complete, with this value.
    pub fn completed(&mut self, comm: Handle, value: Value) {
        if self.received(comm).is_none() {
            self.insert(Entry::Received(comm, value));
        }
    }

    /// Notes that the process has cancelled a receive.
    pub fn cancelled(&mut self, comm: Handle) {
        self.insert(Entry::Cancelled(comm));
    }

    /// Has the process cancelled this receive?
    pub fn is_cancelled(&self, comm: Handle) -> bool {
        self.0.contains(&Entry::Cancelled(comm))
    }

    /// Removes communications that do not occur in a value on `stack`.
    pub fn forget_unnamed(&mut self, stack: &[Value]) {
        self.0.retain(|entry| match entry {
            Entry::Received(handle, _) | Entry::Cancelled(handle) => {
                stack.iter().any(|value| names(value, *handle))
            }
            _ => true,
        });
    }

    /// All requests in the books.
    pub fn requests(&self) -> impl Iterator<Item = Handle> {
        self.0.iter().filter_map(|entry| match entry {
            Entry::Mutex { handle, .. } | Entry::RwLock(_, handle) => Some(*handle),
            Entry::Condvar(_, handle) => Some(*handle),
            Entry::Semaphore(_, handle) | Entry::Received(handle, _) => Some(*handle),
            Entry::Cancelled(handle) => Some(*handle),
            Entry::Barrier { .. } | Entry::Spawned { .. } | Entry::Strays { .. } => None,
        })
    }

    /// The books with each request renamed by `name`, which must preserve the order of requests.
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

    /// The number of processes of a template that the process has spawned.
    pub fn spawned(&self, template: u32) -> u32 {
        let found = self.0.iter().find_map(|entry| match *entry {
            Entry::Spawned { process, count } if process == template => Some(count),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Counts one more spawned process of a template.
    pub fn count_spawn(&mut self, process: u32) {
        let count = self.spawned(process) + 1;
        self.0
            .retain(|entry| !matches!(entry, Entry::Spawned { process: id, .. } if *id == process));
        self.insert(Entry::Spawned { process, count });
    }
}

/// The key for the canonical order: by kind, then by object. Requests for one semaphore are ordered
/// by age.
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

/// Does the communication occur in the value?
fn names(value: &Value, comm: Handle) -> bool {
    match value {
        Value::Comm(handle) => *handle == comm,
        Value::Tuple(parts) => parts.iter().any(|part| names(part, comm)),
        Value::List(items) => items.iter().any(|item| names(item, comm)),
        _ => false,
    }
}
