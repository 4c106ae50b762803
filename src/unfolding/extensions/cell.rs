//! Extensions at cells: reads and writes, and accesses that are either, depending on the content.
//!
//! - a read: each version of the cell in C, from the last one that `[pre]` knows on.
//! - a write: each version, combined with each position among the reads of that version by every other process.
//!   A write is after a read of the value it replaces, or in conflict with it, so there are many combinations by
//!   nature: 2^n after n readers.

use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Shape};
use crate::model::{Access, CellId, ProcessId, System};
use crate::unfolding::event::{EventId, EventKind};
use crate::unfolding::lanes::Lane;
use crate::unfolding::{Configuration, Unfolding};

/// The reads of one version by one process, oldest first, and how many of them are already chosen.
type Readers = SmallVec<[Events; 4]>;

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_access(
        &mut self,
        c: &Configuration,
        from: Origin,
        cell: CellId,
        access: Access,
    ) -> Events {
        let chain = self.structure.lanes.writes(cell);
        let mut last = None;
        for version in self.positions(c, from, chain) {
            last = self.extend_access_at(c, from, (cell, access), version, EventId::NONE);
        }
        last.into_iter().collect()
    }

    /// Finds the extensions at one version, and returns the one with the longest history. If `required` is a read, only
    /// writes that come after it count; `None` if the access is no write, since a read does not affect another read.
    fn extend_access_at(
        &mut self,
        c: &Configuration,
        from: Origin,
        (cell, access): (CellId, Access),
        version: u32,
        required: EventId,
    ) -> Option<EventId> {
        let chain = self.structure.lanes.writes(cell);
        let link = c.before(chain, version);
        let content = c.state.versions(cell)[version as usize];
        let (outcome, new) = access.apply(content, &mut self.locals.values);
        let shape = Shape { link, ..Shape::change(chain, outcome) };
        if new.is_none() {
            let is_concerned = required == EventId::NONE;
            let read = Shape { kind: EventKind::Read, ..shape };
            return is_concerned.then(|| self.add(c, from, read, &[link]));
        }
        let readers = self.readers(c, from, chain, version, required);
        Some(match readers.is_empty() {
            true => self.add(c, from, shape, &[link]),
            false => self.extend_write(c, from, shape, &readers, required),
        })
    }

    /// The reads of `version` in C that a write from `from` need not know, by process. For the process of `required` it
    /// is only that one.
    fn readers(
        &self,
        c: &Configuration,
        from: Origin,
        chain: Lane,
        version: u32,
        required: EventId,
    ) -> Readers {
        let structure = &self.structure;
        let known = |read: EventId| {
            from.after_event.is_some()
                && structure.is_at_or_before_in_configuration(read, from.after_event)
        };
        let process = |read: EventId| structure.event(read).process;
        let mut readers = Readers::new();
        for &read in &c.reads[chain.index()] {
            let replaced = required.is_some() && process(read) == process(required);
            if structure.event(read).link.depth != version + 1
                || known(read)
                || replaced && read != required
            {
                continue;
            }
            match readers.iter_mut().find(|reads| process(reads[0]) == process(read)) {
                Some(reads) => reads.push(read),
                None => readers.push(smallvec![read]),
            }
        }
        readers
    }

    /// The writes after each combination of reads, from none (but `required`) to all.
    fn extend_write(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        readers: &Readers,
        required: EventId,
    ) -> EventId {
        let least = |reads: &Events| usize::from(reads[0] == required);
        let mut chosen: SmallVec<[usize; 8]> = readers.iter().map(least).collect();
        loop {
            let mut causes: SmallVec<[EventId; 8]> = smallvec![shape.link];
            let last_read =
                |(reads, &count): (&Events, &usize)| count.checked_sub(1).map(|i| reads[i]);
            causes.extend(readers.iter().zip(&chosen).filter_map(last_read));
            let last = self.add(c, from, shape, &causes);
            // The next combination, as an odometer counts.
            if self.structure.is_stopped() {
                return EventId::NONE;
            }
            let Some(turn) = (0..chosen.len()).find(|&i| chosen[i] < readers[i].len()) else {
                return last;
            };
            chosen[turn] += 1;
            for lower in 0..turn {
                chosen[lower] = least(&readers[lower]);
            }
        }
    }

    /// A process at an access, when e joins C: the write before it, or a read that a write would follow.
    pub(super) fn extend_access_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        cell: CellId,
        access: Access,
        e: EventId,
    ) {
        let event = self.structure.event(e);
        if event.chain != self.structure.lanes.writes(cell) {
            return;
        }
        let from = self.origin(c, process);
        let required = if event.kind == EventKind::Read { e } else { EventId::NONE };
        let version = c.len_of(event.chain);
        // If what follows e is too high, nothing is enabled: what was enabled is in conflict with e.
        if let Some(enabled) = self.extend_access_at(c, from, (cell, access), version, required) {
            self.set_only_enabled(c, process, enabled);
        }
    }
}
