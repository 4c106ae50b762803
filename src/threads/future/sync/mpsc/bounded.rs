//! Channels with room for so many messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{
    Channel, Closed, Held, Queue, SendError, TryRecvError, TrySendError, acquire, counted,
    receiver, sender,
};
use crate::threads::future::time::timeout;
use crate::threads::sync::section::Named;

/// Sends messages to a channel.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// Receives the messages of a channel.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// A channel with room for so many messages.
///
/// # Panics
/// If it is to have no room.
#[track_caller]
pub fn channel<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    assert!(room > 0, "a channel of tasks has room for at least one message");
    let (channel, made) = (Channel::new(room), Named::here("channel"));
    (Sender { channel: channel.clone(), made }, Receiver { channel, made })
}

/// Why a message was not sent in time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The time was over.
    Timeout(T),
    /// The receiver takes nothing more.
    Closed(T),
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message) => message,
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Closed(_) => "Closed(..)",
        };
        fmt::Debug::fmt(shown, f)
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "the time is over",
            SendTimeoutError::Closed(_) => "the channel is closed",
        })
    }
}

impl<T> std::error::Error for SendTimeoutError<T> {}

impl<T> Sender<T> {
    /// Sends a message as soon as there is room.
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        self.channel.send(message, Named::here("send"))
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// With the message, if there is no room or the receiver takes nothing more.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(message, Named::here("try_send"))
    }

    /// Sends a message as soon as there is room, or gives up when the time is over.
    #[track_caller]
    pub fn send_timeout(
        &self,
        message: T,
        time: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let reserved = timeout(time, self.reserve());
        async move {
            match reserved.await {
                Ok(Ok(permit)) => {
                    permit.send(message);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(message)),
                Err(_) => Err(SendTimeoutError::Timeout(message)),
            }
        }
    }

    /// Sends a message as soon as there is room, in a thread that runs no future.
    ///
    /// # Errors
    /// With the message, if the receiver takes nothing more.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        crate::threads::future::block_on(self.send(message))
    }

    /// Reserves room for a message.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let named = Named::here("reserve");
        async move {
            self.reserve_at(1, named).await?;
            Ok(Permit { channel: Some(&self.channel), named })
        }
    }

    /// Reserves room for so many messages.
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let named = Named::here("reserve_many");
        async move {
            if n > self.channel.max {
                return Err(SendError(()));
            }
            self.reserve_at(n, named).await?;
            Ok(PermitIterator { channel: &self.channel, left: n, named })
        }
    }

    /// Reserves room for a message, and keeps the sender with it.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let named = Named::here("reserve_owned");
        async move {
            self.reserve_at(1, named).await?;
            Ok(OwnedPermit { sender: Some(self), named })
        }
    }

    async fn reserve_at(&self, n: usize, named: Named) -> Result<(), SendError<()>> {
        let reserved = acquire(&self.channel.section, n, named, |_| ()).await;
        reserved.map_err(|Closed| SendError(()))
    }

    /// Reserves room for a message, if there is some.
    ///
    /// # Errors
    /// If there is no room, or the receiver takes nothing more.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        let named = Named::here("try_reserve");
        self.try_reserve_at(1, named)?;
        Ok(Permit { channel: Some(&self.channel), named })
    }

    /// Reserves room for so many messages, if there is so much.
    ///
    /// # Errors
    /// If there is less room, or the receiver takes nothing more.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        let named = Named::here("try_reserve_many");
        self.try_reserve_at(n, named)?;
        Ok(PermitIterator { channel: &self.channel, left: n, named })
    }

    /// Reserves room for a message, and keeps the sender with it, if there is some.
    ///
    /// # Errors
    /// With the sender, if there is no room, or the receiver takes nothing more.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let named = Named::here("try_reserve_owned");
        match self.try_reserve_at(1, named) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self), named }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    fn try_reserve_at(&self, n: usize, named: Named) -> Result<(), TrySendError<()>> {
        self.channel.section.enter(named, |held| match held.permits.is_closed() {
            true => Err(TrySendError::Closed(())),
            false => held.permits.take(n).then_some(()).ok_or(TrySendError::Full(())),
        })
    }

    /// The number of messages for which there is room now.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        let named = Named::here("capacity");
        self.channel.section.enter(named, |held| held.permits.available())
    }

    /// The number of messages for which there is room in all.
    pub fn max_capacity(&self) -> usize {
        self.channel.max
    }
}

impl<T> Receiver<T> {
    /// The number of messages for which there is room now.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        let named = Named::here("capacity");
        self.channel.section.enter(named, |held| held.permits.available())
    }

    /// The number of messages for which there is room in all.
    pub fn max_capacity(&self) -> usize {
        self.channel.max
    }
}

sender!(Sender, WeakSender);
receiver!(Receiver);

/// Room for a message. It is given back if this is dropped.
pub struct Permit<'a, T> {
    channel: Option<&'a Channel<T>>,
    named: Named,
}

/// Room for messages. What is not used is given back when this is dropped.
pub struct PermitIterator<'a, T> {
    channel: &'a Channel<T>,
    left: usize,
    named: Named,
}

/// Room for a message, with the sender. It is given back if this is dropped.
pub struct OwnedPermit<T> {
    sender: Option<Sender<T>>,
    named: Named,
}

impl<T> Permit<'_, T> {
    /// Sends the message.
    #[track_caller]
    pub fn send(mut self, message: T) {
        let channel = self.channel.take().expect("it was not used");
        channel.send_permitted(message, Named::here("send"));
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        if let Some(channel) = self.channel {
            channel.give_back(1, Named { text: "drop of the permit", ..self.named });
        }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { channel: Some(self.channel), named: self.named })
    }
}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        self.channel.give_back(self.left, Named { text: "drop of the permits", ..self.named });
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the message, and returns the sender.
    #[track_caller]
    pub fn send(mut self, message: T) -> Sender<T> {
        let sender = self.sender.take().expect("it was not used");
        sender.channel.send_permitted(message, Named::here("send"));
        sender
    }

    /// Gives the room back, and returns the sender.
    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect("it was not used");
        sender.channel.give_back(1, Named::here("release"));
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.channel.give_back(1, Named { text: "drop of the permit", ..self.named });
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
