//! What the machine computes with: values, or what is known of them.

use crate::model::Value;

/// What is known of a value: all, where code runs; less, where it is analysed.
pub trait Domain: Clone {
    /// A value that is known.
    fn known(value: Value) -> Self;

    /// A value of which nothing is known.
    fn unknown() -> Self;

    /// The number of one of the `count` objects from `base` on: of that at `place`, if it is known
    /// which.
    fn object(base: u32, count: u32, place: Option<usize>) -> Self;

    /// The value, if it is known.
    fn get(&self) -> Result<&Value, Unknown>;

    /// As [`get`](Domain::get), to change it.
    fn get_mut(&mut self) -> Result<&mut Value, Unknown>;

    /// As [`get`](Domain::get), by value.
    fn take(self) -> Result<Value, Unknown>;

    /// These values, if all are known.
    fn take_all(values: Vec<Self>) -> Result<Vec<Value>, Unknown>;
}

/// The value is not known.
#[derive(Debug)]
pub struct Unknown;

/// Where code runs, every value is known.
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

    fn take_all(values: Vec<Value>) -> Result<Vec<Value>, Unknown> {
        Ok(values)
    }
}
