//! The semantics of operators, shared by the evaluation of constants and the interpreter.

use std::fmt::Display;

use super::ast::{BinaryOp, UnaryOp};
use crate::model::{List, Map, Set, Value};

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
        (UnaryOp::Keys, Value::Map(map)) => Ok(Value::Set(map.keys().clone())),
        (UnaryOp::Values, Value::Map(map)) => Ok(Value::List(map.values().clone())),
        (UnaryOp::SetOf, Value::List(items)) => Ok(Value::Set(Set::from(items.clone()))),
        (UnaryOp::MapOf, Value::List(pairs)) => {
            let entry = |pair| (field(pair, 0).clone(), field(pair, 1).clone());
            Ok(Value::Map(Map::from_iter(pairs.iter().map(entry))))
        }
        (op, value) => unreachable!("{op:?} of {value:?} in a checked program"),
    }
}

/// Applies a binary operator, except the short-circuiting `&&` and `||`.
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Eq => return Ok(Value::Bool(left == right)),
        BinaryOp::Ne => return Ok(Value::Bool(left != right)),
        BinaryOp::In
        | BinaryOp::Subset
        | BinaryOp::Union
        | BinaryOp::Intersect
        | BinaryOp::Minus => return Ok(of_sets(op, left, right)),
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
        _ => unreachable!("{op:?} is not computed here"),
    };
    let text = op.text();
    result
        .map(Value::Int)
        .ok_or_else(|| format!("overflow: {a} {text} {b} does not fit into 64 bits"))
}

/// An operator of sets and maps.
fn of_sets(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match (op, left, right) {
        (BinaryOp::In, item, Value::Set(set)) => Value::Bool(set.contains(item)),
        (BinaryOp::In, item, list) => Value::Bool(items(list).iter().any(|other| other == item)),
        (BinaryOp::Subset, Value::Set(a), Value::Set(b)) => Value::Bool(a.is_subset(b)),
        (BinaryOp::Union, Value::Set(a), Value::Set(b)) => Value::Set(a.union(b)),
        (BinaryOp::Intersect, Value::Set(a), Value::Set(b)) => Value::Set(a.intersection(b)),
        (BinaryOp::Minus, Value::Set(a), Value::Set(b)) => Value::Set(a.difference(b)),
        (BinaryOp::Union, Value::Map(a), Value::Map(b)) => Value::Map(a.union(b)),
        (BinaryOp::Minus, Value::Map(map), Value::Set(keys)) => Value::Map(map.without(keys)),
        (op, a, b) => unreachable!("{a:?} {op:?} {b:?} in a checked program"),
    }
}

/// Is the number one of `lo..hi`?
pub(crate) fn within([number, lo, hi]: [i64; 3]) -> Value {
    Value::Bool((lo..hi).contains(&number))
}

/// The items of a list or a set, in order, or the keys of a map.
#[inline]
pub(crate) fn items(value: &Value) -> &List {
    match value {
        Value::List(items) => items,
        Value::Set(set) => set.items(),
        Value::Map(map) => map.keys().items(),
        other => unreachable!("expected a collection, found {other:?}"),
    }
}

/// The element of a list or a set at this place, or the value of this key of a map.
pub(crate) fn element<'v>(collection: &'v Value, at: &Value) -> Result<&'v Value, Fault> {
    if let Value::Map(map) = collection {
        return map.get(at).ok_or_else(|| no_key(map, at));
    }
    let items = items(collection);
    Ok(&items[place(at.int(), items.len(), "the list")?])
}

/// The message for a key that the map does not have. Names of variants are not known here.
pub(crate) fn no_key(map: &Map, key: &Value) -> Fault {
    /// The most keys that the message shows.
    const MOST: usize = 10;
    if !is_plain(key) {
        return "the map does not have this key".to_owned();
    }
    let keys = map.keys().items();
    match keys.len() {
        0 => format!("the map does not have the key {key}: it is empty"),
        1..=MOST => {
            let keys: Vec<_> = keys.iter().map(Value::to_string).collect();
            format!("the map does not have the key {key}: its keys are {}", keys.join(", "))
        }
        count => format!("the map does not have the key {key}, but {count} others"),
    }
}

/// Does it consist of integers and truth values?
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Bool(_) => true,
        Value::Tuple(parts) => parts.iter().all(is_plain),
        Value::List(_) | Value::Set(_) => items(value).iter().all(is_plain),
        _ => false,
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
        Value::List(_) | Value::Set(_) => {
            items(value).iter().all(|item| is_small(item, depth, carried))
        }
        Value::Map(map) => map
            .iter()
            .all(|(key, value)| is_small(key, depth, carried) && is_small(value, depth, carried)),
        _ => true,
    }
}
