//! Callbacks for the steps of a search, for recorders of the unfolding.

use crate::unfolding::EventId;

/// Receives the steps of a search. By default each is ignored.
pub(crate) trait Notes {
    /// A call chooses e.
    fn chose(&mut self, _e: EventId) {}

    /// An event was added to C. U has `met` events now.
    fn pushed(&mut self, _met: usize) {}

    /// The event was removed from C again.
    fn popped(&mut self) {}

    /// The configuration with the event was visited before. Called instead of `pushed` and
    /// `popped`.
    fn known(&mut self) {}

    /// The alternative of the call, as J ∖ C; `None` if it has none.
    fn answered(&mut self, _j: Option<&[EventId]>) {}

    /// C is maximal. `c` has its events in the order of an execution.
    fn maximal(&mut self, _c: &[EventId]) {}

    /// All of en(C) is in D.
    fn blocked(&mut self, _enabled: &[EventId]) {}

    /// C reaches the bound on the depth.
    fn cut(&mut self) {}

    /// C is given up: a process waits in a loop for something that has happened already.
    fn given_up(&mut self) {}

    /// Must the search end?
    fn are_full(&self) -> bool {
        false
    }
}

impl Notes for () {}
