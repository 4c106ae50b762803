//! Extensions by operations that take the next place in a lane: requests, posts, unlocks, accesses,
//! notifications.
//!
//! - an operation that looks: each place, from the last change in `[pre]` on.
//! - an operation that changes: each place, combined with each position among the observations of
//!   every other process that the change excludes if it does not come after them. There are 2^n
//!   combinations after n readers.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Shape};
use crate::model::{Op, ProcessId, Status, System};
use crate::unfolding::event::{EventId, EventKind, Watch};
use crate::unfolding::lanes::Lane;
use crate::unfolding::{Configuration, Unfolding};

/// The observations that a change may come after, by process, oldest first.
type Observers = SmallVec<[Events; 4]>;

/// The extensions by a change that are in U: for the process and the event that it follows, the
/// change that it replaces, and the event that it has to come after, those observations of which it
/// was combined with each choice.
#[derive(Default)]
pub(in crate::unfolding) struct Combined(FxHashMap<(ProcessId, [EventId; 3]), Observers>);

impl Combined {
    /// Called when events are discarded from U.
    pub(in crate::unfolding) fn forget(&mut self) {
        self.0.clear();
    }
}

/// The number of processes that observed from which on combinations are remembered.
const MANY: usize = 3;

impl<S: System> Unfolding<'_, S> {
    /// Finds the extensions by an operation that takes a place in a chain, at these places of the
    /// chain in C; if `required` is an event, only extensions that have it among their causes.
    /// Returns the extension at the end of the chain, if one was found: of several, the one with
    /// the longest history.
    pub(super) fn extend_places(
        &mut self,
        c: &Configuration,
        from: Origin,
        (op, chain): (&Op, Lane),
        places: RangeInclusive<u32>,
        required: EventId,
    ) -> Option<EventId> {
        let mut last = None;
        for place in places {
            if self.structure.is_stopped() {
                return Some(EventId::NONE);
            }
            last = self.extend_place(c, from, (op, chain), place, required);
        }
        last
    }

    fn extend_place(
        &mut self,
        c: &Configuration,
        from: Origin,
        (op, chain): (&Op, Lane),
        place: u32,
        required: EventId,
    ) -> Option<EventId> {
        let link = c.before(chain, place);
        let (mode, response) = c.state.at_place(op, &mut self.locals.values, from.process, place);
        let envelope = op.envelope();
        let change = EventKind::Change;
        let shape = Shape { kind: change, chain, link, envelope, ..Shape::plain(response) };
        if !mode.is_change() {
            // A look is not affected by another look.
            let is_concerned = required == EventId::NONE;
            let shape = Shape { kind: EventKind::Read, ..shape };
            return is_concerned.then(|| self.add(c, from, shape, &[link]));
        }
        if c.reads[chain.index()].is_empty() && c.tests[chain.index()].is_empty() {
            return Some(self.add(c, from, shape, &[link]));
        }
        let observers = self.observers(c, from, (op, chain), place, required);
        let is_there = |events: &Events| events.contains(&required);
        match observers.is_empty() {
            _ if required.is_some() && !observers.iter().any(is_there) => None,
            true => Some(self.add(c, from, shape, &[link])),
            false => Some(self.extend_change(c, from, shape, &observers, required)),
        }
    }

    /// The places of a chain that `from` may still take in C.
    pub(super) fn places(
        &self,
        c: &Configuration,
        from: Origin,
        chain: Lane,
    ) -> RangeInclusive<u32> {
        self.known(from.after_event, chain)..=c.len_of(chain)
    }

    /// The number of events of `chain` in the local configuration of `event`.
    pub(super) fn known(&self, event: EventId, chain: Lane) -> u32 {
        match event {
            EventId::NONE => 0,
            event => self.structure.depth(chain, self.structure.last(event, chain)),
        }
    }

    /// The observations in C that a change from `from` at this place of a chain excludes, unless it
    /// comes after them: the looks at what it replaces, and the failed tests of the request that it
    /// completes. Of the process of `required`, only `required` itself.
    fn observers(
        &self,
        c: &Configuration,
        from: Origin,
        (op, chain): (&Op, Lane),
        place: u32,
        required: EventId,
    ) -> Observers {
        let structure = &self.structure;
        let is_known = |event: EventId| {
            from.after_event.is_some()
                && structure.is_at_or_before_in_configuration(event, from.after_event)
        };
        let process = |event: EventId| structure.event(event).process;
        let mut observers = Observers::new();
        let mut note = |event: EventId| {
            let is_replaced =
                required.is_some() && event != required && process(event) == process(required);
            if is_replaced || is_known(event) {
                return;
            }
            match observers.iter_mut().find(|events| process(events[0]) == process(event)) {
                Some(events) => events.push(event),
                None => observers.push(smallvec![event]),
            }
        };
        for &read in &c.reads[chain.index()] {
            if structure.event(read).link.depth == place + 1 {
                note(read);
            }
        }
        let tests = &c.tests[chain.index()];
        let completed = match tests.is_empty() {
            true => None,
            false => c.state.completes_at(op, from.process, place),
        };
        let Some(request) = completed else { return observers };
        let watch = Watch { lane: chain, request };
        for &test in tests {
            if self.known(test, chain) <= place && structure.watches[&test].contains(&watch) {
                note(test);
            }
        }
        observers
    }

    /// The changes after each combination of observations, from none (but `required`) to all.
    /// Returns the last one. A larger configuration may have had all these combinations: then only
    /// the last one is looked up.
    fn extend_change(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        observers: &Observers,
        required: EventId,
    ) -> EventId {
        let key = (from.process, [from.after_event, shape.link, required]);
        let has_all = observers.len() >= MANY && self.has_combined(key, observers);
        let least = |events: &Events| usize::from(events[0] == required);
        let first = |events: &Events| if has_all { events.len() } else { least(events) };
        let mut chosen: SmallVec<[usize; 8]> = observers.iter().map(first).collect();
        loop {
            let mut causes: SmallVec<[EventId; 8]> = smallvec![shape.link];
            let last_chosen =
                |(events, &count): (&Events, &usize)| count.checked_sub(1).map(|i| events[i]);
            causes.extend(observers.iter().zip(&chosen).filter_map(last_chosen));
            let last = self.add(c, from, shape, &causes);
            // The next combination, as an odometer counts.
            if self.structure.is_stopped() {
                return EventId::NONE;
            }
            let Some(turn) = (0..chosen.len()).find(|&i| chosen[i] < observers[i].len()) else {
                if !has_all && observers.len() >= MANY {
                    self.combined.0.insert(key, observers.clone());
                }
                return last;
            };
            chosen[turn] += 1;
            for lower in 0..turn {
                chosen[lower] = least(&observers[lower]);
            }
        }
    }

    /// Are the extensions for all combinations of these observations in U?
    fn has_combined(&self, key: (ProcessId, [EventId; 3]), observers: &Observers) -> bool {
        let process = |events: &Events| self.structure.event(events[0]).process;
        self.combined.0.get(&key).is_some_and(|known| {
            let is_known = |events: &Events| {
                known.iter().any(|all| process(all) == process(events) && all.starts_with(events))
            };
            observers.iter().all(is_known)
        })
    }

    /// The extensions by a process whose operation takes a place in a chain, when e joins C, which
    /// has changed or observed that chain.
    pub(super) fn extend_place_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        chain: Lane,
        e: EventId,
    ) {
        let from = self.origin(c, process);
        let end = c.len_of(chain);
        let (places, required) = match self.structure.event(e).kind {
            EventKind::Change => (end..=end, EventId::NONE),
            EventKind::FailedTest => (self.places(c, from, chain), e),
            EventKind::Read | EventKind::Plain => (end..=end, e),
        };
        let status = self.locals.shared_status(from.before);
        let Status::At(op) = &*status else { unreachable!("a process at an operation") };
        // If what follows e is too high, nothing is enabled: what was enabled is in conflict with
        // e.
        if let Some(enabled) = self.extend_places(c, from, (op, chain), places, required) {
            c.set_enabled(process, &[enabled]);
        }
    }
}
