//! Events.
//!
//! An event is an action with its history: everything that had to happen before it. It has a place
//! in the tree of its process and, if it acts on a shared object, one in the tree of a chain:
//!
//! ```text
//!  process lane p     ⊥ ── e1 ── e4 ── e7        children of a node in the tree of a process are in
//!                           └─── e5              conflict;
//!  chain lane "sends  ⊥ ── e1 ── e3              so are a change (a send to the mailbox, a
//!   to mailbox m"      └── e3'── e1'             write of the cell, ..) and its siblings in the
//!                                                tree of its chain; a read hangs below the write
//!                                                whose value it reads
//! ```

use smallvec::SmallVec;

use super::lanes::Lane;
use crate::model::{Choice, LocalId, ProcessId};

/// An event, by its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub(crate) u32);

impl EventId {
    /// No event: the root of every lane.
    pub(crate) const NONE: EventId = EventId(u32::MAX);

    /// The position in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Is this an event at all?
    pub(crate) fn is_some(self) -> bool {
        self != EventId::NONE
    }
}

/// The relation of an event to the chains of shared objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It has none, or only to the past: waits, successful tests, local steps, arrivals.
    Plain,
    /// It is the next element of its chain.
    Change,
    /// It saw the state of a cell after the last change in its history, so a later change must have
    /// it in its history.
    Read,
    /// It saw communications that were not paired (or mutexes not owned): see `Watch`.
    FailedTest,
}

impl EventKind {
    /// Would some later change contradict it?
    pub(crate) fn is_observation(self) -> bool {
        matches!(self, EventKind::Read | EventKind::FailedTest)
    }
}

/// Something that a failed test found incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watch {
    /// The chain of the changes that would complete it: the opposite end of the mailbox, or the
    /// unlocks.
    pub(crate) lane: Lane,
    /// The place of the tested send, receive or lock request among the requests at the same end or
    /// mutex.
    pub(crate) request: u32,
}

/// A place in a tree of events, with a jump pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The parent.
    pub parent: EventId,
    /// An ancestor further up.
    pub(super) jump: EventId,
    /// Distance from the root: the first event of a lane has depth 1.
    pub depth: u32,
}

impl Node {
    /// The root of every lane.
    pub(crate) const ROOT: Node = Node { parent: EventId::NONE, jump: EventId::NONE, depth: 0 };
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// The acting process.
    pub process: ProcessId,
    /// Which way it went, where history leaves a choice.
    pub choice: Choice,
    /// Might the same operation go another way after the same history?
    pub(super) is_choice: bool,
    /// The local state in which the process acts. It determines the operation.
    pub(crate) before: LocalId,
    /// The local state after it.
    pub(crate) after: LocalId,
    /// The place in the tree of the process.
    pub own: Node,
    /// The place in the tree of the chain, if there is one.
    pub(crate) link: Node,
    /// The chain; `Lane::NONE` for plain events and failed tests.
    pub chain: Lane,
    /// Its relation to its chain.
    pub kind: EventKind,
    /// The last observation of the process up to and including this event.
    pub(super) observed: EventId,
    /// Length of the longest chain of causes that ends here, at least 1.
    pub(crate) height: u32,
    /// See [`super::census`].
    pub(super) print: u64,
    /// Direct causes, ascending.
    pub causes: SmallVec<[EventId; 4]>,
    /// Is it in U? If not, it is forgotten.
    pub(super) live: bool,
    /// The previous event of the process; for the first one of a spawned process, its spawn.
    pub(super) after_event: EventId,
    /// The newest child, and the next older sibling, in the process tree; only choices are in
    /// these lists.
    pub(super) first_child: EventId,
    pub(super) next_sibling: EventId,
    /// Children in the chain's tree, by process: the newest child of some process, the next older
    /// child of the same process, and (of a newest one) the newest child of another process.
    pub(super) first_link: EventId,
    pub(super) next_link: EventId,
    pub(super) next_group: EventId,
    /// Immediate conflicts: head of a list in `edges`, and their number.
    pub(super) conflicts: u32,
    pub(super) degree: u32,
}

impl Event {
    /// The event that it follows: the last event of its process, or what started the process; for a
    /// match its receive, for the end of an entry the entry.
    pub(crate) fn after_event(&self) -> EventId {
        self.after_event
    }

    /// Can an event be in immediate conflict with this one?
    pub(crate) fn is_contended(&self) -> bool {
        self.is_choice || self.kind != EventKind::Plain
    }

    /// Number of events found in immediate conflict with this one. Forgotten ones count, too, and
    /// again when they are found again.
    pub(crate) fn degree(&self) -> u32 {
        self.degree
    }
}
