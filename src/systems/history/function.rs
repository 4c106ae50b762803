//! Updates of cells by functions that only a process has.
//!
//! Two functions cannot be compared. But after the same history a process asks for the same one. So
//! a function is known by that history.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::{Opaque, Update, Value};

/// What a function makes of the content of a cell: the value of an
/// [`Access::Update`](crate::model::Access::Update).
#[derive(Clone)]
pub struct Function {
    /// The birth of the history in which it is asked for; `None` if it is not known yet.
    by: Option<u64>,
    apply: Arc<Apply>,
}

type Apply = dyn Fn(&Value) -> Option<Value> + Send + Sync;

impl Function {
    /// This function of a content; it returns `None` if the content stays.
    pub fn new(apply: impl Fn(&Value) -> Option<Value> + Send + Sync + 'static) -> Function {
        Function { by: None, apply: Arc::new(apply) }
    }

    /// The function as a value of an operation.
    pub fn value(self) -> Value {
        Value::Opaque(Opaque::updating(self))
    }

    /// This value of an operation that is asked for in the history with this birth.
    pub(super) fn asked_in(birth: u64, value: &Value) -> Value {
        let function = match value {
            Value::Opaque(value) => value.get::<Function>(),
            _ => None,
        };
        let named = |function: &Function| Function { by: Some(birth), ..function.clone() }.value();
        function.map_or_else(|| value.clone(), named)
    }
}

impl Update for Function {
    fn update(&self, content: &Value) -> Option<Value> {
        (self.apply)(content)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.by == other.by
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.by.hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}
