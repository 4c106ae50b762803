//! Parts of values: access, replacement and counting.

use super::{Domain, Fault};
use crate::lang::code::Step;
use crate::lang::operators;
use crate::model::Value;

/// The part of `whole` that the path of steps leads to; `indices` are the indices in the path.
pub(super) fn part<'v, V: Domain>(
    whole: &'v Value,
    steps: &[Step],
    indices: &[V],
) -> Result<&'v Value, Fault> {
    let mut indices = indices.iter();
    let mut part = whole;
    for step in steps {
        part = match *step {
            Step::Field(at) => operators::field(part, at),
            Step::Index => {
                let index = indices.next().expect("an index for each step").get()?;
                operators::element(part, index)?
            }
        };
    }
    Ok(part)
}

/// The number of values in a value, itself included; a shared value counts at each occurrence. If
/// it exceeds `limit`, some number above `limit`.
pub(super) fn size_within(value: &Value, limit: usize) -> usize {
    let all = |parts: &mut dyn Iterator<Item = &Value>| {
        let mut size = 1;
        for part in parts {
            if size > limit {
                break;
            }
            size += size_within(part, limit - size);
        }
        size
    };
    match value {
        Value::List(_) | Value::Set(_) => all(&mut operators::items(value).iter()),
        Value::Map(map) => all(&mut map.keys().items().iter().chain(map.values().iter())),
        Value::Tuple(parts) | Value::Message { args: parts, .. } => all(&mut parts.iter()),
        _ => 1,
    }
}

/// Replaces the part of `whole` that the path of steps leads to; `indices` are the indices in the
/// path.
pub(super) fn replace<V: Domain>(
    whole: &mut Value,
    steps: &[Step],
    indices: &mut std::slice::Iter<'_, V>,
    value: Value,
) -> Result<(), Fault> {
    let Some((step, rest)) = steps.split_first() else {
        *whole = value;
        return Ok(());
    };
    match (whole, step) {
        (Value::List(items), Step::Index) => {
            let index = indices.next().expect("an index for each step").get()?.int();
            let place = operators::place(index, items.len(), "the list")?;
            replace(&mut items[place], rest, indices, value)
        }
        (Value::Map(map), Step::Index) => {
            let key = indices.next().expect("an index for each step").get()?;
            if rest.is_empty() {
                map.insert(key.clone(), value);
                return Ok(());
            }
            match map.get_mut(key) {
                Some(part) => replace(part, rest, indices, value),
                None => Err(operators::no_key(map, key).into()),
            }
        }
        (Value::Tuple(parts), Step::Field(at)) => {
            let mut copy = parts.to_vec();
            replace(&mut copy[*at as usize], rest, indices, value)?;
            *parts = copy.into();
            Ok(())
        }
        (whole, step) => unreachable!("{step:?} into {whole:?} in a checked program"),
    }
}
