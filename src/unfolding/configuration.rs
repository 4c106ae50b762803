//! The configuration that a search is at: its state, its cut, its enabled events, along one trail.
//!
//! C grows by an event of en(C) and shrinks by its last one. Everything here is a stack: the logs
//! of the [`State`], one more stack of events per chain beside each log (so that the k-th send of
//! the state is the k-th event of its chain), and the enabled events of each process, whose former
//! lists are kept so that they can be restored.
//!
//! Invariant: `enabled[p]` is {e ∈ en(C) : e of process p}. Adding an event changes the lists of
//! the processes that it concerns ([`super::extensions`]), and [`Configuration::unwind`] restores
//! them.

use super::cut::widen;
use super::event::{Event, EventId, EventKind};
use super::lanes::{Lane, Lanes};
use super::structure::EventStructure;
use crate::model::{
    Action, Choice, Lane as ObjectLane, Locals, Mode, Op, ProcessId, State, System,
};

/// A range of the pool of enabled events.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    len: u32,
}

/// What [`Configuration::unwind`] restores.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    /// Lengths before the event was added.
    pool: u32,
    changes: u32,
    open: u32,
}

/// The events of lanes that have no chain: for each number of a gathering, and for each key of an
/// addition or place of a change, a list of them.
#[derive(Default)]
struct Gatherings(Vec<Vec<Vec<EventId>>>);

impl Gatherings {
    fn of(&self, gathering: usize, key: u32) -> &[EventId] {
        self.0[gathering].get(key as usize).map_or(&[], Vec::as_slice)
    }

    fn at(&mut self, gathering: usize, key: u32) -> &mut Vec<EventId> {
        let keys = &mut self.0[gathering];
        if keys.len() <= key as usize {
            keys.resize(key as usize + 1, Vec::new());
        }
        &mut keys[key as usize]
    }
}

/// A configuration C, with state(C) and en(C).
pub struct Configuration {
    pub(super) state: State,
    /// Per lane, its last event.
    pub(super) cut: Vec<EventId>,
    /// Per chain, its events.
    pub(super) chains: Vec<Vec<EventId>>,
    /// Per chain, the reads of it.
    pub(super) reads: Vec<Vec<EventId>>,
    /// Per chain, the failed tests that watch it.
    pub(super) tests: Vec<Vec<EventId>>,
    gathered: Gatherings,
    /// Per process, its spawn.
    pub(super) spawns: Vec<EventId>,
    /// Events of choices that might have gone another way: see [`super::extensions`].
    pub(super) open: Vec<EventId>,
    trail: Vec<EventId>,
    /// Per event: one more than its position in the trail, 0 if it is not in C.
    places: Vec<u32>,
    checkpoints: Vec<Checkpoint>,
    enabled: Vec<Span>,
    pool: Vec<EventId>,
    changes: Vec<(ProcessId, Span)>,
}

impl Configuration {
    /// ∅, without extensions yet.
    pub(super) fn new<S: System>(lanes: &Lanes, locals: &mut Locals<'_, S>) -> Self {
        let chains = lanes.chains();
        let mut empty = Configuration {
            state: State::initial(locals),
            cut: vec![EventId::NONE; chains],
            chains: vec![Vec::new(); chains],
            reads: vec![Vec::new(); chains],
            tests: vec![Vec::new(); chains],
            gathered: Gatherings(vec![Vec::new(); lanes.gatherings()]),
            spawns: Vec::new(),
            open: Vec::new(),
            trail: Vec::new(),
            places: Vec::new(),
            checkpoints: Vec::new(),
            enabled: Vec::new(),
            pool: Vec::new(),
            changes: Vec::new(),
        };
        empty.reserve_processes(lanes, locals.process_count());
        empty
    }

    /// state(C).
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The events of C in the order in which they were added, which is an execution.
    pub fn events(&self) -> &[EventId] {
        &self.trail
    }

    /// e ∈ C? O(1). `EventId::NONE` is in no configuration.
    pub fn contains(&self, event: EventId) -> bool {
        self.places.get(event.index()).is_some_and(|&place| place > 0)
    }

    /// The position of an event in the order in which C was built, if it is in C.
    pub(crate) fn position(&self, event: EventId) -> Option<u32> {
        self.places.get(event.index())?.checked_sub(1)
    }

    /// en(C) by process: the enabled events of one process.
    pub fn enabled_of(&self, process: ProcessId) -> &[EventId] {
        let Span { start, len } = self.enabled[process.index()];
        &self.pool[start as usize..(start + len) as usize]
    }

    /// en(C): for each process that has enabled events, all of them.
    #[inline]
    pub(crate) fn enabled_by_process(&self) -> impl Iterator<Item = &[EventId]> {
        let spans = self.enabled.iter().filter(|span| span.len > 0);
        spans.map(|&Span { start, len }| &self.pool[start as usize..(start + len) as usize])
    }

    /// en(C), by process.
    pub fn enabled(&self) -> impl Iterator<Item = EventId> {
        self.enabled_by_process().flatten().copied()
    }

    /// e ∈ en(C)?
    pub fn is_enabled(&self, structure: &EventStructure, event: EventId) -> bool {
        self.enabled_of(structure.event(event).process).contains(&event)
    }

    /// All events in lists of enabled events that backtracking will restore.
    pub(super) fn remembered(&self) -> &[EventId] {
        &self.pool
    }

    pub(super) fn reserve_processes(&mut self, lanes: &Lanes, processes: usize) {
        if self.enabled.len() < processes {
            self.cut.resize(lanes.chains() + processes, EventId::NONE);
            self.enabled.resize(processes, Span::default());
            self.spawns.resize(processes, EventId::NONE);
        }
    }

    /// Adds chains for new objects.
    fn meet<S: System>(&mut self, structure: &mut EventStructure, locals: &Locals<'_, S>) {
        let before = structure.lanes.chains();
        let more = structure.meet(locals.objects());
        if more > 0 {
            widen(&mut self.cut, before, more);
            for lists in [&mut self.chains, &mut self.reads, &mut self.tests] {
                lists.resize(before + more, Vec::new());
            }
        }
        self.gathered.0.resize(structure.lanes.gatherings(), Vec::new());
    }

    /// The last event of `process`.
    pub(super) fn cut_of(&self, structure: &EventStructure, process: ProcessId) -> EventId {
        self.cut[structure.lanes.process(process).index()]
    }

    /// The last event of `process`, or the spawn that started it.
    pub(super) fn last_of(&self, lanes: &Lanes, process: ProcessId) -> EventId {
        match self.cut[lanes.process(process).index()] {
            EventId::NONE => self.spawns[process.index()],
            last => last,
        }
    }

    /// Makes these (except [`EventId::NONE`]) the enabled events of `process`, until the last event
    /// of C is removed.
    pub(crate) fn set_enabled(&mut self, process: ProcessId, events: &[EventId]) {
        let start = self.pool.len();
        self.pool.extend(events.iter().filter(|event| event.is_some()));
        let span = Span { start: start as u32, len: (self.pool.len() - start) as u32 };
        let former = std::mem::replace(&mut self.enabled[process.index()], span);
        self.changes.push((process, former));
    }

    /// Adds `event` to C, without its extensions.
    pub(super) fn record<S: System>(
        &mut self,
        structure: &mut EventStructure,
        locals: &mut Locals<'_, S>,
        id: EventId,
    ) {
        self.checkpoints.push(Checkpoint {
            pool: self.pool.len() as u32,
            changes: self.changes.len() as u32,
            open: self.open.len() as u32,
        });
        let Event { process, choice, chain, kind, before, after, .. } = *structure.event(id);
        self.state.step_into(locals, Action { process, choice }, after);
        if structure.lanes.are_behind(locals.objects()) {
            self.meet(structure, locals);
        }
        match locals.op(before).expect("an event has an operation") {
            Op::TestAny(comms)
                if choice == Choice::NOTHING && self.state.is_of_network(process, comms[0]) =>
            {
                self.open.push(id);
            }
            Op::WaitAny(comms) | Op::TestAny(comms) => self.note_choice(id, choice, comms.len()),
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                self.note_choice(id, choice, requests.len());
            }
            Op::Spawn(_) | Op::Handle { .. } | Op::Receive { .. } | Op::Enter { .. } => {
                structure.reserve_processes(locals.process_count());
                self.reserve_processes(&structure.lanes, locals.process_count());
                for child in self.state.just_spawned(locals) {
                    self.spawns[child.index()] = id;
                }
            }
            // One that chooses as well (a wake step) has all its ways when it is enabled.
            op if op.gathers().is_some() => {
                self.gather(structure, locals, |gathered| gathered.push(id));
            }
            op => debug_assert!(
                !self.state.is_open_choice(op, process),
                "{op:?} may have another result with a longer history"
            ),
        }
        self.cut[structure.lanes.process(process).index()] = id;
        match kind {
            EventKind::Plain => {}
            EventKind::Change => {
                self.cut[chain.index()] = id;
                self.chains[chain.index()].push(id);
            }
            EventKind::Read => self.reads[chain.index()].push(id),
            EventKind::FailedTest => {
                for watch in &structure.watches[&id] {
                    self.tests[watch.lane.index()].push(id);
                }
            }
        }
        self.trail.push(id);
        if self.places.len() <= id.index() {
            self.places.resize(structure.capacity(), 0);
        }
        self.places[id.index()] = self.trail.len() as u32;
    }

    /// An any-form that found one request complete might find another one with a longer history.
    fn note_choice(&mut self, id: EventId, choice: Choice, alternatives: usize) {
        if choice != Choice::NOTHING && alternatives > 1 {
            self.open.push(id);
        }
    }

    /// Calls `change` with each list to which the last event belongs.
    fn gather<S: System>(
        &mut self,
        structure: &EventStructure,
        locals: &Locals<'_, S>,
        change: impl Fn(&mut Vec<EventId>),
    ) {
        for act in self.state.effect(locals).acts {
            let key = match act.mode {
                Mode::Add(key) => key,
                _ => act.place,
            };
            change(self.gathered.at(structure.lanes.gathering(act.lane), key));
        }
    }

    /// The events of C that were added to a lane without a chain under this key, or that are the
    /// change at this place.
    pub(super) fn gathered(&self, lanes: &Lanes, lane: ObjectLane, key: u32) -> &[EventId] {
        self.gathered.of(lanes.gathering(lane), key)
    }

    /// Removes the last event of C, and undoes every change that it made.
    ///
    /// # Panics
    /// If C is empty.
    pub(super) fn unwind<S: System>(
        &mut self,
        structure: &EventStructure,
        locals: &Locals<'_, S>,
    ) -> EventId {
        let id = self.trail.pop().expect("an event to take back");
        self.places[id.index()] = 0;
        let Event { process, chain, kind, before, ref own, ref link, .. } = *structure.event(id);
        self.cut[structure.lanes.process(process).index()] = own.parent;
        match kind {
            EventKind::Plain => {}
            EventKind::Change => {
                self.cut[chain.index()] = link.parent;
                self.chains[chain.index()].pop();
            }
            EventKind::Read => {
                self.reads[chain.index()].pop();
            }
            EventKind::FailedTest => {
                for watch in &structure.watches[&id] {
                    self.tests[watch.lane.index()].pop();
                }
            }
        }
        match locals.op(before) {
            Some(op) if op.gathers().is_some() => {
                self.gather(structure, locals, |gathered| {
                    gathered.pop();
                });
            }
            Some(Op::Spawn(_) | Op::Handle { .. } | Op::Receive { .. } | Op::Enter { .. }) => {
                for child in self.state.just_spawned(locals) {
                    self.spawns[child.index()] = EventId::NONE;
                }
            }
            _ => {}
        }
        self.state.undo(locals);
        let checkpoint = self.checkpoints.pop().expect("a checkpoint per event");
        while self.changes.len() > checkpoint.changes as usize {
            let (process, former) = self.changes.pop().expect("a change to take back");
            self.enabled[process.index()] = former;
        }
        self.pool.truncate(checkpoint.pool as usize);
        self.open.truncate(checkpoint.open as usize);
        id
    }

    /// The event of C that is the post, request, ... at this position of a chain.
    pub(super) fn at(&self, chain: Lane, position: u32) -> EventId {
        self.chains[chain.index()][position as usize]
    }

    /// The event of C before this position of a chain.
    pub(super) fn before(&self, chain: Lane, position: u32) -> EventId {
        match position {
            0 => EventId::NONE,
            position => self.at(chain, position - 1),
        }
    }

    /// The number of events of C in the chain.
    pub(super) fn len_of(&self, chain: Lane) -> u32 {
        self.chains[chain.index()].len() as u32
    }
}
