//! What each process may ever touch of the shared objects, read off the text of the program.
//!
//! This tells who could help a process that waits, and what is really shared: an operation on something that no other
//! process ever touches is as good as local. An index that depends only on constants and the index of the process is
//! computed; any other may be anything. What a spawned process does counts as done by its parent. So the answer is an
//! over-approximation.

use std::sync::Arc;

use super::check::{Checked, Instantiation, Process};
use super::constant;
use super::hir::{Address, Expr, ExprKind, Operation, Place, Procedure};
use super::walk::{visit, within};
use crate::model::{
    BarrierId, CellId, CollectiveId, CondvarId, End, Hold, MailboxId, MutexId, RwLockId,
    SemaphoreId, Touch, Value,
};

/// The most steps that computing the index of an object for one instance may take.
const MAX_STEPS: u64 = 1_000;
/// The most indices that are computed for one family. If there are more, each may be anything.
const MAX_INDICES: usize = 1_000_000;
/// The most declarations that are told apart by what they spawn. If there are more, one that spawns may spawn any.
const MAX_TOLD_APART: usize = 1_000;

/// For each declaration of a process and each of its instances what it may touch.
#[derive(Debug)]
pub struct Touches(Vec<Instances>);

#[derive(Debug)]
struct Instances {
    /// What every instance may touch itself.
    common: Reach,
    /// The index of the first one.
    first: i64,
    /// For each instance of a family, what else it may touch.
    own: Vec<Reach>,
    /// What the processes that they spawn may touch.
    inherited: Arc<Reach>,
}

impl Touches {
    /// May instance `index` of the declaration touch this?
    pub fn contain(&self, declaration: u32, index: i64, touch: Touch) -> bool {
        let Instances { common, first, own, inherited } = &self.0[declaration as usize];
        let own = || own.get((index - first) as usize);
        common.contains(touch)
            || own().is_some_and(|own| own.contains(touch))
            || inherited.contains(touch)
    }
}

/// A set of touches: for each kind of them ranges of objects, ascending. An index that may be anything is one range,
/// however large the array.
#[derive(Clone, Debug, Default)]
struct Reach(Vec<(u8, u32, u32)>);

impl Reach {
    /// The ranges in ascending order; ranges that meet are joined.
    fn new(mut ranges: Vec<(u8, u32, u32)>) -> Reach {
        ranges.sort_unstable();
        let mut joined: Vec<(u8, u32, u32)> = Vec::new();
        for (kind, start, end) in ranges {
            match joined.last_mut() {
                Some(last) if last.0 == kind && start <= last.2 => last.2 = last.2.max(end),
                _ => joined.push((kind, start, end)),
            }
        }
        Reach(joined)
    }

    fn contains(&self, touch: Touch) -> bool {
        let (kind, id) = key(touch);
        let behind = self.0.partition_point(|&(other, start, _)| (other, start) <= (kind, id));
        let last = behind.checked_sub(1).map(|at| self.0[at]);
        last.is_some_and(|(other, _, end)| other == kind && id < end)
    }
}

/// Kind and object of a touch. Communications are values, so the text does not tell which mailbox a test is about: all
/// tests are one.
fn key(touch: Touch) -> (u8, u32) {
    match touch {
        Touch::Post(mailbox, End::Send) => (0, mailbox.0),
        Touch::Post(mailbox, End::Receive) => (1, mailbox.0),
        Touch::AwaitPost(..) => (2, 0),
        Touch::Lock(mutex) => (3, mutex.0),
        Touch::Unlock(mutex) => (4, mutex.0),
        Touch::Cancel(mutex) => (5, mutex.0),
        Touch::AwaitUnlock(mutex) => (6, mutex.0),
        Touch::Acquire(semaphore) => (7, semaphore.0),
        Touch::Release(semaphore) => (8, semaphore.0),
        Touch::Arrive(barrier) => (9, barrier.0),
        Touch::Read(cell) => (10, cell.0),
        Touch::Write(cell) => (11, cell.0),
        Touch::Tell(process) => (12, process.0),
        Touch::Listen(process) => (13, process.0),
        Touch::Queue(mutex) => (14, mutex.0),
        Touch::Enrol(condvar) => (19, condvar.0),
        Touch::Notify(condvar) => (20, condvar.0),
        Touch::RwRequest(lock, Hold::Shared) => (16, lock.0),
        Touch::RwRequest(lock, Hold::Exclusive) => (17, lock.0),
        Touch::RwUnlock(lock) => (18, lock.0),
        Touch::Try(mutex) => (15, mutex.0),
        Touch::Send(mailbox) => (30, mailbox.0),
        Touch::Match(mailbox) => (31, mailbox.0),
        Touch::AwaitMessage(mailbox) => (32, mailbox.0),
        Touch::AwaitMatch(_) => (33, 0),
        Touch::Ending(collective) => (34, collective.0),
        Touch::AwaitEnd(_) => (35, 0),
    }
}

/// Reads the touches off every process of `program`.
pub fn touches(program: &Checked) -> Touches {
    let mut all: Vec<Instances> =
        program.processes.iter().map(|process| instances(process, &program.procedures)).collect();
    let spawned: Vec<Vec<u32>> =
        program.processes.iter().map(|process| spawns(process, &program.procedures)).collect();
    let union = |templates: &mut dyn Iterator<Item = usize>| {
        Arc::new(Reach::new(
            templates.flat_map(|template| all[template].common.0.clone()).collect(),
        ))
    };
    let inherited: Vec<Arc<Reach>> = if all.len() > MAX_TOLD_APART {
        let any = union(&mut (0..all.len()));
        spawned
            .iter()
            .map(|spawned| if spawned.is_empty() { Arc::default() } else { any.clone() })
            .collect()
    } else {
        (0..all.len()).map(|parent| union(&mut descendants(&spawned, parent).into_iter())).collect()
    };
    for (instances, inherited) in all.iter_mut().zip(inherited) {
        instances.inherited = inherited;
    }
    Touches(all)
}

/// The templates that a process spawns, directly or not.
fn descendants(spawned: &[Vec<u32>], parent: usize) -> Vec<usize> {
    let mut seen = vec![false; spawned.len()];
    let mut found: Vec<usize> = Vec::new();
    let mut pending = vec![parent];
    while let Some(parent) = pending.pop() {
        for &child in &spawned[parent] {
            if !std::mem::replace(&mut seen[child as usize], true) {
                found.push(child as usize);
                pending.push(child as usize);
            }
        }
    }
    found
}

/// An object whose number depends on the index of the instance, and how it is touched.
type Indexed<'e> = (&'e Address, Vec<fn(u32) -> Touch>);

/// What a process may touch itself, or in a procedure. There the index of the process is not known.
fn instances(process: &Process, procedures: &[Procedure]) -> Instances {
    let is_family = matches!(process.kind, Instantiation::Family { .. });
    let mut ranges = Vec::new();
    let mut indexed: Vec<Indexed<'_>> = Vec::new();
    for (place, body) in within(&process.body.block, procedures).into_iter().enumerate() {
        touched_in(body, &mut |address, touches| {
            let depends = address.index.as_ref().is_some_and(|index| names_index(index));
            if is_family && place == 0 && depends {
                indexed.push((address, touches.to_vec()));
            } else {
                ranges.extend(addressed(address, None, touches));
            }
        });
    }
    let (first, last) = match process.kind {
        Instantiation::Family { lo, hi } => (lo, hi),
        Instantiation::Single | Instantiation::Template => (0, 0),
    };
    if indexed.len().saturating_mul(process.kind.instances() as usize) > MAX_INDICES {
        for (address, touches) in indexed.drain(..) {
            ranges.extend(addressed(address, None, &touches));
        }
    }
    let of_instance = |index| {
        let touched =
            indexed.iter().flat_map(|(address, touches)| addressed(address, Some(index), touches));
        Reach::new(touched.collect())
    };
    let own =
        if indexed.is_empty() { Vec::new() } else { (first..last).map(of_instance).collect() };
    Instances { common: Reach::new(ranges), first, own, inherited: Arc::default() }
}

/// Is the index of the family in it? It is variable 0, and is never assigned to.
fn names_index(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |expr| found |= matches!(expr.kind, ExprKind::Var(0)));
    found
}

/// Does some process ask for a mutex without waiting for it at once? If not, nobody gives up a request that was not
/// granted.
pub fn cancels(program: &Checked) -> bool {
    let mut found = false;
    for process in &program.processes {
        for body in within(&process.body.block, &program.procedures) {
            visit(body, &mut |expr| {
                found |= matches!(expr.kind, ExprKind::Operation(Operation::AsyncLock(_)));
            });
        }
    }
    found
}

/// A function that is told of an object and how it is touched.
type Adder<'a, 'e> = dyn FnMut(&'e Address, &[fn(u32) -> Touch]) + 'a;

/// Calls `add` with the objects that the operations in `body` act on, and what they may do there.
fn touched_in<'e>(body: &'e Expr, add: &mut Adder<'_, 'e>) {
    visit(body, &mut |expr| match &expr.kind {
        ExprKind::Assign(Place::Cell(cell), op, _) => match op {
            None => add(cell, &[WRITE]),
            Some(_) => add(cell, &[READ, WRITE]),
        },
        ExprKind::Operation(operation) => touched(operation, add),
        _ => {}
    });
}

/// It is about no mailbox or collective in particular.
const SOME_TEST: &[fn(u32) -> Touch] = &[
    |_| Touch::AwaitPost(MailboxId(u32::MAX), End::Send),
    |_| Touch::AwaitMatch(MailboxId(u32::MAX)),
    |_| Touch::AwaitEnd(CollectiveId(u32::MAX)),
];
/// Stands for what a test is about, which is a value.
static NOWHERE: Address = Address { name: String::new(), base: 0, count: 1, index: None };
const READ: fn(u32) -> Touch = |id| Touch::Read(CellId(id));
const WRITE: fn(u32) -> Touch = |id| Touch::Write(CellId(id));
const LOCK: fn(u32) -> Touch = |id| Touch::Lock(MutexId(id));
const QUEUE: fn(u32) -> Touch = |id| Touch::Queue(MutexId(id));
const UNLOCK: &[fn(u32) -> Touch] =
    &[|id| Touch::Unlock(MutexId(id)), |id| Touch::Cancel(MutexId(id)), QUEUE];
const TRY: fn(u32) -> Touch = |id| Touch::Try(MutexId(id));
const AWAIT_UNLOCK: fn(u32) -> Touch = |id| Touch::AwaitUnlock(MutexId(id));
const ACQUIRE: fn(u32) -> Touch = |id| Touch::Acquire(SemaphoreId(id));

/// Calls `add` with the objects that an operation acts on, and what it may do there.
fn touched<'e>(operation: &'e Operation, add: &mut Adder<'_, 'e>) {
    use Operation::*;
    match operation {
        Isend { mailbox, .. } => {
            add(
                mailbox,
                &[|id| Touch::Post(MailboxId(id), End::Send), |id| Touch::Send(MailboxId(id))],
            );
        }
        Irecv { mailbox, .. } => {
            add(
                mailbox,
                &[|id| Touch::Post(MailboxId(id), End::Receive), |id| Touch::Match(MailboxId(id))],
            );
        }
        Probe { mailbox, .. } => add(mailbox, &[|id| Touch::Match(MailboxId(id))]),
        Collective { collective, .. } => {
            add(collective, &[|id| Touch::Ending(CollectiveId(id))]);
        }
        AsyncLock(mutex) | Lock(mutex) => add(mutex, &[LOCK, QUEUE]),
        TryLock(mutex) => add(mutex, &[TRY, QUEUE]),
        Unlock(mutex) => {
            add(mutex, UNLOCK);
        }
        MutexTest(mutex) => add(mutex, &[AWAIT_UNLOCK]),
        MutexTestAny(mutexes) => mutexes.iter().for_each(|mutex| add(mutex, &[AWAIT_UNLOCK])),
        ReadLock(lock) => add(lock, &[|id| Touch::RwRequest(RwLockId(id), Hold::Shared)]),
        WriteLock(lock) => add(lock, &[|id| Touch::RwRequest(RwLockId(id), Hold::Exclusive)]),
        RwUnlock(lock) => add(lock, &[|id| Touch::RwUnlock(RwLockId(id))]),
        CondWait { condvar, mutex, .. } => {
            add(condvar, &[|id| Touch::Enrol(CondvarId(id))]);
            add(mutex, UNLOCK);
            add(mutex, &[LOCK, QUEUE]);
        }
        NotifyOne(condvar) | NotifyAll(condvar) => {
            add(condvar, &[|id| Touch::Notify(CondvarId(id))]);
        }
        AsyncAcquire(semaphore) | Acquire(semaphore) => add(semaphore, &[ACQUIRE]),
        Release(semaphore) => add(semaphore, &[|id| Touch::Release(SemaphoreId(id))]),
        Arrive(barrier) | Barrier(barrier) => {
            add(barrier, &[|id| Touch::Arrive(BarrierId(id))]);
        }
        Read(cell) => add(cell, &[READ]),
        CompareAndSwap(cell, ..) | FetchAdd(cell, _) | Swap(cell, _) => add(cell, &[READ, WRITE]),
        Test(_) | TestAny(_) => add(&NOWHERE, SOME_TEST),
        Cancel(_) => {}
        Wait(_) | WaitAny(_) | WaitAll(_) | Received(_) | MutexWait(_) | MutexWaitAny(_)
        | AcquireWait(_) | BarrierWait(_) | Choose(..) | Local | Spawn(..) | Join(_) => {}
    }
}

/// The objects that an address may stand for in the instance with this index, for each of the touches.
fn addressed(
    address: &Address,
    index: Option<i64>,
    touches: &[fn(u32) -> Touch],
) -> Vec<(u8, u32, u32)> {
    let known = |var| if var == 0 { index.map(Value::Int) } else { None };
    let offsets = match &address.index {
        None => 0..1,
        Some(expr) => match constant::evaluate(expr, &known, &mut { MAX_STEPS }) {
            Ok(Value::Int(n)) if (0..i64::from(address.count)).contains(&n) => {
                n as u32..n as u32 + 1
            }
            // Out of range: that is a violation, and nothing is supplied.
            Ok(_) => 0..0,
            Err(_) => 0..address.count,
        },
    };
    let (start, end) = (address.base + offsets.start, address.base + offsets.end);
    if start == end {
        return Vec::new();
    }
    let range = |touch: &fn(u32) -> Touch| {
        let (kind, id) = key(touch(start));
        (kind, id, id + (end - start))
    };
    touches.iter().map(range).collect()
}

/// The templates that a process or an actor spawns, each once.
pub fn spawns(process: &Process, procedures: &[Procedure]) -> Vec<u32> {
    let handlers = process.actor.iter().flat_map(|actor| &actor.handlers);
    let own = within(&process.body.block, procedures);
    spawned_in(own.into_iter().chain(handlers.map(|handler| &handler.body)))
}

/// The templates that these blocks spawn, each once.
pub fn spawned_in<'e>(blocks: impl IntoIterator<Item = &'e Expr>) -> Vec<u32> {
    let mut found = Vec::new();
    for block in blocks {
        visit(block, &mut |expr| {
            if let ExprKind::Operation(Operation::Spawn(process, _))
            | ExprKind::Create(process, _) = &expr.kind
            {
                found.push(*process);
            }
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}
