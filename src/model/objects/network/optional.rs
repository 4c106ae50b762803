//! What may happen, but need not: the early end of a communication that may be late as well
//! ([`Completion::Either`]).
//!
//! MPI lets an implementation buffer a standard send, or not, and lets a rank leave a collective
//! before others have entered, or not; each time anew. Such a communication *may* end early, so the
//! process that waits for it has an enabled action. But if nothing else is enabled anywhere,
//! nothing need ever happen again: an implementation that does not buffer these sends stands still.
//! So the executions are those with infinite buffering, and the choice "buffered or not" for each
//! send becomes a question about their states: is everything enabled *optional*? No search has to
//! explore these choices. (In such a state, take the sends whose waits were carried out as
//! buffered, and the other sends as not buffered. And every execution of an implementation is one
//! of these executions: it only does less.)

use super::super::Posted;
use crate::model::state::State;
use crate::model::{Action, Completion, Locals, Op, ProcessId, System};

impl State {
    /// May this enabled action be delayed for ever?
    pub fn is_optional<S: System>(&self, locals: &Locals<'_, S>, action: Action) -> bool {
        let op = locals.op(self.local(action.process));
        op.is_some_and(|op| self.is_optional_at(op, action))
    }

    /// May this enabled action, which carries out `op`, be delayed for ever?
    pub(in crate::model) fn is_optional_at(&self, op: &Op, action: Action) -> bool {
        let Action { process, choice } = action;
        match (op, usize::try_from(choice.0)) {
            (Op::WaitAny(comms) | Op::TestAny(comms), Ok(index)) => {
                match self.posted(process, comms[index]) {
                    Posted::Sent(send) => {
                        let sent = &self.network.sends[send as usize];
                        sent.completion == Completion::Either
                            && self.network.begun_at(sent).is_none()
                    }
                    _ => false,
                }
            }
            (Op::Deliver, _) => match self.carried(process) {
                Posted::Entry(entry) => self.collectives.may_leave_late(entry, self.depth()),
                _ => false,
            },
            _ => false,
        }
    }

    /// Does `process` have an enabled action that is not optional?
    pub(crate) fn must_move<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        let mut must = false;
        self.choices(locals, process, |choice| {
            must |= !self.is_optional(locals, Action { process, choice });
        });
        must
    }

    /// Are all enabled actions optional?
    pub fn is_standstill<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !self.processes().any(|process| self.must_move(locals, process))
    }

    /// Was an action of this execution optional when it was carried out? O(n) for n communications.
    pub(crate) fn was_any_optional(&self) -> bool {
        let sends = self.network.sends.iter().filter(|sent| sent.completion == Completion::Either);
        let mut observed =
            sends.filter_map(|sent| Some((sent.told_at()?, self.network.begun_at(sent))));
        observed.any(|(told_at, begun)| begun.is_none_or(|begun| begun > told_at))
            || (0..self.collectives.entries().len() as u32).any(|entry| {
                let ended = self.collectives.entries()[entry as usize].ended_at();
                ended.is_some_and(|ended| self.collectives.may_leave_late(entry, ended))
            })
    }
}
