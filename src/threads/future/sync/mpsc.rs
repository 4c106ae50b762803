//! Channels with many senders and one receiver, with room for so many messages or without limit.
//!
//! A message in the channel has one of the permits; so has a sender that has reserved room. A
//! channel without limit has more permits than there can be messages.

mod bounded;
mod unbounded;

pub use bounded::{OwnedPermit, Permit, PermitIterator, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::permits::{Closed, Held, acquire};
use super::senders::{Senders, counted};
use super::wakers::{Wakers, wait};
use crate::threads::future::bell::{act, poll, register, wake};
use crate::threads::sync::section::{Named, Section, is_over};

pub mod error {
    //! Errors of these channels.

    pub use super::bounded::SendTimeoutError;
    pub use super::{SendError, TryRecvError, TrySendError};
}

/// The receiver takes nothing more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why a message was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The receiver takes nothing more.
    Closed(T),
}

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is none yet.
    Empty,
    /// There will be none.
    Disconnected,
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Closed(message) => message,
        }
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> TrySendError<T> {
        TrySendError::Closed(error.0)
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

/// With quotes, as tokio shows it.
impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
        };
        fmt::Debug::fmt(shown, f)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the channel is full",
            TrySendError::Closed(_) => "the channel is closed",
        })
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Disconnected => "the channel is closed",
        })
    }
}

impl<T> std::error::Error for SendError<T> {}

impl<T> std::error::Error for TrySendError<T> {}

impl std::error::Error for TryRecvError {}

/// A channel.
struct Channel<T> {
    section: Section<Held<Queue<T>>>,
    /// The number of permits.
    max: usize,
    senders: Senders,
}

struct Queue<T> {
    messages: VecDeque<T>,
    receiver: Option<Waker>,
    /// Are there no senders any more?
    is_abandoned: bool,
    /// Is the receiver gone?
    is_unread: bool,
    /// Those who wait until the channel is closed.
    closed: Wakers,
}

impl<T> Queue<T> {
    /// Adds a message, for which there is a permit. Returns it if nobody will take it.
    fn push(&mut self, message: T) -> Option<T> {
        if self.is_unread {
            return Some(message);
        }
        self.messages.push_back(message);
        wake(self.receiver.take());
        None
    }
}

impl<T> Held<Queue<T>> {
    fn take_next(&mut self, max: usize) -> Result<T, TryRecvError> {
        if let Some(message) = self.data.messages.pop_front() {
            self.permits.give(1);
            return Ok(message);
        }
        // Who has reserved room may still send.
        let is_idle = self.permits.is_closed() && self.permits.free() == max;
        Err(match self.data.is_abandoned || is_idle {
            true => TryRecvError::Disconnected,
            false => TryRecvError::Empty,
        })
    }

    fn register(&mut self, waker: &Waker) {
        register(&mut self.data.receiver, waker);
        if self.permits.is_closed() {
            self.permits.watch(waker);
        }
    }
}

impl<T> Channel<T> {
    /// A channel with one sender.
    #[track_caller]
    fn new(max: usize) -> Arc<Channel<T>> {
        let (messages, closed) = (VecDeque::new(), Wakers::default());
        let (is_abandoned, is_unread) = (false, false);
        let queue = Queue { messages, receiver: None, is_abandoned, is_unread, closed };
        Arc::new(Channel {
            section: Held::new("channel", max, queue),
            max,
            senders: Senders::new(),
        })
    }

    async fn send(&self, message: T, named: Named) -> Result<(), SendError<T>> {
        let mut message = Some(message);
        let sent = acquire(&self.section, 1, named, |held| {
            held.data.push(message.take().expect("it is sent once"))
        })
        .await;
        match sent {
            Ok(unread) => drop(unread),
            Err(Closed) => return Err(SendError(message.expect("it was not sent"))),
        }
        Ok(())
    }

    fn try_send(&self, message: T, named: Named) -> Result<(), TrySendError<T>> {
        let sent = act(&self.section, named, |held| {
            if held.permits.is_closed() {
                return Err(TrySendError::Closed(message));
            }
            match held.permits.take(1) {
                true => Ok(held.data.push(message)),
                false => Err(TrySendError::Full(message)),
            }
        });
        sent.map(drop)
    }

    /// Sends a message for which there is a permit.
    fn send_permitted(&self, message: T, named: Named) {
        drop(act(&self.section, named, |held| held.data.push(message)));
    }

    fn give_back(&self, permits: usize, named: Named) {
        if permits > 0 && !is_over() {
            act(&self.section, named, |held| held.permits.give(permits));
        }
    }

    fn try_recv(&self, named: Named) -> Result<T, TryRecvError> {
        act(&self.section, named, |held| held.take_next(self.max))
    }

    fn poll_recv(&self, named: Named, context: &Context<'_>) -> Poll<Option<T>> {
        poll(&self.section, named, |held| match held.take_next(self.max) {
            Ok(message) => Poll::Ready(Some(message)),
            Err(TryRecvError::Disconnected) => Poll::Ready(None),
            Err(TryRecvError::Empty) => {
                held.register(context.waker());
                Poll::Pending
            }
        })
    }

    fn poll_recv_many(
        &self,
        named: Named,
        context: &Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        poll(&self.section, named, |held| {
            let before = buffer.len();
            loop {
                let end = match held.take_next(self.max) {
                    Ok(message) => {
                        buffer.push(message);
                        buffer.len() - before == limit
                    }
                    Err(TryRecvError::Disconnected) => true,
                    Err(TryRecvError::Empty) if buffer.len() > before => true,
                    Err(TryRecvError::Empty) => {
                        held.register(context.waker());
                        return Poll::Pending;
                    }
                };
                if end {
                    return Poll::Ready(buffer.len() - before);
                }
            }
        })
    }

    fn close(&self, named: Named) {
        act(&self.section, named, |held| {
            held.permits.close();
            held.data.closed.wake_all();
        });
    }

    async fn closed(&self, named: Named) {
        let is_closed = |held: &mut Held<Queue<T>>| held.permits.is_closed().then_some(());
        wait(&self.section, named, |held| &mut held.data.closed, is_closed).await;
    }

    fn is_closed(&self, named: Named) -> bool {
        self.section.enter(named, |held| held.permits.is_closed())
    }

    /// Looks at the messages.
    fn look<R>(&self, named: Named, look: impl FnOnce(&VecDeque<T>) -> R) -> R {
        self.section.enter(named, |held| look(&held.data.messages))
    }

    /// The receiver is dropped.
    fn abandon_receiver(&self, named: Named) {
        if !is_over() {
            // Messages are dropped where nothing is locked.
            drop(act(&self.section, named, |held| {
                held.permits.close();
                held.data.closed.wake_all();
                held.data.is_unread = true;
                let left = std::mem::take(&mut held.data.messages);
                held.permits.give(left.len());
                (left, held.data.receiver.take())
            }));
        }
    }

    /// The last sender is dropped.
    fn abandon(&self, named: Named) {
        act(&self.section, named, |held| {
            held.data.is_abandoned = true;
            wake(held.data.receiver.take());
        });
    }
}

/// What senders of both kinds of channels have.
macro_rules! sender {
    ($sender:ident, $weak:ident) => {
        impl<T> $sender<T> {
            /// Waits until the receiver takes nothing more.
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> {
                self.channel.closed(Named::here("closed"))
            }

            /// Does the receiver take nothing more?
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.channel.is_closed(Named::here("is_closed"))
            }
        }

        counted!($sender, $weak, Channel);
    };
}

/// What receivers of both kinds of channels have.
macro_rules! receiver {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Waits for a message. `None` if there will be none.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                let named = Named::here("recv");
                std::future::poll_fn(move |context| self.channel.poll_recv(named, context))
            }

            /// Waits for messages, and adds those that are there, up to this number, to the buffer.
            /// Returns how many those are.
            #[track_caller]
            pub fn recv_many(
                &mut self,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> {
                let named = Named::here("recv_many");
                std::future::poll_fn(move |context| {
                    self.channel.poll_recv_many(named, context, buffer, limit)
                })
            }

            /// A message, if there is one.
            ///
            /// # Errors
            /// If there is none.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.channel.try_recv(Named::here("try_recv"))
            }

            /// Waits for a message, in a thread that runs no future.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                crate::threads::future::block_on(self.recv())
            }

            /// Waits for messages, in a thread that runs no future.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                crate::threads::future::block_on(self.recv_many(buffer, limit))
            }

            /// Polls for a message.
            #[track_caller]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
                self.channel.poll_recv(Named::here("poll_recv"), context)
            }

            /// Takes no messages but those that are there, and those for which there is a permit.
            #[track_caller]
            pub fn close(&mut self) {
                self.channel.close(Named::here("close"));
            }

            /// Was it closed, or are the senders gone?
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                let closed =
                    |held: &mut Held<Queue<T>>| held.permits.is_closed() || held.data.is_abandoned;
                self.channel.section.enter(Named::here("is_closed"), closed)
            }

            /// Is there no message?
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.channel.look(Named::here("is_empty"), VecDeque::is_empty)
            }

            /// The number of messages.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.channel.look(Named::here("len"), VecDeque::len)
            }

            /// The number of senders.
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                self.channel.senders.strong(Named::here("sender_strong_count"))
            }

            /// The number of senders that do not keep the channel open.
            #[track_caller]
            pub fn sender_weak_count(&self) -> usize {
                self.channel.senders.weak(Named::here("sender_weak_count"))
            }
        }

        impl<T> Drop for $receiver<T> {
            fn drop(&mut self) {
                let named = Named { text: "drop of the receiver", ..self.made };
                self.channel.abandon_receiver(named);
            }
        }

        impl<T> fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($receiver)).finish_non_exhaustive()
            }
        }
    };
}

use {receiver, sender};
