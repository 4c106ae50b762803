//! A function, by itself.

use super::{Machine, Rest, World};
use crate::lang::code::Code;
use crate::model::{Failure, Value};

/// The world of a function that is called by itself.
struct Alone;

impl World for Alone {
    type Value = Value;
}

/// The value of a function for these arguments.
pub fn apply(code: &Code, function: u32, arguments: Vec<Value>) -> Result<Value, Failure> {
    // It is called from no instruction; a failure shows that of the function.
    let mut machine = Machine::new(code, Alone, arguments, 1);
    if let Err(fault) = machine.call(function) {
        return match machine.fail(machine.pc, fault) {
            Rest::Failed(failure) => Err(failure),
            other => unreachable!("{other:?} of a function"),
        };
    }
    while machine.is_in_call() {
        match machine.advance() {
            None => {}
            Some(Rest::Failed(failure)) => return Err(failure),
            Some(other) => unreachable!("{other:?} in a function"),
        }
    }
    Ok(machine.pop())
}
