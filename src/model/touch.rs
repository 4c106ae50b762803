//! What an operation touches, without regard to history. Stateful reductions reason about this.
//!
//! A [`Effect`](super::Effect) is resolved along one execution and speaks of positions in logs. A search that
//! stores states has many executions behind one state, so it asks a coarser question: may these two
//! operations ever be a *race*, dependent and possible in either order? If one of two dependent operations enables the other (a post
//! and the wait that it completes), they are not a race: no execution reverses them. The two sides differ:
//!
//! - what an operation *watches* where it is enabled: everything that could come before it and would make a
//!   difference to it, whichever choice it takes ([`State::watches`](super::State::watches));
//! - what an executed action *touches*, as the later one of the two ([`State::touches`](super::State::touches)).
//!
//! | watches | races with a later |
//! |---|---|
//! | isend, irecv | the same, at the same mailbox; for a test, a test of what such a post completes |
//! | waitany, test of what is not complete | post that would complete it, at that end of the mailbox |
//! | async_lock; async_acquire; release | the same, of the same object |
//! | unlock | test of the mutex; unlock of a request that was not granted |
//! | unlock of a request that was not granted | unlock or test of the mutex |
//! | mutex_test, mutex_waitany of what is not owned | unlock of the mutex |
//! | request, unlock or successful try of a mutex that is tried | the same, and a failed try |
//! | try of it that would fail | request, unlock or successful try |
//! | read request for a reader-writer lock | write request |
//! | write request | request |
//! | enrolment at a condition variable | notification |
//! | notification | the same, and enrolment |
//! | read of a cell | change of it |
//! | change of a cell | access to it |
//! | an actor at rest | message to it |
//! | match, probe | send to the mailbox, match at it |
//! | waitany, test of an entry of a collective that has not ended | end of an entry there |
//! | waitany, test of a receive or synchronous send that is not matched | match at the mailbox |
//!
//! What is not listed watches nothing: a local step, a choice, a spawn, an arrival at a barrier, an unlock of a
//! reader-writer lock, a step that wakes, a message sent, and every wait that is over. Whatever others do before such an operation, it is the same, and so are they.
//!
//! **Over-approximation.** Let t be enabled in s, let E be an execution from s without t, and let its last
//! action a be the only one that is dependent on t's operation in s. Then t's operation, executed first, is
//! followed by E up to a, and there a's process does the same operation, with a touch that races with what t
//! watches in s. So whoever collects all touches that follow t's operation has met every process that might
//! have come first. (Nothing here disables another process. Within a process one choice disables the
//! others, so an operation watches for all its choices together.)

use smallvec::{SmallVec, smallvec};

use super::{
    BarrierId, CellId, CollectiveId, CondvarId, End, Hold, MailboxId, MutexId, ProcessId, RwLockId,
    SemaphoreId,
};

/// One thing that an operation touches, or watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touch {
    /// A post at an end of a mailbox.
    Post(MailboxId, End),
    /// A test, or an open wait for one of several, that a post at this end of the mailbox may complete.
    AwaitPost(MailboxId, End),
    /// A send at a p2p or bag mailbox.
    Send(MailboxId),
    /// A match at such a mailbox, or the wish to cancel a receive. Whoever receives there brings about matches.
    Match(MailboxId),
    /// A match or probe that a message, or the match of another one, gives a further choice.
    AwaitMessage(MailboxId),
    /// A test, or an open wait for one of several, that a match there may complete.
    AwaitMatch(MailboxId),
    /// The end of an entry of a collective. Whoever enters brings it about.
    Ending(CollectiveId),
    /// A test, or an open wait for one of several, that the end of an entry may complete.
    AwaitEnd(CollectiveId),
    /// An async_lock.
    Lock(MutexId),
    /// An unlock of a request that its process has seen granted.
    Unlock(MutexId),
    /// An unlock of a request that may not have been granted.
    Cancel(MutexId),
    /// A test of a mutex, or an open wait for one of several.
    AwaitUnlock(MutexId),
    /// A change of the queue of a mutex that is tried: a request, an unlock, a successful try.
    Queue(MutexId),
    /// A failed try.
    Try(MutexId),
    /// A request for a reader-writer lock.
    RwRequest(RwLockId, Hold),
    /// An unlock of a reader-writer lock.
    RwUnlock(RwLockId),
    /// An enrolment at a condition variable.
    Enrol(CondvarId),
    /// A notification.
    Notify(CondvarId),
    /// An async_acquire.
    Acquire(SemaphoreId),
    /// A release.
    Release(SemaphoreId),
    /// An arrival at a barrier.
    Arrive(BarrierId),
    /// An access that leaves the cell as it is.
    Read(CellId),
    /// An access that counts as a change.
    Write(CellId),
    /// A message to an actor.
    Tell(ProcessId),
    /// An actor that takes what there is.
    Listen(ProcessId),
}

impl Touch {
    /// All touches of other processes that race with what watches this, if they come later.
    pub fn rivals(self) -> SmallVec<[Touch; 3]> {
        use Touch::*;
        match self {
            Post(m, end) => smallvec![Post(m, end), AwaitPost(m, end)],
            AwaitPost(m, end) => smallvec![Post(m, end)],
            AwaitMessage(m) => smallvec![Send(m), Match(m)],
            AwaitMatch(m) => smallvec![Match(m)],
            AwaitEnd(c) => smallvec![Ending(c)],
            Lock(m) => smallvec![Lock(m)],
            Unlock(m) => smallvec![Cancel(m), AwaitUnlock(m)],
            Cancel(m) => smallvec![Unlock(m), Cancel(m), AwaitUnlock(m)],
            AwaitUnlock(m) => smallvec![Unlock(m), Cancel(m)],
            Queue(m) => smallvec![Queue(m), Try(m)],
            Try(m) => smallvec![Queue(m)],
            RwRequest(l, Hold::Shared) => smallvec![RwRequest(l, Hold::Exclusive)],
            RwRequest(l, Hold::Exclusive) => {
                smallvec![RwRequest(l, Hold::Shared), RwRequest(l, Hold::Exclusive)]
            }
            Enrol(c) => smallvec![Notify(c)],
            Notify(c) => smallvec![Enrol(c), Notify(c)],
            Acquire(s) => smallvec![Acquire(s)],
            Release(s) => smallvec![Release(s)],
            Read(c) => smallvec![Write(c)],
            Write(c) => smallvec![Read(c), Write(c)],
            Listen(p) => smallvec![Tell(p)],
            RwUnlock(_) | Arrive(_) | Tell(_) | Send(_) | Match(_) | Ending(_) => smallvec![],
        }
    }

    /// If a `later` touch of another process came before what watches this, might the effect be different?
    pub fn races(self, later: Touch) -> bool {
        self.rivals().contains(&later)
    }
}

#[cfg(test)]
mod tests {
    use super::Touch::*;
    use super::*;

    #[test]
    fn a_race_has_two_orders() {
        let (m, c) = (MutexId(0), CellId(0));
        assert!(Read(c).races(Write(c)) && Write(c).races(Read(c)) && !Read(c).races(Read(c)));
        assert!(!Write(c).races(Write(CellId(1))));
        assert!(!Unlock(m).races(Unlock(m)), "the second needs the first");
        assert!(Unlock(m).races(Cancel(m)) && Cancel(m).races(Unlock(m)));
        let (mailbox, send, receive) = (MailboxId(0), End::Send, End::Receive);
        assert!(Post(mailbox, send).races(Post(mailbox, send)));
        assert!(!Post(mailbox, send).races(Post(mailbox, receive)), "they commute");
        assert!(Post(mailbox, send).races(AwaitPost(mailbox, send)));
        assert!(Listen(ProcessId(0)).races(Tell(ProcessId(0))));
        assert!(!Tell(ProcessId(0)).races(Tell(ProcessId(0))), "delivery is unordered");
    }
}
