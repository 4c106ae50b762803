//! The shared objects, as logs: what was posted, requested, released, and what follows from it.
//!
//! Nothing is erased while executing, and undoing is popping. Invariants, restored by each method that changes
//! an object:
//! - mailbox: the pairing is the stable matching of the two orders (see `independence`): each post is paired,
//!   on arrival, with the oldest unpaired opposite post that matches;
//! - mutex: `head` is the first request that is not released, and `opened[i]` the release after which
//!   every request up to `i` was released, known for all i before `head`. One that nobody asked for allocates nothing.

use super::{Envelope, MailboxId, MutexId, ProcessId, SemaphoreId, ValueId};

/// An end of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// Where sends are posted.
    Send,
    /// Where receives are posted.
    Receive,
}

impl End {
    /// The other end.
    pub fn opposite(self) -> End {
        match self {
            End::Send => End::Receive,
            End::Receive => End::Send,
        }
    }
}

/// No place in a log.
pub(super) const NONE: u32 = u32::MAX;

/// A place in a log, if any.
pub(super) fn place(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// A send or receive posted at a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Who posted it.
    pub process: ProcessId,
    /// Source and tag, or the pattern.
    pub envelope: Envelope,
    /// What is sent; unit for a receive.
    pub value: ValueId,
    partner: u32,
}

impl Post {
    /// The opposite post it is paired with, by position.
    pub fn partner(&self) -> Option<u32> {
        place(self.partner)
    }
}

/// The two ends of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    /// Sends in order of arrival.
    pub sends: Vec<Post>,
    /// Receives in order of arrival.
    pub receives: Vec<Post>,
    /// How many of the receives have a pattern. With none, the k-th send pairs with the k-th receive.
    patterns: u32,
}

impl Mailbox {
    /// The posts at one end.
    pub fn posts(&self, end: End) -> &[Post] {
        match end {
            End::Send => &self.sends,
            End::Receive => &self.receives,
        }
    }

    fn posts_mut(&mut self, end: End) -> &mut Vec<Post> {
        match end {
            End::Send => &mut self.sends,
            End::Receive => &mut self.receives,
        }
    }

    /// Does every post match every opposite one?
    pub fn is_plain(&self) -> bool {
        self.patterns == 0
    }

    /// The oldest post opposite to `end` that matches `envelope` and is not paired with one of the first
    /// `position` posts at `end`: the partner that a post at that position gets.
    pub fn partner_at(&self, end: End, position: u32, envelope: Envelope) -> Option<u32> {
        let opposite = self.posts(end.opposite());
        if self.is_plain() && (end == End::Send || envelope.is_wildcard()) {
            return ((position as usize) < opposite.len()).then_some(position);
        }
        let found = opposite.iter().position(|post| {
            let free = place(post.partner).is_none_or(|partner| partner >= position);
            free && match end {
                End::Send => post.envelope.accepts(envelope),
                End::Receive => envelope.accepts(post.envelope),
            }
        });
        found.map(|index| index as u32)
    }

    /// The posts at `end` that are not paired, by position. O(1) each if every post matches.
    pub fn unpaired(&self, end: End) -> impl Iterator<Item = u32> {
        let from = if self.is_plain() { self.posts(end.opposite()).len() } else { 0 };
        let rest = self.posts(end).iter().enumerate().skip(from);
        rest.filter(|(_, post)| post.partner == NONE).map(|(position, _)| position as u32)
    }

    /// Posts at `end`, and pairs the post if it can be.
    pub(super) fn push(
        &mut self,
        end: End,
        process: ProcessId,
        envelope: Envelope,
        value: ValueId,
    ) {
        let position = self.posts(end).len() as u32;
        if end == End::Receive && !envelope.is_wildcard() {
            self.patterns += 1;
        }
        let partner = self.partner_at(end, position, envelope).unwrap_or(NONE);
        self.posts_mut(end).push(Post { process, envelope, value, partner });
        if partner != NONE {
            self.posts_mut(end.opposite())[partner as usize].partner = position;
        }
    }

    /// Takes back the last post at `end`.
    pub(super) fn pop(&mut self, end: End) {
        let post = self.posts_mut(end).pop().expect("a post to undo");
        if end == End::Receive && !post.envelope.is_wildcard() {
            self.patterns -= 1;
        }
        if let Some(partner) = post.partner() {
            self.posts_mut(end.opposite())[partner as usize].partner = NONE;
        }
    }
}

/// The queue of a mutex, with its past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutex {
    /// Every request in order, with the position of its release.
    requests: Vec<(ProcessId, u32)>,
    /// Every release in order, by the request that it ended.
    releases: Vec<u32>,
    /// The first request that is not released.
    head: u32,
    /// `opened[i]`: the release after which no request up to `i` was left.
    opened: Vec<u32>,
}

impl Mutex {
    /// Free, and never requested.
    pub(super) fn new() -> Self {
        Mutex { requests: Vec::new(), releases: Vec::new(), head: 0, opened: Vec::new() }
    }

    /// Every request so far, by process.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = ProcessId> {
        self.requests.iter().map(|&(process, _)| process)
    }

    /// Every release so far, by the position of the request that it ended.
    pub fn releases(&self) -> &[u32] {
        &self.releases
    }

    /// The owner's request, if the mutex is not free.
    pub fn owner(&self) -> Option<u32> {
        ((self.head as usize) < self.requests.len()).then_some(self.head)
    }

    /// Those in the queue, the owner first.
    pub fn queue(&self) -> impl Iterator<Item = ProcessId> {
        let rest = &self.requests[self.head as usize..];
        rest.iter().filter(|&&(_, released)| released == NONE).map(|&(process, _)| process)
    }

    /// Is (or was) every request before `request` released?
    pub fn is_granted(&self, request: u32) -> bool {
        request <= self.head
    }

    /// The release that granted `request`, by position; `None` if it was first or is not granted.
    pub fn granted_by(&self, request: u32) -> Option<u32> {
        let before = request.checked_sub(1)?;
        self.opened.get(before as usize).copied()
    }

    /// When `request` was released.
    pub fn released_at(&self, request: u32) -> Option<u32> {
        place(self.requests[request as usize].1)
    }

    /// Appends `process` to the queue; the position of its request.
    pub(super) fn request(&mut self, process: ProcessId) -> u32 {
        self.requests.push((process, NONE));
        self.requests.len() as u32 - 1
    }

    /// Takes the last request back.
    pub(super) fn undo_request(&mut self) {
        self.requests.pop().expect("a request to undo");
    }

    /// Takes this request out of the queue.
    pub(super) fn release(&mut self, request: u32) {
        let position = self.releases.len() as u32;
        self.requests[request as usize].1 = position;
        self.releases.push(request);
        while self.requests.get(self.head as usize).is_some_and(|&(_, at)| at != NONE) {
            self.head += 1;
            self.opened.push(position);
        }
    }

    /// Takes the last release back.
    pub(super) fn undo_release(&mut self) {
        let request = self.releases.pop().expect("a release to undo");
        self.requests[request as usize].1 = NONE;
        self.head = self.head.min(request);
        self.opened.truncate(self.head as usize);
    }
}

/// A counting semaphore: the k-th request is granted at once within the initial count, else by a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// Units at the start.
    pub initial: u32,
    /// Every request so far.
    pub requests: Vec<ProcessId>,
    /// Every release so far.
    pub releases: Vec<ProcessId>,
}

impl Semaphore {
    /// Is this request granted?
    pub fn is_granted(&self, request: u32) -> bool {
        (request as usize) < self.initial as usize + self.releases.len()
    }

    /// The release that this request needs, by position; `None` within the initial count.
    pub fn granted_by(&self, request: u32) -> Option<u32> {
        request.checked_sub(self.initial)
    }
}

/// A barrier: who has arrived, per round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// How many arrivals end a round.
    pub size: u32,
    /// Arrivals per round; a process arrives once a round.
    pub rounds: Vec<Vec<ProcessId>>,
}

impl Barrier {
    /// Those who have arrived in `round`.
    pub fn arrived(&self, round: u32) -> &[ProcessId] {
        self.rounds.get(round as usize).map_or(&[], Vec::as_slice)
    }

    /// More processes arrived than take part? The first round has them all.
    pub fn is_oversubscribed(&self) -> bool {
        self.arrived(0).len() > self.size as usize
    }
}

/// Where a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Posted {
    /// A communication: an end of a mailbox, and the position there.
    At(MailboxId, End, u32),
    /// A request for a mutex.
    Mutex(MutexId, u32),
    /// A request for a semaphore.
    Semaphore(SemaphoreId, u32),
}
