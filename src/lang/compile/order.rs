//! Loops in which the order of the values makes no difference, for the analysis of symmetry.
//!
//! A loop over `0..N` in ascending order treats indices differently: it comes to 0 first. That does
//! no harm if nobody can tell ([`crate::lang::symmetry`]). Here it is decided, by the text alone,
//! for which loops this is so:
//!
//! - *Assertions.* The body of a `for` only declares variables and asserts, also behind conditions.
//!   In any order all of it holds, or something fails.
//! - *Collecting.* The body also adds constants that are not negative to a variable, or adds
//!   elements to a set, or assigns a constant; and what is changed so is not read in the loop.
//!   (A sum of such numbers overflows in every order, or in none.)
//! - *A set of* `f(x)` *for each* `x`: all elements are computed; the set forgets the order. The
//!   same for a map if the keys are the values of the loop, so that no key comes twice.
//! - *A quantifier* stops at the first value that decides. So its condition must not be able to
//!   fail: one order would come to the failure, another one would stop before.
//!
//! No such loop contains an operation. So a process never rests in it. A loop that sends to each,
//! in whatever order, is none: the state in which only the first one has its message has an image
//! in which only another one has it, and no execution leads there. (`choose` in a `while` takes
//! them in any order.)

use super::Compiler;
use crate::lang::ast::{BinaryOp, Made, UnaryOp};
use crate::lang::code::Instr;
use crate::lang::hir::{Address, Comprehension, Expr, ExprKind, Generator, Pattern, Place, VarId};
use crate::lang::walk;
use crate::model::Value;

impl Compiler<'_> {
    /// Notes what may fail in a loop in which the order makes no difference.
    pub(super) fn mark_sure(&mut self, instr: &Instr) {
        let may_fail = match instr {
            Instr::ProcessVar { .. } => true,
            Instr::Index | Instr::Address { .. } => self.must_not_fail,
            _ => false,
        };
        if may_fail && !self.free_loops.is_empty() {
            let here = self.here();
            let is_variable = match self.code.instrs.last() {
                Some(Instr::Get(slot)) => self.free_slots.contains(slot),
                _ => false,
            };
            self.code.marks.sure.insert(here, (self.free_loops.clone(), is_variable));
        }
    }
}

/// Is the order of these values unknowable to a `for` with this body?
pub(super) fn is_for_free(body: &Expr) -> bool {
    let mut collected = Vec::new();
    only_collects(body, &mut collected) && !reads(body, &collected)
}

/// Does the value of the comprehension not depend on the order of the generators' values?
pub(super) fn is_collection_free(of: &Comprehension) -> bool {
    let computes = |expr: &Expr| is_pure(expr);
    let inner = of.generators.iter().skip(1).all(has_sure_bounds);
    let sources = inner && of.makes.parts().iter().chain(&of.condition).all(computes);
    let has_unique_keys = match &of.makes {
        Made::List(_) => false,
        Made::Set(_) => true,
        Made::Map(entry) => {
            let [key, _] = entry;
            matches!((&of.generators[..], &key.kind), ([one], ExprKind::Var(var)) if binds(one, *var))
        }
    };
    sources && has_unique_keys
}

/// Does the order of the values make no difference to a quantifier?
pub(super) fn is_quantifier_free(generators: &[Generator], condition: &Expr) -> bool {
    generators.iter().skip(1).all(has_sure_bounds) && is_sure(condition)
}

/// Can an expression not fail, and not act?
fn is_sure(condition: &Expr) -> bool {
    use ExprKind::*;
    let all = |parts: &[&Expr]| parts.iter().all(|part| is_sure(part));
    match &condition.kind {
        Const(_) | Var(_) => true,
        Unary(UnaryOp::Not | UnaryOp::Keys, of) | Field(of, _) | Length(of) => is_sure(of),
        Binary(op, left, right) => {
            use BinaryOp::*;
            let computes = matches!(op, Add | Sub | Mul | Div | Rem);
            !computes && all(&[left, right])
        }
        Tuple(parts) | List(parts) => parts.iter().all(is_sure),
        Within(parts) => parts.iter().all(is_sure),
        If(condition, then, otherwise) => all(&[condition, then, otherwise]),
        Quantified(_, generators, condition) => {
            generators.iter().all(has_sure_bounds) && is_sure(condition)
        }
        // Whether the place exists is seen when all types are known.
        Index(list, at) => is_sure(list) && is_plain(at),
        Peek(address) | Pending(address) => is_sure_address(address),
        ProcessVar { index, .. } => index.as_deref().is_none_or(is_plain),
        _ => false,
    }
}

fn has_sure_bounds(generator: &Generator) -> bool {
    match generator {
        Generator::Range(_, from, to) => is_plain(from) && is_plain(to),
        Generator::Each(_, items) => is_sure(items),
    }
}

fn is_sure_address(address: &Address) -> bool {
    address.index.as_deref().is_none_or(is_plain)
}

fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Var(_))
}

fn binds(generator: &Generator, var: VarId) -> bool {
    match generator {
        Generator::Range(bound, ..) => *bound == Some(var),
        Generator::Each(pattern, _) => matches!(pattern, Pattern::Bind(bound) if *bound == var),
    }
}

/// Does it only compute a value?
fn is_pure(expr: &Expr) -> bool {
    let mut is_pure = true;
    walk::visit(expr, &mut |expr| {
        use ExprKind::*;
        is_pure &= !matches!(
            expr.kind,
            Operation(_)
                | Perform(..)
                | Assign(..)
                | While(..)
                | Loop(_)
                | For(..)
                | Break
                | Continue
                | Return(_)
                | Assert(..)
                | Send(..)
                | Create(..)
        );
    });
    is_pure
}

/// Does the body of a loop only assert and collect? Adds the variables in which it collects.
fn only_collects(body: &Expr, collected: &mut Vec<VarId>) -> bool {
    match &body.kind {
        ExprKind::Const(Value::Unit) => true,
        ExprKind::Let(_, value) => is_pure(value),
        ExprKind::Assert(condition, _) => is_pure(condition),
        ExprKind::Block(statements, value) => {
            statements.iter().chain([&**value]).all(|one| only_collects(one, collected))
        }
        ExprKind::If(condition, then, otherwise) => {
            is_pure(condition)
                && only_collects(then, collected)
                && only_collects(otherwise, collected)
        }
        ExprKind::For(generator, body) => {
            let is_pure = match &**generator {
                Generator::Range(_, from, to) => is_plain(from) && is_plain(to),
                Generator::Each(_, items) => is_pure(items),
            };
            is_pure && only_collects(body, collected)
        }
        ExprKind::Assign(Place::Local(var, path), op, value) if path.is_empty() => {
            collected.push(*var);
            collects(*var, *op, value)
        }
        _ => false,
    }
}

/// Does the assignment to `var` have the same effect in any order, if the variable is not read?
fn collects(var: VarId, op: Option<BinaryOp>, value: &Expr) -> bool {
    match (op, &value.kind) {
        (Some(BinaryOp::Add), ExprKind::Const(Value::Int(n))) => *n >= 0,
        (None, ExprKind::Const(_)) => true,
        (None, ExprKind::Binary(BinaryOp::Union, left, right)) => {
            // Not a map, in which the last value of a key counts.
            let is_set = matches!(right.kind, ExprKind::Unary(UnaryOp::SetOf, _));
            matches!(left.kind, ExprKind::Var(one) if one == var) && is_set && is_pure(right)
        }
        _ => false,
    }
}

/// Does the body read one of these variables, other than to add to it? Two assignments to one
/// variable count as that, unless they are the same kind of addition.
fn reads(body: &Expr, collected: &[VarId]) -> bool {
    let (mut read, mut own) = (0, 0);
    let mut assigned: Vec<(VarId, Option<&Value>, u8)> = Vec::new();
    walk::visit(body, &mut |expr| match &expr.kind {
        ExprKind::Var(var) => read += usize::from(collected.contains(var)),
        ExprKind::Assign(Place::Local(var, _), op, value) => match (&value.kind, op) {
            (ExprKind::Const(_), Some(_)) => assigned.push((*var, None, 0)),
            (ExprKind::Const(constant), None) => assigned.push((*var, Some(constant), 1)),
            (_, _) => {
                own += 1;
                assigned.push((*var, None, 2));
            }
        },
        _ => {}
    });
    let disagree = |one: &(VarId, Option<&Value>, u8)| {
        assigned.iter().any(|other| one.0 == other.0 && (one.1, one.2) != (other.1, other.2))
    };
    read > own || assigned.iter().any(disagree)
}
