//! Extensions by what processes do alone, by starting others and by waiting for their end.
//!
//! - local: `[pre]` alone; choose: the same, an event for each value.
//! - spawn: `[pre]` alone, and it is the cause of the child's first action.
//! - join: the last event of the process waited for.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{Birth, Choice, ProcessId, Response, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_choose(
        &mut self,
        c: &Configuration,
        from: Origin,
        lo: i64,
        hi: i64,
    ) -> Events {
        let offsets = 0..(hi - lo) as i32;
        let value = |offset: i32| Response::Chosen(lo + i64::from(offset));
        offsets
            .map(|offset| {
                let shape = Shape { choice: Choice(offset), ..Shape::plain(value(offset)) };
                self.add(c, from, shape, &[])
            })
            .collect()
    }

    pub(super) fn extend_spawn(&mut self, c: &Configuration, from: Origin) -> Events {
        let act = c.state.acted(from.process);
        let child = self.locals.child(Birth { parent: from.process, act, place: 0 });
        smallvec![self.add(c, from, Shape::plain(Response::Spawned(child)), &[])]
    }

    pub(super) fn extend_joined(
        &mut self,
        c: &Configuration,
        from: Origin,
        target: ProcessId,
    ) -> Events {
        let local = c.state.local(target);
        if !self.locals.status(local).has_ended() {
            return Events::new();
        }
        let last = c.last_of(&self.structure.lanes, target);
        let response = self.locals.returned(local).map_or(Response::Unit, Response::Value);
        smallvec![self.add(c, from, Shape::plain(response), &[last])]
    }

    pub(super) fn extend_joined_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        target: ProcessId,
        e: EventId,
    ) {
        if self.structure.event(e).process == target {
            let from = self.origin(c, process);
            let enabled = self.extend_joined(c, from, target);
            c.set_enabled(process, &enabled);
        }
    }
}
