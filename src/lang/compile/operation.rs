//! Visible operations, and those that stand for several.

use super::Compiler;
use crate::lang::code::{Instr, Visible};
use crate::lang::hir::{Address, Expr, Operation, Operator};
use crate::model::Value;

impl Compiler<'_> {
    pub(super) fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Isend { mailbox, value, src, tag, mode, wait } => {
                self.address(mailbox);
                self.expr(value);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Isend { src, tag, mode: *mode });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Irecv { mailbox, src, tag, wait } => {
                self.address(mailbox);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Irecv { src, tag });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Probe { mailbox, form, src, tag } => {
                self.address(mailbox);
                let (src, tag) = self.envelope(src.as_deref(), tag.as_deref());
                self.visible(Visible::Probe { form: *form, src, tag });
            }
            Operation::Cancel(comm) => {
                self.expr(comm);
                self.emit(Instr::Dup);
                self.visible(Visible::Cancel);
                self.pop(1);
                self.visible(Visible::CancelOutcome);
            }
            Operation::Collective { collective, kind, root, operator, value, rank, wait } => {
                self.address(collective);
                for part in [root, value, rank].into_iter().flatten() {
                    self.expr(part);
                }
                self.visible(Visible::Enter {
                    kind: *kind,
                    operator: operator.map(Operator::number),
                    root: root.is_some(),
                    value: value.is_some(),
                    rank: rank.is_some(),
                });
                if *wait {
                    self.visible(Visible::Wait);
                }
            }
            Operation::Wait(comm) => self.on_value(comm, Visible::Wait),
            Operation::Test(comm) => self.on_value(comm, Visible::Test),
            Operation::WaitAny(comms) => self.on_value(comms, Visible::WaitAny),
            Operation::TestAny(comms) => self.on_value(comms, Visible::TestAny),
            Operation::WaitAll(comms) => self.wait_all(comms),
            Operation::Received(comm) => {
                self.code.remembers_values = true;
                self.expr(comm);
                self.emit(Instr::Received);
            }
            Operation::AsyncLock(mutex) => self.on_object(mutex, Visible::AsyncLock),
            Operation::MutexWait(mutex) => self.on_object(mutex, Visible::MutexWait),
            Operation::MutexTest(mutex) => self.on_object(mutex, Visible::MutexTest),
            Operation::MutexWaitAny(mutexes) => self.on_objects(mutexes, Visible::MutexWaitAny),
            Operation::MutexTestAny(mutexes) => self.on_objects(mutexes, Visible::MutexTestAny),
            Operation::Lock(mutex) => {
                self.request_and_wait(mutex, Visible::AsyncLock, Visible::MutexWait)
            }
            Operation::TryLock(mutex) => self.on_object(mutex, Visible::TryLock),
            Operation::Unlock(mutex) => self.on_object(mutex, Visible::Unlock),
            Operation::ReadLock(lock) => {
                self.request_and_wait(lock, Visible::ReadRequest, Visible::RwWait);
            }
            Operation::WriteLock(lock) => {
                self.request_and_wait(lock, Visible::WriteRequest, Visible::RwWait);
            }
            Operation::RwUnlock(lock) => self.on_object(lock, Visible::RwUnlock),
            Operation::CondWait { condvar, mutex, spurious } => {
                self.cond_wait(condvar, mutex, *spurious);
            }
            Operation::NotifyOne(condvar) => {
                self.request_and_wait(condvar, Visible::NotifyOne, Visible::Wake);
            }
            Operation::NotifyAll(condvar) => {
                self.request_and_wait(condvar, Visible::NotifyAll, Visible::Wake);
            }
            Operation::AsyncAcquire(semaphore) => self.on_object(semaphore, Visible::AsyncAcquire),
            Operation::AcquireWait(semaphore) => self.on_object(semaphore, Visible::AcquireWait),
            Operation::Acquire(semaphore) => {
                self.request_and_wait(semaphore, Visible::AsyncAcquire, Visible::AcquireWait);
            }
            Operation::Release(semaphore) => self.on_object(semaphore, Visible::Release),
            Operation::Arrive(barrier) => self.on_object(barrier, Visible::Arrive),
            Operation::BarrierWait(barrier) => self.on_object(barrier, Visible::BarrierWait),
            Operation::Barrier(barrier) => {
                self.request_and_wait(barrier, Visible::Arrive, Visible::BarrierWait);
            }
            Operation::Read(cell) => self.on_object(cell, Visible::Read),
            Operation::CompareAndSwap(cell, old, new) => {
                self.address(cell);
                self.expr(old);
                self.expr(new);
                self.visible(Visible::CompareAndSwap);
            }
            Operation::FetchAdd(cell, amount) => self.with_value(cell, amount, Visible::FetchAdd),
            Operation::Swap(cell, value) => self.with_value(cell, value, Visible::Swap),
            Operation::Choose(lo, hi) => {
                self.expr(lo);
                self.expr(hi);
                self.visible(Visible::Choose);
            }
            Operation::Local => self.visible(Visible::Local),
            Operation::Spawn(process, args) => {
                for arg in args {
                    self.expr(arg);
                }
                self.visible(Visible::Spawn { process: *process, args: args.len() as u32 });
            }
            Operation::Join(process) => self.on_value(process, Visible::Join),
        }
    }

    fn envelope(&mut self, src: Option<&Expr>, tag: Option<&Expr>) -> (bool, bool) {
        for part in [src, tag].into_iter().flatten() {
            self.expr(part);
        }
        (src.is_some(), tag.is_some())
    }

    fn on_value(&mut self, value: &Expr, visible: Visible) {
        self.expr(value);
        self.visible(visible);
    }

    fn on_object(&mut self, object: &Address, visible: Visible) {
        self.address(object);
        self.visible(visible);
    }

    fn on_objects(&mut self, objects: &[Address], visible: fn(u32) -> Visible) {
        for object in objects {
            self.address(object);
        }
        self.visible(visible(objects.len() as u32));
    }

    fn with_value(&mut self, object: &Address, value: &Expr, visible: Visible) {
        self.address(object);
        self.expr(value);
        self.visible(visible);
    }

    fn request_and_wait(&mut self, object: &Address, request: Visible, wait: Visible) {
        self.address(object);
        self.emit(Instr::Dup);
        self.visible(request);
        self.pop(1);
        self.visible(wait);
    }

    /// Enrols, unlocks, waits, and locks again; one that ends without a notification only unlocks and locks.
    fn cond_wait(&mut self, condvar: &Address, mutex: &Address, spurious: u32) {
        let (at, held) = (self.frame.depth, self.frame.depth + 1);
        self.address(condvar);
        self.address(mutex);
        let stray = (spurious > 0).then(|| {
            self.on_slot(at, Visible::Stray { most: spurious });
            let told = self.jump(Instr::JumpIfFalse);
            self.on_slot(held, Visible::Unlock);
            self.pop(1);
            let end = self.jump(Instr::Jump);
            self.aim(told);
            end
        });
        self.emit(Instr::Get(at));
        self.on_slot(held, Visible::Enrol);
        self.pop(1);
        self.on_slot(held, Visible::Unlock);
        self.pop(1);
        self.on_slot(at, Visible::AwaitWake);
        self.pop(1);
        if let Some(stray) = stray {
            self.aim(stray);
        }
        self.on_slot(held, Visible::AsyncLock);
        self.pop(1);
        self.on_slot(held, Visible::MutexWait);
        self.pop(3);
        self.constant(Value::Unit);
    }

    /// An operation whose last argument is in this slot.
    fn on_slot(&mut self, slot: u32, visible: Visible) {
        self.emit(Instr::Get(slot));
        self.visible(visible);
    }

    /// A wait for each, in order.
    fn wait_all(&mut self, comms: &Expr) {
        let items = self.frame.depth;
        let counter = items + 1;
        self.expr(comms);
        self.constant(Value::Int(0));
        let start = self.here();
        let end = self.next_item(items, counter);
        self.visible(Visible::Wait);
        self.pop(1);
        self.emit(Instr::Increment(counter));
        self.emit(Instr::Loop(start));
        self.aim(end);
        self.pop(2);
        self.constant(Value::Unit);
    }
}
