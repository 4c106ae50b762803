//! Copies: an event that consumes conditions exists once for each set of concurrent reads of them
//! that it comes after ([`Event::reads`]).
//!
//! A copy has one read more than the event of which it is a copy. Reads are put to a set in the
//! order in which they were added to the prefix, so each set is found once. An event meets the
//! reads that there are when its size has come, and from then on each read that is added. If it
//! consumes several conditions that one event has read, they meet at the first of them.

use smallvec::SmallVec;

use super::build::{Event, Prefix, Slot};
use super::conditions::NONE;
use super::{Condition, Net, PrefixEvent};

impl Prefix {
    /// The number of events that come after reads of what they consume.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Puts the copies after an event into the queue: of those events that consume what it reads,
    /// and whose size has come.
    pub(super) fn copy_consumers(&mut self, net: &impl Net, read: PrefixEvent) {
        let Event { slots, consumed, .. } = self.events[read as usize];
        for at in slots.0 + consumed..slots.1 {
            let condition = self.slots[at as usize].condition;
            let mut consumer = self.conditions.node(condition).consumer;
            while consumer != NONE {
                let Slot { event, next, .. } = self.slots[consumer as usize];
                if (self.events[event as usize].size as usize) < self.next
                    && self.meet_at(condition, event, read)
                {
                    self.come_after(net, event, read);
                }
                consumer = next;
            }
        }
    }

    /// Puts the copies of an event into the queue that come after one more read of what it
    /// consumes.
    pub(super) fn copy_after_readers(&mut self, net: &impl Net, event: PrefixEvent) {
        let Event { slots, consumed, reads, .. } = self.events[event as usize];
        let reads = &self.reads[reads.0 as usize..reads.1 as usize];
        let last = reads.last().map_or(0, |&read| self.events[read as usize].made);
        for at in slots.0..slots.0 + consumed {
            let condition = self.slots[at as usize].condition;
            for at in 0..self.conditions.readers(condition).len() {
                let reader = self.conditions.readers(condition)[at];
                if self.events[reader as usize].made > last
                    && self.meet_at(condition, event, reader)
                {
                    self.come_after(net, event, reader);
                }
            }
        }
    }

    /// Is this the first condition that `read` reads and `event` consumes?
    fn meet_at(&self, condition: Condition, event: PrefixEvent, read: PrefixEvent) -> bool {
        let is_shared = |&one: &Condition| self.consumed(event).any(|consumed| consumed == one);
        self.read(read).find(is_shared) == Some(condition)
    }

    /// If an event that consumes what `read` has read can come after it, and after the reads that
    /// it comes after already, puts such a copy of it into the queue.
    fn come_after(&mut self, net: &impl Net, event: PrefixEvent, read: PrefixEvent) {
        self.has_worked(1);
        let it = self.events[event as usize].clone();
        let Event { line: reader, made, cut: after, .. } = self.events[read as usize];
        let slots = it.slots.0 as usize..it.slots.1 as usize;
        let own = |read: PrefixEvent| {
            let read = &self.events[read as usize];
            (read.line, read.made)
        };
        let before = &self.reads[it.reads.0 as usize..it.reads.1 as usize];
        let is_new = !net.is_stopped()
            && reader != it.line
            && self.slots[slots.clone()].iter().all(|slot| self.is_current(slot.condition, after))
            && !self.cuts.contains(&self.conditions, it.before, (reader, made))
            && !before.iter().any(|&one| self.cuts.contains(&self.conditions, after, own(one)))
            && self.cuts.are_compatible(&self.conditions, it.before, after);
        if !is_new {
            return;
        }
        self.copies += 1;
        let mut reads: SmallVec<[PrefixEvent; 8]> = before.into();
        reads.push(read);
        let conditions = self.slots[slots].iter().map(|slot| slot.condition);
        let conditions: SmallVec<[Condition; 4]> = conditions.collect();
        let cut = self.cuts.join(&mut self.conditions, it.before, after);
        self.put((it.line, it.transition, it.letter), (&conditions, it.consumed), &reads, cut);
    }
}
