//! What an operation touches, without regard to history. Stateful reductions use this.
//!
//! An [`Effect`](super::Effect) is resolved along one execution and speaks of positions in logs. A
//! search that stores states has many executions behind one state, so it asks a coarser question:
//! can these two operations ever *race*, that is, be dependent and possible in either order? If one
//! of two dependent operations enables the other (a post enables the wait that it completes), they
//! do not race: no execution reverses them. The two sides differ:
//!
//! - what an operation *watches* where it is enabled: everything that could come before it and
//!   would make a difference to it, whichever choice it takes
//!   ([`State::watches`](super::State::watches));
//! - what an executed action *touches*, as the later one of the two
//!   ([`State::touches`](super::State::touches)).
//!
//! A touch is a lane and what may be done to it ([`May`]). Two touches of one lane race as this
//! table says:
//!
//! | watches ([`May`]) | races with a later |
//! |---|---|
//! | change | change, turn, look, failed test |
//! | turn | change, look, failed test; but not turn, since the second needs the first |
//! | look, test that may fail | change, turn |
//! | choice that is open to additions | addition, change, turn |
//! | addition | – |
//!
//! For the operations that is:
//!
//! | watches | races with a later |
//! |---|---|
//! | isend, irecv | the same operation at the same mailbox; test of what such a post completes |
//! | waitany, test of what is not complete | post that would complete it, at that end of the mailbox |
//! | async_lock; async_acquire; release | the same operation on the same object |
//! | unlock | test of the mutex; unlock of a request that was not granted |
//! | unlock of a request that was not granted | unlock or test of the mutex |
//! | mutex_test, mutex_waitany of what is not owned | unlock of the mutex |
//! | request, unlock or successful try of a mutex that is tried | all of these, and a failed try |
//! | try of such a mutex that would fail | request, unlock or successful try |
//! | read request for a reader-writer lock | write request |
//! | write request | request |
//! | enrolment at a condition variable | notification |
//! | notification | notification, enrolment |
//! | read of a cell | change of it |
//! | change of a cell | access to it |
//! | an actor at rest | message to it |
//! | match, probe | send to the mailbox, match at it |
//! | waitany, test of an entry of a collective that has not ended | end of an entry there |
//! | waitany, test of a receive or synchronous send that is not matched | match at the mailbox |
//!
//! Operations that are not listed watch nothing: a local step, a choice, a spawn, an arrival at a
//! barrier, a count of a latch, an unlock of a reader-writer lock, a wake step, a message sent, and
//! every wait that is over. Whatever other processes do before such an operation, it does the same,
//! and so do they.
//!
//! **Over-approximation.** Let t be enabled in s, let E be an execution from s without t, and let
//! its last action a be the only one that is dependent on t's operation in s. Then t's operation,
//! executed first, is followed by E up to a, and there a's process does the same operation, with a
//! touch that races with what t watches in s. So the touches that follow t's operation include one
//! by each process that might have come first. (Nothing here disables another process. Within a
//! process one choice disables the others, so an operation watches for all its choices together.)

use super::Lane;

/// One thing that an operation touches, or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Touch {
    /// The lane.
    pub lane: Lane,
    /// What may be done to it.
    pub may: May,
}

/// How an operation may act on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum May {
    /// It changes the lane.
    Change,
    /// It changes the lane at a place that is fixed by what its process waited for: an unlock of a
    /// request that was granted.
    Turn,
    /// It looks at the last change.
    Look,
    /// It adds to what is gathered on the lane.
    Add,
    /// It is a test, or an open wait for one of several requests, that a change may complete.
    NotYet,
    /// It is a choice, and an addition may give it another way.
    Open,
}

impl May {
    /// All ways to act.
    const ALL: [May; 6] = [May::Change, May::Turn, May::Look, May::Add, May::NotYet, May::Open];

    /// Might an operation that watches this have another effect if a `later` touch of the lane by
    /// another process came first?
    fn races(self, later: May) -> bool {
        use May::*;
        match (self, later) {
            (Turn, Turn) => false,
            (Change | Turn, Change | Turn | Look | NotYet) => true,
            (Look | NotYet, Change | Turn) => true,
            (Open, Change | Turn | Add) => true,
            (Change | Turn | Look | Add | NotYet | Open, _) => false,
        }
    }
}

impl Touch {
    /// A touch of this lane.
    #[inline]
    pub fn new(lane: Lane, may: May) -> Touch {
        Touch { lane, may }
    }

    /// All touches of other processes that race with an operation that watches this, if they come
    /// later.
    pub fn rivals(self) -> impl Iterator<Item = Touch> {
        let later = May::ALL.into_iter().filter(move |&later| self.may.races(later));
        later.map(move |may| Touch { lane: self.lane, may })
    }

    /// Might an operation that watches this have another effect if a `later` touch of another
    /// process came first?
    pub fn races(self, later: Touch) -> bool {
        self.lane == later.lane && self.may.races(later.may)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CellId, End, MailboxId, MutexId, ProcessId};

    #[test]
    fn a_race_has_two_orders() {
        use May::*;
        let races = |lane, watched, later| Touch::new(lane, watched).races(Touch::new(lane, later));
        let (cell, queue) = (CellId(0).lane(), MutexId(0).queue());
        assert!(races(cell, Look, Change) && races(cell, Change, Look));
        assert!(!races(cell, Look, Look));
        assert!(!Touch::new(cell, Change).races(Touch::new(CellId(1).lane(), Change)));
        assert!(!races(queue, Turn, Turn), "the second needs the first");
        assert!(races(queue, Turn, Change) && races(queue, Change, Turn));
        let [sends, receives] = [End::Send, End::Receive].map(|end| MailboxId(0).posts(end));
        assert!(races(sends, Change, Change) && races(sends, Change, NotYet));
        let crossed = Touch::new(sends, Change).races(Touch::new(receives, Change));
        assert!(!crossed, "they commute");
        let inbox = ProcessId(0).inbox();
        assert!(races(inbox, Open, Add));
        assert!(!races(inbox, Add, Add), "delivery is unordered");
        assert_eq!(Touch::new(inbox, Open).rivals().count(), 3);
    }
}
