//! What others may ask about a prefix.

use std::mem;
use std::ops::Range;

use super::build::{Event, Prefix, Query, Slot};
use super::conditions::NONE;
use super::cuts::Cut;
use super::waiting::Waiting;
use super::{Code, Condition, Line, PrefixEvent};

impl Prefix {
    /// The events without the start, cutoffs included, causes first.
    pub fn events(&self) -> Range<PrefixEvent> {
        1..self.events.len() as PrefixEvent
    }

    /// The number of cutoffs.
    pub(crate) fn cutoffs(&self) -> usize {
        self.cutoffs
    }

    #[inline]
    pub(super) fn has_worked(&self, work: u64) {
        self.work.set(self.work.get() + work);
    }

    /// The event with this number.
    pub fn event(&self, event: PrefixEvent) -> &Event {
        &self.events[event as usize]
    }

    /// Is it a cutoff, or not added yet?
    pub(crate) fn is_outside(&self, event: PrefixEvent) -> bool {
        event != 0 && self.events[event as usize].made == NONE
    }

    /// Is it known whether it is a cutoff? It is not of events that wait to be added.
    pub fn is_judged(&self, event: PrefixEvent) -> bool {
        !self.is_outside(event) || self.events[event as usize].of != NONE
    }

    /// The events in immediate conflict with an event, some of them perhaps twice: in conflict,
    /// although neither is in conflict with what the other one comes after. A cutoff that reads
    /// what the event consumes has the event among its rivals, but is not among those of the
    /// event.
    pub fn immediate_conflicts(&self, event: PrefixEvent) -> Vec<PrefixEvent> {
        let consumed = self.consumed(event);
        let rivals = consumed.flat_map(|condition| {
            self.consumers(condition).chain(self.readers(condition).iter().copied())
        });
        let read = self.read(event).flat_map(|condition| self.consumers(condition));
        let all: Vec<PrefixEvent> = rivals.chain(read).collect();
        let is_rival = |&other: &PrefixEvent| {
            other != event && self.clashes(event, other) && self.clashes(other, event)
        };
        all.into_iter().filter(is_rival).collect()
    }

    /// Do two events not belong together although `[event)` and `[other)` do, and although `event`
    /// and `[other)` do?
    fn clashes(&self, event: PrefixEvent, other: PrefixEvent) -> bool {
        let (own, before) =
            (self.events[event as usize].before, self.events[other as usize].before);
        let slots = self.consumed(event).chain(self.read(event));
        let reads_in = |condition: Condition| {
            let entry = self.cuts.entry(before, self.line(condition));
            let is_same = self.conditions.base(self.line(condition), entry) == condition;
            let reads = if is_same { self.conditions.reads_of(entry) } else { &[] };
            reads.iter().all(|&read| self.cuts.contains(&self.conditions, own, read))
        };
        self.cuts.are_compatible(&self.conditions, own, before)
            && slots.clone().all(|condition| self.is_current(condition, before))
            && self.consumed(event).all(reads_in)
    }

    /// The event that it is a cutoff of: one with the same state that is no cutoff.
    pub fn cutoff_of(&self, event: PrefixEvent) -> Option<PrefixEvent> {
        let mut of = self.events[event as usize].of;
        if of == NONE {
            return None;
        }
        while self.events[of as usize].of != NONE {
            of = self.events[of as usize].of;
        }
        Some(of)
    }

    /// The number of lines.
    pub(crate) fn lines(&self) -> Line {
        self.conditions.lines() as Line
    }

    /// The lines of processes, those that were started included.
    #[cfg(feature = "sat")]
    pub(crate) fn movers(&self) -> impl Iterator<Item = Line> + use<'_> {
        (0..self.lines()).filter(|&line| self.is_process(line))
    }

    /// Is it the line of a process?
    #[cfg(feature = "sat")]
    pub(crate) fn is_process(&self, line: Line) -> bool {
        self.is_process[line as usize]
    }

    /// The condition of a line at the start.
    pub(crate) fn start_of(&self, line: Line) -> Condition {
        self.conditions.root(line)
    }

    #[cfg(feature = "sat")]
    pub(crate) fn conditions(&self) -> Range<Condition> {
        1..self.conditions.nodes.len() as Condition
    }

    /// The line of a condition.
    pub(crate) fn line(&self, condition: Condition) -> Line {
        self.conditions.node(condition).line
    }

    /// The code of the line of a condition there.
    pub(crate) fn code(&self, condition: Condition) -> Code {
        self.conditions.node(condition).code
    }

    /// The condition that a condition replaced.
    pub(crate) fn replaced(&self, condition: Condition) -> Option<Condition> {
        let node = self.conditions.node(condition);
        (node.depth > 0).then_some(node.parent)
    }

    /// The event that made a condition; 0 for a line at the start.
    pub(crate) fn maker(&self, condition: Condition) -> PrefixEvent {
        self.conditions.node(condition).event
    }

    /// The conditions that an event consumes, its own first.
    pub fn consumed(&self, event: PrefixEvent) -> impl Iterator<Item = Condition> + Clone {
        let Event { slots, consumed, .. } = self.events[event as usize];
        let slots = &self.slots[slots.0 as usize..(slots.0 + consumed) as usize];
        slots.iter().map(|slot| slot.condition)
    }

    /// The conditions that an event reads.
    pub(crate) fn read(&self, event: PrefixEvent) -> impl Iterator<Item = Condition> + Clone {
        let Event { slots, consumed, .. } = self.events[event as usize];
        let slots = &self.slots[(slots.0 + consumed) as usize..slots.1 as usize];
        slots.iter().map(|slot| slot.condition)
    }

    /// The reads that an event comes after because it consumes what they have read.
    #[cfg(feature = "sat")]
    pub(crate) fn after_reads(&self, event: PrefixEvent) -> &[PrefixEvent] {
        let Event { reads, .. } = self.events[event as usize];
        &self.reads[reads.0 as usize..reads.1 as usize]
    }

    /// The conditions that an event has made; none if it is outside.
    pub(crate) fn made(&self, event: PrefixEvent) -> Range<Condition> {
        let Event { made, consumed, .. } = self.events[event as usize];
        match self.is_outside(event) || event == 0 {
            true => 0..0,
            false => made..made + consumed,
        }
    }

    /// The events that consume a condition, cutoffs included.
    pub(crate) fn consumers(&self, condition: Condition) -> impl Iterator<Item = PrefixEvent> {
        let first = self.conditions.node(condition).consumer;
        let slot = |at: u32| (at != NONE).then(|| self.slots[at as usize]);
        let slots = std::iter::successors(slot(first), move |&Slot { next, .. }| slot(next));
        slots.map(|slot| slot.event)
    }

    /// The events that read a condition, without cutoffs.
    pub(crate) fn readers(&self, condition: Condition) -> &[PrefixEvent] {
        self.conditions.readers(condition)
    }

    /// The last event of the process of `line` in \[event) that reads a condition which `event`
    /// consumes or reads, as its condition afterwards; `None` if it has not read it.
    pub(crate) fn last_read(
        &self,
        event: PrefixEvent,
        on: Condition,
        line: Line,
    ) -> Option<Condition> {
        let entry = self.cuts.entry(self.events[event as usize].before, self.line(on));
        let mut reads = self.conditions.reads_of(entry).iter();
        reads.find(|&&(reader, _)| reader == line).map(|&(_, made)| made)
    }

    /// The condition of a line in the cut of \[event\], for an event that is not outside.
    pub(crate) fn last(&self, event: PrefixEvent, line: Line) -> Condition {
        self.base(self.events[event as usize].cut, line)
    }

    #[inline]
    pub(super) fn base(&self, cut: Cut, line: Line) -> Condition {
        self.conditions.base(line, self.cuts.entry(cut, line))
    }

    /// The direct causes of an event; some may be causes of others, or the start.
    pub fn causes(&self, event: PrefixEvent) -> impl Iterator<Item = PrefixEvent> {
        let Event { slots, reads, .. } = self.events[event as usize];
        let slots = self.slots[slots.0 as usize..slots.1 as usize].iter();
        let made = slots.map(|slot| self.conditions.node(slot.condition).event);
        made.chain(self.reads[reads.0 as usize..reads.1 as usize].iter().copied())
    }

    /// Writes the events of the smallest configuration with these to `past`, in an order in which
    /// they can happen.
    ///
    /// # Panics
    /// If there is no such configuration.
    pub(crate) fn collect(&mut self, events: &[PrefixEvent], past: &mut Vec<PrefixEvent>) {
        self.collect_any(events, past);
        // Causes have smaller numbers.
        past.sort_unstable();
        if self.has_read_arcs() {
            *past = self.arrange(past).expect("a configuration");
        }
    }

    /// Writes these events and all that are in their past to `past`. Those have `stamp` in `stamps`
    /// afterwards.
    pub(super) fn collect_any(&mut self, events: &[PrefixEvent], past: &mut Vec<PrefixEvent>) {
        self.stamp += 1;
        self.stamps.resize(self.events.len(), 0);
        let stamp = self.stamp;
        let mut stamps = mem::take(&mut self.stamps);
        past.clear();
        let mut meet = |event: PrefixEvent, past: &mut Vec<PrefixEvent>| {
            if event != 0 && mem::replace(&mut stamps[event as usize], stamp) != stamp {
                past.push(event);
            }
        };
        events.iter().for_each(|&event| meet(event, past));
        let mut at = 0;
        while let Some(&event) = past.get(at) {
            self.causes(event).for_each(|cause| meet(cause, past));
            at += 1;
        }
        self.stamps = stamps;
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.conditions.bytes()
            + self.cuts.bytes()
            + self.events.capacity() * size_of::<Event>()
            + self.slots.capacity() * size_of::<Slot>()
            + (self.reads.capacity() + self.stamps.capacity()) * 4
            + self.queries.capacity() * size_of::<Query>()
            + self.states.capacity() * 5
            + self.waiting.iter().map(Waiting::bytes).sum::<usize>()
    }
}
