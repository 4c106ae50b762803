//! What an operation depends on, known from the operation alone, without carrying it out.
//!
//! In a search that stores states, an operation does the same in all states that have equal parts
//! of the portrait for its process and for what the operation reads. Most operations read one
//! object and change only that object and their process. So what they do can be learned once for
//! each such situation, and looked up from then on.

use super::State;
use crate::model::{Locals, Op, ProcessId, System};

/// The parts of a [portrait](State::portrait), besides the part of its process, that the choices
/// and the effect of a process depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// No other part.
    Own,
    /// At most the part at this index of the portrait.
    With(usize),
    /// An actor at rest. A handler changes the part of its actor, depending on this part and on the
    /// message. It also sends messages, which change the parts of their receivers, depending on
    /// these parts and on the messages.
    Messages,
    /// Any part, or more than the portrait shows.
    Anything,
}

impl State {
    /// The parts that the choices of the process, and the effect of its operation, depend on.
    ///
    /// If the operation changes a third part, it does so in all states that have equal parts for
    /// the process and for the object named here, and the change depends only on these three parts.
    pub(crate) fn scope<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> Scope {
        if !locals.objects().has_fixed_parts() {
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
                Scope::With(self.place_of(locals.objects(), object))
            }
            _ => Scope::Anything,
        }
    }

    /// The index of a process in a portrait, if all objects were in the table from the start.
    pub(crate) fn place_of_process(&self, process: ProcessId) -> usize {
        self.known + process.index()
    }
}
