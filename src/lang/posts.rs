//! Which processes may post at which end of which mailbox: read off the text of the program.
//!
//! An index that depends on nothing but constants and the index of the process is computed; any other may
//! be anything. So the answer is an over-approximation.

use super::check::{Checked, Kind};
use super::constant;
use super::hir::{Address, Expr, ExprKind, Operation, Place, Projection};
use crate::model::{End, MailboxId, ProcessId, Value};

/// For each mailbox the posters at its ends.
#[derive(Debug, Default)]
pub struct Posts {
    sends: Vec<Posters>,
    receives: Vec<Posters>,
}

#[derive(Clone, Debug, Default)]
struct Posters {
    processes: Vec<ProcessId>,
    /// Processes that are spawned may post, too.
    spawned: bool,
}

impl Posts {
    /// The processes that exist from the start and may post there; `None` if spawned ones may, too.
    pub fn at(&self, mailbox: MailboxId, end: End) -> Option<Vec<ProcessId>> {
        let ends = match end {
            End::Send => &self.sends,
            End::Receive => &self.receives,
        };
        let posters = &ends[mailbox.index()];
        (!posters.spawned).then(|| posters.processes.clone())
    }

    fn add(&mut self, mailbox: u32, end: End, process: Option<ProcessId>) {
        let ends = match end {
            End::Send => &mut self.sends,
            End::Receive => &mut self.receives,
        };
        let posters = &mut ends[mailbox as usize];
        match process {
            None => posters.spawned = true,
            Some(process) if posters.processes.contains(&process) => {}
            Some(process) => posters.processes.push(process),
        }
    }
}

/// Reads the posts off every process of `program`.
pub fn posts(program: &Checked) -> Posts {
    let empty = vec![Posters::default(); program.objects.mailboxes.len()];
    let mut posts = Posts { sends: empty.clone(), receives: empty };
    let mut first = 0;
    for process in &program.processes {
        let mut found = Vec::new();
        visit(&process.body.block, &mut |expr| match &expr.kind {
            ExprKind::Operation(Operation::Isend { mailbox, .. }) => {
                found.push((mailbox, End::Send))
            }
            ExprKind::Operation(Operation::Irecv { mailbox, .. }) => {
                found.push((mailbox, End::Receive))
            }
            _ => {}
        });
        for (address, end) in found {
            match process.kind {
                Kind::Template => add(&mut posts, address, end, None, None),
                Kind::Single => add(&mut posts, address, end, None, Some(ProcessId(first))),
                Kind::Family { lo, hi } => {
                    for index in lo..hi {
                        let id = ProcessId(first + (index - lo) as u32);
                        add(&mut posts, address, end, Some(index), Some(id));
                    }
                }
            }
        }
        first += process.kind.instances();
    }
    posts
}

fn add(
    posts: &mut Posts,
    address: &Address,
    end: End,
    index: Option<i64>,
    process: Option<ProcessId>,
) {
    // The index of a family is its variable 0, and is never assigned to.
    let known = |var| if var == 0 { index.map(Value::Int) } else { None };
    let chosen = match &address.index {
        None => Some(0),
        Some(expr) => match constant::evaluate(expr, &known) {
            Ok(Value::Int(n)) if (0..i64::from(address.count)).contains(&n) => Some(n as u32),
            // Out of range: a violation, and no post.
            Ok(_) => return,
            Err(_) => None,
        },
    };
    match chosen {
        Some(offset) => posts.add(address.base + offset, end, process),
        None => {
            (0..address.count).for_each(|offset| posts.add(address.base + offset, end, process))
        }
    }
}

/// Does the computation of `expr` act on anything?
pub fn acts(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |expr| found |= matches!(expr.kind, ExprKind::Operation(_)));
    found
}

/// The templates that a body spawns.
pub fn spawns(block: &Expr) -> Vec<u32> {
    let mut found = Vec::new();
    visit(block, &mut |expr| {
        if let ExprKind::Operation(Operation::Spawn(process, _)) = &expr.kind {
            found.push(*process);
        }
    });
    found
}

/// Calls `each` with the expression and every one in it.
fn visit<'e>(expr: &'e Expr, each: &mut dyn FnMut(&'e Expr)) {
    each(expr);
    let mut all =
        |parts: &mut dyn Iterator<Item = &'e Expr>| parts.for_each(|part| visit(part, each));
    match &expr.kind {
        ExprKind::Error
        | ExprKind::Const(_)
        | ExprKind::Var(_)
        | ExprKind::Break
        | ExprKind::Continue => {}
        ExprKind::Unary(_, a)
        | ExprKind::Repeat(a, _)
        | ExprKind::Field(a, _)
        | ExprKind::Length(a) => {
            visit(a, each);
        }
        ExprKind::Let(_, a) | ExprKind::Loop(a) | ExprKind::Assert(a, _) => visit(a, each),
        ExprKind::Binary(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Push(a, b)
        | ExprKind::Remove(a, b)
        | ExprKind::While(a, b)
        | ExprKind::ForEach(_, a, b) => all(&mut [&**a, &**b].into_iter()),
        ExprKind::If(a, b, c) | ExprKind::ForRange(_, a, b, c) => {
            all(&mut [&**a, &**b, &**c].into_iter())
        }
        ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Call(_, parts) => {
            all(&mut parts.iter())
        }
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
