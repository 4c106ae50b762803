//! Steps on mutexes, reader-writer locks and condition variables.

use super::builder::{Condvar, Mutex, RwLock, Step};
use super::instruction::{Form, Instruction};
use crate::model::Hold;

/// Locks a mutex: requests it and waits.
#[track_caller]
pub fn lock(mutex: Mutex) -> Step {
    let mutexes = Box::new([mutex.0]);
    Step::new([
        Instruction::Lock(mutex.0),
        Instruction::Own { mutexes, form: Form::Wait, into: None },
    ])
}

/// Requests a mutex, without waiting.
#[track_caller]
pub fn async_lock(mutex: Mutex) -> Step {
    Step::new([Instruction::Lock(mutex.0)])
}

/// Locks a mutex if it is free and not requested; the result is whether it did (0 or 1).
#[track_caller]
pub fn try_lock(mutex: Mutex) -> Step {
    Step::new([Instruction::TryLock { mutex: mutex.0, into: None }])
}

/// Waits for a mutex that was requested.
#[track_caller]
pub fn mutex_wait(mutex: Mutex) -> Step {
    let mutexes = Box::new([mutex.0]);
    Step::new([Instruction::Own { mutexes, form: Form::Wait, into: None }])
}

/// Tests whether a mutex that was requested is owned by now. The result is 0 or 1.
#[track_caller]
pub fn mutex_test(mutex: Mutex) -> Step {
    let mutexes = Box::new([mutex.0]);
    Step::new([Instruction::Own { mutexes, form: Form::Test, into: None }])
}

/// Waits for one of several mutexes that were requested; the result is its index in the list.
#[track_caller]
pub fn mutex_wait_any(mutexes: &[Mutex]) -> Step {
    let mutexes = mutexes.iter().map(|mutex| mutex.0).collect();
    Step::new([Instruction::Own { mutexes, form: Form::WaitAny, into: None }])
}

/// Tests whether one of several mutexes is owned. The result is its index in the list, or -1.
#[track_caller]
pub fn mutex_test_any(mutexes: &[Mutex]) -> Step {
    let mutexes = mutexes.iter().map(|mutex| mutex.0).collect();
    Step::new([Instruction::Own { mutexes, form: Form::TestAny, into: None }])
}

/// Unlocks a mutex, or withdraws a request for it.
#[track_caller]
pub fn unlock(mutex: Mutex) -> Step {
    Step::new([Instruction::Unlock(mutex.0)])
}

/// Locks a reader-writer lock as a reader: requests it and waits.
#[track_caller]
pub fn read_lock(lock: RwLock) -> Step {
    Step::new([Instruction::RwRequest(lock.0, Hold::Shared), Instruction::RwWait(lock.0)])
}

/// Locks a reader-writer lock as a writer: requests it and waits.
#[track_caller]
pub fn write_lock(lock: RwLock) -> Step {
    Step::new([Instruction::RwRequest(lock.0, Hold::Exclusive), Instruction::RwWait(lock.0)])
}

/// Unlocks a reader-writer lock.
#[track_caller]
pub fn rw_unlock(lock: RwLock) -> Step {
    Step::new([Instruction::RwUnlock(lock.0)])
}

/// Unlocks a mutex, waits at a condition variable to be notified, and locks the mutex again.
#[track_caller]
pub fn cond_wait(condvar: Condvar, mutex: Mutex) -> Step {
    Step::new([
        Instruction::Enrol(condvar.0, mutex.0),
        Instruction::Unlock(mutex.0),
        Instruction::AwaitWake(condvar.0),
        Instruction::Lock(mutex.0),
        Instruction::Own { mutexes: Box::new([mutex.0]), form: Form::Wait, into: None },
    ])
}

/// Wakes one of the processes that wait at a condition variable, if there are any.
#[track_caller]
pub fn notify_one(condvar: Condvar) -> Step {
    Step::new([
        Instruction::Notify { condvar: condvar.0, all: false },
        Instruction::Wake(condvar.0),
    ])
}

/// Wakes all processes that wait at a condition variable.
#[track_caller]
pub fn notify_all(condvar: Condvar) -> Step {
    Step::new([Instruction::Notify { condvar: condvar.0, all: true }, Instruction::Wake(condvar.0)])
}
