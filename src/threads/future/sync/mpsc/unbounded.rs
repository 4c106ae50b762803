//! Channels without limit.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{
    Channel, Held, Queue, SendError, TryRecvError, TrySendError, counted, receiver, sender,
};
use crate::threads::future::sync::Semaphore;
use crate::threads::sync::section::Named;

/// Sends messages to a channel without limit.
pub struct UnboundedSender<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// Receives the messages of a channel without limit.
pub struct UnboundedReceiver<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// A channel without limit.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (channel, made) = (Channel::new(Semaphore::MAX_PERMITS), Named::here("unbounded_channel"));
    (UnboundedSender { channel: channel.clone(), made }, UnboundedReceiver { channel, made })
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    ///
    /// # Errors
    /// With the message, if the receiver takes nothing more.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.channel.try_send(message, Named::here("send"));
        sent.map_err(|error| SendError(TrySendError::into_inner(error)))
    }
}

sender!(UnboundedSender, WeakUnboundedSender);
receiver!(UnboundedReceiver);
