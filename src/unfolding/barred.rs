//! Barred events: events that a branch of a search leaves to other branches
//! ([`crate::explore::Branch`]).
//!
//! They are enabled where the branch begins. From then on they are in no en(C), no ex(C) and no
//! alternative, so no event ever comes after them. The rest of the unfolding is closed under
//! causes.

use super::{Configuration, EventId, EventStructure, Unfolding};
use crate::model::System;

impl<S: System> Unfolding<'_, S> {
    /// Leaves out an event of en(C) for good. After that, the last event of C must not be removed
    /// any more.
    pub(crate) fn bar(&mut self, c: &mut Configuration, event: EventId) {
        self.structure.barred.push(event);
        let process = self.structure.event(event).process;
        let others = c.enabled_of(process).iter().copied().filter(|&e| e != event);
        c.set_enabled(process, &others.collect::<Vec<_>>());
    }

    /// The barred events that would be enabled in this configuration, which contains the one where
    /// they were barred.
    pub(crate) fn barred_after(&self, events: &[EventId]) -> impl Iterator<Item = EventId> {
        let structure = &self.structure;
        let is_enabled =
            |d: &EventId| events.iter().all(|&e| e != *d && !structure.in_conflict(e, *d));
        structure.barred.iter().copied().filter(is_enabled)
    }
}

impl EventStructure {
    /// Is the event left out?
    #[inline]
    pub(crate) fn is_barred(&self, event: EventId) -> bool {
        !self.barred.is_empty() && self.barred.contains(&event)
    }
}
