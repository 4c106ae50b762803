//! What each process may ever touch of what is shared: read off the text of the program.
//!
//! That tells who could help a process that waits, and what is shared at all: an operation on something that no
//! other process ever touches is as good as local. An index that depends on nothing but constants and the index of the process is computed; any other may
//! be anything. What a process spawns counts as done by itself. So the answer is an over-approximation.

use rustc_hash::FxHashSet;

use super::check::{Checked, Kind, Process};
use super::constant;
use super::hir::{Address, Expr, ExprKind, Operation, Place, Procedure};
use super::walk::{visit, within};
use crate::model::{BarrierId, CellId, End, MailboxId, MutexId, SemaphoreId, Touch, Value};

/// For each declaration of a process and each of its instances what it may touch.
#[derive(Debug)]
pub struct Touches(Vec<Instances>);

#[derive(Debug)]
struct Instances {
    /// The index of the first one.
    first: i64,
    /// One set for each instance of a family, and a single one for other processes.
    sets: Vec<FxHashSet<Touch>>,
}

impl Touches {
    /// May instance `index` of the declaration touch this?
    pub fn contain(&self, declaration: u32, index: i64, touch: Touch) -> bool {
        let touch = if let Touch::AwaitPost(..) = touch { SOME_TEST } else { touch };
        let Instances { first, sets } = &self.0[declaration as usize];
        let set = match sets.as_slice() {
            [only] => only,
            sets => &sets[(index - first) as usize],
        };
        set.contains(&touch)
    }
}

/// Reads the touches off every process of `program`.
pub fn touches(program: &Checked) -> Touches {
    let instances = |process| instances(process, &program.procedures);
    let own: Vec<Instances> = program.processes.iter().map(instances).collect();
    let with_children = (0..own.len()).map(|declaration| {
        let spawned = descendants(program, declaration);
        let inherited = spawned.iter().flat_map(|&child| &own[child].sets).flatten();
        let inherited: FxHashSet<Touch> = inherited.copied().collect();
        let Instances { first, sets } = &own[declaration];
        Instances { first: *first, sets: sets.iter().map(|set| set | &inherited).collect() }
    });
    Touches(with_children.collect())
}

fn instances(process: &Process, procedures: &[Procedure]) -> Instances {
    let own = |index| own(process, procedures, index);
    match process.kind {
        Kind::Single | Kind::Template => Instances { first: 0, sets: vec![own(None)] },
        Kind::Family { lo, hi } => {
            Instances { first: lo, sets: (lo..hi).map(|index| own(Some(index))).collect() }
        }
    }
}

/// The templates that a process spawns, directly or not.
fn descendants(program: &Checked, declaration: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut pending = vec![declaration];
    while let Some(parent) = pending.pop() {
        for child in spawns(&program.processes[parent], &program.procedures) {
            let child = child as usize;
            if !found.contains(&child) {
                found.push(child);
                pending.push(child);
            }
        }
    }
    found
}

/// Does some process ask for a mutex without waiting for it at once? Else nobody gives up a request that was not
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

/// What a process may touch itself, or in a procedure. There the index of the process is not known.
fn own(process: &Process, procedures: &[Procedure], index: Option<i64>) -> FxHashSet<Touch> {
    let mut set = FxHashSet::default();
    let bodies = within(&process.body.block, procedures);
    for (place, body) in bodies.into_iter().enumerate() {
        touched_in(body, index.filter(|_| place == 0), &mut set);
    }
    set
}

/// Adds what the operations in `body` touch.
fn touched_in(body: &Expr, index: Option<i64>, set: &mut FxHashSet<Touch>) {
    visit(body, &mut |expr| {
        let mut add = |address: &Address, touches: &[fn(u32) -> Touch]| {
            for touch in touches {
                set.extend(addressed(address, index).map(touch));
            }
        };
        match &expr.kind {
            ExprKind::Assign(Place::Cell(cell), op, _) => match op {
                None => add(cell, &[WRITE]),
                Some(_) => add(cell, &[READ, WRITE]),
            },
            ExprKind::Operation(Operation::Test(_) | Operation::TestAny(_)) => {
                set.insert(SOME_TEST);
            }
            ExprKind::Operation(operation) => touched(operation, &mut add),
            _ => {}
        }
    });
}

/// Communications are values: which mailbox one is of is not told from the text.
const SOME_TEST: Touch = Touch::AwaitPost(MailboxId(u32::MAX), End::Send);
const READ: fn(u32) -> Touch = |id| Touch::Read(CellId(id));
const WRITE: fn(u32) -> Touch = |id| Touch::Write(CellId(id));
const LOCK: fn(u32) -> Touch = |id| Touch::Lock(MutexId(id));
const AWAIT_UNLOCK: fn(u32) -> Touch = |id| Touch::AwaitUnlock(MutexId(id));
const ACQUIRE: fn(u32) -> Touch = |id| Touch::Acquire(SemaphoreId(id));

/// Calls `add` with the objects that an operation acts on, and what it may do there.
fn touched(operation: &Operation, add: &mut impl FnMut(&Address, &[fn(u32) -> Touch])) {
    use Operation::*;
    match operation {
        Isend { mailbox, .. } => add(mailbox, &[|id| Touch::Post(MailboxId(id), End::Send)]),
        Irecv { mailbox, .. } => add(mailbox, &[|id| Touch::Post(MailboxId(id), End::Receive)]),
        AsyncLock(mutex) | Lock(mutex) => add(mutex, &[LOCK]),
        Unlock(mutex) => {
            add(mutex, &[|id| Touch::Unlock(MutexId(id)), |id| Touch::Cancel(MutexId(id))]);
        }
        MutexTest(mutex) => add(mutex, &[AWAIT_UNLOCK]),
        MutexTestAny(mutexes) => mutexes.iter().for_each(|mutex| add(mutex, &[AWAIT_UNLOCK])),
        AsyncAcquire(semaphore) | Acquire(semaphore) => add(semaphore, &[ACQUIRE]),
        Release(semaphore) => add(semaphore, &[|id| Touch::Release(SemaphoreId(id))]),
        Arrive(barrier) | Barrier(barrier) => {
            add(barrier, &[|id| Touch::Arrive(BarrierId(id))]);
        }
        Read(cell) => add(cell, &[READ]),
        CompareAndSwap(cell, ..) | FetchAdd(cell, _) | Swap(cell, _) => add(cell, &[READ, WRITE]),
        Wait(_) | Test(_) | WaitAny(_) | TestAny(_) | WaitAll(_) | Received(_) | MutexWait(_)
        | MutexWaitAny(_) | AcquireWait(_) | BarrierWait(_) | Choose(..) | Local | Spawn(..)
        | Join(_) => {}
    }
}

/// The objects that an address may stand for in the instance of this index.
fn addressed(address: &Address, index: Option<i64>) -> std::ops::Range<u32> {
    // The index of a family is its variable 0, and is never assigned to.
    let known = |var| if var == 0 { index.map(Value::Int) } else { None };
    let offsets = match &address.index {
        None => 0..1,
        Some(expr) => match constant::evaluate(expr, &known) {
            Ok(Value::Int(n)) if (0..i64::from(address.count)).contains(&n) => {
                n as u32..n as u32 + 1
            }
            // Out of range: a violation, and nothing supplied.
            Ok(_) => 0..0,
            Err(_) => 0..address.count,
        },
    };
    address.base + offsets.start..address.base + offsets.end
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
