//! What an operation could do: its place in a lane, or its ways to go on.
//!
//! The operation is one that `process` is at, or was at before and would be at again if that were taken back. All questions are
//! about this state, which may have gone on since.

use super::State;
use crate::model::objects::{Operation, Place, by_operation};
use crate::model::{
    Effect, Lane, Locals, Mode, Needs, Op, PartSet, ProcessId, Response, System, Values,
};

impl State {
    /// The lane in which the operation takes the next place, if it takes one. Otherwise it has [ways](State::ways) to go on.
    #[inline]
    pub fn lane(&self, op: &Op) -> Option<Lane> {
        by_operation!(op, operation => operation.lane(self))
    }

    /// How the operation would act on its lane after the first `changes` changes of it, and what `process` would be told.
    ///
    /// # Panics
    /// If it takes no place in a lane.
    #[inline]
    pub fn at_place(
        &self,
        op: &Op,
        values: &mut Values,
        process: ProcessId,
        changes: u32,
    ) -> (Mode, Response) {
        by_operation!(op, operation => operation.at(self, values, process, changes))
    }

    /// What `process` would be told there if the operation only looked; `None` if it would change the lane.
    pub fn observed(
        &self,
        op: &Op,
        values: &mut Values,
        process: ProcessId,
        changes: usize,
    ) -> Option<Response> {
        let (mode, told) = self.at_place(op, values, process, changes as u32);
        (!mode.is_change()).then_some(told)
    }

    /// The request that the operation would complete there.
    #[inline]
    pub fn completes_at(&self, op: &Op, process: ProcessId, changes: u32) -> Option<u32> {
        by_operation!(op, operation => operation.completes(self, process, changes))
    }

    /// How many ways to go on the operation has, possible or not.
    #[inline]
    pub fn ways(&self, op: &Op, process: ProcessId) -> u32 {
        by_operation!(op, operation => operation.ways(self, process))
    }

    /// What `process` would be told if it went on in this way, whose number would be its choice; `None` if that is not
    /// possible yet. Appends to `needs` what the way needs besides what the process knew before.
    #[inline]
    pub fn way<S: System>(
        &self,
        locals: &Locals<'_, S>,
        (op, process): (&Op, ProcessId),
        index: u32,
        needs: &mut Needs,
    ) -> Option<Response> {
        let place = Place { state: self, locals, process };
        let told = by_operation!(op, operation => operation.way(&place, index, needs));
        debug_assert!(
            told.is_none() || needs.iter().all(|need| op.awaits().meets(need.part().alone())),
            "{op:?} does not say that it awaits {needs:?}"
        );
        told
    }

    /// What the operation does if it is a test that finds nothing complete.
    ///
    /// # Panics
    /// If it is not a test.
    pub fn not_yet(&self, op: &Op, process: ProcessId) -> Effect {
        by_operation!(op, operation => operation.not_yet(self, process))
    }

    /// Can the operation be enabled together with one of another process that it depends on? (For actors and p2p and bag mailboxes,
    /// the messages are looked at instead.)
    #[inline]
    pub fn is_contended(&self, op: &Op) -> bool {
        op.is_test() || self.lane(op).is_some()
    }
}

impl Op {
    /// The kinds of lanes on which something may come that one of its ways needs.
    #[inline]
    pub fn awaits(&self) -> PartSet {
        by_operation!(self, operation => operation.awaits())
    }

    /// Does it ask whether something is complete, without waiting for it?
    #[inline]
    pub fn is_test(&self) -> bool {
        by_operation!(self, operation => operation.is_test())
    }

    /// The lane on which it leaves something that others wait for, if it takes no place in one.
    #[inline]
    pub fn gathers(&self) -> Option<Lane> {
        by_operation!(self, operation => operation.gathers())
    }
}
