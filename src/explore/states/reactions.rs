//! What handlers of actors do, learned once for each local state and message.
//!
//! A handler changes its actor, and adds messages to those that are pending at others. What it does
//! to its actor depends on the actor's part of the state and the message. What a message does to
//! its receiver depends on the receiver's part and the message. So these are learned apart: the
//! state after a handler is put together from what is known of each.
//!
//! ```text
//! reaction   actor at code 3, takes m:   own part 3 → 5, sends (Q: a b), (R: c)
//! arrival    (Q: a b)                    Q's part 0 → 2, 1 → 7, ...        and back
//! ```
//!
//! An actor's part shows which messages are pending, so it tells which reactions are possible. In
//! which order they were sent it does not show: a search that goes from state to state asks the
//! model, which knows.
//!
//! A reaction has a number, as a [move](super::moves) has, and can be taken back: messages that
//! come are added to the pending ones, so the code before can be told from the code after.

use rustc_hash::FxHashMap;

use super::packed::Layout;
use crate::model::{ProcessId, Stimulus, ValueId};

/// What is known about handlers.
#[derive(Debug, Default)]
pub struct Reactions {
    all: Vec<Reaction>,
    /// By process, the code of its own part, and what it handles; `None` if it has to be carried
    /// out each time.
    known: FxHashMap<(ProcessId, u32, Stimulus), Option<u32>>,
    /// By process and code of its own part, the reactions that are possible: from where to where in
    /// `offered`.
    offers: Vec<Vec<Option<(u32, u32)>>>,
    offered: Vec<u32>,
    /// What each reaction sends, by receivers: the numbers of arrivals.
    sent: Vec<u32>,
    arrivals: Vec<Arrival>,
    /// By the place of the receiver, and the messages.
    numbers: FxHashMap<(usize, Box<[ValueId]>), u32>,
}

/// What an actor in one state does on one message.
#[derive(Clone, Copy, Debug)]
struct Reaction {
    process: ProcessId,
    stimulus: Stimulus,
    place: usize,
    /// The code of its own part before and after.
    own: (u32, u32),
    is_judged: bool,
    /// From where to where in `sent`.
    sent: (u32, u32),
}

/// Messages that come to one receiver at a time.
#[derive(Debug)]
struct Arrival {
    place: usize,
    /// The code of the receiver's part after they have come, by its code before, and the other way
    /// round.
    after: Vec<u32>,
    before: Vec<u32>,
}

/// No code.
const UNKNOWN: u32 = u32::MAX;

/// A handler that was carried out.
pub struct CarriedOut<'c> {
    /// Who acted.
    pub process: ProcessId,
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
    /// The number of the first one. Those of moves are smaller.
    pub const FIRST: u32 = 1 << 31;

    fn get(&self, number: u32) -> &Reaction {
        &self.all[(number - Self::FIRST) as usize]
    }

    /// The number of what a process with this own code does on this, if it is known and has one.
    pub fn find(&self, process: ProcessId, own: u32, stimulus: Stimulus) -> Option<u32> {
        self.known.get(&(process, own, stimulus)).copied().flatten()
    }

    /// The numbers of all that a process with this own code can do now, in the order in which they
    /// were noted; `None` if that is not known.
    pub fn of(&self, process: usize, own: u32) -> Option<&[u32]> {
        let (from, to) = (*self.offers.get(process)?.get(own as usize)?)?;
        Some(&self.offered[from as usize..to as usize])
    }

    /// Notes the numbers of all that a process with this own code can do.
    pub fn offer(&mut self, process: usize, own: u32, numbers: &[u32]) {
        if self.offers.len() <= process {
            self.offers.resize_with(process + 1, Vec::new);
        }
        let from = self.offered.len() as u32;
        self.offered.extend_from_slice(numbers);
        *at(&mut self.offers[process], own, None) = Some((from, self.offered.len() as u32));
    }

    /// Who handles what.
    pub fn handler(&self, number: u32) -> (ProcessId, Stimulus) {
        let &Reaction { process, stimulus, .. } = self.get(number);
        (process, stimulus)
    }

    /// Does it lead to something that is to be judged?
    pub fn is_judged(&self, number: u32) -> bool {
        self.get(number).is_judged
    }

    /// Makes the state the one that the reaction leads to. False, with nothing known of the state,
    /// if it is not known what the messages do to their receivers.
    #[inline]
    pub fn lead(&self, number: u32, state: &mut [u64], layout: &Layout) -> bool {
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

    /// Makes the state the one that the reaction has led here from.
    pub fn take_back(&self, number: u32, state: &mut [u64], layout: &Layout) {
        let &Reaction { place, own: (before, after), sent: (from, to), .. } = self.get(number);
        layout.exchange(state, place, after, before);
        for &arrival in &self.sent[from as usize..to as usize] {
            let Arrival { place, before, .. } = &self.arrivals[arrival as usize];
            let after = layout.code(state, *place);
            layout.exchange(state, *place, after, before[after as usize]);
        }
    }

    /// Learns what a handler has done. Its number; `None` if it has to be carried out each time.
    pub fn learn(&mut self, done: &CarriedOut<'_>) -> Option<u32> {
        let &CarriedOut { process, place, stimulus, codes: (before, after), .. } = done;
        let key = (process, before[place], stimulus);
        if done.has_started {
            // The name of a new actor depends on what its creator did before.
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
            // Only what it does to a receiver was not known.
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
    pub fn bytes(&self) -> usize {
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

/// What is kept for a code; `none` if nothing was.
fn at<T: Clone>(by_code: &mut Vec<T>, code: u32, none: T) -> &mut T {
    let index = code as usize;
    if by_code.len() <= index {
        by_code.resize(index + 1, none);
    }
    &mut by_code[index]
}
