//! What processes send and store: values of any type that can be compared, hashed, copied and
//! shown.

use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::hash::Hash;

use crate::model::{Opaque, Value};

/// What can be sent, stored in a cell, or guarded by a mutex: any type with these properties. So
/// can handles of all objects.
///
/// Two values are the same if they are equal: then one stands for the other. So `Eq` must not
/// ignore anything that a process may act on. Debug builds check that values which are equal look
/// the same to `Debug`. If two do not, the process that sends or stores the second one fails.
/// Counterexamples show values as `Debug` does.
pub trait Data: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Data for T {}

/// Does this type have only one value, so that a value need not be handed over?
pub(super) fn is_unit<T: Data>() -> bool {
    TypeId::of::<T>() == TypeId::of::<()>()
}

/// The value in the form that objects store. They compute with integers, so integers are not
/// opaque.
pub(super) fn pack<T: Data>(value: T) -> Value {
    let any: &dyn Any = &value;
    if let Some(&number) = any.downcast_ref::<i64>() {
        return Value::Int(number);
    }
    if let Some(&holds) = any.downcast_ref::<bool>() {
        return Value::Bool(holds);
    }
    match any.is::<()>() {
        true => Value::Unit,
        false => Value::Opaque(Opaque::new(value)),
    }
}

/// The value in its own type.
///
/// # Panics
/// If it is of another type. A process that is not deterministic may get such a value; it has
/// failed then.
pub(super) fn unpack<T: Data>(value: &Value) -> T {
    view::<T>(value).clone()
}

/// The value in its own type, where it is.
///
/// # Panics
/// If it is of another type.
pub(super) fn view<T: Data>(value: &Value) -> &T {
    let any: Option<&T> = match value {
        Value::Int(number) => (number as &dyn Any).downcast_ref(),
        Value::Bool(holds) => (holds as &dyn Any).downcast_ref(),
        Value::Unit => (&() as &dyn Any).downcast_ref(),
        Value::Opaque(value) => value.get(),
        _ => None,
    };
    match any {
        Some(value) => value,
        None => panic!("{value} is no {}", std::any::type_name::<T>()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use super::*;

    fn comes_back<T: Data>(value: T, shown: impl Display) {
        let packed = pack(value.clone());
        assert_eq!(packed.to_string(), shown.to_string());
        assert_eq!(unpack::<T>(&packed), value);
    }

    #[test]
    fn values_come_back_as_they_were() {
        comes_back(-3_i64, -3);
        comes_back(3_u8, 3);
        comes_back(true, true);
        comes_back((), "()");
        comes_back(vec![Some("a".to_string()), None], r#"[Some("a"), None]"#);
    }
}
