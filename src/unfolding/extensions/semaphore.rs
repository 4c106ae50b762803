//! Extensions at semaphores.
//!
//! - async_acquire, release: each position in its chain.
//! - acquire_wait: the release that grants it, none within the initial count.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{Handle, ProcessId, Response, SemaphoreId, System};
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
        smallvec![self.extend_positions(c, from, Shape::change(chain, Response::Unit), range)]
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
        smallvec![self.add(c, from, Shape::plain(Response::Unit), &[cause])]
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
            let enabled = self.add(c, from, Shape::plain(Response::Unit), &[e]);
            self.set_only_enabled(c, process, enabled);
        }
    }
}
