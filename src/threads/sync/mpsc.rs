//! [`std::sync::mpsc`]: channels.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::PoisonError;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::condvar::is_over;
use super::{Arc, Condvar, Mutex, MutexGuard};
use crate::threads::ask::Running;

/// The messages of a channel, and who is there.
struct Queue<T> {
    messages: VecDeque<T>,
    senders: usize,
    /// Is the receiver there?
    is_received: bool,
    /// The number of messages that have been taken.
    taken: usize,
}

struct Channel<T> {
    queue: Mutex<Queue<T>>,
    /// The number of messages that have room, if that is limited.
    room: Option<usize>,
    /// Something to receive, or nobody left who sends.
    filled: Condvar,
    /// Room to send, or nobody left who receives.
    emptied: Condvar,
}

impl<T> Channel<T> {
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn new(room: Option<usize>) -> Arc<Channel<T>> {
        let queue = Queue { messages: VecDeque::new(), senders: 1, is_received: true, taken: 0 };
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        Arc::new(Channel { queue: Mutex::new(queue), room, filled, emptied })
    }

    #[track_caller]
    fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut queue = self.lock();
        while queue.is_received && self.room.is_some_and(|room| queue.messages.len() >= room.max(1))
        {
            queue = self.emptied.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if !queue.is_received {
            return Err(SendError(message));
        }
        let turn = queue.taken + queue.messages.len();
        queue.messages.push_back(message);
        self.filled.notify_one();
        // A channel without room hands the message over.
        while self.room == Some(0) && queue.is_received && queue.taken <= turn {
            queue = self.emptied.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    #[track_caller]
    fn try_recv(&self) -> Result<T, TryRecvError> {
        self.take(&mut self.lock())
    }

    #[track_caller]
    fn take(&self, queue: &mut Queue<T>) -> Result<T, TryRecvError> {
        let message = queue.messages.pop_front();
        if message.is_some() {
            queue.taken += 1;
            if self.room.is_some() {
                self.emptied.notify_all();
            }
        }
        message.ok_or(match queue.senders {
            0 => TryRecvError::Disconnected,
            _ => TryRecvError::Empty,
        })
    }

    #[track_caller]
    fn recv(&self, is_timed: bool) -> Result<T, RecvError> {
        let place = Location::caller();
        let mut queue = self.lock();
        loop {
            match self.take(&mut queue) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => {
                    let woken = self.filled.wait_at(queue, is_timed, place);
                    queue = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
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
    let channel = Channel::new(None);
    (Sender(channel.clone()), Receiver(channel))
}

/// A channel with room for so many messages. Without room each message is handed over.
#[track_caller]
pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Channel::new(Some(room));
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
                self.0.send(message)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                self.0.lock().senders += 1;
                $name(self.0.clone())
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                if Running::is_gone() {
                    return;
                }
                let mut queue = self.0.lock();
                queue.senders -= 1;
                if queue.senders == 0 {
                    self.0.filled.notify_all();
                }
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
        let mut queue = self.0.lock();
        if !queue.is_received {
            return Err(TrySendError::Disconnected(message));
        }
        if self.0.room.is_some_and(|room| queue.messages.len() >= room) {
            return Err(TrySendError::Full(message));
        }
        queue.messages.push_back(message);
        self.0.filled.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and no sender is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.recv(false)
    }

    /// A message, if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.try_recv()
    }

    /// Waits for a message, or until the time is over: whether it is over first is a choice.
    ///
    /// # Errors
    /// If there is no message in time, or no sender is left.
    #[track_caller]
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        if is_over("recv_timeout", Location::caller()) {
            return self.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        self.0.recv(true).map_err(|_| RecvTimeoutError::Disconnected)
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
        if Running::is_gone() {
            return;
        }
        let mut queue = self.0.lock();
        queue.is_received = false;
        let left = std::mem::take(&mut queue.messages);
        self.0.emptied.notify_all();
        drop(queue);
        drop(left);
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
