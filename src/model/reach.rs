//! What a process may still do to the objects, from its present local state on.
//!
//! [`Foresight::may_touch`](super::Foresight::may_touch) speaks of a process as such, whatever it has done; a
//! [`Reach`] speaks of one local state. Both are over-approximations: what is not in a reach, no execution from
//! that local state ever does.

use rustc_hash::FxHashSet;

use super::{
    BarrierId, CellId, CollectiveId, CondvarId, End, Envelope, Hold, MailboxId, MutexId, ProcessId,
    RwLockId, SemaphoreId, Touch,
};

/// The touches that a process, or one that it spawns, may still make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    spans: FxHashSet<Span>,
    posts: FxHashSet<Posts>,
}

/// The same touch of neighbouring objects: the first one, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    first: Touch,
    count: u32,
}

/// Posts at one end of neighbouring mailboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Posts {
    at: Span,
    src: Guess,
    tag: Guess,
}

/// What is known about a number that a post may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// It carries exactly this, or none.
    Exactly(Option<i64>),
    /// It carries one, and any is possible.
    Some,
}

impl Guess {
    fn may_be(self, wanted: Option<i64>) -> bool {
        match self {
            Guess::Exactly(number) => number == wanted,
            Guess::Some => wanted.is_some(),
        }
    }

    /// May a pattern that carries this accept `number`?
    fn may_accept(self, number: Option<i64>) -> bool {
        self.may_be(None) || self.may_be(number)
    }
}

impl Reach {
    /// Adds this touch of `count` neighbouring objects, the first of which it names.
    pub fn add(&mut self, first: Touch, count: u32) {
        self.spans.insert(Span { first, count });
    }

    /// Adds that a post at an end of one of `count` neighbouring mailboxes, or a probe there, may carry this.
    pub fn add_posts(
        &mut self,
        first: MailboxId,
        count: u32,
        end: End,
        (src, tag): (Guess, Guess),
    ) {
        let at = Span { first: Touch::Post(first, end), count };
        self.posts.insert(Posts { at, src, tag });
    }

    /// May it still do this? Messages go to references, which are values: there the answer is yes.
    pub fn contains(&self, touch: Touch) -> bool {
        matches!(touch, Touch::Tell(_)) || self.spans.iter().any(|span| span.contains(touch))
    }

    /// All touches, one by one; `None` if some entry stands for more than `most` neighbouring objects.
    pub fn touches(&self, most: u32) -> Option<impl Iterator<Item = Touch>> {
        let is_narrow = self.spans.iter().all(|span| span.count <= most);
        let of_span = |&Span { first, count }: &Span| (0..count).map(move |by| shifted(first, by));
        is_narrow.then(|| self.spans.iter().flat_map(of_span))
    }

    /// May it still make this post, of something that can be paired with a post of this envelope at the other end?
    ///
    /// # Panics
    /// If it is no post.
    pub fn may_meet(&self, post: Touch, envelope: Envelope) -> bool {
        let Touch::Post(_, end) = post else { panic!("{post:?} is no post") };
        let of_mailbox = |posts: &&Posts| posts.at.contains(post);
        self.posts.iter().filter(of_mailbox).any(|&Posts { src, tag, .. }| match end {
            End::Send => {
                (envelope.src.is_none() || src.may_be(envelope.src))
                    && (envelope.tag.is_none() || tag.may_be(envelope.tag))
            }
            End::Receive => src.may_accept(envelope.src) && tag.may_accept(envelope.tag),
        })
    }
}

impl Span {
    fn contains(self, touch: Touch) -> bool {
        let ((kind, first), (other, id)) = (parts(self.first), parts(touch));
        kind == other && first <= id && id - first < self.count
    }
}

/// What is done, as a number, and the object that it is done to. Communications are values, so nobody knows before what a
/// test is about: all tests are one.
fn parts(touch: Touch) -> (u8, u32) {
    match touch {
        Touch::Post(mailbox, End::Send) => (0, mailbox.0),
        Touch::Post(mailbox, End::Receive) => (1, mailbox.0),
        Touch::AwaitPost(..) | Touch::AwaitMatch(_) | Touch::AwaitEnd(_) => (2, 0),
        Touch::Lock(mutex) => (4, mutex.0),
        Touch::Unlock(mutex) => (5, mutex.0),
        Touch::Cancel(mutex) => (6, mutex.0),
        Touch::AwaitUnlock(mutex) => (7, mutex.0),
        Touch::Acquire(semaphore) => (8, semaphore.0),
        Touch::Release(semaphore) => (9, semaphore.0),
        Touch::Arrive(barrier) => (10, barrier.0),
        Touch::Read(cell) => (11, cell.0),
        Touch::Write(cell) => (12, cell.0),
        Touch::Tell(process) => (13, process.0),
        Touch::Listen(process) => (14, process.0),
        Touch::RwRequest(lock, Hold::Shared) => (17, lock.0),
        Touch::RwRequest(lock, Hold::Exclusive) => (18, lock.0),
        Touch::RwUnlock(lock) => (19, lock.0),
        Touch::Enrol(condvar) => (20, condvar.0),
        Touch::Notify(condvar) => (21, condvar.0),
        Touch::Queue(mutex) => (15, mutex.0),
        Touch::Try(mutex) => (16, mutex.0),
        Touch::Send(mailbox) => (30, mailbox.0),
        Touch::Match(mailbox) => (31, mailbox.0),
        Touch::AwaitMessage(mailbox) => (32, mailbox.0),
        Touch::Ending(collective) => (34, collective.0),
    }
}

/// The same touch of the object that is so many places later.
fn shifted(touch: Touch, by: u32) -> Touch {
    match touch {
        Touch::Post(mailbox, end) => Touch::Post(MailboxId(mailbox.0 + by), end),
        Touch::AwaitPost(mailbox, end) => Touch::AwaitPost(MailboxId(mailbox.0 + by), end),
        Touch::Lock(mutex) => Touch::Lock(MutexId(mutex.0 + by)),
        Touch::Unlock(mutex) => Touch::Unlock(MutexId(mutex.0 + by)),
        Touch::Cancel(mutex) => Touch::Cancel(MutexId(mutex.0 + by)),
        Touch::AwaitUnlock(mutex) => Touch::AwaitUnlock(MutexId(mutex.0 + by)),
        Touch::RwRequest(lock, hold) => Touch::RwRequest(RwLockId(lock.0 + by), hold),
        Touch::RwUnlock(lock) => Touch::RwUnlock(RwLockId(lock.0 + by)),
        Touch::Enrol(condvar) => Touch::Enrol(CondvarId(condvar.0 + by)),
        Touch::Notify(condvar) => Touch::Notify(CondvarId(condvar.0 + by)),
        Touch::Queue(mutex) => Touch::Queue(MutexId(mutex.0 + by)),
        Touch::Try(mutex) => Touch::Try(MutexId(mutex.0 + by)),
        Touch::Acquire(semaphore) => Touch::Acquire(SemaphoreId(semaphore.0 + by)),
        Touch::Release(semaphore) => Touch::Release(SemaphoreId(semaphore.0 + by)),
        Touch::Arrive(barrier) => Touch::Arrive(BarrierId(barrier.0 + by)),
        Touch::Read(cell) => Touch::Read(CellId(cell.0 + by)),
        Touch::Write(cell) => Touch::Write(CellId(cell.0 + by)),
        Touch::Tell(process) => Touch::Tell(ProcessId(process.0 + by)),
        Touch::Listen(process) => Touch::Listen(ProcessId(process.0 + by)),
        Touch::Send(mailbox) => Touch::Send(MailboxId(mailbox.0 + by)),
        Touch::Match(mailbox) => Touch::Match(MailboxId(mailbox.0 + by)),
        Touch::AwaitMessage(mailbox) => Touch::AwaitMessage(MailboxId(mailbox.0 + by)),
        Touch::AwaitMatch(mailbox) => Touch::AwaitMatch(MailboxId(mailbox.0 + by)),
        Touch::Ending(collective) => Touch::Ending(CollectiveId(collective.0 + by)),
        Touch::AwaitEnd(collective) => Touch::AwaitEnd(CollectiveId(collective.0 + by)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_told_apart() {
        let mut reach = Reach::default();
        reach.add(Touch::Lock(MutexId(3)), 2);
        let locks = |id| reach.contains(Touch::Lock(MutexId(id)));
        assert_eq!([2, 3, 4, 5].map(locks), [false, true, true, false]);
        assert!(!reach.contains(Touch::Unlock(MutexId(3))));
        let mut all: Vec<_> = reach.touches(2).unwrap().collect();
        all.sort_unstable();
        assert_eq!(all, [3, 4].map(|id| Touch::Lock(MutexId(id))));
        assert!(reach.touches(1).is_none());
    }

    #[test]
    fn posts_meet_what_they_match() {
        let mailbox = MailboxId(0);
        let envelope = |src, tag| Envelope { src, tag };
        let mut reach = Reach::default();
        let known = |number| Guess::Exactly(number);
        reach.add_posts(mailbox, 1, End::Send, (Guess::Some, known(Some(7))));
        let sends = |src, tag| reach.may_meet(Touch::Post(mailbox, End::Send), envelope(src, tag));
        assert!(sends(None, None) && sends(Some(1), Some(7)));
        assert!(!sends(None, Some(8)));
        assert!(!reach.may_meet(Touch::Post(mailbox, End::Receive), envelope(None, None)));
        let mut reach = Reach::default();
        reach.add_posts(mailbox, 1, End::Receive, (known(None), known(Some(7))));
        let receives =
            |src, tag| reach.may_meet(Touch::Post(mailbox, End::Receive), envelope(src, tag));
        assert!(receives(Some(1), Some(7)) && !receives(None, None) && !receives(None, Some(8)));
    }
}
