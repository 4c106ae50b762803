//! The domains of the interpreter: concrete or abstract values.

use crate::model::Value;

/// What is known of a value: everything in an execution, less in the static analysis.
pub(crate) trait Domain: Clone {
    /// A known value.
    fn known(value: Value) -> Self;

    /// A value about which nothing is known.
    fn unknown() -> Self;

    /// The number of one of the objects `base..base + count`: of the one at `place`, if it is
    /// known.
    fn object(base: u32, count: u32, place: Option<usize>) -> Self;

    /// The value, if it is known.
    fn get(&self) -> Result<&Value, Unknown>;

    /// The value for mutation, if it is known.
    fn get_mut(&mut self) -> Result<&mut Value, Unknown>;

    /// Converts to the value, if it is known.
    fn take(self) -> Result<Value, Unknown>;

    /// The values for a computation in Rust, which takes only known ones.
    fn all_known(values: &[Self]) -> Result<&[Value], Unknown>;

    /// Converts to values, if all are known.
    fn take_all(values: Vec<Self>) -> Result<Vec<Value>, Unknown>;
}

/// The error that a value is not known.
#[derive(Debug)]
pub(crate) struct Unknown;

/// The concrete domain: every value is known.
impl Domain for Value {
    fn known(value: Value) -> Value {
        value
    }

    fn unknown() -> Value {
        unreachable!("every value is known where code runs")
    }

    fn object(base: u32, _: u32, place: Option<usize>) -> Value {
        let place = place.expect("every value is known where code runs");
        Value::Int(i64::from(base) + place as i64)
    }

    fn get(&self) -> Result<&Value, Unknown> {
        Ok(self)
    }

    fn get_mut(&mut self) -> Result<&mut Value, Unknown> {
        Ok(self)
    }

    fn take(self) -> Result<Value, Unknown> {
        Ok(self)
    }

    fn all_known(values: &[Value]) -> Result<&[Value], Unknown> {
        Ok(values)
    }

    fn take_all(values: Vec<Value>) -> Result<Vec<Value>, Unknown> {
        Ok(values)
    }
}
