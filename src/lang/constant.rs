//! Evaluates constant expressions, before the program runs.

use super::ast::{BinaryOp, Made, Quantifier, UnaryOp};
use super::diagnostic::Span;
use super::hir::{Comprehension, Expr, ExprKind, Generator, Pattern, VarId};
use super::operators;
use super::types::MAX_ELEMENTS;
use crate::model::{List, Value};

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
            if let Value::List(_) | Value::Set(_) | Value::Map(_) = &b {
                spend(elements(&b, *left), left)?;
            }
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
            let (list, index) = (evaluate(list, left)?, evaluate(index, left)?);
            operators::element(&list, &index).cloned().map_err(at)
        }
        ExprKind::Field(tuple, index) => {
            Ok(operators::field(&evaluate(tuple, left)?, *index).clone())
        }
        ExprKind::Length(list) => {
            Ok(Value::Int(operators::items(&evaluate(list, left)?).len() as i64))
        }
        ExprKind::Within(parts) => {
            let parts = all(&parts[..], left)?;
            Ok(operators::within([parts[0].int(), parts[1].int(), parts[2].int()]))
        }
        ExprKind::Collect(of) => collect(known, of, left),
        ExprKind::Quantified(quantifier, generators, condition) => {
            let of_none = *quantifier == Quantifier::Forall;
            let found = each(known, generators, left, &mut |known, left| {
                Ok(evaluate_where(known, condition, left)? == Value::Bool(of_none))
            })?;
            Ok(Value::Bool(found == of_none))
        }
        ExprKind::If(condition, then, otherwise) => match evaluate(condition, left)? {
            Value::Bool(true) => evaluate(then, left),
            _ => evaluate(otherwise, left),
        },
        ExprKind::Block(statements, value) if statements.is_empty() => evaluate(value, left),
        _ => Err(at(NOT_CONSTANT.to_owned())),
    }
}

/// The list, set or map that a comprehension makes.
fn collect(
    known: &[(VarId, Value)],
    comprehension: &Comprehension,
    left: &mut u64,
) -> Result<Value, NotConstant> {
    let Comprehension { makes, generators, condition } = comprehension;
    let mut items = Vec::new();
    each(known, generators, left, &mut |known, left| {
        let condition = condition.as_ref().map(|condition| evaluate_where(known, condition, left));
        if condition.transpose()? == Some(Value::Bool(false)) {
            return Ok(true);
        }
        if items.len() as u64 > MAX_ELEMENTS {
            return Err((makes.parts()[0].span, TOO_LONG.to_owned()));
        }
        let parts = makes.parts().iter().map(|part| evaluate_where(known, part, left));
        let mut parts = parts.collect::<Result<Vec<Value>, NotConstant>>()?;
        items.push(match makes {
            Made::Map(_) => Value::Tuple(parts.into()),
            _ => parts.pop().expect("one part"),
        });
        Ok(true)
    })?;
    let list = Value::List(List::from(items));
    let made = match makes {
        Made::List(_) => Ok(list),
        Made::Set(_) => operators::unary(UnaryOp::SetOf, &list),
        Made::Map(_) => operators::unary(UnaryOp::MapOf, &list),
    };
    Ok(made.expect("every list has a set or a map"))
}

/// Is told what is known for an element and how many steps are left; says whether to go on.
type Visit<'v> = dyn FnMut(&[(VarId, Value)], &mut u64) -> Result<bool, NotConstant> + 'v;

/// Visits all values of the generators, each with what is known then, for as long as `visit` says
/// so. Returns whether it did so for all.
fn each(
    known: &[(VarId, Value)],
    generators: &[Generator],
    left: &mut u64,
    visit: &mut Visit<'_>,
) -> Result<bool, NotConstant> {
    let Some((first, rest)) = generators.split_first() else { return visit(known, left) };
    let mut with = |value: Value, pattern: &Pattern, left: &mut u64| {
        let mut known = known.to_vec();
        bind(pattern, value, &mut known);
        each(&known, rest, left, visit)
    };
    match first {
        Generator::Range(var, lo, hi) => {
            let pattern = var.map_or(Pattern::Wild, Pattern::Bind);
            let ends = [lo, hi].map(|end| evaluate_where(known, end, left));
            let [lo, hi] = ends;
            for number in lo?.int()..hi?.int() {
                if !with(Value::Int(number), &pattern, left)? {
                    return Ok(false);
                }
            }
        }
        Generator::Each(pattern, items) => {
            for item in operators::items(&evaluate_where(known, items, left)?).iter() {
                if !with(item.clone(), pattern, left)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Adds the variables of a pattern that matches every value.
fn bind(pattern: &Pattern, value: Value, known: &mut Vec<(VarId, Value)>) {
    match pattern {
        Pattern::Bind(var) => known.push((*var, value)),
        Pattern::Tuple(parts) => {
            for (at, part) in (0..).zip(parts) {
                bind(part, operators::field(&value, at).clone(), known);
            }
        }
        Pattern::Wild | Pattern::Const(_) | Pattern::Message(..) => {}
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
        Value::List(_) | Value::Set(_) => count(operators::items(value).iter(), limit),
        Value::Map(map) => count(map.iter().flat_map(|(key, value)| [key, value]), limit),
        _ => 1,
    }
}
