//! What all handles are: the number of an object, whose it is, and what it is called.
//!
//! Handles can be copied, and are [`Data`](super::Data): they can be sent, stored and guarded.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::model::Object;

/// An object of a program.
#[derive(Clone, Copy)]
pub(super) struct Named<I> {
    pub(super) id: I,
    /// The number of the program.
    pub(super) program: u32,
    pub(super) name: &'static str,
}

impl<I: Copy + Into<Object>> Named<I> {
    /// The object, whatever its kind.
    pub(super) fn object(self) -> Named<Object> {
        Named { id: self.id.into(), program: self.program, name: self.name }
    }
}

impl<I: PartialEq> PartialEq for Named<I> {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, self.program) == (&other.id, other.program)
    }
}

impl<I: Eq> Eq for Named<I> {}

impl<I: Hash> Hash for Named<I> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// As a counterexample shows it.
impl<I> fmt::Debug for Named<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The name in a form that can be copied. Each name is kept once, until the end.
pub(super) fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let new = Box::leak(Box::from(name));
    names.insert(new);
    new
}

/// Handles of objects with a content of some type, which are equal if these fields are. (What is
/// derived would ask that the content can be copied.)
macro_rules! handles {
    ($($handle:ident { $($field:ident),+ })*) => {$(
        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $handle<T> {}

        impl<T> PartialEq for $handle<T> {
            fn eq(&self, other: &Self) -> bool {
                $(self.$field == other.$field)&&+
            }
        }

        impl<T> Eq for $handle<T> {}

        impl<T> std::hash::Hash for $handle<T> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                $(self.$field.hash(state);)+
            }
        }
    )*};
}
pub(super) use handles;

/// Handles that are shown by the name of their object.
macro_rules! shown {
    ($($handle:ident $(<$content:ident>)? . $field:tt),+) => {$(
        impl $(<$content>)? std::fmt::Debug for $handle $(<$content>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.$field.fmt(f)
            }
        }
    )+};
}
pub(super) use shown;
