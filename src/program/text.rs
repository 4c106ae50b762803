//! The text of an operation in a counterexample: `inbox.recv()`.

use super::handle::Named;
use super::process::Place;
use crate::model::Object;

/// The text of an operation, as its author would say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    /// The object that it acts on, if it acts on one.
    pub(super) on: Option<Named<Object>>,
    /// The name of the method.
    pub(super) verb: &'static str,
}

impl Text {
    /// The text of an operation on this object.
    pub(super) fn on(object: Named<impl Copy + Into<Object>>, verb: &'static str) -> Text {
        Text { on: Some(object.object()), verb }
    }

    /// The text in words.
    pub(super) fn shown(self) -> String {
        match self.on {
            Some(object) => format!("{}.{}()", object.name, self.verb),
            None => format!("{}()", self.verb),
        }
    }
}

/// An operation at a place: all that its site depends on. Static texts are compared and hashed by
/// their addresses, which is quick. One place may have two addresses; then it has two sites that
/// are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    on: Option<Named<Object>>,
    verb: usize,
    place: usize,
}

impl Spot {
    pub(super) fn new(Text { on, verb }: Text, place: Place) -> Spot {
        Spot { on, verb: verb.as_ptr().addr(), place: std::ptr::from_ref(place).addr() }
    }
}
