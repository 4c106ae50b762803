//! What handlers of actors do, learned once for each local state and message.
//!
//! A handler changes its actor, and adds messages to those that are pending at others. What it does to its actor depends on
//! the actor's part of the state and the message. What a message does to its receiver depends on the receiver's part and the
//! message. So these are learned apart: the state after a handler is put together from what is known of each.
//!
//! Which messages an actor may take, and in which order they are tried, is told by the model: the order is that in which
//! they were sent, and a state does not show it.

use rustc_hash::FxHashMap;

use super::packed::Layout;
use crate::model::{Stimulus, ValueId};

/// What is known about handlers.
#[derive(Debug, Default)]
pub struct Reactions {
    /// By process, the code of its own part, and what it handles; `None` if it has to be carried out each time.
    known: FxHashMap<(u32, u32, Stimulus), Option<Reaction>>,
    /// What each reaction sends, by receivers.
    sent: Vec<Arrival>,
    /// The lists of messages that were sent to one receiver at a time.
    lists: FxHashMap<Box<[ValueId]>, u32>,
    /// The code of a receiver's part after such a list has come, by its place and code before.
    after: FxHashMap<(Arrival, u32), u32>,
}

#[derive(Clone, Copy, Debug)]
struct Reaction {
    /// The code of its own part before and after.
    own: (u32, u32),
    is_judged: bool,
    /// From where to where in `sent`.
    sent: (u32, u32),
}

/// Messages that come to one receiver at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Arrival {
    place: u32,
    list: u32,
}

/// A handler that was carried out.
pub struct CarriedOut<'c> {
    /// The number of the process.
    pub process: usize,
    /// The place of its part.
    pub place: usize,
    /// What it handled.
    pub stimulus: Stimulus,
    /// The codes of the state before and after.
    pub codes: (&'c [u32], &'c [u32]),
    /// The places of the receivers of what it sent, with the messages.
    pub sent: &'c [(usize, ValueId)],
    /// Is something to be judged after it?
    pub is_judged: bool,
    /// Has it started actors?
    pub has_started: bool,
}

impl Reactions {
    /// Appends to `words` the state after a process has handled this, and tells whether something is to be judged there.
    /// `None`, with nothing appended, if that is not known.
    pub fn lead(
        &self,
        (process, place): (usize, usize),
        stimulus: Stimulus,
        packed: &[u64],
        layout: &Layout,
        words: &mut Vec<u64>,
    ) -> Option<bool> {
        let own = layout.code(packed, place);
        let reaction = (*self.known.get(&(process as u32, own, stimulus))?)?;
        let from = words.len();
        words.extend_from_slice(packed);
        let next = &mut words[from..];
        layout.exchange(next, place, reaction.own.0, reaction.own.1);
        for &arrival in &self.sent[reaction.sent.0 as usize..reaction.sent.1 as usize] {
            let receiver = arrival.place as usize;
            let before = layout.code(next, receiver);
            let Some(&after) = self.after.get(&(arrival, before)) else {
                words.truncate(from);
                return None;
            };
            layout.exchange(next, receiver, before, after);
        }
        Some(reaction.is_judged)
    }

    /// Learns what a handler has done.
    pub fn learn(&mut self, done: &CarriedOut<'_>) {
        let &CarriedOut { process, place, stimulus, codes: (before, after), .. } = done;
        let key = (process as u32, before[place], stimulus);
        if done.has_started {
            // The name of a new actor depends on what its creator did before.
            self.known.insert(key, None);
            return;
        }
        let from = self.sent.len() as u32;
        let mut receivers: Vec<usize> = done.sent.iter().map(|&(receiver, _)| receiver).collect();
        receivers.sort_unstable();
        receivers.dedup();
        for receiver in receivers.into_iter().filter(|&receiver| receiver != place) {
            let to_it = done.sent.iter().filter(|&&(other, _)| other == receiver);
            let list: Box<[ValueId]> = to_it.map(|&(_, message)| message).collect();
            let next = self.lists.len() as u32;
            let list = *self.lists.entry(list).or_insert(next);
            let arrival = Arrival { place: receiver as u32, list };
            self.after.insert((arrival, before[receiver]), after[receiver]);
            self.sent.push(arrival);
        }
        let (own, is_judged) = ((before[place], after[place]), done.is_judged);
        let sent = (from, self.sent.len() as u32);
        match self.known.get(&key) {
            // Only what it does to a receiver was not known.
            Some(_) => self.sent.truncate(from as usize),
            None => _ = self.known.insert(key, Some(Reaction { own, is_judged, sent })),
        }
    }

    /// Bytes in use, about.
    pub fn bytes(&self) -> usize {
        let lists = self.lists.keys().map(|list| list.len() * 4 + 21);
        lists.sum::<usize>()
            + self.known.capacity() * (size_of::<((u32, u32, Stimulus), Option<Reaction>)>() + 1)
            + self.sent.capacity() * size_of::<Arrival>()
            + self.after.capacity() * 17
    }
}
