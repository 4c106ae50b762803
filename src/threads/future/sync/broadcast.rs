//! Channels that show each message to all receivers.
//!
//! A channel keeps the last messages, as many as the power of two that is not less than its room. A
//! receiver that has not taken an older one lags, and is told how many messages it has missed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::senders::{Senders, counted};
use super::wakers::{Wakers, wait};
use crate::threads::future::bell::act;
use crate::threads::future::block_on;
use crate::threads::sync::section::{Named, Section, is_over};

pub mod error {
    //! Errors of these channels.

    pub use super::{RecvError, SendError, TryRecvError};
}

/// There is no receiver.
#[derive(Debug)]
pub struct SendError<T>(pub T);

/// Why there is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// There is no sender, and no message is left.
    Closed,
    /// So many messages were missed. The next one is the oldest that is left.
    Lagged(u64),
}

/// Why there is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is none yet.
    Empty,
    /// There is no sender, and no message is left.
    Closed,
    /// So many messages were missed. The next one is the oldest that is left.
    Lagged(u64),
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("the channel is closed"),
            RecvError::Lagged(missed) => write!(f, "{missed} messages were missed"),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("the channel is empty"),
            TryRecvError::Closed => f.write_str("the channel is closed"),
            TryRecvError::Lagged(missed) => write!(f, "{missed} messages were missed"),
        }
    }
}

impl<T: fmt::Debug> std::error::Error for SendError<T> {}

impl std::error::Error for RecvError {}

impl std::error::Error for TryRecvError {}

struct Channel<T> {
    section: Section<State<T>>,
    senders: Senders,
}

struct State<T> {
    /// The last messages.
    messages: VecDeque<Message<T>>,
    /// The number of messages that are not kept any more.
    gone: u64,
    room: usize,
    receivers: usize,
    /// Are there no senders any more?
    is_closed: bool,
    /// Those who wait for a message.
    sent: Wakers,
    /// Those who wait until there are no receivers.
    unread: Wakers,
}

struct Message<T> {
    /// Until all receivers have it. It is cloned where nothing is locked.
    value: Option<Arc<T>>,
    /// The number of receivers that have not taken it.
    left: usize,
}

impl<T> Message<T> {
    /// A receiver takes it, and does not look at it.
    fn skip(&mut self) -> Option<Arc<T>> {
        self.left -= 1;
        self.value.take_if(|_| self.left == 0)
    }
}

impl<T> State<T> {
    /// The number of messages so far.
    fn sent(&self) -> u64 {
        self.gone + self.messages.len() as u64
    }

    fn join(&mut self) -> u64 {
        self.receivers += 1;
        self.sent()
    }
}

impl<T> State<T> {
    /// The message with this number, for one receiver.
    fn take(&mut self, next: &mut u64) -> Result<Arc<T>, TryRecvError> {
        if let Some(missed) = self.gone.checked_sub(*next).filter(|&missed| missed > 0) {
            *next = self.gone;
            return Err(TryRecvError::Lagged(missed));
        }
        let Some(message) = self.messages.get_mut((*next - self.gone) as usize) else {
            return Err(match self.is_closed {
                true => TryRecvError::Closed,
                false => TryRecvError::Empty,
            });
        };
        *next += 1;
        let shown = message.value.clone();
        Ok(message.skip().or(shown).expect("it is kept until all have it"))
    }
}

/// Sends messages to all receivers.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// Receives all messages that are sent from now on.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// The number of the next message.
    next: u64,
    made: Named,
}

/// A channel that keeps at least so many messages.
///
/// # Panics
/// If it is to keep none.
#[track_caller]
pub fn channel<T: Clone>(room: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(room);
    let receiver = sender.subscribe();
    (sender, receiver)
}

impl<T> Channel<T> {
    /// The last sender is dropped.
    fn abandon(&self, named: Named) {
        act(&self.section, named, |state| {
            state.is_closed = true;
            state.sent.wake_all();
        });
    }
}

impl<T> Sender<T> {
    /// A sender without receivers.
    ///
    /// # Panics
    /// If the channel is to keep no message.
    #[track_caller]
    pub fn new(room: usize) -> Sender<T> {
        assert!(room > 0, "a broadcast channel keeps at least one message");
        let state = State {
            messages: VecDeque::new(),
            gone: 0,
            room: room.next_power_of_two(),
            receivers: 0,
            is_closed: false,
            sent: Wakers::default(),
            unread: Wakers::default(),
        };
        let channel =
            Channel { section: Section::new("broadcast channel", state), senders: Senders::new() };
        Sender { channel: Arc::new(channel), made: Named::here("channel") }
    }

    /// Sends a message to all receivers, and returns their number.
    ///
    /// # Errors
    /// With the message, if there are none.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<usize, SendError<T>> {
        let sent = act(&self.channel.section, Named::here("send"), |state| {
            let left = state.receivers;
            if left == 0 {
                return Err(SendError(message));
            }
            state.messages.push_back(Message { value: Some(Arc::new(message)), left });
            let is_full = state.messages.len() > state.room;
            let oldest = if is_full { state.messages.pop_front() } else { None };
            state.gone += u64::from(is_full);
            state.sent.wake_all();
            Ok((left, oldest))
        });
        // The oldest message is dropped where nothing is locked.
        sent.map(|(receivers, _oldest)| receivers)
    }

    /// One more receiver.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let made = Named::here("subscribe");
        let next = self.channel.section.enter(made, State::join);
        Receiver { channel: self.channel.clone(), next, made }
    }

    /// The number of messages that some receiver has not taken.
    #[track_caller]
    pub fn len(&self) -> usize {
        let is_left = |message: &&Message<T>| message.left > 0;
        let named = Named::here("len");
        self.channel.section.enter(named, |state| state.messages.iter().filter(is_left).count())
    }

    /// Have all receivers taken all messages?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.channel.section.enter(Named::here("receiver_count"), |state| state.receivers)
    }

    /// Waits until there are no receivers.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let named = Named::here("closed");
        wait(
            &self.channel.section,
            named,
            |state| &mut state.unread,
            |state| (state.receivers == 0).then_some(()),
        )
    }
}

impl<T> Receiver<T> {
    /// The number of messages that it has not taken; those that it has missed are counted.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.channel.section.enter(Named::here("len"), |state| (state.sent() - self.next) as usize)
    }

    /// Has it taken all messages?
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Are there no senders?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.channel.section.enter(Named::here("is_closed"), |state| state.is_closed)
    }

    /// Do both receive from the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
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

impl<T: Clone> Receiver<T> {
    /// Waits for a message.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let Receiver { channel, next, .. } = self;
        let named = Named::here("recv");
        let taken = wait(
            &channel.section,
            named,
            |state| &mut state.sent,
            move |state| {
                Some(match state.take(next) {
                    Ok(message) => Ok(message),
                    Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                    Err(TryRecvError::Closed) => Err(RecvError::Closed),
                    Err(TryRecvError::Empty) => return None,
                })
            },
        );
        async move { taken.await.map(Arc::unwrap_or_clone) }
    }

    /// A message, if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let named = Named::here("try_recv");
        let taken = self.channel.section.enter(named, |state| state.take(&mut self.next));
        taken.map(Arc::unwrap_or_clone)
    }

    /// Waits for a message, in a thread that runs no future.
    ///
    /// # Errors
    /// If there will be none, or some were missed.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_on(self.recv())
    }

    /// One more receiver, of the messages from now on.
    #[track_caller]
    pub fn resubscribe(&self) -> Receiver<T> {
        let made = Named::here("resubscribe");
        let next = self.channel.section.enter(made, State::join);
        Receiver { channel: self.channel.clone(), next, made }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if is_over() {
            return;
        }
        let named = Named { text: "drop of the receiver", ..self.made };
        // Messages are dropped where nothing is locked.
        drop(act(&self.channel.section, named, |state| {
            state.receivers -= 1;
            if state.receivers == 0 {
                state.unread.wake_all();
            }
            let taken = self.next.saturating_sub(state.gone) as usize;
            let skipped = state.messages.iter_mut().skip(taken).filter_map(Message::skip);
            skipped.collect::<Vec<Arc<T>>>()
        }));
    }
}

counted!(Sender, WeakSender, Channel);

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
