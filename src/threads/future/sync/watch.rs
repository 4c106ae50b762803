//! A value that many can look at, and wait for it to change.
//!
//! A borrow of the value is a read lock, as in tokio: while there is one, a sender waits.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::permits::{Held, acquire};
use super::senders::Senders;
use super::wakers::{Wakers, wait};
use crate::threads::future::bell::act;
use crate::threads::future::block_on;
use crate::threads::sync::section::{Named, Section, is_over};

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
    section: Section<Held<State<T>>>,
    senders: Senders,
}

/// Each borrow of the value has a permit, and a sender needs all.
const PERMITS: usize = u32::MAX as usize;

struct State<T> {
    /// The value, unless a sender has taken it to change it.
    value: Option<Arc<T>>,
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
    channel: &'a Channel<T>,
    value: Option<Arc<T>>,
    version: u64,
    has_changed: bool,
    named: Named,
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
        self.value.as_ref().expect("a borrow that is not dropped")
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

impl<T> Drop for Ref<'_, T> {
    fn drop(&mut self) {
        if !is_over() {
            // Before a sender can take it.
            self.value = None;
            let named = Named { text: "end of the borrow", ..self.named };
            act(&self.channel.section, named, |held| held.permits.give(1));
        }
    }
}

impl<T> Channel<T> {
    /// Waits until it has permits, in this thread.
    #[track_caller]
    fn take<R>(&self, permits: usize, named: Named, using: fn(&mut State<T>) -> R) -> R {
        let using = |held: &mut Held<State<T>>| using(&mut held.data);
        block_on(acquire(&self.section, permits, named, using)).expect("it is never closed")
    }

    #[track_caller]
    fn borrow(&self, named: Named) -> Ref<'_, T> {
        let look = |state: &mut State<T>| (state.value.clone(), state.version);
        let (value, version) = self.take(1, named, look);
        Ref { channel: self, value, version, has_changed: false, named }
    }

    fn act<R>(&self, named: Named, work: impl FnOnce(&mut State<T>) -> R) -> R {
        act(&self.section, named, |held| work(&mut held.data))
    }

    async fn changed(&self, seen: &mut u64, named: Named) -> Result<(), RecvError> {
        let changed = |held: &mut Held<State<T>>| {
            if *seen != held.data.version {
                *seen = held.data.version;
                return Some(Ok(()));
            }
            held.data.is_closed.then_some(Err(RecvError(())))
        };
        wait(&self.section, named, |held| &mut held.data.changed, changed).await
    }
}

impl<T> Sender<T> {
    #[track_caller]
    fn with(value: T, receivers: usize) -> Sender<T> {
        let state = State {
            value: Some(Arc::new(value)),
            version: 0,
            receivers,
            is_closed: false,
            changed: Wakers::default(),
            unread: Wakers::default(),
        };
        let channel = Channel {
            section: Held::new("watch channel", PERMITS, state),
            senders: Senders::new(),
        };
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
        if self.channel.act(Named::here("send"), |state| state.receivers == 0) {
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
        let mut value = self.channel.take(PERMITS, named, |state| state.value.take());
        let is_modified = modify(value.as_mut().and_then(Arc::get_mut).expect("nobody has it"));
        act(&self.channel.section, named, |held| {
            held.data.value = value;
            if is_modified {
                held.data.version += 1;
                held.data.changed.wake_all();
            }
            held.permits.give(PERMITS);
        });
        is_modified
    }

    /// The value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.channel.borrow(Named::here("borrow"))
    }

    /// Waits until there are no receivers.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let named = Named::here("closed");
        let is_unread = |held: &mut Held<State<T>>| (held.data.receivers == 0).then_some(());
        wait(&self.channel.section, named, |held| &mut held.data.unread, is_unread)
    }

    /// Are there no receivers?
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.channel.act(Named::here("is_closed"), |state| state.receivers == 0)
    }

    /// One more receiver, which has seen the value.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let made = Named::here("subscribe");
        let seen = self.channel.act(made, |state| {
            state.receivers += 1;
            state.version
        });
        Receiver { channel: self.channel.clone(), seen, made }
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.channel.act(Named::here("receiver_count"), |state| state.receivers)
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
        let mut value = self.channel.borrow(Named::here("borrow"));
        value.has_changed = value.version != self.seen;
        value
    }

    /// The value, which counts as seen from now on.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let mut value = self.channel.borrow(Named::here("borrow_and_update"));
        value.has_changed = value.version != self.seen;
        self.seen = value.version;
        value
    }

    /// Is there a value that it has not seen?
    ///
    /// # Errors
    /// If there is no sender.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let seen = self.seen;
        self.channel.act(Named::here("has_changed"), |state| match state.is_closed {
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
        self.seen = self.channel.act(named, |state| state.version);
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
                let mut value = self.channel.borrow(named);
                value.has_changed = value.version != self.seen;
                self.seen = value.version;
                if is_right(&value) {
                    return Ok(value);
                }
                drop(value);
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
            self.channel.act(named, |state| {
                state.is_closed = true;
                state.changed.wake_all();
            });
        }
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Sender::new(T::default())
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let made = Named::here("clone");
        self.channel.act(made, |state| state.receivers += 1);
        Receiver { channel: self.channel.clone(), seen: self.seen, made }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !is_over() {
            let named = Named { text: "drop of the receiver", ..self.made };
            self.channel.act(named, |state| {
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
