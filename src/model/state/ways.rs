//! What an operation could do: take its place in a lane, or go on in one of several ways.
//!
//! `process` is at the operation, or was at it before and would be at it again if its later actions
//! were undone. All questions are about this state, which may be a later one.

use super::State;
use crate::model::objects::{Operation, Place, by_operation};
use crate::model::{
    Effect, Lane, Locals, Mode, Needs, Op, PartSet, ProcessId, Response, System, Values,
};

impl State {
    /// The lane in which the operation takes the next place, if it takes one. Otherwise it has
    /// [ways](State::ways) to go on.
    #[inline]
    pub(crate) fn lane(&self, op: &Op) -> Option<Lane> {
        by_operation!(op, operation => operation.lane(self))
    }

    /// The lane in which the operation takes the next place, if it may only look there. Each change
    /// of such a *register* makes a new *version* of it.
    #[inline]
    pub fn register(&self, op: &Op) -> Option<Lane> {
        by_operation!(op, operation => {
            if operation.may_observe() { operation.lane(self) } else { None }
        })
    }

    /// How the operation would act on its lane after the first `changes` changes of it, and the
    /// response to `process`.
    ///
    /// # Panics
    /// If it takes no place in a lane.
    #[inline]
    pub(crate) fn at_place(
        &self,
        op: &Op,
        values: &mut Values,
        process: ProcessId,
        changes: u32,
    ) -> (Mode, Response) {
        by_operation!(op, operation => operation.at(self, values, process, changes))
    }

    /// The response to `process` at this place of its lane if the operation only looks; `None` if
    /// it would change the lane.
    pub(crate) fn observed(
        &self,
        op: &Op,
        values: &mut Values,
        process: ProcessId,
        changes: usize,
    ) -> Option<Response> {
        let (mode, response) = self.at_place(op, values, process, changes as u32);
        (!mode.is_change()).then_some(response)
    }

    /// The request that the operation would complete after the first `changes` changes of its lane.
    #[inline]
    pub(crate) fn completes_at(&self, op: &Op, process: ProcessId, changes: u32) -> Option<u32> {
        by_operation!(op, operation => operation.completes(self, process, changes))
    }

    /// The number of ways to go on that the operation has, possible or not.
    #[inline]
    pub(crate) fn ways(&self, op: &Op, process: ProcessId) -> u32 {
        by_operation!(op, operation => operation.ways(self, process))
    }

    /// The response to `process` if it went on in the way with this index, which would also be its
    /// choice; `None` if that is not possible yet. Appends to `needs` what the way needs besides
    /// what the process knew before.
    #[inline]
    pub(crate) fn way<S: System>(
        &self,
        locals: &Locals<'_, S>,
        (op, process): (&Op, ProcessId),
        index: u32,
        needs: &mut Needs,
    ) -> Option<Response> {
        let place = Place { state: self, locals, process };
        let response = by_operation!(op, operation => operation.way(&place, index, needs));
        debug_assert!(
            response.is_none() || needs.iter().all(|need| op.awaits().meets(need.part().alone())),
            "{op:?} does not say that it awaits {needs:?}"
        );
        response
    }

    /// The effect of the operation if it is a test that finds nothing complete.
    ///
    /// # Panics
    /// If it is not a test.
    pub(crate) fn not_yet(&self, op: &Op, process: ProcessId) -> Effect {
        by_operation!(op, operation => operation.not_yet(self, process))
    }

    /// Has the operation several ways to go on, some of which may become possible after it took
    /// another one?
    #[inline]
    pub(crate) fn is_open_choice(&self, op: &Op, process: ProcessId) -> bool {
        op.awaits() != PartSet::NONE && self.ways(op, process) > 1
    }

    /// Can the operation be enabled together with an operation of another process that it depends
    /// on? (For actors and p2p and bag mailboxes, this question is asked of messages instead.)
    #[inline]
    pub(crate) fn is_contended(&self, op: &Op) -> bool {
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

    /// If it takes no place in a lane: may it make another result possible of a match, probe or
    /// any-form that came before it?
    #[inline]
    pub(crate) fn may_open(&self) -> bool {
        by_operation!(self, operation => operation.may_open())
    }

    /// The lane on which it adds something that others wait for, if it takes no place in a lane.
    #[inline]
    pub(crate) fn gathers(&self) -> Option<Lane> {
        by_operation!(self, operation => operation.gathers())
    }
}
