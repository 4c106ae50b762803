//! U: the arena of events, hash-consed.
//!
//! An event is determined by its process, its choice and its direct causes: the operation is what
//! the process does after its own last event, and apart from the choice its result follows from the
//! history. So the same event found on two branches gets the same [`EventId`]. Only because of this
//! do sets of events (disabled ones, alternatives) keep their meaning from one branch to the next.
//!
//! Invariant: the events of one lane in a configuration form a path from the root, so a
//! configuration is known by the last event of each lane, its *cut* (see [`super::cut`]).

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::Configuration;
use super::census::{Census, fingerprint};
use super::cut::{CutBuffer, Cuts, make_room, widen};
use super::event::{Event, EventId, EventKind, Node, Watch};
use super::lanes::{Lane, Lanes};
use super::stamps::Stamps;
use crate::model::{Choice, Envelope, LocalId, ObjectTable, Part, ProcessId, StopSignal};

/// One direction of an immediate conflict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: EventId,
    pub(super) next: u32,
}

pub(super) const NO_EDGE: u32 = u32::MAX;

/// The parts of an event, before it is known whether it exists already.
pub(super) struct Draft<'a> {
    pub(super) process: ProcessId,
    pub(super) choice: Choice,
    /// Is there another choice after the same history?
    pub(super) is_choice: bool,
    /// Direct causes, ascending, none below another.
    pub(super) causes: &'a [EventId],
    pub(super) before: LocalId,
    pub(super) after: LocalId,
    /// The previous event of the process.
    pub(super) previous: EventId,
    /// The previous event of the process; for the first event of a spawned process, its spawn.
    pub(super) after_event: EventId,
    pub(super) chain: Lane,
    /// The previous change of the chain.
    pub(super) link: EventId,
    pub(super) kind: EventKind,
    pub(super) watches: &'a [Watch],
    /// Of a post: source and tag, or pattern.
    pub(super) envelope: Envelope,
}

/// The prime event structure built so far: the set U of events found, with <, # and #i.
pub struct EventStructure {
    pub(super) lanes: Lanes,
    pub(super) events: Vec<Event>,
    pub(super) cuts: Cuts,
    pub(super) ids: HashTable<EventId>,
    pub(super) free: Vec<EventId>,
    /// Per lane, the newest child of the root.
    pub(super) roots: Vec<EventId>,
    pub(super) edges: Vec<Edge>,
    /// What failed tests watch.
    pub(super) watches: FxHashMap<EventId, SmallVec<[Watch; 2]>>,
    /// Per chain, the failed tests that watch it.
    pub(super) watchers: Vec<Vec<EventId>>,
    /// The envelopes of posts that are not plain.
    pub(super) envelopes: FxHashMap<EventId, Envelope>,
    /// Per chain: is it an end of a mailbox that ever had a pattern?
    pub(super) patterned: Vec<bool>,
    /// Is there any observation at all?
    pub(super) observes: bool,
    pub(super) stamps: Stamps,
    /// Scratch space of [`super::conflict`].
    pub(super) rivals: Vec<EventId>,
    pub(super) history: CutBuffer,
    pub(super) likely_clash: usize,
    pub(super) census: Census,
    /// The events that a branch of a search leaves out.
    pub(super) barred: Vec<EventId>,
    /// See [`Unfolding::new`](super::Unfolding::new).
    pub(super) stop: StopSignal,
}

impl EventStructure {
    /// The structure without events.
    pub(super) fn new(lanes: Lanes, processes: usize, stop: StopSignal) -> Self {
        let chains = lanes.chains();
        EventStructure {
            events: Vec::new(),
            cuts: Cuts::new(chains + processes),
            ids: HashTable::new(),
            free: Vec::new(),
            barred: Vec::new(),
            roots: vec![EventId::NONE; chains + processes],
            edges: Vec::new(),
            watches: FxHashMap::default(),
            watchers: vec![Vec::new(); chains],
            envelopes: FxHashMap::default(),
            patterned: vec![false; chains],
            observes: false,
            stamps: Stamps::default(),
            rivals: Vec::new(),
            history: CutBuffer::default(),
            likely_clash: 0,
            census: Census::default(),
            stop,
            lanes,
        }
    }

    /// Is the work to stop? Then answers mean nothing.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }

    /// The event behind `id`.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// The events of U.
    pub fn ids(&self) -> impl Iterator<Item = EventId> {
        (0..self.events.len() as u32).map(EventId).filter(|&id| self.event(id).live)
    }

    /// |U|: the number of events found and not forgotten.
    pub(crate) fn len(&self) -> usize {
        self.events.len() - self.free.len()
    }

    /// One more than the largest index of an event.
    pub(crate) fn capacity(&self) -> usize {
        self.events.len()
    }

    /// The number of events built. An event that was forgotten and found again counts again.
    pub(crate) fn built(&self) -> u64 {
        self.census.built()
    }

    /// The number of distinct events built; `None` if it is not known, because too many were
    /// forgotten. O(n log n) for n forgotten events.
    pub(crate) fn distinct(&mut self) -> Option<u64> {
        let live: Vec<u64> = self.ids().map(|id| self.event(id).print).collect();
        self.census.distinct(live.into_iter())
    }

    /// The events in immediate conflict with `id`: {f ∈ U : id #i f}, newest first.
    pub fn immediate_conflicts(&self, id: EventId) -> impl Iterator<Item = EventId> {
        let mut edge = self.event(id).conflicts;
        std::iter::from_fn(move || {
            let Edge { to, next } = *self.edges.get(edge as usize)?;
            edge = next;
            Some(to)
        })
    }

    /// Gives lanes to new objects of the table. Returns the number of new lanes for chains.
    pub(super) fn meet(&mut self, table: &ObjectTable) -> usize {
        let before = self.lanes.chains();
        self.lanes.meet(table);
        let chains = self.lanes.chains();
        let more = chains - before;
        if more > 0 {
            self.cuts.widen(before, more);
            widen(&mut self.roots, before, more);
            self.watchers.resize(chains, Vec::new());
            self.patterned.resize(chains, false);
        }
        more
    }

    /// Adds lanes for newly spawned processes.
    pub(super) fn reserve_processes(&mut self, processes: usize) {
        let lanes = self.lanes.chains() + processes;
        if lanes > self.roots.len() {
            self.roots.resize(lanes, EventId::NONE);
            self.cuts.reserve_lanes(lanes);
        }
    }

    /// The event of this process, choice and causes, if it is in U.
    pub(super) fn find(&self, draft: &Draft<'_>) -> Option<EventId> {
        let same = |&id: &EventId| {
            let event = &self.events[id.index()];
            event.process == draft.process
                && event.choice == draft.choice
                && event.causes.as_slice() == draft.causes
        };
        self.ids.find(hash(draft.process, draft.choice, draft.causes), same).copied()
    }

    /// Adds an extension of C that is not in U yet, with its conflicts. O(lanes) for each event
    /// that shares a parent with it in one of its trees.
    pub(super) fn insert(&mut self, draft: &Draft<'_>, c: &Configuration) -> EventId {
        let id = self.place(draft);
        self.cuts.join(&self.events, &self.lanes, id);
        let hashed = hash(draft.process, draft.choice, draft.causes);
        let events = &self.events;
        self.ids.insert_unique(hashed, id, |&id| {
            let event = &events[id.index()];
            hash(event.process, event.choice, &event.causes)
        });
        if draft.kind == EventKind::FailedTest {
            self.watches.insert(id, draft.watches.into());
        }
        if !draft.envelope.is_wildcard() {
            self.envelopes.insert(id, draft.envelope);
            self.note_envelope(draft.chain);
        }
        self.observes |= draft.kind.is_observation();
        self.census.add();
        self.connect_conflicts(id, c);
        self.enlist(id);
        id
    }

    /// A mailbox with patterns, or with sends that only some patterns match, pairs by search.
    fn note_envelope(&mut self, chain: Lane) {
        for end in [Part::Sends, Part::Receives] {
            let chain = self.lanes.beside(chain, end);
            self.patterned[chain.index()] = true;
        }
    }

    fn place(&mut self, draft: &Draft<'_>) -> EventId {
        let own = self.child_node(self.lanes.process(draft.process), draft.previous);
        let link = match draft.chain {
            Lane::NONE => Node::ROOT,
            chain => self.child_node(chain, draft.link),
        };
        let height =
            1 + draft.causes.iter().map(|&cause| self.event(cause).height).max().unwrap_or(0);
        let id = self.free.last().copied().unwrap_or(EventId(self.events.len() as u32));
        let observed = match draft.previous {
            _ if draft.kind.is_observation() => id,
            EventId::NONE => EventId::NONE,
            previous => self.event(previous).observed,
        };
        let event = Event {
            process: draft.process,
            choice: draft.choice,
            is_choice: draft.is_choice,
            before: draft.before,
            after: draft.after,
            own,
            link,
            chain: draft.chain,
            kind: draft.kind,
            observed,
            height,
            print: fingerprint(&self.events, draft.process, draft.choice, draft.causes),
            causes: SmallVec::from_slice(draft.causes),
            live: true,
            after_event: draft.after_event,
            first_child: EventId::NONE,
            next_sibling: EventId::NONE,
            first_link: EventId::NONE,
            next_link: EventId::NONE,
            next_group: EventId::NONE,
            conflicts: NO_EDGE,
            degree: 0,
        };
        if self.free.pop().is_some() {
            self.events[id.index()] = event;
        } else {
            make_room(&mut self.events, 1);
            self.events.push(event);
        }
        id
    }

    /// Puts the event into the child lists of its parents: where [`super::conflict`] looks for
    /// rivals.
    pub(super) fn enlist(&mut self, id: EventId) {
        let Event { process, after_event, link, chain, kind, is_choice, .. } = *self.event(id);
        if is_choice {
            let head = match after_event {
                EventId::NONE => &mut self.roots[self.lanes.process(process).index()],
                parent => &mut self.events[parent.index()].first_child,
            };
            let next = std::mem::replace(head, id);
            self.events[id.index()].next_sibling = next;
        }
        if chain != Lane::NONE {
            self.enlist_link(id, chain, link.parent);
        }
        if kind == EventKind::FailedTest {
            for watch in &self.watches[&id] {
                self.watchers[watch.lane.index()].push(id);
            }
        }
    }

    /// Makes the event the newest of its process among the children of `parent`.
    fn enlist_link(&mut self, id: EventId, chain: Lane, parent: EventId) {
        let process = self.event(id).process;
        let mut before = EventId::NONE;
        let mut newest = self.first_link(chain, parent);
        while newest.is_some() && self.event(newest).process != process {
            before = newest;
            newest = self.event(newest).next_group;
        }
        let next_group = self.events.get(newest.index()).map_or(EventId::NONE, |e| e.next_group);
        let event = &mut self.events[id.index()];
        (event.next_link, event.next_group) = (newest, next_group);
        match (before, parent) {
            (EventId::NONE, EventId::NONE) => self.roots[chain.index()] = id,
            (EventId::NONE, parent) => self.events[parent.index()].first_link = id,
            (before, _) => self.events[before.index()].next_group = id,
        }
    }

    /// The newest child, of some process, of `parent` in the tree of a chain.
    pub(super) fn first_link(&self, chain: Lane, parent: EventId) -> EventId {
        match parent {
            EventId::NONE => self.roots[chain.index()],
            parent => self.event(parent).first_link,
        }
    }

    pub(super) fn add_edge(&mut self, from: EventId, to: EventId) {
        let edge = Edge { to, next: self.event(from).conflicts };
        self.edges.push(edge);
        let event = &mut self.events[from.index()];
        event.conflicts = self.edges.len() as u32 - 1;
        event.degree += 1;
    }
}

pub(super) fn hash(process: ProcessId, choice: Choice, causes: &[EventId]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(process.0) << 32 | u64::from(choice.0 as u32));
    for cause in causes {
        hasher.write_u32(cause.0);
    }
    hasher.finish()
}
