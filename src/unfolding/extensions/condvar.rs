//! Extensions at condition variables: waits, and the steps that wake. (Enrolments and notifications have `versions`.)
//!
//! - wake: the step that woke before it; one event for each candidate of the notification.
//! - wait: the step that woke it.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{Choice, CondvarId, Handle, Op, ProcessId, Response, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_wake(
        &mut self,
        c: &Configuration,
        from: Origin,
        condvar: CondvarId,
        handle: Handle,
    ) -> Events {
        let position = c.state.notification(from.process, handle);
        if c.state.condvar(condvar).over() != position {
            return Events::new();
        }
        let before =
            position.checked_sub(1).map(|before| c.wakes.of(condvar.index(), before as usize));
        let before = before.unwrap_or_default();
        let ways = c.state.ways_to_wake(condvar, position) as i32;
        let shape = |index| Shape { choice: Choice(index), ..Shape::plain(Response::Unit) };
        (0..ways).map(|index| self.add(c, from, shape(index), before)).collect()
    }

    pub(super) fn extend_woken(
        &mut self,
        c: &Configuration,
        from: Origin,
        condvar: CondvarId,
        handle: Handle,
    ) -> Events {
        match c.state.enrolment(from.process, handle).woken_by() {
            None => Events::new(),
            Some(by) => {
                let cause = c.wakes.of(condvar.index(), by as usize);
                smallvec![self.add(c, from, Shape::plain(Response::Unit), cause)]
            }
        }
    }

    /// A process that is to wake, when the step e that wakes before it joins C.
    pub(super) fn extend_wake_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        condvar: CondvarId,
        handle: Handle,
        e: EventId,
    ) {
        if self.wakes_at(e, condvar) {
            let from = self.origin(c, process);
            let enabled = self.extend_wake(c, from, condvar, handle);
            c.set_enabled(process, &enabled);
        }
    }

    /// A process that waits, when the step e that may wake it joins C.
    pub(super) fn extend_woken_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        condvar: CondvarId,
        handle: Handle,
        e: EventId,
    ) {
        let woken_by = c.state.enrolment(process, handle).woken_by();
        let is_it = |by: u32| c.wakes.of(condvar.index(), by as usize).contains(&e);
        if self.wakes_at(e, condvar) && woken_by.is_some_and(is_it) {
            let from = self.origin(c, process);
            let enabled = self.extend_woken(c, from, condvar, handle);
            c.set_enabled(process, &enabled);
        }
    }

    fn wakes_at(&self, e: EventId, condvar: CondvarId) -> bool {
        matches!(self.op(e), Op::Wake { condvar: other, .. } if *other == condvar)
    }
}
