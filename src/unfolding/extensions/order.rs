//! Extensions of operations that only wait for others, or only choose: semaphores, barriers, processes.
//!
//! - release: each position in the chain of releases; acquire_wait: the release that grants it.
//! - barrier_wait: all arrivals of the round.
//! - join: the last event of the process waited for. A child's first action: its spawn.
//! - choose: `[pre]` alone, an event for each value.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{BarrierId, Birth, Choice, Handle, Outcome, ProcessId, SemaphoreId, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_release(
        &mut self,
        c: &Configuration,
        from: Origin,
        semaphore: SemaphoreId,
    ) -> Events {
        let chain = self.structure.lanes.releases(semaphore);
        let range = self.positions(c, from, chain);
        smallvec![self.extend_positions(c, from, Shape::change(chain, Outcome::Unit), range)]
    }

    pub(super) fn extend_acquired(
        &mut self,
        c: &Configuration,
        from: Origin,
        semaphore: SemaphoreId,
        handle: Handle,
    ) -> Events {
        let request = c.state.semaphore_request(from.process, handle);
        if !c.state.semaphore(semaphore).is_granted(request) {
            return Events::new();
        }
        let cause = match c.state.semaphore(semaphore).granted_by(request) {
            None => EventId::NONE,
            Some(release) => c.at(self.structure.lanes.releases(semaphore), release),
        };
        smallvec![self.add(c, from, Shape::plain(Outcome::Unit), &[cause])]
    }

    pub(super) fn extend_acquired_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        semaphore: SemaphoreId,
        handle: Handle,
        e: EventId,
    ) {
        let event = self.structure.event(e);
        if event.chain != self.structure.lanes.releases(semaphore) {
            return;
        }
        let request = c.state.semaphore_request(process, handle);
        if c.state.semaphore(semaphore).granted_by(request) == Some(event.link.depth - 1) {
            let from = self.origin(c, process);
            let enabled = self.add(c, from, Shape::plain(Outcome::Unit), &[e]);
            self.set_only_enabled(c, process, enabled);
        }
    }

    pub(super) fn extend_passed(
        &mut self,
        c: &Configuration,
        from: Origin,
        barrier: BarrierId,
        round: u32,
    ) -> Events {
        let size = c.state.barrier(barrier).size as usize;
        match c.arrivals[barrier.index()].get(round as usize) {
            Some(arrivals) if arrivals.len() >= size => {
                smallvec![self.add(c, from, Shape::plain(Outcome::Unit), arrivals)]
            }
            _ => Events::new(),
        }
    }

    pub(super) fn extend_passed_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        barrier: BarrierId,
        round: u32,
        e: EventId,
    ) {
        let size = c.state.barrier(barrier).size as usize;
        let arrivals = c.arrivals[barrier.index()].get(round as usize);
        if arrivals.is_some_and(|arrivals| arrivals.len() >= size && arrivals.last() == Some(&e)) {
            let from = self.origin(c, process);
            let enabled = self.extend_passed(c, from, barrier, round);
            c.set_enabled(process, &enabled);
        }
    }

    pub(super) fn extend_choose(
        &mut self,
        c: &Configuration,
        from: Origin,
        lo: i64,
        hi: i64,
    ) -> Events {
        let offsets = 0..(hi - lo) as i32;
        let value = |offset: i32| Outcome::Chosen(lo + i64::from(offset));
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
        smallvec![self.add(c, from, Shape::plain(Outcome::Spawned(child)), &[])]
    }

    pub(super) fn extend_joined(
        &mut self,
        c: &Configuration,
        from: Origin,
        target: ProcessId,
    ) -> Events {
        if !self.locals.status(c.state.local(target)).has_ended() {
            return Events::new();
        }
        let last = c.last_of(&self.structure.lanes, target);
        smallvec![self.add(c, from, Shape::plain(Outcome::Unit), &[last])]
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
