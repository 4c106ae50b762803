//! A channel as a queue in a section: each operation is one turn. One that is in vain says that it
//! waits, and whoever changes that wakes it.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvError, SendError, TryRecvError, TrySendError};

use crate::model::{Op, SemaphoreId};
use crate::threads::ask::{Place, Running, ask_for, request};
use crate::threads::sync::section::{Named, Section};
use crate::threads::system::Made;

pub(super) struct Queue<T> {
    section: Section<State<T>>,
    /// The number of messages that have room, if that is limited.
    room: Option<usize>,
    /// Gets a unit for each time that the receiver has waited and is to look again.
    filled: SemaphoreId,
    /// Gets a unit for each time that a sender has waited and is to look again.
    emptied: SemaphoreId,
}

struct State<T> {
    messages: VecDeque<T>,
    /// The number of messages that have been taken.
    taken: usize,
    /// Are there no senders any more?
    has_ended: bool,
    /// Is the receiver gone?
    is_unread: bool,
    /// Does the receiver wait?
    receiver_waits: bool,
    /// The number of senders that wait.
    waiting: usize,
}

/// Those who are to look again.
#[derive(Default)]
struct Woken {
    receiver: bool,
    senders: usize,
}

impl<T> State<T> {
    fn push(&mut self, message: T) -> Woken {
        self.messages.push_back(message);
        self.wake_receiver()
    }

    fn wake_receiver(&mut self) -> Woken {
        Woken { receiver: std::mem::take(&mut self.receiver_waits), senders: 0 }
    }

    /// At most this number of senders.
    fn wake_senders(&mut self, most: usize) -> Woken {
        let senders = self.waiting.min(most);
        self.waiting -= senders;
        Woken { receiver: false, senders }
    }

    fn take(&mut self, room: Option<usize>) -> (Result<T, TryRecvError>, Woken) {
        let Some(message) = self.messages.pop_front() else {
            let is_over = self.has_ended;
            let why = if is_over { TryRecvError::Disconnected } else { TryRecvError::Empty };
            return (Err(why), Woken::default());
        };
        self.taken += 1;
        // Where messages are handed over, it is one of those who wait that has to know.
        let most = if room == Some(0) { usize::MAX } else { 1 };
        (Ok(message), self.wake_senders(most))
    }

    /// Sends what is here if there is room. `turn` is its number once it is sent. Returns whether
    /// that is done; if not, the sender waits.
    fn send(
        &mut self,
        message: &mut Option<T>,
        turn: &mut Option<usize>,
        room: Option<usize>,
    ) -> (bool, Woken) {
        let mut woken = Woken::default();
        match *turn {
            None if self.is_unread => return (true, woken),
            None if room.is_some_and(|room| self.messages.len() >= room.max(1)) => {}
            None => {
                *turn = Some(self.taken + self.messages.len());
                woken = message.take().map_or(woken, |message| self.push(message));
            }
            // What is not taken comes back.
            Some(own) if self.is_unread && self.taken <= own => {
                *message = self.messages.pop_front()
            }
            Some(_) => {}
        }
        // Without room the message is handed over.
        let is_done = match *turn {
            Some(own) => room != Some(0) || self.taken > own || self.is_unread,
            None => false,
        };
        self.waiting += usize::from(!is_done);
        (is_done, woken)
    }
}

impl<T> Queue<T> {
    pub(super) fn new(room: Option<usize>, place: Place) -> Queue<T> {
        let semaphore = |what| SemaphoreId(Running::current().make(Made::Semaphore, what, place));
        let state = State {
            messages: VecDeque::new(),
            taken: 0,
            has_ended: false,
            is_unread: false,
            receiver_waits: false,
            waiting: 0,
        };
        Queue {
            section: Section::new_at("channel", place, state),
            room,
            filled: semaphore("messages of a channel"),
            emptied: semaphore("room of a channel"),
        }
    }

    /// Acts on the state, and wakes those who are to look again.
    fn act<R>(&self, named: Named, act: impl FnOnce(&mut State<T>) -> (R, Woken)) -> R {
        let (result, woken) = self.section.enter(named, act);
        let receiver = woken.receiver.then_some(self.filled);
        let senders = std::iter::repeat_n(self.emptied, woken.senders);
        for semaphore in senders.chain(receiver) {
            ask_for(Op::Release(semaphore), named.text, named.place);
        }
        result
    }

    /// Waits. `None` if the threads are being ended.
    fn wait(&self, semaphore: SemaphoreId, is_timed: bool, named: Named) -> Option<()> {
        let Named { text, place } = named;
        let handle = request(Op::AsyncAcquire(semaphore), text, place);
        if is_timed {
            let running = Running::current();
            running.shared.wait_for_time(running.node.get());
        }
        ask_for(Op::AcquireWait { semaphore, handle }, text, place).map(drop)
    }

    pub(super) fn send(&self, message: T, place: Place) -> Result<(), SendError<T>> {
        let named = Named { text: "send", place };
        let (mut message, mut turn) = (Some(message), None);
        let mut send = |state: &mut State<T>| state.send(&mut message, &mut turn, self.room);
        while !self.act(named, &mut send) && self.wait(self.emptied, false, named).is_some() {}
        message.map_or(Ok(()), |message| Err(SendError(message)))
    }

    pub(super) fn try_send(&self, message: T, place: Place) -> Result<(), TrySendError<T>> {
        self.act(Named { text: "try_send", place }, |state| {
            if state.is_unread {
                return (Err(TrySendError::Disconnected(message)), Woken::default());
            }
            let has_room = match self.room {
                Some(0) => state.receiver_waits,
                Some(room) => state.messages.len() < room,
                None => true,
            };
            match has_room {
                true => (Ok(()), state.push(message)),
                false => (Err(TrySendError::Full(message)), Woken::default()),
            }
        })
    }

    pub(super) fn try_recv(&self, place: Place) -> Result<T, TryRecvError> {
        self.act(Named { text: "try_recv", place }, |state| state.take(self.room))
    }

    pub(super) fn recv(&self, is_timed: bool, place: Place) -> Result<T, RecvError> {
        let named = Named { text: "recv", place };
        loop {
            let found = self.act(named, |state| {
                let (found, woken) = state.take(self.room);
                state.receiver_waits = matches!(found, Err(TryRecvError::Empty));
                (found, woken)
            });
            match found {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => {}
            }
            self.wait(self.filled, is_timed, named).ok_or(RecvError)?;
        }
    }

    /// The last sender is dropped.
    pub(super) fn end(&self, named: Named) {
        self.act(named, |state| {
            state.has_ended = true;
            ((), state.wake_receiver())
        });
    }

    /// The receiver is dropped.
    pub(super) fn abandon(&self, named: Named) {
        let left = self.act(named, |state| {
            state.is_unread = true;
            let left = match self.room {
                Some(0) => VecDeque::new(),
                _ => std::mem::take(&mut state.messages),
            };
            (left, state.wake_senders(usize::MAX))
        });
        drop(left);
    }
}
