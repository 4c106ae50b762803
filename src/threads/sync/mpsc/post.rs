//! A channel without limits whose receiver only waits: a mailbox of the model.
//!
//! What is sent is a token of the sender, and the message itself is kept beside it: whoever gets
//! the token takes the message out. The last sender that is dropped sends a token without one. A
//! receiver that is dropped before that writes a cell, which senders read.
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
use crate::threads::sync::section::{Flag, Named};
use crate::threads::system::Made;
use crate::threads::token::Token;

pub(super) struct Post<T> {
    mailbox: MailboxId,
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
    pub(super) fn new(place: Place) -> Post<T> {
        let mailbox = MailboxId(Running::current().make(Made::Mailbox, "channel", place));
        Post {
            mailbox,
            is_unread: Flag::new_at("receiver of a channel", place),
            letters: Plain::new(Letters { kept: FxHashMap::default(), is_unread: false }),
            has_ended: AtomicBool::new(false),
            place,
        }
    }

    fn letters(&self) -> PlainGuard<'_, Letters<T>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, message: T, place: Place) -> Result<(), SendError<T>> {
        let named = Named { text: "send", place };
        if is_over() || self.is_unread.is_set(named) {
            return Err(SendError(message));
        }
        self.post(Some(message), named);
        Ok(())
    }

    /// The last sender is dropped.
    pub(super) fn end(&self, named: Named) {
        if !is_over() {
            self.post(None, named);
        }
    }

    fn post(&self, message: Option<T>, Named { text, place }: Named) {
        let by = Running::current().node.get();
        let mut letters = self.letters();
        let unread = match letters.is_unread {
            true => message,
            false => letters.kept.insert(by, message).flatten(),
        };
        drop(letters);
        self.leave(unread);
        let (mailbox, envelope) = (self.mailbox, Envelope::default());
        let send = |value| Op::Isend { mailbox, envelope, value };
        ask(Asked::with(Token(by).value(), send), text, place);
    }

    pub(super) fn recv(&self, place: Place) -> Result<T, RecvError> {
        if is_over() || self.has_ended.load(Ordering::Relaxed) {
            return Err(RecvError);
        }
        let (mailbox, pattern) = (self.mailbox, Envelope::default());
        let handle = request(Op::Irecv { mailbox, pattern }, "recv", place);
        let told = ask_for(Op::WaitAny([handle].into()), "recv", place);
        let Some(Told::Completed { value, .. }) = told else { return Err(RecvError) };
        let Token(by) = Token::of(&value).expect("what senders send");
        let Some(message) = self.letters().kept.remove(&by) else { is_stale() };
        self.has_ended.store(message.is_none(), Ordering::Relaxed);
        message.ok_or(RecvError)
    }

    /// The receiver is dropped.
    pub(super) fn abandon(&self, named: Named) {
        if is_over() || self.has_ended.load(Ordering::Relaxed) {
            return;
        }
        self.is_unread.set(named);
        let mut letters = self.letters();
        letters.is_unread = true;
        let left = std::mem::take(&mut letters.kept);
        drop(letters);
        self.leave(left);
    }

    /// Drops what nobody receives, which must not be seen.
    fn leave<M>(&self, messages: M) {
        if std::mem::needs_drop::<M>() {
            let _uncounted = Running::current().drops_uncounted(self.place);
            drop(messages);
        }
    }
}

/// Is the thread unwinding, or are all being ended? A panic in which this is asked must not be
/// caught.
fn is_over() -> bool {
    if std::thread::panicking() {
        Running::try_current().inspect(|running| running.has_locked_in_panic.set(true));
    }
    std::thread::panicking() || Running::is_gone()
}
