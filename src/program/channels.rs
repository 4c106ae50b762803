//! Channels: queues with room for a number of messages, which can be closed.
//!
//! The messages are the content of a cell. Each operation is one update of it: whether there is
//! room, or a message, is seen and used in one step. An update in vain changes nothing, and then
//! the process waits until the content is another one. (An event that changes nothing and leads
//! back to the same state is left out of executions: `trace::spin`.)

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::mpsc::{RecvError, SendError, TryRecvError, TrySendError};

use super::data::{Data, view};
use super::handle::{Named, handles, shown};
use super::process::{Asking, Place, ask, ask_until};
use super::shared::Cell;
use super::spawning::Start;
use super::text::Text;
use super::updates::{Change, by_function};
use crate::model::CellId;
use crate::systems::history::{Asked, Told};

/// A queue of messages with room for some, which can be closed. Any process may send, receive and
/// close. The order of all operations on it matters. So a program has more executions with it than
/// with a [`Mailbox`](super::Mailbox), which has room for all.
///
/// ```
/// use mazurka::program::Program;
///
/// let mut program = Program::new();
/// let jobs = program.channel("jobs", 1);
/// let done = program.cell("done", 0);
/// program.process("producer", async move || {
///     for job in 0..3 {
///         jobs.send(job).await.expect("only the producer closes it");
///     }
///     jobs.close().await;
/// });
/// program.process("worker", async move || {
///     while let Ok(_job) = jobs.recv().await {
///         done.fetch_add(1).await;
///     }
/// });
/// program.finally(move |end| assert_eq!(end.read(done), 3));
/// mazurka::check(&program.build()).assert_ok();
/// ```
pub struct Channel<T> {
    cell: Named<CellId>,
    capacity: usize,
    of: PhantomData<fn(T) -> T>,
}

handles! { Channel { cell } }

shown! { Channel<T>.cell }

/// What a channel contains.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Buffer<T> {
    queue: VecDeque<T>,
    is_closed: bool,
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Buffer { queue: VecDeque::new(), is_closed: false }
    }
}

/// As a counterexample shows it.
impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.queue.fmt(f)?;
        f.write_str(if self.is_closed { ", closed" } else { "" })
    }
}

impl<T: Data> Buffer<T> {
    fn of(told: &Told) -> &Self {
        match told {
            Told::Value(value) => view(value),
            told => unreachable!("{told:?} is no answer to an update"),
        }
    }

    fn without(&self, index: usize) -> Option<Self> {
        let mut rest = self.clone();
        rest.queue.remove(index).map(|_| rest)
    }

    /// The first message, if it has come.
    fn first(&self) -> Result<T, TryRecvError> {
        self.queue.front().cloned().ok_or(match self.is_closed {
            true => TryRecvError::Disconnected,
            false => TryRecvError::Empty,
        })
    }

    /// What becomes of a message that is sent.
    fn takes(&self, message: &T, capacity: usize) -> Result<(), TrySendError<T>> {
        match (self.is_closed, self.queue.len() < capacity) {
            (true, _) => Err(TrySendError::Disconnected(message.clone())),
            (_, true) => Ok(()),
            _ => Err(TrySendError::Full(message.clone())),
        }
    }
}

impl<T: Data> Channel<T> {
    /// A channel that the running process makes, with room for this number of messages.
    ///
    /// # Panics
    /// If there is no room at all; or if no process is running on this thread: a program declares a
    /// [`channel`](super::Program::channel).
    #[track_caller]
    pub fn new(name: impl AsRef<str>, capacity: usize) -> Self {
        Channel::of(Cell::new(name, Buffer::default()), capacity)
    }

    #[track_caller]
    pub(super) fn of(cell: Cell<Buffer<T>>, capacity: usize) -> Self {
        assert!(capacity > 0, "a channel has room for one message at least");
        Channel { cell: cell.named(), capacity, of: PhantomData }
    }

    /// Sends a message: waits until there is room for it. If the channel is closed before, the
    /// message comes back as an error.
    #[track_caller]
    pub fn send(self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let place = Location::caller();
        let (asked, accept) = self.sending(message);
        let accept = move |told: &Told| match accept(told) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Disconnected(message)) => Some(Err(SendError(message))),
            Err(TrySendError::Full(_)) => None,
        };
        self.waiting(asked, "send", place, accept)
    }

    /// Sends a message, if there is room for it and the channel is not closed.
    #[track_caller]
    pub fn try_send(self, message: T) -> impl Future<Output = Result<(), TrySendError<T>>> {
        let (asked, accept) = self.sending(message);
        let asking = self.ask(asked, "try_send", Location::caller());
        async move { accept(&asking.await) }
    }

    /// Receives the first message: waits until there is one. It is an error if the channel is
    /// closed and no message is left.
    #[track_caller]
    pub fn recv(self) -> impl Future<Output = Result<T, RecvError>> {
        let accept = |told: &Told| match Buffer::<T>::of(told).first() {
            Ok(message) => Some(Ok(message)),
            Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
            Err(TryRecvError::Empty) => None,
        };
        self.waiting(self.receiving(), "recv", Location::caller(), accept)
    }

    /// Receives the first message, if there is one.
    #[track_caller]
    pub fn try_recv(self) -> impl Future<Output = Result<T, TryRecvError>> {
        let asking = self.ask(self.receiving(), "try_recv", Location::caller());
        async move { Buffer::of(&asking.await).first() }
    }

    /// Receives the first message that fits: waits until there is one. The others stay. It is an
    /// error if the channel is closed and no such message is left. The function may be called
    /// often, and must depend on nothing that changes but the message.
    ///
    /// ```
    /// use mazurka::program::Program;
    ///
    /// let mut program = Program::new();
    /// let inbox = program.channel("inbox", 2);
    /// for number in [1, 2] {
    ///     program.process(format!("sender {number}"), async move || {
    ///         inbox.send(number).await.expect("nobody closes it");
    ///     });
    /// }
    /// program.process("receiver", async move || {
    ///     assert_eq!(inbox.recv_where(|number| *number == 2).await, Ok(2));
    ///     assert_eq!(inbox.recv().await, Ok(1));
    /// });
    /// mazurka::check(&program.build()).assert_ok();
    /// ```
    #[track_caller]
    pub fn recv_where(
        self,
        fits: impl Fn(&T) -> bool + Clone + Send + Sync + 'static,
    ) -> impl Future<Output = Result<T, RecvError>> {
        let found = {
            let fits = fits.clone();
            move |buffer: &Buffer<T>| buffer.queue.iter().position(&fits)
        };
        let asked = by_function(self.cell.id, move |buffer: &Buffer<T>| {
            buffer.without(buffer.queue.iter().position(&fits)?)
        });
        let accept = move |told: &Told| {
            let buffer = Buffer::of(told);
            match found(buffer) {
                Some(index) => Some(Ok(buffer.queue[index].clone())),
                None => buffer.is_closed.then_some(Err(RecvError)),
            }
        };
        self.waiting(asked, "recv_where", Location::caller(), accept)
    }

    /// Closes the channel: nothing can be sent any more. What was sent can still be received.
    #[track_caller]
    pub fn close(self) -> impl Future<Output = ()> {
        let close = Change::new("close", (), |buffer: &Buffer<T>, ()| {
            (!buffer.is_closed).then(|| Buffer { is_closed: true, ..buffer.clone() })
        });
        let asking = self.ask(close.asked(self.cell.id), "close", Location::caller());
        async move { drop(asking.await) }
    }

    /// The operation that sends a message, and what becomes of the message.
    fn sending(self, message: T) -> (Asked<Start>, impl Fn(&Told) -> Result<(), TrySendError<T>>) {
        let operands = (message, self.capacity);
        let send = Change::new("send", operands, |buffer: &Buffer<T>, (message, capacity)| {
            buffer.takes(message, *capacity).ok()?;
            let mut with = buffer.clone();
            with.queue.push_back(message.clone());
            Some(with)
        });
        let asked = send.asked(self.cell.id);
        (asked, move |told| Buffer::of(told).takes(&send.operands.0, send.operands.1))
    }

    fn receiving(self) -> Asked<Start> {
        Change::new("recv", (), |buffer: &Buffer<T>, ()| buffer.without(0)).asked(self.cell.id)
    }

    fn ask(self, asked: Asked<Start>, verb: &'static str, place: Place) -> Asking {
        ask(asked, Text::on(self.cell, verb), place)
    }

    fn waiting<O>(
        self,
        asked: Asked<Start>,
        verb: &'static str,
        place: Place,
        accept: impl Fn(&Told) -> Option<O>,
    ) -> impl Future<Output = O> {
        ask_until(asked, Text::on(self.cell, verb), place, accept)
    }
}
