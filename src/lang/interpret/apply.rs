//! Applies a function outside of any process.

use super::{Machine, Rest, World};
use crate::lang::code::Code;
use crate::model::{Failure, Value};

/// The world of such a function: it accesses nothing.
struct FunctionWorld;

impl World for FunctionWorld {
    type Value = Value;
}

/// The value of a function for these arguments.
///
/// # Errors
/// If the function fails.
pub(crate) fn apply(code: &Code, function: u32, arguments: Vec<Value>) -> Result<Value, Failure> {
    // There is no instruction that calls the function, so a failure has the site of an instruction
    // of the function.
    let mut machine = Machine::new(code, FunctionWorld, arguments, 1);
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
