//! Values that are known before the program runs.

use super::ast::BinaryOp;
use super::diagnostic::Span;
use super::hir::{Expr, ExprKind, VarId};
use super::operators;
use crate::model::Value;

/// What is said of an expression that depends on more than constants.
pub const NOT_CONSTANT: &str = "this is not constant";

/// Why an expression has no constant value, and which part of it is to blame.
pub type NotConstant = (Span, String);

/// The value of `expr`, if it depends on nothing but constants and the variables that `known` knows.
pub fn evaluate(expr: &Expr, known: &dyn Fn(VarId) -> Option<Value>) -> Result<Value, NotConstant> {
    let at = |fault: String| (expr.span, fault);
    let all = |parts: &[Expr]| {
        parts.iter().map(|part| evaluate(part, known)).collect::<Result<Vec<_>, _>>()
    };
    match &expr.kind {
        ExprKind::Const(value) => Ok(value.clone()),
        // Reported already.
        ExprKind::Error => Err((expr.span, String::new())),
        ExprKind::Var(var) => known(*var).ok_or_else(|| at(NOT_CONSTANT.to_owned())),
        ExprKind::Unary(op, operand) => {
            operators::unary(*op, &evaluate(operand, known)?).map_err(at)
        }
        ExprKind::Binary(BinaryOp::And, a, b) => match evaluate(a, known)? {
            Value::Bool(false) => Ok(Value::Bool(false)),
            _ => evaluate(b, known),
        },
        ExprKind::Binary(BinaryOp::Or, a, b) => match evaluate(a, known)? {
            Value::Bool(true) => Ok(Value::Bool(true)),
            _ => evaluate(b, known),
        },
        ExprKind::Binary(op, a, b) => {
            operators::binary(*op, &evaluate(a, known)?, &evaluate(b, known)?).map_err(at)
        }
        ExprKind::Tuple(parts) => Ok(Value::Tuple(all(parts)?.into())),
        ExprKind::List(items) => Ok(Value::List(all(items)?.into())),
        ExprKind::Repeat(item, count) => Ok(repeat(&evaluate(item, known)?, *count)),
        ExprKind::Index(list, index) => {
            let list = evaluate(list, known)?;
            let items = operators::list(&list);
            let index = evaluate(index, known)?.int();
            let place = operators::place(index, items.len(), "the list").map_err(at)?;
            Ok(items[place].clone())
        }
        ExprKind::Field(tuple, index) => {
            Ok(operators::field(&evaluate(tuple, known)?, *index).clone())
        }
        ExprKind::Length(list) => {
            Ok(Value::Int(operators::list(&evaluate(list, known)?).len() as i64))
        }
        ExprKind::If(condition, then, otherwise) => match evaluate(condition, known)? {
            Value::Bool(true) => evaluate(then, known),
            _ => evaluate(otherwise, known),
        },
        ExprKind::Block(statements, value) if statements.is_empty() => evaluate(value, known),
        _ => Err(at(NOT_CONSTANT.to_owned())),
    }
}

/// `[item; count]`
pub fn repeat(item: &Value, count: u32) -> Value {
    Value::List((0..count).map(|_| item.clone()).collect())
}
