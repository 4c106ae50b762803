//! [`std::sync::mpsc`]: channels.
//!
//! | file | idea |
//! |---|---|
//! | `post` | a mailbox of the model |
//! | `queue` | a queue in a section |
//!
//! At a mailbox a receive depends on the send of its message only, so a program has far fewer
//! classes. But there senders and receivers can only wait, and what is not received is dropped at
//! some time. If the program does more with a channel, the search is done once more with a queue.
//! So is it from the start if messages are handed over, or if there is room for many of them.

mod post;
mod queue;

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::Arc;
use super::condvar::is_over;
use super::section::Named;
use super::turns::Turns;
use crate::threads::ask::{Place, Running};
use crate::threads::mode::Counting;
use post::Post;
use queue::Queue;

/// The most messages for which a mailbox has room, if that is limited: each costs a step.
const MOST_ROOM: usize = 8;

struct Channel<T> {
    messages: Messages<T>,
    senders: Senders,
    place: Place,
}

enum Messages<T> {
    Post(Post<T>),
    Queue(Queue<T>),
}

impl<T> Channel<T> {
    fn new(room: Option<usize>, place: Place) -> Arc<Channel<T>> {
        let is_fit = room.is_none_or(|room| (1..=MOST_ROOM).contains(&room));
        let is_post = is_fit && Running::current().shared.mode.counting(place).is_none();
        let messages = match is_post {
            true => Messages::Post(Post::new(room, place)),
            false => Messages::Queue(Queue::new(room, place)),
        };
        Arc::new(Channel { messages, senders: Senders::new(place), place })
    }

    fn send(&self, message: T, place: Place) -> Result<(), SendError<T>> {
        match &self.messages {
            Messages::Post(post) => post.send(message, place),
            Messages::Queue(queue) => queue.send(message, place),
        }
    }

    fn recv(&self, is_timed: bool, place: Place) -> Result<T, RecvError> {
        match &self.messages {
            Messages::Post(post) => post.recv(place),
            Messages::Queue(queue) => queue.recv(is_timed, place),
        }
    }

    fn try_recv(&self, place: Place) -> Result<T, TryRecvError> {
        match self.queue() {
            Some(queue) => queue.try_recv(place),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The queue. If there is none, this search ends, unless it does not matter what happens.
    fn queue(&self) -> Option<&Queue<T>> {
        match &self.messages {
            Messages::Post(_) => {
                let running = Running::try_current()?;
                running.shared.counts(self.place, Counting::Drops);
                None
            }
            Messages::Queue(queue) => Some(queue),
        }
    }

    fn drop_sender(&self) {
        if Running::is_gone() {
            return;
        }
        let named = Named { text: "drop of the sender", place: self.place };
        if self.senders.remove(named) {
            match &self.messages {
                Messages::Post(post) => post.end(named),
                Messages::Queue(queue) => queue.end(named),
            }
        }
    }

    fn drop_receiver(&self) {
        if Running::is_gone() {
            return;
        }
        let named = Named { text: "drop of the receiver", place: self.place };
        match &self.messages {
            Messages::Post(post) => post.abandon(named),
            Messages::Queue(queue) => queue.abandon(named),
        }
    }
}

/// The senders of a channel. As with the handles of [`counted::Arc`](super::counted::Arc), only
/// their drops are seen: who drops the last one knows how all others were made.
struct Senders {
    turns: Turns,
    made: AtomicUsize,
    dropped: AtomicUsize,
}

impl Senders {
    /// One sender.
    fn new(place: Place) -> Senders {
        let (made, dropped) = (AtomicUsize::new(1), AtomicUsize::new(0));
        Senders { turns: Turns::new("senders of a channel", place), made, dropped }
    }

    fn add(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender is dropped. Returns whether it was the last one.
    fn remove(&self, Named { text, place }: Named) -> bool {
        // One that was never cloned is the last one, whoever knows that.
        if self.made.load(Ordering::Relaxed) > 1 {
            self.turns.take(text, place);
        }
        let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        dropped == self.made.load(Ordering::Relaxed)
    }
}

/// The end of a channel that sends.
pub struct Sender<T>(Arc<Channel<T>>);

/// The end of a channel with limited room that sends.
pub struct SyncSender<T>(Arc<Channel<T>>);

/// The end of a channel that receives.
pub struct Receiver<T>(Arc<Channel<T>>);

/// A channel without limits.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Channel::new(None, Location::caller());
    (Sender(channel.clone()), Receiver(channel))
}

/// A channel with room for so many messages. Without room each message is handed over.
#[track_caller]
pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Channel::new(Some(room), Location::caller());
    (SyncSender(channel.clone()), Receiver(channel))
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Sends a message.
            ///
            /// # Errors
            /// With the message, if the receiver is gone.
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                self.0.send(message, Location::caller())
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                self.0.senders.add();
                $name(self.0.clone())
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                self.0.drop_sender();
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> SyncSender<T> {
    /// Sends a message if there is room.
    ///
    /// # Errors
    /// With the message, if there is no room or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.0.queue() {
            Some(queue) => queue.try_send(message, Location::caller()),
            None => Err(TrySendError::Full(message)),
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and no sender is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.recv(false, Location::caller())
    }

    /// A message, if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.try_recv(Location::caller())
    }

    /// Waits for a message, or until the time is over: whether it is over first is a choice.
    ///
    /// # Errors
    /// If there is no message in time, or no sender is left.
    #[track_caller]
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        let place = Location::caller();
        if self.0.queue().is_none() || is_over("recv_timeout", place) {
            return self.0.try_recv(place).map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        self.0.recv(true, place).map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// The messages until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// The messages of a receiver.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The messages of a receiver that it owns.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
