//! Memoised transitions of actors: each handler is computed once for each local state and message.
//!
//! A handler changes its actor, and sends messages to others. The change of the actor depends on
//! the actor's part of the state and the message handled. The change of a receiver depends on the
//! receiver's part and the messages that arrive. So these changes are memoised separately, and the
//! state after a handler is composed from them.
//!
//! ```text
//! reaction   actor at code 3, takes m:   own part 3 → 5, sends (Q: a b), (R: c)
//! arrival    (Q: a b)                    Q's part 0 → 2, 1 → 7, ...        and back
//! ```
//!
//! The part of an actor shows which messages are pending, so it determines the possible reactions.
//! It does not show the order in which the messages were sent: a search of one state at a time
//! takes this order from the model.
//!
//! A reaction has a number, like a [move](super::moves), and can be undone: messages are only added
//! to the pending ones, so the code after an arrival determines the code before.

use rustc_hash::FxHashMap;

use super::packed::Layout;
use crate::model::{ProcessId, Stimulus, ValueId};

/// All known reactions.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    all: Vec<Reaction>,
    /// By process, the code of its own part, and the message or internal handler; `None` if the
    /// handler has to be executed on the model each time.
    known: FxHashMap<(ProcessId, u32, Stimulus), Option<u32>>,
    /// By process and code of its own part, the possible reactions, as a range of `offered`.
    offers: Vec<Vec<Option<(u32, u32)>>>,
    offered: Vec<u32>,
    /// The arrivals of each reaction, one for each receiver.
    sent: Vec<u32>,
    arrivals: Vec<Arrival>,
    /// The number of each arrival, by the place of the receiver and the messages.
    numbers: FxHashMap<(usize, Box<[ValueId]>), u32>,
}

/// The reaction of an actor in one local state to one message.
#[derive(Clone, Copy, Debug)]
struct Reaction {
    process: ProcessId,
    stimulus: Stimulus,
    place: usize,
    /// The code of its own part before and after.
    own: (u32, u32),
    is_judged: bool,
    /// Its arrivals, as a range of `sent`.
    sent: (u32, u32),
}

/// Messages of one reaction to one receiver.
#[derive(Debug)]
struct Arrival {
    place: usize,
    /// The code of the receiver's part after the arrival, by its code before; and its code before,
    /// by its code after.
    after: Vec<u32>,
    before: Vec<u32>,
}

/// Stands for a code that is not known.
const UNKNOWN: u32 = u32::MAX;

/// A handler that was executed on the model.
pub(crate) struct CarriedOut<'c> {
    /// The actor.
    pub(crate) process: ProcessId,
    /// The place of its own part.
    pub(crate) place: usize,
    /// The message or internal handler.
    pub(crate) stimulus: Stimulus,
    /// The codes of the state before and after.
    pub(crate) codes: (&'c [u32], &'c [u32]),
    /// The messages that it sent, each with the place of its receiver.
    pub(crate) sent: &'c [(usize, ValueId)],
    /// Must the state after it be judged by the driver?
    pub(crate) is_judged: bool,
    /// Did it start actors?
    pub(crate) has_started: bool,
}

impl Reactions {
    /// The number of the first reaction. The numbers of moves are smaller.
    pub(crate) const FIRST: u32 = 1 << 31;

    fn get(&self, number: u32) -> &Reaction {
        &self.all[(number - Self::FIRST) as usize]
    }

    /// The number of the reaction of a process with this own code to this stimulus, if it is known
    /// and can be memoised.
    pub(crate) fn find(&self, process: ProcessId, own: u32, stimulus: Stimulus) -> Option<u32> {
        self.known.get(&(process, own, stimulus)).copied().flatten()
    }

    /// The numbers of all possible reactions of a process with this own code, in the order of
    /// [`offer`](Reactions::offer); `None` if they are not known.
    pub(crate) fn of(&self, process: usize, own: u32) -> Option<&[u32]> {
        let (from, to) = (*self.offers.get(process)?.get(own as usize)?)?;
        Some(&self.offered[from as usize..to as usize])
    }

    /// Stores the numbers of all possible reactions of a process with this own code.
    pub(crate) fn offer(&mut self, process: usize, own: u32, numbers: &[u32]) {
        if self.offers.len() <= process {
            self.offers.resize_with(process + 1, Vec::new);
        }
        let from = self.offered.len() as u32;
        self.offered.extend_from_slice(numbers);
        *at(&mut self.offers[process], own, None) = Some((from, self.offered.len() as u32));
    }

    /// The number of reactions.
    #[cfg(feature = "json")]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Is there a reaction with this number?
    #[cfg(feature = "json")]
    pub(crate) fn has(&self, number: u32) -> bool {
        number >= Self::FIRST && ((number - Self::FIRST) as usize) < self.all.len()
    }

    /// The actor of a reaction, and the message or internal handler.
    pub(crate) fn handler(&self, number: u32) -> (ProcessId, Stimulus) {
        let &Reaction { process, stimulus, .. } = self.get(number);
        (process, stimulus)
    }

    /// Must the state that it leads to be judged by the driver?
    pub(crate) fn is_judged(&self, number: u32) -> bool {
        self.get(number).is_judged
    }

    /// Changes `state` to the state that the reaction leads to. Returns false if the change of a
    /// receiver is not known; `state` is garbage then.
    #[inline]
    pub(crate) fn lead(&self, number: u32, state: &mut [u64], layout: &Layout) -> bool {
        let &Reaction { place, own: (before, after), sent: (from, to), .. } = self.get(number);
        layout.exchange(state, place, before, after);
        self.sent[from as usize..to as usize].iter().all(|&arrival| {
            let Arrival { place, after, .. } = &self.arrivals[arrival as usize];
            let before = layout.code(state, *place);
            match after.get(before as usize) {
                None | Some(&UNKNOWN) => false,
                Some(&after) => {
                    layout.exchange(state, *place, before, after);
                    true
                }
            }
        })
    }

    /// Changes `state` back to the state from which the reaction has led to it.
    pub(crate) fn take_back(&self, number: u32, state: &mut [u64], layout: &Layout) {
        let &Reaction { place, own: (before, after), sent: (from, to), .. } = self.get(number);
        layout.exchange(state, place, after, before);
        for &arrival in &self.sent[from as usize..to as usize] {
            let Arrival { place, before, .. } = &self.arrivals[arrival as usize];
            let after = layout.code(state, *place);
            layout.exchange(state, *place, after, before[after as usize]);
        }
    }

    /// Stores the changes of an executed handler. Returns the number of the reaction; `None` if the
    /// handler has to be executed each time.
    pub(crate) fn learn(&mut self, done: &CarriedOut<'_>) -> Option<u32> {
        let &CarriedOut { process, place, stimulus, codes: (before, after), .. } = done;
        let key = (process, before[place], stimulus);
        if done.has_started {
            // The name of a new actor depends on the earlier actions of its creator.
            self.known.insert(key, None);
            return None;
        }
        let from = self.sent.len() as u32;
        let mut receivers: Vec<usize> = done.sent.iter().map(|&(receiver, _)| receiver).collect();
        receivers.sort_unstable();
        receivers.dedup();
        for receiver in receivers.into_iter().filter(|&receiver| receiver != place) {
            let to_it = done.sent.iter().filter(|&&(other, _)| other == receiver);
            let arrival = self.arrival(receiver, to_it.map(|&(_, message)| message).collect());
            let Arrival { after: codes_after, before: codes_before, .. } =
                &mut self.arrivals[arrival as usize];
            *at(codes_after, before[receiver], UNKNOWN) = after[receiver];
            let back = at(codes_before, after[receiver], UNKNOWN);
            debug_assert!([UNKNOWN, before[receiver]].contains(back), "two ways back");
            *back = before[receiver];
            self.sent.push(arrival);
        }
        if let Some(&number) = self.known.get(&key) {
            // Only the change of a receiver was not known.
            self.sent.truncate(from as usize);
            return number;
        }
        let (own, is_judged) = ((before[place], after[place]), done.is_judged);
        let sent = (from, self.sent.len() as u32);
        let number = Self::FIRST + self.all.len() as u32;
        self.all.push(Reaction { process: done.process, stimulus, place, own, is_judged, sent });
        self.known.insert(key, Some(number));
        Some(number)
    }

    fn arrival(&mut self, place: usize, messages: Box<[ValueId]>) -> u32 {
        let next = self.arrivals.len() as u32;
        let number = *self.numbers.entry((place, messages)).or_insert(next);
        if number == next {
            self.arrivals.push(Arrival { place, after: Vec::new(), before: Vec::new() });
        }
        number
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        let messages = self.numbers.keys().map(|(_, messages)| messages.len() * 4 + 29);
        let codes = self.arrivals.iter().map(|arrival| arrival.after.len() + arrival.before.len());
        let offers = self.offers.iter().map(|offers| offers.len() * 12);
        messages.sum::<usize>()
            + codes.sum::<usize>() * 4
            + offers.sum::<usize>()
            + self.all.capacity() * size_of::<Reaction>()
            + self.known.capacity() * (size_of::<((ProcessId, u32, Stimulus), Option<u32>)>() + 1)
            + (self.sent.capacity() + self.offered.capacity()) * 4
            + self.arrivals.capacity() * size_of::<Arrival>()
    }
}

/// The entry for a code; a new entry is `none`.
fn at<T: Clone>(by_code: &mut Vec<T>, code: u32, none: T) -> &mut T {
    let index = code as usize;
    if by_code.len() <= index {
        by_code.resize(index + 1, none);
    }
    &mut by_code[index]
}
