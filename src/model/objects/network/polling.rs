//! Polls: tests and probes that may find nothing, whatever is there.
//!
//! A *miss* is a poll that finds nothing. The *recent misses* of a process are those since it last
//! did anything but miss, or not crash where it could. A program that polls in a loop would never
//! end. So of the recent misses at most [`max_polls`](crate::model::Semantics::max_polls) may be
//! the same poll. Other polls do not count, so a loop that polls several things can find each of
//! them. A poll always succeeds once the process has observed that the communication is complete.
//!
//! At this bound a process waits for what it polls. In a loop of several polls it waits for any of
//! them ([`State::polls_on`]). Whether it could poll for ever is asked as if there were no bound
//! ([`State::beyond_bound`]).
//!
//! **What the bound loses.** If one more miss would lead the process back to the local state of a
//! recent miss, it would end a spin iteration, which is not part of an execution anyhow
//! ([`crate::trace::spin`]): nothing is lost. Otherwise (for example, if the process counts its
//! polls) it would go on in a new way. Those executions are lost: the bound cuts them
//! ([`State::is_cut_at_poll`]), and the search reports this.

use smallvec::SmallVec;

use super::super::{NONE, Posted, place};
use crate::model::state::State;
use crate::model::{
    Action, Choice, Handle, Incident, LocalId, Locals, Needs, Op, Probing, ProcessId, Response,
    Status, System,
};

impl State {
    /// The local states of the recent misses of `process`, the oldest first.
    #[inline]
    fn recent_misses(&self, process: ProcessId) -> &[LocalId] {
        let Some(process) = self.processes.get(process.index()) else { return &[] };
        &process.misses[process.recent as usize..]
    }

    /// Is it no more than the lack of a fault, after which the recent misses are the same?
    #[inline]
    pub(crate) fn is_quiet<S: System>(
        &self,
        locals: &Locals<'_, S>,
        Action { process, choice }: Action,
        before: LocalId,
    ) -> bool {
        let may_matter = self.network.is_used() && !self.recent_misses(process).is_empty();
        may_matter && locals.incident(before, choice).is_some_and(Incident::is_quiet)
    }

    /// Is a miss of `process`, in its present local state, to be added to its misses? What misses
    /// and is no poll of the network is unlimited in number, so it is added only once after each
    /// poll: a process that tests an ordinary mailbox in a loop comes back to the same state.
    pub(in crate::model) fn adds_to_misses<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
    ) -> bool {
        let is_poll = |local| locals.op(local).is_some_and(|op| self.is_poll(process, op));
        let local = self.local(process);
        if !self.network.is_used() || is_poll(local) {
            return true;
        }
        let mut others =
            self.recent_misses(process).iter().rev().take_while(|&&before| !is_poll(before));
        !others.any(|&before| before == local)
    }

    /// The recent misses of `process`, if one may be a poll of the network; else none.
    pub(in crate::model) fn recent_missed_polls(&self, process: ProcessId) -> &[LocalId] {
        if self.network.is_used() { self.recent_misses(process) } else { &[] }
    }

    /// May the poll that `process` is at find nothing? If not, the process has to wait.
    pub(crate) fn may_poll<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        let Some(op) = locals.op(self.local(process)) else { return false };
        !self.is_at_bound(locals, process, op) && !self.was_told(process, op, self.depth())
    }

    /// Maximum number of consecutive unsuccessful polls.
    pub(crate) fn max_polls(&self) -> u8 {
        self.network.max_polls as u8
    }

    /// Are as many of the recent misses this poll as the bound allows?
    fn is_at_bound<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId, op: &Op) -> bool {
        let misses = self.recent_misses(process).iter();
        let polls = misses.filter(|&&local| locals.op(local) == Some(op)).count();
        polls as u32 >= self.network.max_polls
    }

    /// Is `process` at a poll that could miss but for the bound, and would it then go on in a new
    /// way?
    #[inline]
    pub fn is_cut_at_poll<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> bool {
        let misses = self.recent_misses(process).len() as u32;
        misses >= self.network.max_polls
            && self.network.is_used()
            && self.goes_on_beyond_bound(locals, process)
    }

    #[cold]
    fn goes_on_beyond_bound<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> bool {
        let after = self.beyond_bound(locals, process);
        after.is_some_and(|after| self.is_new_way(process, after))
    }

    /// Would the process, which is at a poll, go on in a new way after a miss that leads to this
    /// local state?
    pub(crate) fn is_new_way(&self, process: ProcessId, after: LocalId) -> bool {
        after != self.local(process) && !self.recent_misses(process).contains(&after)
    }

    /// If `process` is at a poll that could miss but for the bound: the local state to which the
    /// miss would lead, or that after it, if the process does not crash where it could.
    pub(crate) fn beyond_bound<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> Option<LocalId> {
        if !self.is_held_at_bound(locals, process) {
            return None;
        }
        let local = self.local(process);
        let status = locals.shared_status(local);
        let Status::At(op) = &*status else { unreachable!("it is at a poll") };
        if self.waits_for_others(locals, op) {
            return None;
        }
        let nothing = match *op {
            Op::Probe { form, .. } => {
                Response::Value(self.probed(form, Handle(0), Choice::NOTHING, &mut locals.values))
            }
            _ => Response::Incomplete,
        };
        let mut after = locals.resume(local, nothing);
        while let Some(next) = self.after_no_fault(locals, process, after) {
            after = next;
        }
        Some(after)
    }

    /// Where `process` goes on from this local state without a fault, if one is possible there.
    fn after_no_fault<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
        local: LocalId,
    ) -> Option<LocalId> {
        locals.incident(local, Choice(0)).filter(|incident| incident.is_quiet())?;
        let status = locals.shared_status(local);
        let Status::At(op) = &*status else { return None };
        let response = self.way(locals, (op, process), 0, &mut Needs::new())?;
        Some(locals.resume(local, response))
    }

    /// Is the process at a poll that could miss but for the bound?
    fn is_held_at_bound<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        locals.op(self.local(process)).is_some_and(|op| {
            self.is_poll(process, op)
                && self.is_at_bound(locals, process, op)
                && !self.was_told(process, op, self.depth())
        })
    }

    /// Can nothing happen, except that probes give up which wait for that
    /// ([`Probing::WhenStuck`])? A poll may miss, also beyond the bound. Takes as long as to list
    /// all actions.
    pub(super) fn only_gives_up<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !self.processes().any(|process| match locals.op(self.local(process)) {
            Some(&Op::Probe { mailbox, pattern, form: Probing::WhenStuck }) => {
                let mut is_found = false;
                let taker = self.network.newest_taker(mailbox, pattern);
                self.network.possible(taker, |_| is_found = true);
                is_found
            }
            _ => self.can_move(locals, process) || self.is_held_at_bound(locals, process),
        })
    }

    /// Does this poll find nothing only when nothing else can happen, and can something happen?
    fn waits_for_others<S: System>(&self, locals: &Locals<'_, S>, op: &Op) -> bool {
        matches!(op, Op::Probe { form: Probing::WhenStuck, .. }) && !self.only_gives_up(locals)
    }

    /// Is this operation of the process a poll of the network?
    #[inline]
    pub fn is_poll(&self, process: ProcessId, op: &Op) -> bool {
        match op {
            Op::TestAny(comms) => self.is_of_network(process, comms[0]),
            Op::Probe { form, .. } => form.may_miss(),
            _ => false,
        }
    }

    /// Might the action of `process` at `position` have been a miss of a poll? `misses` are the
    /// positions of its recent misses before that, the last one first.
    pub(crate) fn might_poll<S: System>(
        &self,
        locals: &Locals<'_, S>,
        (process, position): (ProcessId, usize),
        misses: impl Iterator<Item = usize>,
    ) -> bool {
        let Some(op) = locals.op(self.before(position)) else { return false };
        let polls = misses.filter(|&at| locals.op(self.before(at)) == Some(op)).count();
        (polls as u32) < self.network.max_polls && !self.was_told(process, op, position)
    }

    /// The communication of the network that the process observes to be complete, by this choice at
    /// this operation.
    pub(crate) fn observed_complete(
        &self,
        process: ProcessId,
        op: &Op,
        choice: Choice,
    ) -> Option<Handle> {
        let (Op::TestAny(comms) | Op::WaitAny(comms)) = op else { return None };
        let comm = *comms.get(usize::try_from(choice.0).ok()?)?;
        self.is_of_network(process, comm).then_some(comm)
    }

    /// Does the process learn that a communication of the network is complete, by this choice at
    /// this operation, as its action at `position`? Afterwards no test misses it.
    pub(crate) fn tells(
        &self,
        process: ProcessId,
        (op, choice): (&Op, Choice),
        position: usize,
    ) -> bool {
        self.observed_complete(process, op, choice).is_some_and(|comm| {
            let told = self.told_at(self.posted(process, comm));
            told.is_none_or(|told| told >= position)
        })
    }

    /// Had the process observed before `position` that something is complete that this operation
    /// tests?
    fn was_told(&self, process: ProcessId, op: &Op, position: usize) -> bool {
        let Op::TestAny(comms) = op else { return false };
        let told = |&comm: &Handle| self.told_at(self.posted(process, comm));
        comms.iter().filter_map(told).any(|at| at < position)
    }

    /// The position in the execution where the process first observed that this is complete.
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

    /// Records that its process observes, in the current action, that this is complete.
    pub(in crate::model::objects) fn tell(&mut self, posted: Posted) {
        let at = self.trail.len() as u32;
        if let Some(told_at) = self.told_at_mut(posted)
            && *told_at == NONE
        {
            *told_at = at;
        }
    }

    /// Undoes that record, when the action was removed from the trail.
    pub(in crate::model::objects) fn untell(&mut self, posted: Posted) {
        let at = self.trail.len() as u32;
        if let Some(told_at) = self.told_at_mut(posted)
            && *told_at == at
        {
            *told_at = NONE;
        }
    }

    /// Does `process` wait at a poll because of the bound?
    pub fn waits_at_bound<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        self.network.is_used()
            && self.is_held_at_bound(locals, process)
            && !self.must_move(locals, process)
            && !locals.op(self.local(process)).is_some_and(|op| self.waits_for_others(locals, op))
    }

    /// If `process` [waits](State::waits_at_bound) in a loop that only polls: the local states of
    /// that loop, from the present one on. Otherwise `None`.
    pub fn round_of_polls<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
    ) -> Option<SmallVec<[LocalId; 4]>> {
        if !self.waits_at_bound(locals, process) {
            return None;
        }
        let after = self.beyond_bound(locals, process)?;
        let (local, misses) = (self.local(process), self.recent_misses(process));
        let others = match misses.iter().rposition(|&before| before == after) {
            _ if after == local => &[][..],
            Some(first) => &misses[first..],
            None => return None,
        };
        let others = others.iter().copied().filter(|&other| other != local);
        Some(std::iter::once(local).chain(others).collect())
    }

    /// If `process` waits at a poll because of the bound: did each recent miss lead it back to
    /// where it is? Then to wait is the same as to poll on.
    pub(crate) fn polls_in_place(&self, process: ProcessId) -> bool {
        let local = self.local(process);
        let misses = self.recent_misses(process);
        !misses.is_empty() && misses.iter().all(|&before| before == local)
    }

    /// Does the process, which waits at a poll, go on nevertheless, because another poll of its
    /// loop would succeed?
    pub fn polls_on<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        round: &[LocalId],
    ) -> bool {
        round.iter().any(|&local| self.would_find(locals, process, local))
    }
}
