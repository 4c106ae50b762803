//! Sets of events, for those who look at an unfolding: histories, classes, what is drawn.
//!
//! Events have small numbers, and those of a configuration lie in runs. So a set is a compressed
//! bitmap: membership takes O(1), a union goes by words, and a thousand classes of a thousand
//! events take less than a list of each. The search itself does not need sets. It asks trees
//! ([`super::skip_tree`]), and in the few places where it marks events it has one set as large as
//! U, for which plain bits are quicker.

use roaring::RoaringBitmap;

use super::{EventId, EventStructure};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EventSet(RoaringBitmap);

impl EventSet {
    /// `[e]`: the event and all that happened before it.
    pub(crate) fn history(structure: &EventStructure, e: EventId) -> EventSet {
        let (mut history, mut pending) = (EventSet::default(), vec![e]);
        while let Some(event) = pending.pop() {
            if history.insert(event) {
                pending.extend_from_slice(&structure.event(event).causes);
            }
        }
        history
    }

    /// Adds an event. Was it missing?
    pub(crate) fn insert(&mut self, event: EventId) -> bool {
        self.0.insert(event.0)
    }

    /// Takes an event away, if it is there.
    pub(crate) fn remove(&mut self, event: EventId) {
        self.0.remove(event.0);
    }

    /// Is it in the set?
    pub(crate) fn contains(&self, event: EventId) -> bool {
        self.0.contains(event.0)
    }

    /// The events, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = EventId> {
        self.0.iter().map(EventId)
    }
}

impl Extend<EventId> for EventSet {
    fn extend<I: IntoIterator<Item = EventId>>(&mut self, events: I) {
        self.0.extend(events.into_iter().map(|event| event.0));
    }
}

impl FromIterator<EventId> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventId>>(events: I) -> EventSet {
        EventSet(events.into_iter().map(|event| event.0).collect())
    }
}
