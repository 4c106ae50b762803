//! Updates of cells: what becomes of a content is decided when the step is made.
//!
//! An update that its name and its operands determine is a [`Change`]; two of them are the same if
//! these are equal. What a function of the user makes of a content is known by the history in which
//! its process asks for it ([`Function`]). A panic leaves the content as it is. So a process that
//! has been told the content does the same again, and panics itself.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::data::{Data, pack, view};
use super::panics;
use super::spawning::Start;
use crate::model::{Access, CellId, Op, Opaque, Update, Value};
use crate::systems::history::{Asked, Function};

/// A change of a content of type `T`, with these operands.
#[derive(Clone)]
pub(super) struct Change<T, A> {
    pub(super) verb: &'static str,
    pub(super) operands: A,
    /// A function that the verb determines. The new content, or `None` if it stays.
    apply: fn(&T, &A) -> Option<T>,
}

impl<T: Data, A: Data> Change<T, A> {
    pub(super) fn new(verb: &'static str, operands: A, apply: fn(&T, &A) -> Option<T>) -> Self {
        Change { verb, operands, apply }
    }

    /// The change as an operation on a cell.
    pub(super) fn asked(&self, cell: CellId) -> Asked<Start> {
        let value = Value::Opaque(Opaque::updating(self.clone()));
        Asked::with(value, |value| Op::Access(cell, Access::Update(value)))
    }
}

impl<T, A: PartialEq> PartialEq for Change<T, A> {
    fn eq(&self, other: &Self) -> bool {
        (self.verb, &self.operands) == (other.verb, &other.operands)
    }
}

impl<T, A: Eq> Eq for Change<T, A> {}

impl<T, A: Hash> Hash for Change<T, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.verb, &self.operands).hash(state);
    }
}

impl<T, A: fmt::Debug> fmt::Debug for Change<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operands.fmt(f)
    }
}

impl<T: Data, A: Data> Update for Change<T, A> {
    fn update(&self, content: &Value) -> Option<Value> {
        applied(content, |content: &T| (self.apply)(content, &self.operands))
    }
}

/// The operation that makes of a cell's content what this function makes of it; `None` if the
/// content stays.
pub(super) fn by_function<T: Data>(
    cell: CellId,
    function: impl Fn(&T) -> Option<T> + Send + Sync + 'static,
) -> Asked<Start> {
    let function = Function::new(move |content| applied(content, &function));
    Asked::with(function.value(), |value| Op::Access(cell, Access::Update(value)))
}

/// What becomes of the content.
fn applied<T: Data>(content: &Value, function: impl Fn(&T) -> Option<T>) -> Option<Value> {
    let new = panics::guarded(|| function(view::<T>(content)));
    new.ok().flatten().map(pack)
}

/// The integer types.
pub trait Integer: Data + Copy + Ord {
    /// The sum, if it is in the range of the type.
    fn plus(self, other: Self) -> Option<Self>;

    /// The difference, if it is in the range of the type.
    fn less(self, other: Self) -> Option<Self>;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Integer for $integer {
            fn plus(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }

            fn less(self, other: Self) -> Option<Self> {
                self.checked_sub(other)
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }
