//! Messages between actors: all that were ever sent, and which of them are pending.
//!
//! Like the other objects this is a log: sending appends, undoing pops. An actor takes its messages
//! in any order, so the pending ones of each actor form a doubly linked list through the log.
//! Taking a message unlinks it but keeps its own links. So undoing, which puts back the last taken
//! message first, finds where it was. Both are O(1).
//!
//! Invariant, restored by each method: the list of an actor holds its messages that are sent and
//! not taken, in the order of sending.

use super::{NONE, place};
use crate::model::{MessageId, ProcessId, ValueId};

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id, the same on every branch of a search.
    pub id: MessageId,
    /// The receiver.
    pub to: ProcessId,
    /// Its content.
    pub content: ValueId,
    creator: u32,
    taken: bool,
    previous: u32,
    next: u32,
}

impl Message {
    /// The position in the execution of the action that sent it; `None` if it is pending from the
    /// start.
    pub(crate) fn creator(&self) -> Option<usize> {
        place(self.creator).map(|position| position as usize)
    }

    /// Is it not taken yet?
    pub fn is_pending(&self) -> bool {
        !self.taken
    }
}

/// All messages of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inboxes {
    log: Vec<Message>,
    /// Per actor the first and the last of its pending messages.
    ends: Vec<(u32, u32)>,
    /// Per message id, the position in the log.
    positions: Vec<u32>,
}

impl Inboxes {
    /// Every message so far, in the order of sending.
    pub fn log(&self) -> &[Message] {
        &self.log
    }

    /// The position in the log of a message that was sent here.
    pub(crate) fn position(&self, id: MessageId) -> Option<u32> {
        self.positions.get(id.index()).copied().and_then(place)
    }

    /// The pending messages of an actor by their positions in the log, in the order of sending.
    pub(crate) fn pending(&self, actor: ProcessId) -> impl Iterator<Item = u32> {
        std::iter::successors(self.oldest(actor), |&at| place(self.log[at as usize].next))
    }

    /// The oldest pending message of an actor.
    pub(crate) fn oldest(&self, actor: ProcessId) -> Option<u32> {
        self.ends.get(actor.index()).and_then(|&(first, _)| place(first))
    }

    /// The newest pending message of an actor.
    pub(crate) fn newest(&self, actor: ProcessId) -> Option<u32> {
        self.ends.get(actor.index()).and_then(|&(_, last)| place(last))
    }

    /// Has the actor a pending message?
    pub fn has_pending(&self, actor: ProcessId) -> bool {
        self.oldest(actor).is_some()
    }

    /// Appends a message; `creator` is the position of the sending action in the execution.
    pub(in crate::model) fn send(
        &mut self,
        id: MessageId,
        to: ProcessId,
        content: ValueId,
        creator: Option<usize>,
    ) {
        let at = self.log.len() as u32;
        if self.ends.len() <= to.index() {
            self.ends.resize(to.index() + 1, (NONE, NONE));
        }
        let (first, last) = &mut self.ends[to.index()];
        let previous = std::mem::replace(last, at);
        match previous {
            NONE => *first = at,
            previous => self.log[previous as usize].next = at,
        }
        let creator = creator.map_or(NONE, |position| position as u32);
        self.log.push(Message { id, to, content, creator, taken: false, previous, next: NONE });
        if self.positions.len() <= id.index() {
            self.positions.resize(id.index() + 1, NONE);
        }
        self.positions[id.index()] = at;
    }

    /// Undoes the last sending.
    pub(in crate::model) fn unsend(&mut self) {
        let message = self.log.pop().expect("a message to take back");
        self.positions[message.id.index()] = NONE;
        let (first, last) = &mut self.ends[message.to.index()];
        *last = message.previous;
        match message.previous {
            NONE => *first = NONE,
            previous => self.log[previous as usize].next = NONE,
        }
    }

    /// Takes a pending message out of its list.
    pub(in crate::model) fn take(&mut self, at: u32) {
        let message = &mut self.log[at as usize];
        message.taken = true;
        let (to, previous, next) = (message.to.index(), message.previous, message.next);
        self.link(to, previous, next, next, previous);
    }

    /// Puts the message that was taken last back into its list.
    pub(in crate::model) fn untake(&mut self, at: u32) {
        let message = &mut self.log[at as usize];
        message.taken = false;
        let (to, previous, next) = (message.to.index(), message.previous, message.next);
        self.link(to, previous, next, at, at);
    }

    /// Makes `after` the successor of `previous`, and `before` the predecessor of `next`.
    fn link(&mut self, actor: usize, previous: u32, next: u32, after: u32, before: u32) {
        match previous {
            NONE => self.ends[actor].0 = after,
            previous => self.log[previous as usize].next = after,
        }
        match next {
            NONE => self.ends[actor].1 = before,
            next => self.log[next as usize].previous = before,
        }
    }
}
