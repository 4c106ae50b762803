//! What each process may ever supply to others that wait: read off the text of the program.
//!
//! An index that depends on nothing but constants and the index of the process is computed; any other may
//! be anything. What a process spawns counts as done by itself. So the answer is an over-approximation.

use rustc_hash::FxHashSet;

use super::check::{Checked, Kind, Process};
use super::constant;
use super::hir::{Address, Expr, ExprKind, Operation, Place, Projection};
use crate::model::{BarrierId, End, MailboxId, SemaphoreId, Supply, Value};

/// For each declaration of a process and each of its instances what it may supply.
#[derive(Debug)]
pub struct Supplies(Vec<Instances>);

#[derive(Debug)]
struct Instances {
    /// The index of the first one.
    first: i64,
    /// One set for each instance of a family, and a single one for other processes.
    sets: Vec<FxHashSet<Supply>>,
}

impl Supplies {
    /// May instance `index` of the declaration supply this?
    pub fn contain(&self, declaration: u32, index: i64, supply: Supply) -> bool {
        let Instances { first, sets } = &self.0[declaration as usize];
        let set = match sets.as_slice() {
            [only] => only,
            sets => &sets[(index - first) as usize],
        };
        set.contains(&supply)
    }
}

/// Reads the supplies off every process of `program`.
pub fn supplies(program: &Checked) -> Supplies {
    let own: Vec<Instances> = program.processes.iter().map(instances).collect();
    let with_children = (0..own.len()).map(|declaration| {
        let spawned = descendants(program, declaration);
        let inherited = spawned.iter().flat_map(|&child| &own[child].sets).flatten();
        let inherited: FxHashSet<Supply> = inherited.copied().collect();
        let Instances { first, sets } = &own[declaration];
        Instances { first: *first, sets: sets.iter().map(|set| set | &inherited).collect() }
    });
    Supplies(with_children.collect())
}

fn instances(process: &Process) -> Instances {
    match process.kind {
        Kind::Single | Kind::Template => Instances { first: 0, sets: vec![own(process, None)] },
        Kind::Family { lo, hi } => {
            Instances { first: lo, sets: (lo..hi).map(|index| own(process, Some(index))).collect() }
        }
    }
}

/// The templates that a process spawns, directly or not.
fn descendants(program: &Checked, declaration: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut pending = vec![declaration];
    while let Some(parent) = pending.pop() {
        for child in spawns(&program.processes[parent]) {
            let child = child as usize;
            if !found.contains(&child) {
                found.push(child);
                pending.push(child);
            }
        }
    }
    found
}

/// What a process may supply itself.
fn own(process: &Process, index: Option<i64>) -> FxHashSet<Supply> {
    let mut set = FxHashSet::default();
    visit(&process.body.block, &mut |expr| {
        let ExprKind::Operation(operation) = &expr.kind else { return };
        let mut add = |address: &Address, supply: fn(u32) -> Supply| {
            set.extend(addressed(address, index).map(supply));
        };
        match operation {
            Operation::Isend { mailbox, .. } => {
                add(mailbox, |id| Supply::Post(MailboxId(id), End::Send));
            }
            Operation::Irecv { mailbox, .. } => {
                add(mailbox, |id| Supply::Post(MailboxId(id), End::Receive));
            }
            Operation::Release(object) => add(object, |id| Supply::Release(SemaphoreId(id))),
            Operation::Arrive(object) | Operation::Barrier(object) => {
                add(object, |id| Supply::Arrival(BarrierId(id)));
            }
            _ => {}
        }
    });
    set
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

/// Does the computation of `expr` act on anything?
pub fn acts(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |expr| found |= matches!(expr.kind, ExprKind::Operation(_)));
    found
}

/// The templates that a process or an actor spawns, each once.
pub fn spawns(process: &Process) -> Vec<u32> {
    let handlers = process.actor.iter().flat_map(|actor| &actor.handlers);
    let blocks = std::iter::once(&process.body.block).chain(handlers.map(|handler| &handler.body));
    spawned_in(blocks)
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

/// Calls `each` with the expression and every one in it.
pub fn visit<'e>(expr: &'e Expr, each: &mut dyn FnMut(&'e Expr)) {
    each(expr);
    let mut all =
        |parts: &mut dyn Iterator<Item = &'e Expr>| parts.for_each(|part| visit(part, each));
    match &expr.kind {
        ExprKind::Error
        | ExprKind::Myself
        | ExprKind::Const(_)
        | ExprKind::Var(_)
        | ExprKind::Break
        | ExprKind::Continue => {}
        ExprKind::Unary(_, a)
        | ExprKind::Repeat(a, _)
        | ExprKind::Field(a, _)
        | ExprKind::Instance(_, a)
        | ExprKind::Length(a) => {
            visit(a, each);
        }
        ExprKind::Let(_, a) | ExprKind::Loop(a) | ExprKind::Assert(a, _) => visit(a, each),
        ExprKind::Binary(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Push(a, b)
        | ExprKind::Remove(a, b)
        | ExprKind::While(a, b)
        | ExprKind::Send(a, b)
        | ExprKind::ForEach(_, a, b) => all(&mut [&**a, &**b].into_iter()),
        ExprKind::If(a, b, c) | ExprKind::ForRange(_, a, b, c) => {
            all(&mut [&**a, &**b, &**c].into_iter())
        }
        ExprKind::Tuple(parts)
        | ExprKind::List(parts)
        | ExprKind::Call(_, parts)
        | ExprKind::Message(_, parts)
        | ExprKind::Create(_, parts) => all(&mut parts.iter()),
        ExprKind::Block(statements, value) => all(&mut statements.iter().chain([&**value])),
        ExprKind::Match(value, arms) => {
            all(&mut [&**value].into_iter());
            all(&mut arms.iter().flat_map(|arm| arm.guard.iter().chain([&arm.body])));
        }
        ExprKind::Return(value) => all(&mut value.iter().map(|value| &**value)),
        ExprKind::Assign(place, _, value) => {
            let indices = match place {
                Place::Local(_, path) => path.iter().filter_map(projected).collect(),
                Place::Cell(address) => index_of(address),
            };
            all(&mut indices.into_iter().chain([&**value]));
        }
        ExprKind::Peek(address) => all(&mut index_of(address).into_iter()),
        ExprKind::ProcessVar { index, .. } => all(&mut index.iter().map(|index| &**index)),
        ExprKind::Operation(operation) => all(&mut arguments(operation).into_iter()),
    }
}

fn projected(projection: &Projection) -> Option<&Expr> {
    match projection {
        Projection::Index(index) => Some(index),
        Projection::Field(_) => None,
    }
}

fn index_of(address: &Address) -> Vec<&Expr> {
    address.index.iter().map(|index| &**index).collect()
}

/// The expressions in an operation.
fn arguments(operation: &Operation) -> Vec<&Expr> {
    use Operation::*;
    match operation {
        Isend { mailbox, value, src, tag, .. } => {
            let named = src.iter().chain(tag).map(|part| &**part);
            index_of(mailbox).into_iter().chain([&**value]).chain(named).collect()
        }
        Irecv { mailbox, src, tag, .. } => {
            index_of(mailbox).into_iter().chain(src.iter().chain(tag).map(|part| &**part)).collect()
        }
        Wait(a) | Test(a) | WaitAny(a) | TestAny(a) | WaitAll(a) | Received(a) | Join(a) => vec![a],
        AsyncLock(object) | MutexWait(object) | MutexTest(object) | Lock(object)
        | Unlock(object) => index_of(object),
        AsyncAcquire(object) | AcquireWait(object) | Acquire(object) | Release(object) => {
            index_of(object)
        }
        Arrive(object) | BarrierWait(object) | Barrier(object) | Read(object) => index_of(object),
        MutexWaitAny(objects) | MutexTestAny(objects) => {
            objects.iter().flat_map(index_of).collect()
        }
        CompareAndSwap(cell, a, b) => index_of(cell).into_iter().chain([&**a, &**b]).collect(),
        FetchAdd(cell, a) | Swap(cell, a) => index_of(cell).into_iter().chain([&**a]).collect(),
        Choose(a, b) => vec![a, b],
        Local => Vec::new(),
        Spawn(_, args) => args.iter().collect(),
    }
}
