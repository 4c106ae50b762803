//! What an operation depends on, by the program point: without its text being read, and without being carried out.
//!
//! In a search that stores states, what a process does is the same wherever its own part of the portrait and those
//! parts are the same that its operation looks at. Most operations look at one object and change nothing but that object and
//! their process. So what they do can be learned once for each situation, and looked up from then on.

use super::State;
use crate::model::{Locals, Met, Object, Op, ProcessId, System};

/// The parts of a [portrait](State::portrait), besides that of its process, that the choices and the effect of a process
/// depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// None.
    Own,
    /// At most this one, by its place in the portrait.
    With(usize),
    /// An actor at rest: its handlers change its own part, depending on it and on the message. And they send messages, which
    /// change the parts of the receivers, depending on these and on the messages.
    Messages,
    /// Any, or more than the portrait shows.
    Anything,
}

impl State {
    /// What the choices of the process depend on, and what its operation does to these parts.
    ///
    /// If the operation changes another part, it changes this part wherever its own and the one named here are the same, and
    /// how depends only on these three.
    pub fn scope<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> Scope {
        if !self.has_scopes(locals) {
            return Scope::Anything;
        }
        let Some(op) = locals.op(self.local(process)) else { return Scope::Own };
        match *op {
            Op::Choose { .. } | Op::Local | Op::WaitAny(_) | Op::TestAny(_) => return Scope::Own,
            Op::Join(target) => return Scope::With(self.place_of_process(target)),
            Op::Handle { .. } => return Scope::Messages,
            _ => {}
        }
        match op.object() {
            Some(object) if State::is_alone(object) => {
                Scope::With(self.place_of(locals.met(), object))
            }
            _ => Scope::Anything,
        }
    }

    /// Where the number of a process stands in a portrait, if all objects were met at once.
    pub fn place_of_process(&self, process: ProcessId) -> usize {
        self.known + process.index()
    }

    /// Where the number of an object stands in a portrait, if all objects were met at once.
    pub fn place_of(&self, met: &Met, object: Object) -> usize {
        self.objects_before(met, object)
    }

    /// Do the parts of a portrait have fixed places, and are they about one object or process each?
    pub fn has_scopes<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !locals.met().may_grow() && !self.network.is_used() && self.collectives.all.is_empty()
    }
}
