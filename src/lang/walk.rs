//! Traversals of checked expressions: subexpressions, outer ones first, and called procedures.
//!
//! A body does not contain the bodies of the procedures that it calls; [`within`] adds them.

use super::hir::{Address, Expr, ExprKind, Generator, Operation, Place, Procedure, Projection};

/// The expression and the bodies of the procedures that it calls, directly or indirectly, each
/// once.
pub(crate) fn within<'e>(expr: &'e Expr, procedures: &'e [Procedure]) -> Vec<&'e Expr> {
    let mut called = vec![false; procedures.len()];
    let mut found = vec![expr];
    let mut next = 0;
    while let Some(&body) = found.get(next) {
        next += 1;
        for procedure in calls(body) {
            if !std::mem::replace(&mut called[procedure as usize], true) {
                found.push(&procedures[procedure as usize].body.block);
            }
        }
    }
    found
}

/// The procedures that are called in the expression itself: one entry for each call.
pub(crate) fn calls(expr: &Expr) -> Vec<u32> {
    let mut found = Vec::new();
    visit(expr, &mut |expr| {
        if let ExprKind::Perform(procedure, _) = expr.kind {
            found.push(procedure);
        }
    });
    found
}

/// Does `expr` contain an operation or a call of a procedure?
pub(crate) fn acts(expr: &Expr) -> bool {
    let mut found = false;
    visit(expr, &mut |expr| {
        found |= matches!(expr.kind, ExprKind::Operation(_) | ExprKind::Perform(..));
    });
    found
}

/// Calls `each` with the expression and every one in it. An object among the arguments of an
/// operation is not an expression, but its index is one.
pub(crate) fn visit<'e>(expr: &'e Expr, each: &mut dyn FnMut(&'e Expr)) {
    if !matches!(expr.kind, ExprKind::Object(_)) {
        each(expr);
    }
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
        | ExprKind::Send(a, b) => all(&mut [&**a, &**b].into_iter()),
        ExprKind::If(a, b, c) => all(&mut [&**a, &**b, &**c].into_iter()),
        ExprKind::Within(parts) => all(&mut parts.iter()),
        ExprKind::For(generator, body) => all(&mut sources(generator).chain([&**body])),
        ExprKind::Quantified(_, generators, condition) => {
            all(&mut generators.iter().flat_map(sources).chain([&**condition]))
        }
        ExprKind::Collect(of) => {
            let sources = of.generators.iter().flat_map(sources);
            all(&mut sources.chain(&of.condition).chain(of.makes.parts()))
        }
        ExprKind::Tuple(parts)
        | ExprKind::List(parts)
        | ExprKind::Call(_, parts)
        | ExprKind::Perform(_, parts)
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
        ExprKind::Object(address) | ExprKind::Peek(address) | ExprKind::Pending(address) => {
            all(&mut index_of(address).into_iter())
        }
        ExprKind::ProcessVar { index, .. } => all(&mut index.iter().map(|index| &**index)),
        ExprKind::Operation(operation) => all(&mut arguments(operation).into_iter()),
    }
}

/// What is evaluated to know what the generator's variables take.
fn sources(generator: &Generator) -> impl Iterator<Item = &Expr> {
    let (one, other) = match generator {
        Generator::Range(_, lo, hi) => (lo, Some(hi)),
        Generator::Each(_, items) => (items, None),
    };
    std::iter::once(one).chain(other)
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

/// The argument expressions of an operation.
fn arguments(operation: &Operation) -> Vec<&Expr> {
    match operation {
        Operation::One { args, .. }
        | Operation::On(_, args)
        | Operation::Unreliable { args, .. } => args.iter().collect(),
        Operation::Timed { args, otherwise, .. } => args.iter().chain([&**otherwise]).collect(),
        Operation::Cancel(a) | Operation::WaitAll(a) | Operation::Received(a) => vec![a],
    }
}
