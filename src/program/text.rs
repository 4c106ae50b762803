//! The text of an operation in a counterexample: `inbox.recv()`.

use super::process::Place;
use crate::model::{Object, Objects};

/// The text of an operation, as its author would say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    /// The object that it acts on, if it acts on one.
    pub(super) on: Option<Object>,
    /// The name of the method.
    pub(super) verb: &'static str,
}

impl Text {
    /// The text in words.
    pub(super) fn shown(self, objects: &Objects) -> String {
        match self.on {
            Some(object) => format!("{}.{}()", objects.name(object), self.verb),
            None => format!("{}()", self.verb),
        }
    }
}

/// An operation at a place: all that its site depends on. Static texts are compared and hashed by
/// their addresses, which is quick. One place may have two addresses; then it has two sites that
/// are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    on: Option<Object>,
    verb: usize,
    place: usize,
}

impl Spot {
    pub(super) fn new(Text { on, verb }: Text, place: Place) -> Spot {
        Spot { on, verb: verb.as_ptr().addr(), place: std::ptr::from_ref(place).addr() }
    }
}
