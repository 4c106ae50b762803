//! The semantics of operators, shared by the evaluation of constants and the interpreter.

use std::fmt::Display;

use super::ast::{BinaryOp, UnaryOp};
use crate::model::{List, Value};

/// Why an operator has no value, in a sentence.
pub(crate) type Fault = String;

/// Applies a unary operator.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> Result<Value, Fault> {
    match (op, value) {
        (UnaryOp::Neg, Value::Int(n)) => n
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(|| format!("overflow: -({n}) does not fit into 64 bits")),
        (UnaryOp::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
        (op, value) => unreachable!("{op:?} of {value:?} in a checked program"),
    }
}

/// Applies a binary operator, except the short-circuiting `&&` and `||`.
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Eq => return Ok(Value::Bool(left == right)),
        BinaryOp::Ne => return Ok(Value::Bool(left != right)),
        _ => {}
    }
    let (a, b) = (left.int(), right.int());
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div if b == 0 => return Err(format!("division by zero: {a} / 0")),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem if b == 0 => return Err(format!("division by zero: {a} % 0")),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::Lt => return Ok(Value::Bool(a < b)),
        BinaryOp::Le => return Ok(Value::Bool(a <= b)),
        BinaryOp::Gt => return Ok(Value::Bool(a > b)),
        BinaryOp::Ge => return Ok(Value::Bool(a >= b)),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => {
            unreachable!("{op:?} is not computed here")
        }
    };
    let text = op.text();
    result
        .map(Value::Int)
        .ok_or_else(|| format!("overflow: {a} {text} {b} does not fit into 64 bits"))
}

/// The items of a list.
pub(crate) fn list(value: &Value) -> &List {
    match value {
        Value::List(items) => items,
        other => unreachable!("expected a list, found {other:?}"),
    }
}

/// Converts `index` to a position in something of this length; `what` is its name for the message.
pub(crate) fn place(index: i64, length: usize, what: impl Display) -> Result<usize, Fault> {
    usize::try_from(index)
        .ok()
        .filter(|&index| index < length)
        .ok_or_else(|| format!("index {index} is out of range: {what} has {}", elements(length)))
}

fn elements(count: usize) -> String {
    match count {
        0 => "no elements".to_owned(),
        1 => "1 element".to_owned(),
        n => format!("{n} elements"),
    }
}

/// Component `index` of a tuple or a message.
pub(crate) fn field(value: &Value, index: u32) -> &Value {
    match value {
        Value::Tuple(parts) | Value::Message { args: parts, .. } => &parts[index as usize],
        other => unreachable!("expected a tuple or a message, found {other:?}"),
    }
}

/// The deepest nesting of messages in messages. Without bounds, a program that wraps messages in a
/// loop would build values that take too much time or stack to compare.
const MAX_DEPTH: u32 = 100;
/// The most messages in a message, in total.
const MAX_CARRIED: u32 = 10_000;

/// A message with this name (by number) and these arguments.
///
/// # Errors
/// If it contains too many messages.
pub(crate) fn message(name: u32, args: Vec<Value>) -> Result<Value, Fault> {
    let mut carried = 0;
    if args.iter().all(|arg| is_small(arg, MAX_DEPTH, &mut carried)) {
        return Ok(Value::Message { name, args: args.into() });
    }
    Err(format!(
        "a message within too many messages: more than {MAX_DEPTH} deep, or more than {MAX_CARRIED} in all"
    ))
}

fn is_small(value: &Value, depth: u32, carried: &mut u32) -> bool {
    match value {
        Value::Message { args, .. } => {
            *carried += 1;
            let within = depth > 0 && *carried <= MAX_CARRIED;
            within && args.iter().all(|arg| is_small(arg, depth - 1, carried))
        }
        Value::Tuple(parts) => parts.iter().all(|part| is_small(part, depth, carried)),
        Value::List(items) => items.iter().all(|item| is_small(item, depth, carried)),
        _ => true,
    }
}
