//! The system that a [`Builder`](super::Builder) builds: processes that run lists of instructions.
//!
//! A process is at a visible operation, at its end, or failed. Computations in between are done at
//! once (`settle`). Its local state also contains what the operations need but the author of the
//! steps need not know: the handles of its requests, and the number of its arrivals at a barrier.
//! Misuse (a mutex requested twice, or unlocked without a request; a communication that was never
//! begun) is a failure of the process.

use std::sync::Arc;

use super::builder::{Expression, Final, Variables};
use super::instruction::{Access as Accessing, Code, Form, Instruction, Kept};
use crate::model::{
    self, BarrierId, CondvarId, Contents, Delivery, Describe, Envelope, Failure, FailureKind,
    Finale, Foresight, Handle, MailboxId, MutexId, Names, Next, Objects, Op, Probing, ProcessId,
    Request, Response, RwLockId, SemaphoreId, Site, System, Touch, Value, ValueId, Values,
};

/// The state of a communication, as its owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Comm {
    handle: Handle,
    is_receive: bool,
    is_seen_complete: bool,
    is_of_network: bool,
    is_cancelled: bool,
    received: i64,
}

/// A process of a [`Script`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Local {
    code: u32,
    at: u32,
    /// Its index among the processes that exist from the start.
    rank: Option<i64>,
    variables: Vec<i64>,
    comms: Vec<Option<Comm>>,
    /// The latest communication without a name.
    latest: Option<Comm>,
    /// For each mutex the handle of its request; below the same for locks, condition variables and
    /// semaphores.
    requests: Vec<(MutexId, Handle)>,
    /// The mutexes that it knows to own, because a wait, a test or a try has confirmed it.
    owned: Vec<MutexId>,
    rwlocks: Vec<(RwLockId, Handle)>,
    enrolments: Vec<(CondvarId, Handle)>,
    acquires: Vec<(SemaphoreId, Handle)>,
    /// For each barrier the number of its arrivals there.
    arrivals: Vec<(BarrierId, u32)>,
    children: Vec<Option<ProcessId>>,
    failed: Option<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Failed {
    Assertion,
    Misuse(&'static str),
}

/// The element at `index`, which is added if it is missing.
fn slot<T: Default + Clone>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

/// The value that belongs to `key`.
fn of<K: PartialEq, V: Copy>(list: &[(K, V)], key: K) -> Option<V> {
    list.iter().find(|(known, _)| *known == key).map(|&(_, value)| value)
}

impl Local {
    fn value(&self, expression: &Expression) -> i64 {
        (expression.0)(Variables(&self.variables))
    }

    fn keep(&mut self, into: Kept, value: i64) {
        if let Some(variable) = into {
            *slot(&mut self.variables, variable) = value;
        }
    }

    fn comm(&self, name: Option<usize>) -> Option<Comm> {
        match name {
            None => self.latest,
            Some(name) => self.comms.get(name).copied().flatten(),
        }
    }

    fn comm_mut(&mut self, name: Option<usize>) -> &mut Option<Comm> {
        match name {
            None => &mut self.latest,
            Some(name) => slot(&mut self.comms, name),
        }
    }

    /// Records that a communication is complete, with this received value. Returns it as an
    /// integer.
    fn complete(&mut self, name: Option<usize>, value: &Value) -> i64 {
        let comm = self.comm_mut(name).as_mut().expect("a communication that was begun");
        comm.is_seen_complete = true;
        if comm.is_receive {
            comm.received = match value {
                Value::Gathered { given, .. } => given.iter().map(Value::int).sum(),
                Value::Unit => 0,
                other => other.int(),
            };
        }
        comm.received
    }

    /// Records that the process owns this mutex.
    fn own(&mut self, mutex: MutexId) {
        if let Err(place) = self.owned.binary_search(&mutex) {
            self.owned.insert(place, mutex);
        }
    }

    fn arrivals(&self, barrier: BarrierId) -> u32 {
        of(&self.arrivals, barrier).unwrap_or(0)
    }

    /// The misuse of this instruction here, if it is one.
    fn misuse(&self, instruction: &Instruction) -> Option<&'static str> {
        use Instruction::*;
        let requested = |mutex: &MutexId| of(&self.requests, *mutex).is_some();
        let begun = |&comm: &usize| self.comm(Some(comm)).is_some();
        let (is_fine, what) = match instruction {
            Lock(mutex) | TryLock { mutex, .. } => {
                (!requested(mutex), "a mutex is asked for twice")
            }
            Unlock(mutex) => (requested(mutex), "a mutex that was not asked for is unlocked"),
            Own { mutexes, .. } => (
                !mutexes.is_empty() && mutexes.iter().all(requested),
                "a mutex that was not asked for is waited for",
            ),
            Wait { comm, .. } if self.comm(*comm).is_some_and(|comm| comm.is_cancelled) => {
                (false, "a receive is waited for that was cancelled")
            }
            Wait { comm, .. } => {
                (self.comm(*comm).is_some(), "no communication was begun that could be waited for")
            }
            Test { comm, .. } => (begun(comm), "no communication was begun that could be tested"),
            CompleteAny { comms, .. } if comms.is_empty() => {
                (false, "the list that is waited for is empty")
            }
            CompleteAny { comms, is_test: true, .. } if comms.iter().all(begun) => {
                let of_network = |comm: usize| self.comm(Some(comm)).map(|c| c.is_of_network);
                let is_like_first = |&comm: &usize| of_network(comm) == of_network(comms[0]);
                (comms.iter().all(is_like_first), "a test of mailboxes with different delivery")
            }
            CompleteAny { comms, .. } => {
                (comms.iter().all(begun), "one of these communications was not begun")
            }
            Cancel(comm) | CancelOutcome { comm, .. } => {
                let comm = self.comm(Some(*comm));
                let is_fine = |comm: Comm| comm.is_receive && comm.is_of_network;
                (comm.is_some_and(is_fine), "only a receive at a p2p or bag mailbox is cancelled")
            }
            ValueOf { comm, .. } => (
                self.comm(Some(*comm)).is_some_and(|comm| comm.is_seen_complete),
                "the value of a communication that is not known to be complete",
            ),
            Enrol(_, mutex) => {
                (self.owned.contains(mutex), "it waits without having locked the mutex")
            }
            AwaitWake(_) | Notify { .. } | Wake(_) => (true, ""),
            RwRequest(lock, _) => (of(&self.rwlocks, *lock).is_none(), "a lock is asked for twice"),
            RwWait(lock) | RwUnlock(lock) => {
                (of(&self.rwlocks, *lock).is_some(), "a lock that it does not have is unlocked")
            }
            AcquireWait(semaphore) => {
                (of(&self.acquires, *semaphore).is_some(), "no unit was asked for")
            }
            Pass(barrier) => (self.arrivals(*barrier) > 0, "it has not arrived at this barrier"),
            Join(child) => {
                (self.children.get(*child).copied().flatten().is_some(), "nothing was spawned")
            }
            Enter { .. } => (
                self.rank.is_some(),
                "only processes that exist from the start have a rank in a collective",
            ),
            Post { .. } | Acquire(_) | Release(_) | Arrive(_) | Access { .. } => (true, ""),
            Probe { .. } => (true, ""),
            Choose { .. } | Plain(..) | Spawn { .. } | Set(..) | Assert(..) => (true, ""),
            Unless(..) | Jump(_) => (true, ""),
        };
        (!is_fine).then_some(what)
    }
}

/// A system made by a [`Builder`](super::Builder).
#[derive(Clone)]
pub struct Script {
    objects: Objects,
    variables: Vec<String>,
    codes: Vec<Code>,
    processes: Vec<usize>,
    finally: Option<Final>,
}

impl Script {
    pub(super) fn new(
        objects: Objects,
        variables: Vec<String>,
        codes: Vec<Code>,
        processes: Vec<usize>,
        finally: Option<Final>,
    ) -> Self {
        Script { objects, variables, codes, processes, finally }
    }

    fn start(&self, code: usize, rank: Option<i64>, argument: Option<i64>) -> Local {
        let variables = argument.into_iter().collect();
        let mut local = Local { code: code as u32, rank, variables, ..Local::default() };
        self.settle(&mut local);
        local
    }

    fn instruction(&self, local: &Local) -> Option<&(Instruction, Option<Arc<Site>>)> {
        self.codes[local.code as usize].instructions.get(local.at as usize)
    }

    /// Runs to the next visible operation.
    fn settle(&self, local: &mut Local) {
        while let Some((instruction, _)) = self.instruction(local) {
            local.failed = local.misuse(instruction).map(Failed::Misuse);
            if let Instruction::Probe { mailbox, .. } = instruction
                && *self.objects.mailboxes.start(mailbox.0) == Delivery::Ordered
            {
                local.failed = Some(Failed::Misuse("only p2p and bag mailboxes can be probed"));
            }
            if local.failed.is_some() {
                return;
            }
            let mut next = 1;
            match instruction {
                Instruction::Set(variable, value) => {
                    let value = local.value(value);
                    local.keep(Some(*variable), value);
                }
                Instruction::ValueOf { comm, into } => {
                    let received = local.comm(Some(*comm)).expect("no misuse").received;
                    local.keep(*into, received);
                }
                Instruction::Assert(_, condition) if local.value(condition) == 0 => {
                    local.failed = Some(Failed::Assertion);
                    return;
                }
                Instruction::Assert(..) => {}
                Instruction::Unless(condition, far) if local.value(condition) == 0 => next = *far,
                Instruction::Unless(..) => {}
                Instruction::Jump(far) => next = *far,
                _ => return,
            }
            local.at = local.at.checked_add_signed(next).expect("a place in the code");
        }
    }

    fn request(local: &Local, mutex: MutexId) -> Request {
        Request { mutex, handle: of(&local.requests, mutex).expect("misuse was found before") }
    }

    /// The operation of an instruction, which must be one other than a spawn.
    fn op(&self, local: &Local, instruction: &Instruction, values: &mut Values) -> Op {
        use Instruction::*;
        let is_of_network =
            |id: &MailboxId| *self.objects.mailboxes.start(id.0) != Delivery::Ordered;
        let mut int = |value: &Expression| values.intern(Value::Int(local.value(value)));
        let handle = |name| local.comm(name).expect("misuse was found before").handle;
        let enrolment = |condvar: &CondvarId| {
            of(&local.enrolments, *condvar).expect("an enrolment or a notification came before")
        };
        let rwlock = |lock: &RwLockId| of(&local.rwlocks, *lock).expect("misuse was found before");
        match instruction {
            Post { mailbox, envelope, value: Some(value), completion, .. }
                if is_of_network(mailbox) =>
            {
                let (value, src) = (int(value), envelope.src.or(local.rank));
                let envelope = Envelope { src, ..*envelope };
                let (mailbox, completion) = (*mailbox, *completion);
                Op::Send { mailbox, envelope, value, completion }
            }
            Post { mailbox, envelope, value: None, .. } if is_of_network(mailbox) => {
                Op::Receive { mailbox: *mailbox, pattern: *envelope }
            }
            &Probe { mailbox, pattern, form, .. } => Op::Probe { mailbox, pattern, form },
            &Enter { collective, call, ref value, completion, .. } => {
                let (rank, value) = (local.rank.expect("misuse was found before"), int(value));
                Op::Enter { collective, rank: rank as u32, call, value, completion }
            }
            Cancel(comm) => Op::Cancel(handle(Some(*comm))),
            CancelOutcome { comm, .. } => Op::CancelOutcome(handle(Some(*comm))),
            Post { mailbox, envelope, value: Some(value), .. } => {
                let value = int(value);
                Op::Isend { mailbox: *mailbox, envelope: *envelope, value }
            }
            Post { mailbox, envelope, value: None, .. } => {
                Op::Irecv { mailbox: *mailbox, pattern: *envelope }
            }
            Wait { comm, .. } => Op::WaitAny([handle(*comm)].into()),
            Test { comm, .. } => Op::TestAny([handle(Some(*comm))].into()),
            CompleteAny { comms, is_test, .. } => {
                let handles = comms.iter().map(|&comm| handle(Some(comm))).collect();
                if *is_test { Op::TestAny(handles) } else { Op::WaitAny(handles) }
            }
            Lock(mutex) => Op::AsyncLock(*mutex),
            Own { mutexes, form, .. } => {
                let requests = mutexes.iter().map(|&mutex| Script::request(local, mutex)).collect();
                match form {
                    Form::Wait | Form::WaitAny => Op::MutexWaitAny(requests),
                    Form::Test | Form::TestAny => Op::MutexTestAny(requests),
                }
            }
            TryLock { mutex, .. } => Op::TryLock(*mutex),
            Unlock(mutex) => Op::Unlock(Script::request(local, *mutex)),
            RwRequest(lock, hold) => Op::RwRequest { lock: *lock, hold: *hold },
            RwWait(lock) => Op::RwWait { lock: *lock, handle: rwlock(lock) },
            RwUnlock(lock) => Op::RwUnlock { lock: *lock, handle: rwlock(lock) },
            Enrol(condvar, _) => Op::Enrol(*condvar),
            AwaitWake(condvar) => Op::AwaitWake { condvar: *condvar, handle: enrolment(condvar) },
            Notify { condvar, all } => Op::Notify { condvar: *condvar, all: *all },
            Wake(condvar) => Op::Wake { condvar: *condvar, handle: enrolment(condvar) },
            Acquire(semaphore) => Op::AsyncAcquire(*semaphore),
            AcquireWait(semaphore) => {
                let handle = of(&local.acquires, *semaphore).expect("misuse was found before");
                Op::AcquireWait { semaphore: *semaphore, handle }
            }
            Release(semaphore) => Op::Release(*semaphore),
            Arrive(barrier) => Op::Arrive { barrier: *barrier, round: local.arrivals(*barrier) },
            Pass(barrier) => {
                Op::BarrierWait { barrier: *barrier, round: local.arrivals(*barrier) - 1 }
            }
            Access { cell, access, .. } => Op::Access(
                *cell,
                match access {
                    Accessing::Read => model::Access::Read,
                    Accessing::Write(value) => model::Access::Write(int(value)),
                    Accessing::CompareAndSwap(old, new) => {
                        let (old, new) = (int(old), int(new));
                        model::Access::CompareAndSwap { old, new }
                    }
                    Accessing::FetchAdd(addend) => model::Access::FetchAdd(local.value(addend)),
                    Accessing::Swap(value) => model::Access::Swap(int(value)),
                },
            ),
            Choose { lo, hi, .. } => Op::Choose { lo: *lo, hi: *hi },
            Plain(op, _) => op.clone(),
            Join(child) => Op::Join(local.children[*child].expect("misuse was found before")),
            Spawn { .. } | Set(..) | Assert(..) | ValueOf { .. } | Unless(..) | Jump(_) => {
                unreachable!("{instruction:?} is no operation")
            }
        }
    }
}

impl System for Script {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        let ranked = (0..).zip(&self.processes);
        ranked.map(|(rank, &code)| self.start(code, Some(rank), None)).collect()
    }

    fn is_daemon(&self, local: &Local) -> bool {
        self.codes[local.code as usize].is_daemon
    }

    fn next(&self, local: &Local, values: &mut Values) -> Next<Local> {
        let Some((instruction, site)) = self.instruction(local) else { return Next::Done };
        let site = || site.as_deref().cloned();
        match (local.failed, instruction) {
            (Some(Failed::Misuse(what)), _) => {
                let (kind, message) = (FailureKind::Error, what.into());
                Next::Failed(Failure { kind, message, site: site() })
            }
            (Some(Failed::Assertion), Instruction::Assert(what, _)) => {
                let (kind, message) = (FailureKind::Assertion, format!("assertion failed: {what}"));
                Next::Failed(Failure { kind, message, site: site() })
            }
            (_, Instruction::Spawn { code, argument, .. }) => {
                Next::Spawn(self.start(*code, None, Some(local.value(argument))))
            }
            (_, operation) => Next::Op(self.op(local, operation, values)),
        }
    }

    fn resume(&self, local: &Local, response: Response, values: &Values) -> Local {
        use Instruction::*;
        let mut after = local.clone();
        let (instruction, _) = self.instruction(local).expect("a pending operation");
        match (instruction, response) {
            (Post { comm, mailbox, value, .. }, Response::Posted(handle)) => {
                *after.comm_mut(*comm) = Some(Comm {
                    handle,
                    is_receive: value.is_none(),
                    is_seen_complete: false,
                    is_of_network: *self.objects.mailboxes.start(mailbox.0) != Delivery::Ordered,
                    is_cancelled: false,
                    received: 0,
                });
            }
            (Enter { comm, .. }, Response::Posted(handle)) => {
                *after.comm_mut(*comm) = Some(Comm {
                    handle,
                    is_receive: true,
                    is_seen_complete: false,
                    is_of_network: true,
                    is_cancelled: false,
                    received: 0,
                });
            }
            (Probe { comm, form, into, .. }, Response::Value(told)) => {
                let Value::Tuple(told) = values.get(told) else { panic!("{told:?} is no tuple") };
                if let (Probing::Take, Value::Comm(handle)) = (form, &told[0]) {
                    *after.comm_mut(Some(*comm)) = Some(Comm {
                        handle: *handle,
                        is_receive: true,
                        is_seen_complete: false,
                        is_of_network: true,
                        is_cancelled: false,
                        received: 0,
                    });
                }
                after.keep(*into, told[told.len() - 2].int());
            }
            (Cancel(_), Response::Unit) => {}
            (CancelOutcome { comm, into }, Response::Value(told)) => {
                let is_cancelled = told == ValueId::TRUE;
                let comm = after.comm_mut(Some(*comm)).as_mut().expect("misuse was found before");
                comm.is_cancelled = is_cancelled;
                after.keep(*into, i64::from(is_cancelled));
            }
            (Wait { comm, into }, Response::Completed { value, .. }) => {
                let received = after.complete(*comm, values.get(value));
                after.keep(*into, received);
                if comm.is_none() {
                    after.latest = None;
                }
            }
            (Test { comm, into }, Response::Completed { value, .. }) => {
                after.complete(Some(*comm), values.get(value));
                after.keep(*into, 1);
            }
            (CompleteAny { comms, into, .. }, Response::Completed { index, value }) => {
                after.complete(Some(comms[index as usize]), values.get(value));
                after.keep(*into, i64::from(index));
            }
            (
                Test { into, .. } | Own { form: Form::Test, into, .. } | TryLock { into, .. },
                Response::Incomplete,
            ) => {
                after.keep(*into, 0);
            }
            (CompleteAny { into, .. } | Own { into, .. }, Response::Incomplete) => {
                after.keep(*into, -1);
            }
            (Own { form, into, mutexes }, Response::Completed { index, .. }) => {
                after.own(mutexes[index as usize]);
                after.keep(*into, if *form == Form::Test { 1 } else { i64::from(index) });
            }
            (Lock(mutex) | TryLock { mutex, .. }, Response::Posted(handle)) => {
                if let TryLock { into, .. } = instruction {
                    after.own(*mutex);
                    after.keep(*into, 1);
                }
                after.requests.push((*mutex, handle));
                after.requests.sort_unstable_by_key(|&(mutex, _)| mutex);
            }
            (Unlock(mutex), _) => {
                after.requests.retain(|(known, _)| known != mutex);
                after.owned.retain(|known| known != mutex);
            }
            (RwRequest(lock, _), Response::Posted(handle)) => {
                after.rwlocks.push((*lock, handle));
                after.rwlocks.sort_unstable_by_key(|&(lock, _)| lock);
            }
            (RwUnlock(lock), _) => after.rwlocks.retain(|(known, _)| known != lock),
            (Enrol(condvar, _) | Notify { condvar, .. }, Response::Posted(handle)) => {
                after.enrolments.push((*condvar, handle));
                after.enrolments.sort_unstable_by_key(|&(condvar, _)| condvar);
            }
            (AwaitWake(condvar) | Wake(condvar), _) => {
                after.enrolments.retain(|(known, _)| known != condvar);
            }
            (Acquire(semaphore), Response::Posted(handle)) => {
                after.acquires.retain(|(known, _)| known != semaphore);
                after.acquires.push((*semaphore, handle));
                after.acquires.sort_unstable_by_key(|&(semaphore, _)| semaphore);
            }
            (AcquireWait(semaphore), _) => after.acquires.retain(|(known, _)| known != semaphore),
            (Arrive(barrier), _) => {
                let arrivals = after.arrivals(*barrier) + 1;
                after.arrivals.retain(|(known, _)| known != barrier);
                after.arrivals.push((*barrier, arrivals));
                after.arrivals.sort_unstable_by_key(|&(barrier, _)| barrier);
            }
            (Access { into, .. }, Response::Value(value)) => {
                let value = match values.get(value) {
                    Value::Bool(holds) => i64::from(*holds),
                    other => other.int(),
                };
                after.keep(*into, value);
            }
            (Access { .. }, Response::Overflow) => {
                after.failed = Some(Failed::Misuse("fetch_add leaves the range of integers"));
                return after;
            }
            (Choose { into, .. }, Response::Chosen(value)) => after.keep(*into, value),
            (Spawn { child, .. }, Response::Spawned(process)) => {
                *slot(&mut after.children, *child) = Some(process);
            }
            (Access { .. } | RwWait(_) | Release(_), Response::Unit) => {}
            (Pass(_) | Plain(..) | Join(_), Response::Unit) => {}
            (instruction, response) => panic!("{instruction:?} cannot come to {response:?}"),
        }
        after.at += 1;
        self.settle(&mut after);
        after
    }

    fn finale(&self) -> Option<&dyn Finale<Local>> {
        (self.finally.is_some()).then_some(self as &dyn Finale<Local>)
    }

    fn foresight(&self) -> &dyn Foresight<Local> {
        self
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

impl Finale<Local> for Script {
    fn judge(&self, _: &[Option<&Local>], cells: Contents<'_>, _: &Values) -> Option<Failure> {
        self.finally.as_ref()?(cells)
    }

    fn tells(&self, _: ProcessId, _: &Local, _: &Local) -> bool {
        false
    }
}

impl Foresight<Local> for Script {
    fn may_touch(&self, local: &Local, touch: Touch) -> bool {
        let mut codes = vec![local.code as usize];
        let mut at = 0;
        while at < codes.len() {
            for (instruction, _) in &self.codes[codes[at]].instructions {
                match instruction {
                    Instruction::Spawn { code, .. } if !codes.contains(code) => codes.push(*code),
                    other if other.may_touch(&self.objects, touch) => return true,
                    _ => {}
                }
            }
            at += 1;
        }
        false
    }

    fn may_spawn(&self) -> bool {
        let mut all = self.codes.iter().flat_map(|code| &code.instructions);
        all.any(|(instruction, _)| matches!(instruction, Instruction::Spawn { .. }))
    }

    /// Whether the code contains a jump back.
    fn may_return(&self, local: &Local) -> bool {
        let code = &self.codes[local.code as usize].instructions;
        code.iter().any(|(instruction, _)| matches!(instruction, Instruction::Jump(..0)))
    }
}

impl Describe<Local> for Script {
    fn process_name(&self, local: &Local) -> String {
        self.codes[local.code as usize].name.clone()
    }

    fn site(&self, local: &Local) -> Option<Site> {
        self.instruction(local)?.1.as_deref().cloned()
    }

    /// The variables that are not 0.
    fn variables(&self, local: &Local, _: Names<'_>) -> Vec<(String, String)> {
        let known = self.variables.iter().zip(&local.variables).filter(|(_, value)| **value != 0);
        known.map(|(name, value)| (name.clone(), value.to_string())).collect()
    }
}
