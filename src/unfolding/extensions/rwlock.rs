//! Extensions at reader-writer locks: waits and unlocks. (Requests have `versions`.)
//!
//! - wait: the unlock of the writer before it; for a writer also those of the readers in between.
//! - unlock: `[pre]` alone, since unlocks commute.

use smallvec::smallvec;

use super::{Events, Origin, Shape};
use crate::model::{Handle, Hold, Op, ProcessId, Response, RwLockId, RwRequest, System};
use crate::unfolding::event::EventId;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_rw_wait(
        &mut self,
        c: &Configuration,
        from: Origin,
        lock: RwLockId,
        handle: Handle,
    ) -> Events {
        let (_, request) = c.state.rwlock_request(from.process, handle);
        if !c.state.rwlock(lock).is_granted(&request) {
            return Events::new();
        }
        let causes = unlocks_before(c, lock, &request);
        smallvec![self.add(c, from, Shape::plain(Response::Unit), &causes)]
    }

    /// A process at a wait, when the unlock e joins C.
    pub(super) fn extend_rw_wait_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        lock: RwLockId,
        handle: Handle,
        e: EventId,
    ) {
        if !matches!(self.op(e), Op::RwUnlock { lock: other, .. } if *other == lock) {
            return;
        }
        let (_, request) = c.state.rwlock_request(process, handle);
        // Once it is granted no such unlock is left to come.
        if unlocks_before(c, lock, &request).contains(&e) {
            let from = self.origin(c, process);
            let enabled = self.extend_rw_wait(c, from, lock, handle);
            c.set_enabled(process, &enabled);
        }
    }
}

/// The unlocks in C that this request waits for.
fn unlocks_before(c: &Configuration, lock: RwLockId, request: &RwRequest) -> Events {
    let former = request.turn.checked_sub(1).map(|turn| (turn, Hold::Exclusive));
    let own = (request.hold == Hold::Exclusive).then_some((request.turn, Hold::Shared));
    let places = former.into_iter().chain(own);
    places
        .flat_map(|(turn, hold)| c.rw_unlocks.of(lock.index(), place(turn, hold)))
        .copied()
        .collect()
}

/// The unlocks of the readers of a turn, or of its writer, are gathered in one place.
pub(in crate::unfolding) fn place(turn: u32, hold: Hold) -> usize {
    2 * turn as usize + usize::from(hold == Hold::Exclusive)
}
