//! Extensions at barriers.
//!
//! - async_barrier: `[pre]` alone, since arrivals commute.
//! - barrier_wait: all arrivals of the round.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{BarrierId, ProcessId, Response, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_passed(
        &mut self,
        c: &Configuration,
        from: Origin,
        barrier: BarrierId,
        round: u32,
    ) -> Events {
        let size = c.state.barrier(barrier).size as usize;
        match c.arrivals.of(barrier.index(), round as usize) {
            arrivals if arrivals.len() >= size => {
                smallvec![self.add(c, from, Shape::plain(Response::Unit), arrivals)]
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
        let arrivals = c.arrivals.of(barrier.index(), round as usize);
        if arrivals.len() >= size && arrivals.last() == Some(&e) {
            let from = self.origin(c, process);
            let enabled = self.extend_passed(c, from, barrier, round);
            c.set_enabled(process, &enabled);
        }
    }
}
