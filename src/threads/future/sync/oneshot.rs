//! A channel for one message.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::threads::future::bell::{act, poll, register, wake};
use crate::threads::future::block_on;
use crate::threads::sync::section::{Named, Section, is_over};

pub mod error {
    //! Errors of these channels.

    pub use super::{RecvError, TryRecvError};
}

/// The sender is gone, and has sent nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecvError(());

/// Why there is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is none yet.
    Empty,
    /// The sender is gone.
    Closed,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Closed => "the channel is closed",
        })
    }
}

impl std::error::Error for RecvError {}

impl std::error::Error for TryRecvError {}

struct State<T> {
    message: Option<T>,
    /// Is the sender gone, with or without having sent?
    is_sent: bool,
    /// Does the receiver take nothing more?
    is_closed: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

/// Sends one message.
pub struct Sender<T> {
    channel: Option<Arc<Section<State<T>>>>,
    made: Named,
}

/// Receives one message: it is a future of it.
pub struct Receiver<T> {
    /// Until the message was received.
    channel: Option<Arc<Section<State<T>>>>,
    made: Named,
}

/// A channel for one message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let made = Named::here("recv");
    let (receiver, sender) = (None, None);
    let state = State { message: None, is_sent: false, is_closed: false, receiver, sender };
    let channel = Arc::new(Section::new("oneshot channel", state));
    (Sender { channel: Some(channel.clone()), made }, Receiver { channel: Some(channel), made })
}

impl<T> Sender<T> {
    fn channel(&self) -> &Section<State<T>> {
        self.channel.as_ref().expect("it has not sent")
    }

    /// Sends the message.
    ///
    /// # Errors
    /// With the message, if the receiver is gone.
    #[track_caller]
    pub fn send(mut self, message: T) -> Result<(), T> {
        let channel = self.channel.take().expect("it has not sent");
        act(&channel, Named::here("send"), |state| {
            state.is_sent = true;
            if state.is_closed {
                return Err(message);
            }
            state.message = Some(message);
            wake(state.receiver.take());
            Ok(())
        })
    }

    /// Waits until the receiver is gone.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let named = Named::here("closed");
        poll_fn(move |context| self.poll_closed_at(context, named))
    }

    /// Is the receiver gone? If not, the task is woken when it is.
    #[track_caller]
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(context, Named::here("poll_closed"))
    }

    fn poll_closed_at(&self, context: &Context<'_>, named: Named) -> Poll<()> {
        poll(self.channel(), named, |state| match state.is_closed {
            true => Poll::Ready(()),
            false => {
                register(&mut state.sender, context.waker());
                Poll::Pending
            }
        })
    }

    /// Is the receiver gone?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.channel().enter(Named::here("is_closed"), |state| state.is_closed)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(channel) = self.channel.take()
            && !is_over()
        {
            act(&channel, Named { text: "drop of the sender", ..self.made }, |state| {
                state.is_sent = true;
                wake(state.receiver.take());
            });
        }
    }
}

impl<T> State<T> {
    /// The message, or why there is none.
    fn take(&mut self) -> Result<T, TryRecvError> {
        self.message.take().ok_or(match self.is_sent || self.is_closed {
            true => TryRecvError::Closed,
            false => TryRecvError::Empty,
        })
    }
}

impl<T> Receiver<T> {
    /// Takes no message that was not sent before.
    #[track_caller]
    pub fn close(&mut self) {
        if let Some(channel) = &self.channel {
            act(channel, Named::here("close"), |state| {
                state.is_closed = true;
                wake(state.sender.take());
            });
        }
    }

    /// The message, if it is there.
    ///
    /// # Errors
    /// If it is not.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let channel = self.channel.as_ref().ok_or(TryRecvError::Closed)?;
        let taken = channel.enter(Named::here("try_recv"), State::take);
        if !matches!(taken, Err(TryRecvError::Empty)) {
            self.channel = None;
        }
        taken
    }

    /// Waits for the message, in a thread that runs no future.
    ///
    /// # Errors
    /// If the sender is gone, and has sent nothing.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }

    /// Was the message received, or is the sender gone?
    pub fn is_terminated(&self) -> bool {
        self.channel.is_none()
    }

    /// Is there no message?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let is_empty = |state: &mut State<T>| state.message.is_none();
        self.channel.as_ref().is_none_or(|channel| channel.enter(Named::here("is_empty"), is_empty))
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let channel = self.channel.as_ref().expect("a `Receiver` is polled after it was ready");
        let polled = poll(channel, self.made, |state| match state.take() {
            Ok(message) => Poll::Ready(Ok(message)),
            Err(TryRecvError::Closed) => Poll::Ready(Err(RecvError(()))),
            Err(TryRecvError::Empty) => {
                register(&mut state.receiver, context.waker());
                Poll::Pending
            }
        });
        if polled.is_ready() {
            self.channel = None;
        }
        polled
    }
}

impl<T> Unpin for Receiver<T> {}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(channel) = self.channel.take()
            && !is_over()
        {
            let named = Named { text: "drop of the receiver", ..self.made };
            // The message is dropped where nothing is locked.
            drop(act(&channel, named, |state| {
                state.is_closed = true;
                wake(state.sender.take());
                (state.message.take(), state.receiver.take())
            }));
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
