//! Steps on mutexes, reader-writer locks and condition variables.

use super::steps::act;
use super::{Condvar, Mutex, RwLock, Step};
use crate::lang::objects::ObjectKind;
use crate::model::Object;

/// Locks a mutex: requests it and waits.
#[track_caller]
pub fn lock(mutex: Mutex) -> Step {
    act("lock", "lock", Object::Mutex(mutex.0))
}

/// Requests a mutex, without waiting.
#[track_caller]
pub fn async_lock(mutex: Mutex) -> Step {
    act("async_lock", "async_lock", Object::Mutex(mutex.0))
}

/// Locks a mutex if it is free and not requested; the result is whether it did (0 or 1).
#[track_caller]
pub fn try_lock(mutex: Mutex) -> Step {
    Step::new("try_lock", [Object::Mutex(mutex.0)], move |code| {
        code.try_mutex(mutex);
        code.object(mutex.0.0);
        code.word(ObjectKind::Mutex, "try_lock", 1);
    })
    .with_result()
}

/// Waits for a mutex that was requested.
#[track_caller]
pub fn mutex_wait(mutex: Mutex) -> Step {
    act("mutex_wait", "mutex_wait", Object::Mutex(mutex.0))
}

/// Tests whether a mutex that was requested is owned by now. The result is 0 or 1.
#[track_caller]
pub fn mutex_test(mutex: Mutex) -> Step {
    any("mutex_test", "mutex_test", &[mutex], true)
}

/// Waits for one of several mutexes that were requested; the result is its index in the list.
#[track_caller]
pub fn mutex_wait_any(mutexes: &[Mutex]) -> Step {
    any("mutex_wait_any", "mutex_waitany", mutexes, false)
}

/// Tests whether one of several mutexes is owned. The result is its index in the list, or -1.
#[track_caller]
pub fn mutex_test_any(mutexes: &[Mutex]) -> Step {
    any("mutex_test_any", "mutex_testany", mutexes, true)
}

#[track_caller]
fn any(name: &'static str, word: &'static str, mutexes: &[Mutex], is_test: bool) -> Step {
    let mutexes: Box<[Mutex]> = mutexes.into();
    let objects: Box<[_]> = mutexes.iter().map(|mutex| Object::Mutex(mutex.0)).collect();
    Step::new(name, objects, move |code| {
        if mutexes.is_empty() {
            return code.fail(match is_test {
                true => "tests one of no mutexes",
                false => "waits for one of no mutexes",
            });
        }
        if is_test {
            code.test_mutexes(&mutexes);
        }
        mutexes.iter().for_each(|mutex| code.object(mutex.0.0));
        code.word(ObjectKind::Mutex, word, mutexes.len());
    })
    .with_result()
}

/// Unlocks a mutex, or withdraws a request for it.
#[track_caller]
pub fn unlock(mutex: Mutex) -> Step {
    act("unlock", "unlock", Object::Mutex(mutex.0))
}

/// Locks a reader-writer lock as a reader: requests it and waits.
#[track_caller]
pub fn read_lock(lock: RwLock) -> Step {
    act("read_lock", "read_lock", Object::RwLock(lock.0))
}

/// Locks a reader-writer lock as a writer: requests it and waits.
#[track_caller]
pub fn write_lock(lock: RwLock) -> Step {
    act("write_lock", "write_lock", Object::RwLock(lock.0))
}

/// Unlocks a reader-writer lock.
#[track_caller]
pub fn rw_unlock(lock: RwLock) -> Step {
    act("rw_unlock", "unlock", Object::RwLock(lock.0))
}

/// Unlocks a mutex, waits at a condition variable to be notified, and locks the mutex again.
#[track_caller]
pub fn cond_wait(condvar: Condvar, mutex: Mutex) -> Step {
    Step::new("cond_wait", [Object::Condvar(condvar.0)], move |code| {
        code.object(condvar.0.0);
        code.object(mutex.0.0);
        code.word(ObjectKind::Condvar, "cond_wait", 2);
    })
}

/// Wakes one of the processes that wait at a condition variable, if there are any.
#[track_caller]
pub fn notify_one(condvar: Condvar) -> Step {
    act("notify_one", "notify_one", Object::Condvar(condvar.0))
}

/// Wakes all processes that wait at a condition variable.
#[track_caller]
pub fn notify_all(condvar: Condvar) -> Step {
    act("notify_all", "notify_all", Object::Condvar(condvar.0))
}
