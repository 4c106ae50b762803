//! The requests of a rank: what it may name in a question.
//!
//! A rank names its requests by the numbers that it received. They come over a wire that the
//! program could write to as well, and the model relies on them. So they are looked up here before
//! an operation reaches the model.

use std::collections::HashMap;

use super::uses::Alone;
use crate::model::{Handle, MutexId, Op, Request, RwLockId, Value};
use crate::systems::history::Told;

/// The object of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Communication,
    Receive,
    /// A message that a probe has reserved.
    Reserved,
    Mutex(MutexId),
    RwLock(RwLockId),
    /// A request of a reader-writer lock that was granted.
    OwnedRwLock(RwLockId),
}

/// The requests of a rank.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    held: HashMap<Handle, Held>,
    /// Its last operation.
    asked: Option<Op>,
    /// The number of unsuccessful polls since its last other observation.
    unsuccessful: u32,
    /// The files that it has used.
    pub(super) files: Alone,
}

impl Ledger {
    /// Records a question of the rank. Returns whether it names only requests of the rank, of the
    /// right kind.
    pub(super) fn asks(&mut self, op: &Op) -> bool {
        let is_fine = self.is_fine(op);
        self.asked = Some(op.clone());
        is_fine
    }

    /// Records that the rank is in the state before its last `outcomes` observations. Returns
    /// whether all of these were unsuccessful polls.
    pub(super) fn comes_back(&mut self, outcomes: u32) -> bool {
        let left = self.unsuccessful.checked_sub(outcomes);
        self.unsuccessful = left.unwrap_or(0);
        left.is_some()
    }

    /// Records that the rank asks to start a process, which names no requests.
    pub(super) fn spawns(&mut self) {
        (self.asked, self.unsuccessful) = (None, 0);
    }

    fn is_fine(&self, op: &Op) -> bool {
        let held = |handle: &Handle| self.held.get(handle).copied();
        let is_communication =
            |handle: &Handle| matches!(held(handle), Some(Held::Communication | Held::Receive));
        let is_for = |request: &Request| held(&request.handle) == Some(Held::Mutex(request.mutex));
        let is_new = |object: Held| !self.held.values().any(|&held| held == object);
        match op {
            // The library answers questions with an empty list itself.
            Op::WaitAny(handles) | Op::TestAny(handles) => {
                !handles.is_empty() && handles.iter().all(is_communication)
            }
            Op::Cancel(handle) | Op::CancelOutcome(handle) => held(handle) == Some(Held::Receive),
            Op::Begin(handle) => held(handle) == Some(Held::Reserved),
            Op::MutexWaitAny(requests) => !requests.is_empty() && requests.iter().all(is_for),
            Op::Unlock(request) => is_for(request),
            Op::AsyncLock(mutex) => is_new(Held::Mutex(*mutex)),
            Op::RwRequest { lock, .. } => {
                is_new(Held::RwLock(*lock)) && is_new(Held::OwnedRwLock(*lock))
            }
            Op::RwWait { lock, handle } => held(handle) == Some(Held::RwLock(*lock)),
            Op::RwUnlock { lock, handle } => held(handle) == Some(Held::OwnedRwLock(*lock)),
            _ => true,
        }
    }

    /// Records an observation of the rank.
    pub(super) fn observes(&mut self, told: &Told) {
        let Some(asked) = self.asked.take() else { return };
        self.unsuccessful = match told.is_in_vain() {
            true => self.unsuccessful + 1,
            false => 0,
        };
        match (asked, told) {
            (Op::AsyncLock(mutex), &Told::Posted(handle)) => {
                self.held.insert(handle, Held::Mutex(mutex));
            }
            (Op::RwRequest { lock, .. }, &Told::Posted(handle)) => {
                self.held.insert(handle, Held::RwLock(lock));
            }
            (Op::RwWait { lock, handle }, Told::Unit) => {
                self.held.insert(handle, Held::OwnedRwLock(lock));
            }
            (Op::Receive { .. }, &Told::Posted(handle)) => {
                self.held.insert(handle, Held::Receive);
            }
            (_, &Told::Posted(handle)) => {
                self.held.insert(handle, Held::Communication);
            }
            (Op::Probe { .. }, Told::Value(Value::Tuple(parts))) => {
                self.held.extend(parts.iter().filter_map(|part| match part {
                    Value::Comm(handle) => Some((*handle, Held::Reserved)),
                    _ => None,
                }));
            }
            (Op::Begin(handle), Told::Unit) => {
                self.held.insert(handle, Held::Receive);
            }
            (Op::Unlock(Request { handle, .. }) | Op::RwUnlock { handle, .. }, Told::Unit) => {
                self.held.remove(&handle);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Envelope, Hold, MailboxId};

    #[test]
    fn a_rank_names_its_own_requests_only() {
        let (mutex, lock) = (MutexId(3), RwLockId(4));
        let (asks, one) = (Op::AsyncLock(mutex), Request { mutex, handle: Handle(0) });
        let receive = Op::Receive { mailbox: MailboxId(0), pattern: Envelope::default() };
        let wait = |number| Op::WaitAny(Box::new([Handle(number)]));
        let mut ledger = Ledger::default();
        assert!(!ledger.asks(&Op::Unlock(one)) && !ledger.asks(&wait(0)));
        assert!(ledger.asks(&asks));
        ledger.observes(&Told::Posted(Handle(0)));
        assert!(!ledger.asks(&asks), "it is in the queue already");
        assert!(!ledger.asks(&wait(0)), "a mutex is no communication");
        assert!(!ledger.asks(&Op::RwUnlock { lock, handle: Handle(0) }));
        assert!(!ledger.asks(&Op::Unlock(Request { mutex: MutexId(2), ..one })));
        assert!(ledger.asks(&Op::Unlock(one)));
        ledger.observes(&Told::Unit);
        assert!(!ledger.asks(&Op::Unlock(one)), "it was unlocked");
        assert!(ledger.asks(&Op::RwRequest { lock, hold: Hold::Shared }));
        ledger.observes(&Told::Posted(Handle(1)));
        let unlock = Op::RwUnlock { lock, handle: Handle(1) };
        assert!(!ledger.asks(&unlock), "it may be in the queue still");
        assert!(ledger.asks(&Op::RwWait { lock, handle: Handle(1) }));
        ledger.observes(&Told::Unit);
        assert!(ledger.asks(&unlock));
        assert!(!ledger.asks(&Op::RwRequest { lock, hold: Hold::Exclusive }));
        assert!(ledger.asks(&receive));
        ledger.observes(&Told::Posted(Handle(2)));
        assert!(ledger.asks(&wait(2)) && ledger.asks(&Op::Cancel(Handle(2))));
        assert!(!ledger.asks(&Op::TestAny(Box::new([Handle(2), Handle(9)]))));
        assert!(!ledger.asks(&Op::TestAny(Box::new([]))), "it has to be about something");
    }
}
