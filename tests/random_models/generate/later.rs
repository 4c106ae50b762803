//! Gestures with the newer objects.

use super::Writer;
use crate::random_models::{Body, Comparison, Condition, Rng, Statement, Variable};
use Statement::*;

impl Writer<'_> {
    pub(super) fn read_write(&mut self, body: &mut Body) {
        let r = self.rng.below(self.rwlocks);
        let other = (r + 1) % self.rwlocks;
        let lock = |rng: &mut Rng, r| if rng.chance(60) { ReadLock(r) } else { WriteLock(r) };
        match self.rng.below(12) {
            0..8 => {
                body.push(lock(self.rng, r));
                self.inside(body);
                self.rw_unlock(body, r);
            }
            8..11 if other != r => {
                body.extend([lock(self.rng, r), lock(self.rng, other)]);
                self.rw_unlock(body, other);
                self.rw_unlock(body, r);
            }
            11 if self.rng.chance(30) => body.push(RwUnlock(r)),
            _ => {
                body.push(lock(self.rng, r));
                self.rw_unlock(body, r);
            }
        }
    }

    /// Almost always.
    fn rw_unlock(&mut self, body: &mut Body, r: usize) {
        if self.rng.chance(94) {
            body.push(RwUnlock(r));
        }
    }

    pub(super) fn condition(&mut self, body: &mut Body) {
        let (w, m) = (self.rng.below(self.condvars), self.rng.below(self.mutexes));
        let notify = if self.rng.chance(65) { NotifyOne(w) } else { NotifyAll(w) };
        match self.rng.below(12) {
            0..4 => {
                body.push(Lock(m));
                if self.rng.chance(50) {
                    let (cell, into) = (self.rng.below(self.cells), self.variable());
                    body.push(Read { cell, into });
                    let test = Comparison::Equals(self.rng.value());
                    let condition = Condition { of: Variable::Int(into), test };
                    let then = vec![CondWait { condvar: w, mutex: m }];
                    body.push(If { condition, then, otherwise: Body::new() });
                } else {
                    body.push(CondWait { condvar: w, mutex: m });
                }
                self.inside(body);
                self.unlock(body, m);
            }
            4..7 => {
                body.push(Lock(m));
                self.inside(body);
                body.push(notify);
                self.unlock(body, m);
            }
            7..11 => body.push(notify),
            _ => {
                // It must have locked the mutex; a request is not enough.
                body.extend(self.rng.chance(50).then_some(AsyncLock(m)));
                body.push(CondWait { condvar: w, mutex: m });
            }
        }
    }

    pub(super) fn try_lock(&mut self, body: &mut Body) {
        let m = self.mutexes + self.rng.below(self.tried);
        let other = self.rng.below(self.mutexes + self.tried);
        let into = self.variable();
        match self.rng.below(20) {
            0..9 => {
                body.push(TryLock { mutex: m, into });
                let mut then = Body::new();
                self.inside(&mut then);
                self.unlock(&mut then, m);
                let otherwise = if self.rng.chance(40) { self.arm() } else { Body::new() };
                let condition = Condition { of: Variable::Bool(into), test: Comparison::Equals(1) };
                body.push(If { condition, then, otherwise });
            }
            9..13 => {
                body.push(Lock(m));
                self.inside(body);
                self.unlock(body, m);
            }
            13..15 => {
                body.push(AsyncLock(m));
                self.inside(body);
                body.push(Unlock(m));
            }
            15..19 => {
                let mut mutexes = vec![m];
                if other != m {
                    mutexes.insert(self.rng.below(2), other);
                }
                body.extend(mutexes.iter().map(|&mutex| AsyncLock(mutex)));
                let gone = mutexes.clone();
                body.push(MutexWaitAny { mutexes, into });
                if self.rng.chance(60) {
                    let test = Comparison::Equals(self.rng.below(2) as i64);
                    self.branch(body, Condition { of: Variable::Int(into), test });
                }
                gone.into_iter().for_each(|mutex| self.unlock(body, mutex));
            }
            _ => body.push(TryLock { mutex: m, into }),
        }
    }
}
