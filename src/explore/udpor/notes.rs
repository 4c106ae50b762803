//! What a search reports, step by step, to whoever wants to know.

use crate::unfolding::EventId;

/// Is told what a search does, while it does it. By default nothing is noted.
pub trait Notes {
    /// A call chooses e.
    fn chose(&mut self, _e: EventId) {}

    /// C has grown, U has `met` events.
    fn pushed(&mut self, _met: usize) {}

    /// C is again that of the call that chose last.
    fn popped(&mut self) {}

    /// J ∖ C if that call has an alternative.
    fn answered(&mut self, _j: Option<&Vec<EventId>>) {}

    /// C, in the order of an execution, is maximal.
    fn maximal(&mut self, _c: &[EventId]) {}

    /// All of en(C) is in D.
    fn blocked(&mut self, _enabled: &[EventId]) {}

    /// C reaches the bound on the depth.
    fn cut(&mut self) {}

    /// C is given up: a process waits in a loop for something that has come already.
    fn given_up(&mut self) {}

    /// Is the search to end?
    fn are_full(&self) -> bool {
        false
    }
}

impl Notes for () {}
