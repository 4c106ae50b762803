//! Polls: tests and probes that may find nothing, whatever there is.
//!
//! A program that polls in a loop would never end. So a poll may be in vain only
//! [so often](crate::model::Semantics::max_polls) in a *row*: since the process did something else than look in vain.
//! Polls of other things do not count, so that a loop which looks at several things gets to see each of them. And a poll cannot be
//! in vain if its process was told before that the communication is complete.
//!
//! A process whose poll cannot be in vain any more waits for what it polls. A loop of several polls does more than that: it
//! waits for any of them ([`State::polls_on`]).
//!
//! **What the bound loses.** If the process came back to where it was in that row, it would only go round: such a round is no part of
//! an execution anyhow ([`crate::trace::spin`]), and nothing is lost. Otherwise (it counts its polls, say) it would go on in another
//! way after one more poll. Those executions are lost: the bound cuts them ([`State::is_cut_at_poll`]), and the search says so.

use smallvec::SmallVec;

use super::super::{NONE, Posted, place};
use crate::model::state::State;
use crate::model::{
    Choice, Handle, LocalId, Locals, Op, Probing, ProcessId, Response, Status, System,
};

impl State {
    /// The local states at which `process` looked in vain since it did something else, oldest first.
    #[inline]
    fn row(&self, process: ProcessId) -> &[LocalId] {
        let Some(process) = self.processes.get(process.index()) else { return &[] };
        &process.in_vain[process.row as usize..]
    }

    /// The same, if a poll of the network could be one of them.
    pub(in crate::model) fn row_of_polls(&self, process: ProcessId) -> &[LocalId] {
        if self.network.is_used() { self.row(process) } else { &[] }
    }

    /// May the poll that `process` has come to be in vain, or has it to wait?
    pub fn may_poll<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        let Some(op) = locals.op(self.local(process)) else { return false };
        !self.is_at_bound(locals, process, op) && !self.was_told(process, op, self.depth())
    }

    /// So often in a row a poll may be in vain.
    pub fn max_polls(&self) -> u8 {
        self.network.max_polls as u8
    }

    /// Was this poll in vain as often in a row as it may be?
    fn is_at_bound<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId, op: &Op) -> bool {
        let row = self.row(process).iter();
        let polls = row.filter(|&&local| locals.op(local) == Some(op)).count();
        polls as u32 >= self.network.max_polls
    }

    /// Is `process` at a poll that only the bound keeps from being in vain, and would it go on then in another way than before?
    #[inline]
    pub fn is_cut_at_poll<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> bool {
        let looks = self.row(process).len() as u32;
        looks >= self.network.max_polls
            && self.network.is_used()
            && self.goes_on_beyond_bound(locals, process)
    }

    #[cold]
    fn goes_on_beyond_bound<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> bool {
        let local = self.local(process);
        if !locals.op(local).is_some_and(|op| self.is_poll(process, op)) {
            return false;
        }
        let status = locals.shared_status(local);
        let Status::At(op) = &*status else { unreachable!("it is at a poll") };
        if !self.is_at_bound(locals, process, op) || self.was_told(process, op, self.depth()) {
            return false;
        }
        let nothing = match *op {
            Op::Probe { form, .. } => {
                Response::Value(self.probed(form, Handle(0), Choice::NOTHING, &mut locals.values))
            }
            _ => Response::Incomplete,
        };
        let after = locals.resume(local, nothing);
        after != local && !self.row(process).contains(&after)
    }

    /// Is this operation of the process a poll of the network?
    fn is_poll(&self, process: ProcessId, op: &Op) -> bool {
        match op {
            Op::TestAny(comms) => self.is_of_network(process, comms[0]),
            Op::Probe { form, .. } => *form == Probing::Test,
            _ => false,
        }
    }

    /// The same, for a poll that was the action of `process` at `position`, if its row up to there is `row`: positions of its
    /// actions, the last one first.
    pub fn might_poll<S: System>(
        &self,
        locals: &Locals<'_, S>,
        (process, position): (ProcessId, usize),
        row: impl Iterator<Item = usize>,
    ) -> bool {
        let Some(op) = locals.op(self.before(position)) else { return false };
        let polls = row.filter(|&at| locals.op(self.before(at)) == Some(op)).count();
        (polls as u32) < self.network.max_polls && !self.was_told(process, op, position)
    }

    /// Was the process told before `position` that something is complete which this operation tests?
    fn was_told(&self, process: ProcessId, op: &Op, position: usize) -> bool {
        let Op::TestAny(comms) = op else { return false };
        let told = |&comm: &Handle| self.told_at(self.posted(process, comm));
        comms.iter().filter_map(told).any(|at| at < position)
    }

    /// The place in the execution where the process was first told that this is complete.
    pub(in crate::model) fn told_at(&self, posted: Posted) -> Option<usize> {
        let at = match posted {
            Posted::Sent(send) => self.network.sends[send as usize].told_at,
            Posted::Receive(receive) => self.network.receives[receive as usize].told_at,
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].told_at,
            _ => NONE,
        };
        place(at).map(|at| at as usize)
    }

    fn told_at_mut(&mut self, posted: Posted) -> Option<&mut u32> {
        match posted {
            Posted::Sent(send) => Some(&mut self.network.sends[send as usize].told_at),
            Posted::Receive(receive) => Some(&mut self.network.receives[receive as usize].told_at),
            Posted::Entry(entry) => Some(self.collectives.told_at(entry)),
            _ => None,
        }
    }

    /// Notes that the action under way tells its process that this is complete.
    pub(in crate::model::objects) fn tell(&mut self, posted: Posted) {
        let at = self.trail.len() as u32;
        if let Some(told_at) = self.told_at_mut(posted)
            && *told_at == NONE
        {
            *told_at = at;
        }
    }

    /// Takes that back, when the action was removed from the trail.
    pub(in crate::model::objects) fn untell(&mut self, posted: Posted) {
        let at = self.trail.len() as u32;
        if let Some(told_at) = self.told_at_mut(posted)
            && *told_at == at
        {
            *told_at = NONE;
        }
    }

    /// If `process` waits at a poll that cannot be in vain: the local states of the loop in which it polls, as far as it shows,
    /// from the present one on. Otherwise nothing.
    pub fn round_of_polls<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
    ) -> Option<SmallVec<[LocalId; 4]>> {
        let local = self.local(process);
        let op = locals.op(local)?;
        if !self.is_poll(process, op) || self.must_move(locals, process) {
            return None;
        }
        let row = self.row(process);
        let since = row.iter().rposition(|&before| locals.op(before) == Some(op));
        let others = since.map_or(&[][..], |last| &row[last + 1..]);
        Some(std::iter::once(local).chain(others.iter().copied()).collect())
    }

    /// Does the process, which waits at a poll, go on all the same, because another thing is there that it polls in its loop?
    pub fn polls_on<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        round: &[LocalId],
    ) -> bool {
        round.iter().any(|&local| self.would_find(locals, process, local))
    }
}
