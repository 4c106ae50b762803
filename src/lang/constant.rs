//! Evaluates constant expressions, before the program runs.

use super::ast::BinaryOp;
use super::diagnostic::Span;
use super::hir::{Expr, ExprKind, VarId};
use super::operators;
use crate::model::Value;

/// The message for an expression that depends on more than constants.
pub(crate) const NOT_CONSTANT: &str = "this is not constant";

/// The message for an expression that takes too many steps.
pub(crate) const TOO_LONG: &str = "this takes too long to compute";

/// Why an expression has no constant value, and which part of it is to blame.
pub(crate) type NotConstant = (Span, String);

/// The value of `expr`, if it depends only on constants. Evaluation takes at most `left` steps; the
/// steps are subtracted from `left`. To make or compare an element is a step.
///
/// # Errors
/// If the expression is not constant, takes too many steps, or has no value (a division by zero,
/// for example).
pub(crate) fn evaluate(expr: &Expr, left: &mut u64) -> Result<Value, NotConstant> {
    evaluate_where(&[], expr, left)
}

/// The same, where some variables have known values.
pub(crate) fn evaluate_where(
    known: &[(VarId, Value)],
    expr: &Expr,
    left: &mut u64,
) -> Result<Value, NotConstant> {
    let evaluate = |expr: &Expr, left: &mut u64| evaluate_where(known, expr, left);
    let at = |fault: String| (expr.span, fault);
    let spend = |steps: u64, left: &mut u64| match left.checked_sub(steps) {
        Some(fewer) => {
            *left = fewer;
            Ok(())
        }
        None => {
            *left = 0;
            Err(at(TOO_LONG.to_owned()))
        }
    };
    spend(1, left)?;
    let all = |parts: &[Expr], left: &mut u64| {
        parts.iter().map(|part| evaluate(part, left)).collect::<Result<Vec<_>, _>>()
    };
    match &expr.kind {
        ExprKind::Const(value) => Ok(value.clone()),
        ExprKind::Var(var) => {
            let value = known.iter().find(|(it, _)| it == var).map(|(_, value)| value.clone());
            value.ok_or_else(|| at(NOT_CONSTANT.to_owned()))
        }
        // Reported already.
        ExprKind::Error => Err((expr.span, String::new())),
        ExprKind::Unary(op, operand) => {
            operators::unary(*op, &evaluate(operand, left)?).map_err(at)
        }
        ExprKind::Binary(BinaryOp::And, a, b) => match evaluate(a, left)? {
            Value::Bool(false) => Ok(Value::Bool(false)),
            _ => evaluate(b, left),
        },
        ExprKind::Binary(BinaryOp::Or, a, b) => match evaluate(a, left)? {
            Value::Bool(true) => Ok(Value::Bool(true)),
            _ => evaluate(b, left),
        },
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, left)?, evaluate(b, left)?);
            spend(elements(&a, *left), left)?;
            operators::binary(*op, &a, &b).map_err(at)
        }
        ExprKind::Tuple(parts) => Ok(Value::Tuple(all(parts, left)?.into())),
        ExprKind::List(items) => Ok(Value::List(all(items, left)?.into())),
        ExprKind::Repeat(item, count) => {
            let item = evaluate(item, left)?;
            let each = elements(&item, *left);
            spend(each.saturating_mul(u64::from(*count)), left)?;
            Ok(repeat(&item, *count))
        }
        ExprKind::Index(list, index) => {
            let list = evaluate(list, left)?;
            let items = operators::list(&list);
            let index = evaluate(index, left)?.int();
            let place = operators::place(index, items.len(), "the list").map_err(at)?;
            Ok(items[place].clone())
        }
        ExprKind::Field(tuple, index) => {
            Ok(operators::field(&evaluate(tuple, left)?, *index).clone())
        }
        ExprKind::Length(list) => {
            Ok(Value::Int(operators::list(&evaluate(list, left)?).len() as i64))
        }
        ExprKind::If(condition, then, otherwise) => match evaluate(condition, left)? {
            Value::Bool(true) => evaluate(then, left),
            _ => evaluate(otherwise, left),
        },
        ExprKind::Block(statements, value) if statements.is_empty() => evaluate(value, left),
        _ => Err(at(NOT_CONSTANT.to_owned())),
    }
}

/// `[item; count]`
pub(crate) fn repeat(item: &Value, count: u32) -> Value {
    Value::List((0..count).map(|_| item.clone()).collect())
}

/// The number of values without parts in a value; at most `limit + 1`.
pub(crate) fn elements(value: &Value, limit: u64) -> u64 {
    fn count<'v>(items: impl IntoIterator<Item = &'v Value>, limit: u64) -> u64 {
        let mut total = 0;
        for item in items {
            total += elements(item, limit - total);
            if total > limit {
                break;
            }
        }
        total
    }
    match value {
        Value::Tuple(parts) => count(&**parts, limit),
        Value::List(items) => count(items.iter(), limit),
        _ => 1,
    }
}
