//! Canonical local states, without what does not matter for the future: the values of variables
//! that are never read again, and the numbers of requests.
//!
//! Requests are numbered for each process in the order in which they are made. So a process that
//! has come to the same point after more requests has other numbers for its open requests. If these
//! are renumbered from 0, in order of age, the local states become equal.

use crate::lang::program::{Local, Program};
use crate::model::{Handle, Value};

impl Program {
    /// The local state with unit in place of dead variables; `None` if there are none. A failed
    /// process keeps all values, because reports show them.
    pub(super) fn without_dead(&self, local: &Local) -> Option<Local> {
        let dead = self.code.dead.get(&local.pc).filter(|_| local.failure.is_none())?;
        let mut alive = local.clone();
        for &slot in dead {
            alive.stack[slot as usize] = Value::Unit;
        }
        if self.code.remembers_values {
            alive.books.forget_unnamed(&alive.stack);
        }
        Some(alive)
    }

    /// The local state with its requests renumbered from 0, and their former numbers in the new
    /// order.
    pub(super) fn renumbered(&self, local: &Local) -> (Local, Vec<Handle>) {
        let mut requests: Vec<Handle> = local.books.requests().collect();
        local.stack.iter().for_each(|value| collect(value, &mut requests));
        requests.sort_unstable();
        requests.dedup();
        if requests.iter().enumerate().all(|(number, handle)| handle.index() == number) {
            return (local.clone(), requests);
        }
        let name = |handle: Handle| {
            let number = requests.binary_search(&handle).expect("a request that was collected");
            Handle(number as u32)
        };
        let stack = local.stack.iter().map(|value| renamed(value, &name)).collect();
        (Local { stack, books: local.books.renamed(&name), ..local.clone() }, requests)
    }
}

fn collect(value: &Value, requests: &mut Vec<Handle>) {
    match value {
        Value::Comm(handle) => requests.push(*handle),
        Value::Tuple(parts) => parts.iter().for_each(|part| collect(part, requests)),
        Value::List(items) => items.iter().for_each(|item| collect(item, requests)),
        // There are none in keys and in sets.
        Value::Map(map) => map.values().iter().for_each(|item| collect(item, requests)),
        _ => {}
    }
}

fn renamed(value: &Value, name: &dyn Fn(Handle) -> Handle) -> Value {
    match value {
        Value::Comm(handle) => Value::Comm(name(*handle)),
        Value::Tuple(parts) => Value::Tuple(parts.iter().map(|part| renamed(part, name)).collect()),
        Value::List(items) => Value::List(items.iter().map(|item| renamed(item, name)).collect()),
        Value::Map(map) => Value::Map(map.valued(|item| renamed(item, name))),
        other => other.clone(),
    }
}
