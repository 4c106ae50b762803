//! Extensions at what has versions: cells, the queues of mutexes that are tried, and reader-writer locks, where write
//! requests make versions, and condition variables, where notifications do. An operation there is a read or a change; some are either, depending on the version.
//!
//! - a read: each version in C, from the last one that `[pre]` knows on.
//! - a change: each version, combined with each position among the reads of that version by every other process.
//!   A change is after a read of the version it replaces, or in conflict with it, so there are many combinations by
//!   nature: 2^n after n readers.

use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Shape};
use crate::model::{
    Access, CellId, CondvarId, Hold, MutexId, Op, ProcessId, Request, Response, RwLockId, System,
};
use crate::unfolding::event::{EventId, EventKind};
use crate::unfolding::lanes::{Lane, Lanes};
use crate::unfolding::{Configuration, Unfolding};

/// An operation on something that has versions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Versioned {
    Access(CellId, Access),
    Try(MutexId),
    /// Of a mutex that is tried; so is the next.
    Lock(MutexId),
    Unlock(MutexId),
    Request(RwLockId, Hold),
    Enrol(CondvarId),
    Notify(CondvarId),
}

impl Versioned {
    /// Where the changes are.
    fn chain(self, lanes: &Lanes) -> Lane {
        match self {
            Versioned::Access(cell, _) => lanes.writes(cell),
            Versioned::Try(mutex) | Versioned::Lock(mutex) | Versioned::Unlock(mutex) => {
                lanes.unlocks(mutex)
            }
            Versioned::Request(lock, _) => lanes.write_requests(lock),
            Versioned::Enrol(condvar) | Versioned::Notify(condvar) => lanes.notifications(condvar),
        }
    }
}

/// The reads of one version by one process, oldest first, and how many of them are already chosen.
type Readers = SmallVec<[Events; 4]>;

impl Configuration {
    /// The operation as one on something that has versions, if it is.
    #[inline]
    pub(super) fn versioned(&self, op: &Op) -> Option<Versioned> {
        let is_tried = |mutex: &MutexId| self.state.mutex(*mutex).is_tried();
        match *op {
            Op::Access(cell, access) => Some(Versioned::Access(cell, access)),
            Op::TryLock(mutex) => Some(Versioned::Try(mutex)),
            Op::AsyncLock(mutex) => Some(mutex).filter(is_tried).map(Versioned::Lock),
            Op::Unlock(Request { mutex, .. }) => {
                Some(mutex).filter(is_tried).map(Versioned::Unlock)
            }
            Op::RwRequest { lock, hold } => Some(Versioned::Request(lock, hold)),
            Op::Enrol(condvar) => Some(Versioned::Enrol(condvar)),
            Op::Notify { condvar, .. } => Some(Versioned::Notify(condvar)),
            _ => None,
        }
    }
}

impl<S: System> Unfolding<'_, S> {
    /// The extensions by an operation that has just become its process's next one.
    pub(super) fn extend_versions(
        &mut self,
        c: &Configuration,
        from: Origin,
        act: Versioned,
    ) -> Events {
        let chain = act.chain(&self.structure.lanes);
        let mut last = None;
        for version in self.positions(c, from, chain) {
            last = self.extend_version(c, from, act, version, EventId::NONE);
        }
        last.into_iter().collect()
    }

    /// Finds the extensions at one version, and returns the one with the longest history. If `required` is a read, only
    /// changes that come after it count; `None` if the operation is a read, since a read does not affect another read.
    fn extend_version(
        &mut self,
        c: &Configuration,
        from: Origin,
        act: Versioned,
        version: u32,
        required: EventId,
    ) -> Option<EventId> {
        let chain = act.chain(&self.structure.lanes);
        let link = c.before(chain, version);
        let (kind, outcome) = self.outcome(c, from, act, version as usize);
        let shape = Shape { link, kind, ..Shape::change(chain, outcome) };
        if kind == EventKind::Read {
            let is_concerned = required == EventId::NONE;
            return is_concerned.then(|| self.add(c, from, shape, &[link]));
        }
        let readers = self.readers(c, from, chain, version, required);
        Some(match readers.is_empty() {
            true => self.add(c, from, shape, &[link]),
            false => self.extend_change(c, from, shape, &readers, required),
        })
    }

    /// Is the operation at this version a read or a change, and what is its process told?
    fn outcome(
        &mut self,
        c: &Configuration,
        from: Origin,
        act: Versioned,
        version: usize,
    ) -> (EventKind, Response) {
        match act {
            Versioned::Access(cell, access) => {
                let content = c.state.versions(cell)[version];
                match access.apply(content, &mut self.locals.values) {
                    (told, None) => (EventKind::Read, told),
                    (told, Some(_)) => (EventKind::Change, told),
                }
            }
            Versioned::Try(mutex) if !c.state.mutex(mutex).was_free(version) => {
                (EventKind::Read, Response::Incomplete)
            }
            Versioned::Try(_) | Versioned::Lock(_) => (EventKind::Change, self.posted(c, from)),
            Versioned::Unlock(_) => (EventKind::Change, Response::Unit),
            Versioned::Request(_, Hold::Shared) | Versioned::Enrol(_) => {
                (EventKind::Read, self.posted(c, from))
            }
            Versioned::Request(_, Hold::Exclusive) | Versioned::Notify(_) => {
                (EventKind::Change, self.posted(c, from))
            }
        }
    }

    /// The reads of `version` in C that a change from `from` need not know, by process. For the process of `required` it
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

    /// The changes after each combination of reads, from none (but `required`) to all.
    fn extend_change(
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

    /// A process at such an operation, when e joins C: the change before it, or a read that a change would follow.
    pub(super) fn extend_versions_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        act: Versioned,
        e: EventId,
    ) {
        let event = self.structure.event(e);
        let chain = act.chain(&self.structure.lanes);
        if event.chain != chain {
            return;
        }
        let from = self.origin(c, process);
        let required = if event.kind == EventKind::Read { e } else { EventId::NONE };
        let version = c.len_of(chain);
        // If what follows e is too high, nothing is enabled: what was enabled is in conflict with e.
        if let Some(enabled) = self.extend_version(c, from, act, version, required) {
            self.set_only_enabled(c, process, enabled);
        }
    }
}
