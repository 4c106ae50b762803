//! A channel whose senders and receiver only wait: a mailbox of the model.
//!
//! What is sent is a token of the sender, and the message itself is kept beside it: whoever gets
//! the token takes the message out. The last sender that is dropped sends a token without one. A
//! receiver that is dropped before that writes a cell, which senders read.
//!
//! Room is another mailbox: there is a token of the receiver for each message that it has taken,
//! and at first one for each message that has room. A sender takes one before it sends. The
//! receiver leaves one when it is dropped, which senders pass on to one another: so none waits.
//!
//! A message may be sent after that, by a sender that has read the cell before. So the messages
//! that nobody receives are dropped by whoever comes last. That must not be seen: if a destructor
//! shows it, the channel has to be a queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvError, SendError};
use std::sync::{Mutex as Plain, MutexGuard as PlainGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::model::{Envelope, MailboxId, Op};
use crate::systems::history::tree::NodeId;
use crate::systems::history::{Asked, Told};
use crate::threads::ask::{Place, Running, ask, ask_for, is_stale, request};
use crate::threads::sync::section::{Flag, Named, is_over};
use crate::threads::system::Made;
use crate::threads::token::Token;

pub(super) struct Post<T> {
    mailbox: MailboxId,
    /// Where senders get room, if that is limited.
    room: Option<MailboxId>,
    is_unread: Flag,
    letters: Plain<Letters<T>>,
    /// Has the receiver got the last token? Only the receiver looks at this.
    has_ended: AtomicBool,
    place: Place,
}

struct Letters<T> {
    /// The messages that were not received, by the histories in which they were sent; `None` for
    /// the end.
    kept: FxHashMap<NodeId, Option<T>>,
    /// Is the receiver gone?
    is_unread: bool,
}

impl<T> Post<T> {
    /// A channel with room for so many messages, if that is limited.
    pub(super) fn new(room: Option<usize>, place: Place) -> Post<T> {
        let mailbox = |what| MailboxId(Running::current().make(Made::Mailbox, what, place));
        let post = Post {
            mailbox: mailbox("channel"),
            room: room.map(|_| mailbox("room of a channel")),
            is_unread: Flag::new_at("receiver of a channel", place),
            letters: Plain::new(Letters { kept: FxHashMap::default(), is_unread: false }),
            has_ended: AtomicBool::new(false),
            place,
        };
        (0..room.unwrap_or(0)).for_each(|_| post.give_room(Named { text: "channel", place }));
        post
    }

    fn letters(&self) -> PlainGuard<'_, Letters<T>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, message: T, place: Place) -> Result<(), SendError<T>> {
        let named = Named { text: "send", place };
        if is_over() || self.room.is_some_and(|room| take(room, named).is_none()) {
            return Err(SendError(message));
        }
        if self.is_unread.is_set(named) {
            self.give_room(named);
            return Err(SendError(message));
        }
        self.post(Some(message), named);
        Ok(())
    }

    /// Lets another message be sent.
    fn give_room(&self, named: Named) {
        if let Some(room) = self.room {
            give(room, named);
        }
    }

    /// The last sender is dropped.
    pub(super) fn end(&self, named: Named) {
        if !is_over() {
            self.post(None, named);
        }
    }

    fn post(&self, message: Option<T>, named: Named) {
        let by = Running::current().node.get();
        let mut letters = self.letters();
        let unread = match letters.is_unread {
            true => message,
            false => letters.kept.insert(by, message).flatten(),
        };
        drop(letters);
        self.leave(unread);
        give(self.mailbox, named);
    }

    pub(super) fn recv(&self, place: Place) -> Result<T, RecvError> {
        if self.has_ended.load(Ordering::Relaxed) || is_over() {
            return Err(RecvError);
        }
        let named = Named { text: "recv", place };
        let Token(by) = take(self.mailbox, named).ok_or(RecvError)?;
        let Some(message) = self.letters().kept.remove(&by) else { is_stale() };
        let Some(message) = message else {
            self.has_ended.store(true, Ordering::Relaxed);
            return Err(RecvError);
        };
        self.give_room(named);
        Ok(message)
    }

    /// The receiver is dropped.
    pub(super) fn abandon(&self, named: Named) {
        if self.has_ended.load(Ordering::Relaxed) || is_over() {
            return;
        }
        self.is_unread.set(named);
        let mut letters = self.letters();
        letters.is_unread = true;
        let left = std::mem::take(&mut letters.kept);
        drop(letters);
        self.leave(left);
        self.give_room(named);
    }

    /// Drops what nobody receives, which must not be seen.
    fn leave<M>(&self, messages: M) {
        if std::mem::needs_drop::<M>() {
            let _uncounted = Running::current().drops_uncounted(self.place);
            drop(messages);
        }
    }
}

/// Sends a token.
fn give(mailbox: MailboxId, Named { text, place }: Named) {
    let token = Token(Running::current().node.get()).value();
    let send = |value| Op::Isend { mailbox, envelope: Envelope::default(), value };
    ask(Asked::with(token, send), text, place);
}

/// Waits for a token. `None` if the threads are being ended.
fn take(mailbox: MailboxId, Named { text, place }: Named) -> Option<Token> {
    let handle = request(Op::Irecv { mailbox, pattern: Envelope::default() }, text, place);
    match ask_for(Op::WaitAny([handle].into()), text, place)? {
        Told::Completed { value, .. } => Token::of(&value),
        _ => None,
    }
}
