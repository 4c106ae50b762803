//! A value that many can look at, and wait for it to change.
//!
//! A borrow of the value is a read lock, as in tokio: while there is one, a sender waits.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use super::senders::Senders;
use super::wakers::{Wakers, wait};
use crate::threads::future::bell::act;
use crate::threads::sync::section::{Named, Section, is_over};
use crate::threads::sync::{RwLock, RwLockReadGuard};

pub mod error {
    //! Errors of these channels.

    pub use super::{RecvError, SendError};
}

/// There is no receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// There is no sender.
#[derive(Clone, Debug)]
pub struct RecvError(());

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

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

impl<T> std::error::Error for SendError<T> {}

impl std::error::Error for RecvError {}

struct Channel<T> {
    value: RwLock<Versioned<T>>,
    state: Section<State>,
    senders: Senders,
}

struct Versioned<T> {
    value: T,
    version: u64,
}

struct State {
    /// The number of changes of the value.
    version: u64,
    receivers: usize,
    /// Are there no senders any more?
    is_closed: bool,
    /// Those who wait for a change.
    changed: Wakers,
    /// Those who wait until there are no receivers.
    unread: Wakers,
}

/// Changes the value.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
    made: Named,
}

/// Looks at the value, and waits for it to change.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// The version that it has seen.
    seen: u64,
    made: Named,
}

/// The value. A sender waits as long as this is there.
pub struct Ref<'a, T> {
    guard: RwLockReadGuard<'a, Versioned<T>>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Had the receiver not seen this value?
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A channel with this value at first, which counts as seen.
#[track_caller]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with(value, 1);
    let receiver = Receiver { channel: sender.channel.clone(), seen: 0, made: sender.made };
    (sender, receiver)
}

impl<T> Channel<T> {
    #[track_caller]
    fn read(&self) -> RwLockReadGuard<'_, Versioned<T>> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn receiver_count(&self, named: Named) -> usize {
        self.state.enter(named, |state| state.receivers)
    }

    async fn changed(&self, seen: &mut u64, named: Named) -> Result<(), RecvError> {
        wait(
            &self.state,
            named,
            |state| &mut state.changed,
            |state| {
                if *seen != state.version {
                    *seen = state.version;
                    return Some(Ok(()));
                }
                state.is_closed.then_some(Err(RecvError(())))
            },
        )
        .await
    }
}

impl<T> Sender<T> {
    #[track_caller]
    fn with(value: T, receivers: usize) -> Sender<T> {
        let (changed, unread) = (Wakers::default(), Wakers::default());
        let state = State { version: 0, receivers, is_closed: false, changed, unread };
        let value = RwLock::new(Versioned { value, version: 0 });
        let channel = Channel { value, state: Section::new(state), senders: Senders::new() };
        Sender { channel: Arc::new(channel), made: Named::here("channel") }
    }

    /// A sender without receivers, with this value at first.
    #[track_caller]
    pub fn new(value: T) -> Sender<T> {
        Sender::with(value, 0)
    }

    /// Writes the value, and tells the receivers.
    ///
    /// # Errors
    /// With the value, if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.channel.receiver_count(Named::here("send")) == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Writes the value, and tells the receivers. Returns the value before.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| std::mem::swap(old, &mut value));
        value
    }

    /// Changes the value, and tells the receivers.
    #[track_caller]
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value; tells the receivers if this function returns true.
    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let named = Named::here("send");
        let mut guard = self.channel.value.write().unwrap_or_else(PoisonError::into_inner);
        let is_modified = modify(&mut guard.value);
        if is_modified {
            guard.version += 1;
            act(&self.channel.state, named, |state| {
                state.version = guard.version;
                state.changed.wake_all();
            });
        }
        is_modified
    }

    /// The value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { guard: self.channel.read(), has_changed: false }
    }

    /// Waits until there are no receivers.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let named = Named::here("closed");
        wait(
            &self.channel.state,
            named,
            |state| &mut state.unread,
            |state| (state.receivers == 0).then_some(()),
        )
    }

    /// Are there no receivers?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.channel.receiver_count(Named::here("is_closed")) == 0
    }

    /// One more receiver, which has seen the value.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let made = Named::here("subscribe");
        let seen = self.channel.state.enter(made, |state| {
            state.receivers += 1;
            state.version
        });
        Receiver { channel: self.channel.clone(), seen, made }
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.channel.receiver_count(Named::here("receiver_count"))
    }

    /// The number of senders.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        self.channel.senders.strong(Named::here("sender_count"))
    }

    /// Do both send to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Receiver<T> {
    /// The value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let guard = self.channel.read();
        let has_changed = guard.version != self.seen;
        Ref { guard, has_changed }
    }

    /// The value, which counts as seen from now on.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let guard = self.channel.read();
        let has_changed = guard.version != self.seen;
        self.seen = guard.version;
        Ref { guard, has_changed }
    }

    /// Is there a value that it has not seen?
    ///
    /// # Errors
    /// If there is no sender.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let seen = self.seen;
        self.channel.state.enter(Named::here("has_changed"), |state| match state.is_closed {
            true => Err(RecvError(())),
            false => Ok(state.version != seen),
        })
    }

    /// Takes the value as not seen.
    pub fn mark_changed(&mut self) {
        self.seen = self.seen.wrapping_sub(1);
    }

    /// Takes the value as seen.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        let named = Named::here("mark_unchanged");
        self.seen = self.channel.state.enter(named, |state| state.version);
    }

    /// Waits for a value that it has not seen, and takes that as seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        self.channel.changed(&mut self.seen, Named::here("changed"))
    }

    /// Waits for a value of which this is true, and takes that as seen.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut is_right: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let named = Named::here("wait_for");
        async move {
            loop {
                let guard = self.channel.read();
                let has_changed = guard.version != self.seen;
                self.seen = guard.version;
                if is_right(&guard.value) {
                    return Ok(Ref { guard, has_changed });
                }
                drop(guard);
                self.channel.changed(&mut self.seen, named).await?;
            }
        }
    }

    /// Do both look at the same value?
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.channel.senders.add(Named::here("clone"));
        Sender { channel: self.channel.clone(), made: self.made }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let named = Named { text: "drop of the sender", ..self.made };
        if self.channel.senders.remove(named) {
            act(&self.channel.state, named, |state| {
                state.is_closed = true;
                state.changed.wake_all();
            });
        }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Sender::new(T::default())
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let made = Named::here("clone");
        self.channel.state.enter(made, |state| state.receivers += 1);
        Receiver { channel: self.channel.clone(), seen: self.seen, made }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !is_over() {
            let named = Named { text: "drop of the receiver", ..self.made };
            act(&self.channel.state, named, |state| {
                state.receivers -= 1;
                if state.receivers == 0 {
                    state.unread.wake_all();
                }
            });
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
