//! Marks on events, all of which are removed at once, in O(1).

use super::event::EventId;

/// A set of events that is emptied often.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    marks: Vec<u32>,
    /// Never 0, which stands for "in no set".
    now: u32,
}

impl Default for Stamps {
    fn default() -> Self {
        Stamps { marks: Vec::new(), now: 1 }
    }
}

impl Stamps {
    /// Empties the set.
    pub(crate) fn clear(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.marks.fill(0);
            self.now = 1;
        }
    }

    /// Adds an event. Returns whether it was new.
    pub(crate) fn insert(&mut self, event: EventId) -> bool {
        if self.marks.len() <= event.index() {
            self.marks.resize(event.index() + 1, 0);
        }
        std::mem::replace(&mut self.marks[event.index()], self.now) != self.now
    }
}
