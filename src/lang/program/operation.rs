//! The operations of processes: from the stack to the model, and from their responses back to the stack.
//!
//! The model wants operations to be well-formed. What a program may do wrong (unlock a mutex that it has not requested)
//! is found here, with the help of the books, and becomes a violation.

use crate::lang::books::Books;
use crate::lang::code::Visible;
use crate::lang::hir::SendMode;
use crate::lang::operators;
use crate::lang::program::{Local, Path, Program};
use crate::model::{
    Access, BarrierId, CellId, Completion, CondvarId, Delivery, Envelope, Handle, Hold, MailboxId,
    MutexId, Next, Op, Request, Response, RwLockId, SemaphoreId, Value, ValueId, Values,
};

impl Program {
    /// The operation that `local` rests at, or why it is invalid.
    pub(super) fn decode(
        &self,
        visible: Visible,
        local: &Local,
        values: &mut Values,
    ) -> Result<Next<Local>, String> {
        let args = &local.stack[local.stack.len() - visible.arity()..];
        let objects = &self.code.objects;
        let op = match visible {
            Visible::Isend { src, tag, mode } if self.is_of_network(&args[0]) => Op::Send {
                mailbox: MailboxId(number(&args[0])),
                envelope: {
                    let Envelope { src, tag } = envelope(&args[2..], src, tag);
                    let src = src.unwrap_or_else(|| self.index_of(local));
                    Envelope { src: Some(src), tag: Some(tag.unwrap_or(0)) }
                },
                value: values.intern(args[1].clone()),
                completion: match mode {
                    SendMode::Synchronous => Completion::Late,
                    SendMode::Buffered => Completion::Early,
                    SendMode::Standard => self.code.semantics.buffering.completion(None),
                },
            },
            Visible::Irecv { src, tag } if self.is_of_network(&args[0]) => Op::Receive {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
            },
            Visible::Probe { form, src, tag } => Op::Probe {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
                form,
            },
            Visible::Cancel => Op::Cancel(self.uncancelled(local, &args[0], "cancels")?),
            Visible::CancelOutcome => Op::CancelOutcome(comm(&args[0])),
            Visible::Enter { .. } => self.enter(visible, local, args, values)?,
            Visible::Isend { src, tag, .. } => Op::Isend {
                mailbox: MailboxId(number(&args[0])),
                envelope: envelope(&args[2..], src, tag),
                value: values.intern(args[1].clone()),
            },
            Visible::Irecv { src, tag } => Op::Irecv {
                mailbox: MailboxId(number(&args[0])),
                pattern: envelope(&args[1..], src, tag),
            },
            Visible::Wait => Op::WaitAny([self.uncancelled(local, &args[0], "waits for")?].into()),
            Visible::Test => Op::TestAny([self.uncancelled(local, &args[0], "tests")?].into()),
            Visible::WaitAny | Visible::TestAny => {
                let (does, op): (_, fn(_) -> _) = match visible {
                    Visible::WaitAny => ("waits for", Op::WaitAny),
                    _ => ("tests", Op::TestAny),
                };
                let comms = operators::list(&args[0]).iter();
                let comms: Result<Box<[Handle]>, String> =
                    comms.map(|comm| self.uncancelled(local, comm, does)).collect();
                let comms = comms?;
                if comms.is_empty() {
                    return Err(format!("{does} one of no communications"));
                }
                op(comms)
            }
            Visible::AsyncLock | Visible::TryLock => {
                let mutex = MutexId(number(&args[0]));
                let (does, op): (_, fn(_) -> _) = match visible {
                    Visible::TryLock => ("tries to lock", Op::TryLock),
                    _ => ("requests", Op::AsyncLock),
                };
                if local.books.mutex(mutex).is_some() {
                    let name = objects.mutexes.name(mutex.0);
                    return Err(format!(
                        "{does} the mutex `{name}`, which it has requested already"
                    ));
                }
                op(mutex)
            }
            Visible::MutexWait => {
                Op::MutexWaitAny([self.request(local, &args[0], "waits for")?].into())
            }
            Visible::MutexTest => {
                Op::MutexTestAny([self.request(local, &args[0], "tests")?].into())
            }
            Visible::MutexWaitAny(_) => {
                Op::MutexWaitAny(self.requests(local, args, "waits for")?)
            }
            Visible::MutexTestAny(_) => Op::MutexTestAny(self.requests(local, args, "tests")?),
            Visible::Unlock => Op::Unlock(self.request(local, &args[0], "unlocks")?),
            Visible::ReadRequest | Visible::WriteRequest => {
                let lock = RwLockId(number(&args[0]));
                let hold = match visible {
                    Visible::ReadRequest => Hold::Shared,
                    _ => Hold::Exclusive,
                };
                if local.books.rwlock(lock).is_some() {
                    let name = objects.rwlocks.name(lock.0);
                    return Err(format!("requests the lock `{name}`, which it has already"));
                }
                Op::RwRequest { lock, hold }
            }
            Visible::RwWait => {
                let (lock, handle) = self.rwlock(local, &args[0], "waits for")?;
                Op::RwWait { lock, handle }
            }
            Visible::RwUnlock => {
                let (lock, handle) = self.rwlock(local, &args[0], "unlocks")?;
                Op::RwUnlock { lock, handle }
            }
            Visible::Stray { most } => {
                let left = local.books.strays(CondvarId(number(&args[0]))) < most;
                Op::Choose { lo: 0, hi: 1 + i64::from(left) }
            }
            Visible::Enrol => {
                let mutex = MutexId(number(&args[1]));
                let condvar = CondvarId(number(&args[0]));
                if !local.books.owns(mutex) {
                    let condvar = objects.condvars.name(condvar.0);
                    let mutex = objects.mutexes.name(mutex.0);
                    return Err(format!(
                        "waits at `{condvar}` without having locked the mutex `{mutex}`"
                    ));
                }
                Op::Enrol(condvar)
            }
            Visible::AwaitWake => {
                let condvar = CondvarId(number(&args[0]));
                let handle = local.books.enrolled(condvar).expect("it has just enrolled");
                Op::AwaitWake { condvar, handle }
            }
            Visible::NotifyOne | Visible::NotifyAll => {
                let all = visible == Visible::NotifyAll;
                Op::Notify { condvar: CondvarId(number(&args[0])), all }
            }
            Visible::Wake => {
                let condvar = CondvarId(number(&args[0]));
                let handle = local.books.enrolled(condvar).expect("it has just notified");
                Op::Wake { condvar, handle }
            }
            Visible::AsyncAcquire => Op::AsyncAcquire(SemaphoreId(number(&args[0]))),
            Visible::AcquireWait => {
                let semaphore = SemaphoreId(number(&args[0]));
                let handle = local.books.semaphore(semaphore).ok_or_else(|| {
                    let name = objects.semaphores.name(semaphore.0);
                    format!("waits for the semaphore `{name}`, which it has not requested")
                })?;
                Op::AcquireWait { semaphore, handle }
            }
            Visible::Release => Op::Release(SemaphoreId(number(&args[0]))),
            Visible::Arrive => {
                let barrier = BarrierId(number(&args[0]));
                Op::Arrive { barrier, round: local.books.barrier(barrier).0 }
            }
            Visible::BarrierWait => {
                let barrier = BarrierId(number(&args[0]));
                let (arrived, passed) = local.books.barrier(barrier);
                if passed >= arrived {
                    let name = objects.barriers.name(barrier.0);
                    return Err(format!("waits at the barrier `{name}`, where it has not arrived"));
                }
                Op::BarrierWait { barrier, round: passed }
            }
            Visible::Read => Op::Access(CellId(number(&args[0])), Access::Read),
            Visible::Write => {
                access(args, |values, args| Access::Write(values.intern(args[1].clone())), values)
            }
            Visible::Swap => {
                access(args, |values, args| Access::Swap(values.intern(args[1].clone())), values)
            }
            Visible::FetchAdd => access(args, |_, args| Access::FetchAdd(args[1].int()), values),
            Visible::CompareAndSwap => access(
                args,
                |values, args| Access::CompareAndSwap {
                    old: values.intern(args[1].clone()),
                    new: values.intern(args[2].clone()),
                },
                values,
            ),
            Visible::Choose => choose(args[0].int(), args[1].int())?,
            Visible::Local => Op::Local,
            Visible::Spawn { process, .. } => {
                let number = i64::from(local.books.spawned(process)) + 1;
                let path = Path::new(Some(&local.path), (process, number));
                return Ok(Next::Spawn(self.start(path, args.to_vec())));
            }
            Visible::Join => match &args[0] {
                Value::Process(process) => Op::Join(*process),
                other => unreachable!("join of {other:?} in a checked program"),
            },
        };
        Ok(Next::Op(op))
    }

    fn is_of_network(&self, mailbox: &Value) -> bool {
        *self.code.objects.mailboxes.start(number(mailbox)) != Delivery::Ordered
    }

    /// The communication, unless it was cancelled.
    fn uncancelled(&self, local: &Local, value: &Value, does: &str) -> Result<Handle, String> {
        let handle = comm(value);
        match local.books.is_cancelled(handle) {
            true => Err(format!("{does} a receive that it has cancelled")),
            false => Ok(handle),
        }
    }

    fn request(&self, local: &Local, mutex: &Value, does: &str) -> Result<Request, String> {
        let mutex = MutexId(number(mutex));
        let handle = local.books.mutex(mutex).ok_or_else(|| {
            let name = self.code.objects.mutexes.name(mutex.0);
            format!("{does} the mutex `{name}`, which it has not requested")
        })?;
        Ok(Request { mutex, handle })
    }

    fn rwlock(
        &self,
        local: &Local,
        lock: &Value,
        does: &str,
    ) -> Result<(RwLockId, Handle), String> {
        let lock = RwLockId(number(lock));
        let handle = local.books.rwlock(lock).ok_or_else(|| {
            let name = self.code.objects.rwlocks.name(lock.0);
            format!("{does} the lock `{name}`, which it does not have")
        })?;
        Ok((lock, handle))
    }

    fn requests(
        &self,
        local: &Local,
        mutexes: &[Value],
        does: &str,
    ) -> Result<Box<[Request]>, String> {
        mutexes.iter().map(|mutex| self.request(local, mutex, does)).collect()
    }

    /// The value of a visible operation, given its arguments and the response. Notes it in the books.
    pub(super) fn value_of(
        &self,
        visible: Visible,
        args: &[Value],
        response: Response,
        values: &Values,
        books: &mut Books,
    ) -> Result<Value, String> {
        Ok(match response {
            Response::Unit => {
                note_done(visible, args, books);
                Value::Unit
            }
            Response::Posted(handle) => match visible {
                Visible::AsyncLock => {
                    books.requested(MutexId(number(&args[0])), handle);
                    Value::Unit
                }
                Visible::TryLock => {
                    books.requested(MutexId(number(&args[0])), handle);
                    books.owned(MutexId(number(&args[0])));
                    Value::Bool(true)
                }
                Visible::ReadRequest | Visible::WriteRequest => {
                    books.entered(RwLockId(number(&args[0])), handle);
                    Value::Unit
                }
                Visible::Enrol | Visible::NotifyOne | Visible::NotifyAll => {
                    books.enrol(CondvarId(number(&args[0])), handle);
                    Value::Unit
                }
                Visible::AsyncAcquire => {
                    books.asked(SemaphoreId(number(&args[0])), handle);
                    Value::Unit
                }
                _ => Value::Comm(handle),
            },
            Response::Completed { index, value } => {
                let is_used = visible == Visible::Wait || self.code.remembers_values;
                let value = match values.get(value) {
                    Value::Gathered { .. } if !is_used => Value::Unit,
                    Value::Gathered { call, rank, own, given } => {
                        self.conclude(*call, *rank, own, given)?
                    }
                    other => other.clone(),
                };
                let completed = match (&args[0], visible) {
                    (Value::Comm(handle), _) => Some(*handle),
                    (Value::List(comms), Visible::WaitAny | Visible::TestAny) => {
                        Some(comm(&comms[index as usize]))
                    }
                    _ => None,
                };
                if let Some(handle) = completed.filter(|_| self.code.remembers_values) {
                    books.completed(handle, value.clone());
                }
                match visible {
                    Visible::MutexWait | Visible::MutexTest => {
                        books.owned(MutexId(number(&args[0])));
                    }
                    Visible::MutexWaitAny(_) | Visible::MutexTestAny(_) => {
                        books.owned(MutexId(number(&args[index as usize])));
                    }
                    _ => {}
                }
                match visible {
                    Visible::Wait => value,
                    Visible::MutexWait => Value::Unit,
                    Visible::Test | Visible::MutexTest => Value::Bool(true),
                    _ => Value::Int(i64::from(index)),
                }
            }
            Response::Incomplete => match visible {
                Visible::Test | Visible::MutexTest | Visible::TryLock => Value::Bool(false),
                _ => Value::Int(-1),
            },
            Response::Value(value) => {
                if visible == Visible::CancelOutcome && value == ValueId::TRUE {
                    books.cancelled(comm(&args[0]));
                }
                values.get(value).clone()
            }
            Response::Chosen(n) => match visible {
                Visible::Stray { .. } => {
                    if n == 1 {
                        books.count_stray(CondvarId(number(&args[0])));
                    }
                    Value::Bool(n == 1)
                }
                _ => Value::Int(n),
            },
            Response::Spawned(process) => {
                if let Visible::Spawn { process: template, .. } = visible {
                    books.count_spawn(template);
                }
                Value::Process(process)
            }
            Response::Overflow => unreachable!("an overflow is a failure"),
        })
    }
}

/// Notes the changes of an operation that has no value.
fn note_done(visible: Visible, args: &[Value], books: &mut Books) {
    match visible {
        Visible::Unlock => books.unlocked(MutexId(number(&args[0]))),
        Visible::AwaitWake | Visible::Wake => books.woken(CondvarId(number(&args[0]))),
        Visible::RwUnlock => books.left(RwLockId(number(&args[0]))),
        Visible::AcquireWait => books.acquired(SemaphoreId(number(&args[0]))),
        Visible::Arrive => {
            let barrier = BarrierId(number(&args[0]));
            let (arrived, passed) = books.barrier(barrier);
            books.set_barrier(barrier, arrived + 1, passed);
        }
        Visible::BarrierWait => {
            let barrier = BarrierId(number(&args[0]));
            let (arrived, passed) = books.barrier(barrier);
            books.set_barrier(barrier, arrived, passed + 1);
        }
        _ => {}
    }
}

/// The number of an object.
pub(super) fn number(value: &Value) -> u32 {
    value.int() as u32
}

fn comm(value: &Value) -> Handle {
    match value {
        Value::Comm(handle) => *handle,
        other => unreachable!("{other:?} as a communication in a checked program"),
    }
}

fn envelope(args: &[Value], src: bool, tag: bool) -> Envelope {
    let mut parts = args.iter().map(Value::int);
    Envelope {
        src: if src { parts.next() } else { None },
        tag: if tag { parts.next() } else { None },
    }
}

fn access(
    args: &[Value],
    how: impl Fn(&mut Values, &[Value]) -> Access,
    values: &mut Values,
) -> Op {
    Op::Access(CellId(number(&args[0])), how(values, args))
}

/// A choice among more values is refused. Each value is explored and remembered as an event, so the search would take
/// too long.
const MAX_CHOICES: i64 = 10_000;

fn choose(lo: i64, hi: i64) -> Result<Op, String> {
    match hi.checked_sub(lo) {
        Some(1..=MAX_CHOICES) => Ok(Op::Choose { lo, hi }),
        Some(..=0) => Err(format!("chooses from the empty range {lo}..{hi}")),
        _ => Err(format!(
            "chooses from {lo}..{hi}: each value is explored, so a range has at most {MAX_CHOICES} values"
        )),
    }
}
