//! Interned local states: the program runs once for each distinct local state and response.
//!
//! Explorers reach the same local state of a process again and again, in different executions. They
//! hold it as a [`LocalId`]; [`Locals::resume`] remembers where each response leads, so the
//! program's own code runs only the first time. Process ids are interned too: a spawned process is
//! named by its parent and the number of those that it started before, on every branch alike.

mod answers;
mod forget;
mod names;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub(crate) use forget::Needed;
pub use names::Birth;
pub(super) use names::{Births, MessageNames};

use super::audit::{self, Audit};
use super::objects::World;
use super::{
    Envelope, Failure, FailureKind, Handle, MailboxId, May, MessageId, Next, Object, ObjectTable,
    Op, Outbox, Part, Point, Probing, Reach, Response, Stimulus, System, Touch, Value, ValueId,
    Values,
};

/// The most values among which a process may choose.
const MOST: i64 = i32::MAX as i64;

/// A local state, by its place in [`Locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

impl LocalId {
    /// The local state of a process that does not exist (yet).
    pub const ABSENT: LocalId = LocalId(u32::MAX);
    /// The local state of every carrier of the network: it is at [`Op::Deliver`].
    pub const CARRIER: LocalId = LocalId(0);
}

/// A process: the static ones in order of declaration, then spawned ones as searches find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// The position in an arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a process in a given local state is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is at this operation.
    At(Op),
    /// It has run its last statement.
    Done,
    /// It stopped on a violation.
    Failed(super::Failure),
}

impl Status {
    /// Done or failed.
    pub fn has_ended(&self) -> bool {
        !matches!(self, Status::At(_))
    }
}

/// The result of an actor's handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    /// The local state after it.
    pub(crate) after: LocalId,
    /// The messages that it sent, with their receivers, in order.
    pub(crate) sent: Box<[(ProcessId, ValueId)]>,
    /// The local states of the actors that it started, in order.
    pub(crate) started: Box<[LocalId]>,
}

/// The part of a local state that its future depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Canonical {
    /// The local state with its requests renumbered.
    pub(crate) local: LocalId,
    /// The requests that its future may depend on, the oldest first; `None` for all its requests.
    pub(crate) requests: Option<Box<[Handle]>>,
}

/// An actor, its local state, and what makes it act.
type Occasion = (ProcessId, LocalId, Stimulus);

/// The local states of a system found so far, and the values they handle.
pub struct Locals<'s, S: System> {
    system: &'s S,
    /// The values found so far.
    pub values: Values,
    objects: ObjectTable,
    /// May some actor refuse a message?
    has_guards: bool,
    /// `None` for those that were forgotten.
    arena: Vec<Option<S::Local>>,
    /// `None` for the start of a process that no execution has spawned yet: to compute all statuses
    /// in advance might never end.
    status: Vec<Option<Arc<Status>>>,
    /// The status that was found last, to be shared.
    latest: Option<Arc<Status>>,
    ids: HashTable<LocalId>,
    /// The ids of those that were forgotten, to be used again.
    free: Vec<LocalId>,
    /// The number of local states up to which none is forgotten; and the one at which some are
    /// forgotten next.
    few: usize,
    enough: usize,
    steps: FxHashMap<(LocalId, Response), LocalId>,
    /// Per local state, whether a process may come back to it; and whether this holds for any.
    returns: Vec<bool>,
    some_return: bool,
    some_probes: bool,
    initial: Vec<LocalId>,
    /// Per local state, its canonical form, if it was asked for.
    canonical: Vec<Option<Canonical>>,
    /// Do canonical forms keep variables that are never read again?
    keeps_dead: bool,
    /// What processes may still touch, by their place in the program.
    reaches: FxHashMap<Point, Option<Reach>>,
    /// The value that a process returns that has ended in a local state.
    returned: FxHashMap<LocalId, ValueId>,
    births: Births,
    /// A cache of which guards hold.
    guards: RefCell<FxHashMap<Occasion, bool>>,
    /// The reactions that start no actor; and reactions that do, keyed also by the number of actors
    /// that were started before, because it is part of the new actors' names.
    reactions: FxHashMap<(Occasion, Option<u32>), Arc<Reaction>>,
    messages: MessageNames,
    pub(super) audit: Audit,
}

impl<'s, S: System> Locals<'s, S> {
    /// The initial local states of `system`.
    pub fn new(system: &'s S) -> Self {
        let mut values = Values::default();
        let first = system.initial(&mut values);
        let objects = ObjectTable::new(system.objects(), &mut values);
        let mut locals = Locals {
            system,
            values,
            objects,
            has_guards: system.actors().has_guards(),
            arena: Vec::new(),
            status: vec![Some(Arc::new(Status::At(Op::Deliver)))],
            latest: None,
            ids: HashTable::new(),
            free: Vec::new(),
            few: usize::MAX,
            enough: usize::MAX,
            steps: FxHashMap::default(),
            returns: vec![false],
            some_return: false,
            some_probes: false,
            initial: Vec::new(),
            canonical: Vec::new(),
            keeps_dead: false,
            reaches: FxHashMap::default(),
            returned: FxHashMap::default(),
            births: Births::of(first.len()),
            guards: RefCell::default(),
            reactions: FxHashMap::default(),
            messages: MessageNames::default(),
            audit: Audit::default(),
        };
        for local in first {
            let id = locals.begin(local);
            locals.initial.push(id);
        }
        locals
    }

    /// The system.
    pub fn system(&self) -> &'s S {
        self.system
    }

    /// The objects used so far: see [`ObjectTable`] for their indices.
    pub(crate) fn objects(&self) -> &ObjectTable {
        &self.objects
    }

    /// The name of an object, as the author of the program would say it.
    pub(crate) fn name_of(&self, object: impl Into<Object>) -> String {
        self.objects.name(object.into(), self.system.objects())
    }

    /// The touch in declared indices, to ask a [`Reach`].
    pub fn declared(&self, touch: Touch) -> Touch {
        self.objects.declared(touch)
    }

    /// May the process that is in local state `id`, or one that it spawns, ever touch this? See
    /// [`Foresight::may_touch`](super::Foresight::may_touch).
    pub(crate) fn may_touch(&self, id: LocalId, touch: Touch) -> bool {
        if id == LocalId::CARRIER {
            return matches!(touch.lane.part(), Part::Matches | Part::Ends)
                && touch.may == May::Add;
        }
        self.system.foresight().may_touch(self.get(id), self.objects.declared(touch))
    }

    /// May the process in local state `id`, or one that it spawns, ever send a message to this
    /// mailbox that the pattern accepts? See [`Foresight::may_send`](super::Foresight::may_send).
    pub(crate) fn may_send(&self, id: LocalId, mailbox: MailboxId, pattern: Envelope) -> bool {
        let declared = MailboxId(self.objects.mailboxes.declared(mailbox.0));
        id != LocalId::CARRIER && self.system.foresight().may_send(self.get(id), declared, pattern)
    }

    /// What the process in local state `id` may still touch, in declared indices: see
    /// [`Foresight::reach`](super::Foresight::reach).
    pub fn reach(&self, id: LocalId) -> Option<Reach> {
        if id == LocalId::CARRIER {
            return None;
        }
        self.system.foresight().reach(self.get(id))
    }

    /// May the process touch this from its place in the program in local state `id` on? O(1) after
    /// the first time at this place.
    pub(crate) fn may_still_touch(&mut self, id: LocalId, touch: Touch) -> bool {
        if !self.may_touch(id, touch) {
            return false;
        }
        if id == LocalId::CARRIER {
            return true;
        }
        let (foresight, local) = (self.system.foresight(), found(&self.arena, id));
        let Some(point) = foresight.point(local) else { return true };
        let reach = self.reaches.entry(point).or_insert_with(|| foresight.reach_from(point, local));
        reach.as_ref().is_none_or(|reach| reach.contains(self.objects.declared(touch)))
    }

    /// The local states of the processes that exist from the start.
    pub fn initial(&self) -> &[LocalId] {
        &self.initial
    }

    /// The local state behind `id`.
    ///
    /// # Panics
    /// For [`LocalId::CARRIER`], which no system knows.
    pub fn get(&self, id: LocalId) -> &S::Local {
        found(&self.arena, id)
    }

    /// What a process in local state `id` is about to do.
    ///
    /// # Panics
    /// If `id` is the start of a process that was never `start`ed.
    #[inline]
    pub fn status(&self, id: LocalId) -> &Status {
        self.status[id.0 as usize].as_deref().expect("a local state that some execution reached")
    }

    /// The status of `id`, with what carrying out an operation may use.
    pub(super) fn world(&mut self, id: LocalId) -> (&Status, World<'_>) {
        let status = self.status[id.0 as usize].as_deref();
        let Locals { values, births, messages, returned, .. } = self;
        let world = World { values, births, messages, returned };
        (status.expect("a local state that some execution reached"), world)
    }

    /// How processes came into being.
    pub(super) fn births(&self) -> &Births {
        &self.births
    }

    /// How processes came into being, to be extended by a handler that starts some.
    pub(super) fn births_mut(&mut self) -> &mut Births {
        &mut self.births
    }

    /// The status of `id`, to be held while the program goes on.
    pub(crate) fn shared_status(&self, id: LocalId) -> Arc<Status> {
        self.status[id.0 as usize].clone().expect("a local state that some execution reached")
    }

    /// The pending operation, unless the process has ended.
    #[inline]
    pub fn op(&self, id: LocalId) -> Option<&Op> {
        match self.status(id) {
            Status::At(op) => Some(op),
            _ => None,
        }
    }

    /// The local state after `response` in `id`. O(1) after the first time.
    pub(crate) fn resume(&mut self, id: LocalId, response: Response) -> LocalId {
        let after = self.lead(id, response);
        self.start(after);
        after
    }

    /// The local state after `response` in `id`, which no execution need reach: what the process
    /// does there is not asked. O(1) after the first time.
    pub(crate) fn lead(&mut self, id: LocalId, response: Response) -> LocalId {
        if id == LocalId::CARRIER {
            return id;
        }
        if let Some(&after) = self.steps.get(&(id, response)) {
            return after;
        }
        let after = self.system.resume(self.get(id), response, &self.values);
        if audit::is_total() {
            let local = found(&self.arena, id);
            audit::assert_future_is_kept(self.system, local, response, &mut self.values);
        }
        let after = self.intern(after);
        self.steps.insert((id, response), after);
        after
    }

    /// From now on canonical forms keep variables that are never read again.
    pub fn keep_dead(&mut self) {
        self.keeps_dead = true;
    }

    /// The canonical form of a local state: see
    /// [`Foresight::canonical`](super::Foresight::canonical) and
    /// [`Foresight::without_dead`](super::Foresight::without_dead). O(1) after the first time.
    pub(crate) fn canonical(&mut self, id: LocalId) -> &Canonical {
        let index = id.0 as usize;
        if self.canonical.len() <= index {
            self.canonical.resize(self.status.len(), None);
        }
        if self.canonical[index].is_none() {
            let alive = match id {
                LocalId::CARRIER => None,
                _ if self.keeps_dead => None,
                _ => self.system.foresight().without_dead(self.get(id)),
            };
            let found = match id {
                LocalId::CARRIER => None,
                _ => self.system.foresight().canonical(alive.as_ref().unwrap_or(self.get(id))),
            };
            self.canonical[index] = Some(match found {
                None => {
                    let local = alive.map_or(id, |alive| self.intern(alive));
                    Canonical { local, requests: None }
                }
                Some((local, requests)) => {
                    Canonical { local: self.intern(local), requests: Some(requests.into()) }
                }
            });
        }
        self.canonical[index].as_ref().expect("just found")
    }

    /// Computes the status of local state `id`, if it is not known yet.
    #[inline]
    pub(crate) fn start(&mut self, id: LocalId) {
        if self.status[id.0 as usize].is_none() {
            self.find_status(id);
        }
    }

    #[inline(never)]
    fn find_status(&mut self, id: LocalId) {
        let status = match self.system.next(found(&self.arena, id), &mut self.values) {
            Next::Op(Op::Choose { lo, hi }) if hi.checked_sub(lo).is_none_or(|n| n > MOST) => {
                let message = format!("a choice among more than {MOST} values");
                Status::Failed(Failure { kind: FailureKind::Error, message, site: None })
            }
            Next::Op(op) => {
                let objects = self.system.objects();
                self.some_probes |= matches!(op, Op::Probe { .. });
                assert!(
                    objects.may_time_out_when_stuck
                        || !matches!(op, Op::Probe { form: Probing::WhenStuck, .. }),
                    "a probe that waits until all are stuck, and is not declared"
                );
                Status::At(self.objects.renamed(op, objects, &mut self.values))
            }
            Next::Spawn(child) => Status::At(Op::Spawn(self.intern(child))),
            Next::Done => Status::Done,
            Next::Returned(value) => {
                self.returned.insert(id, value);
                Status::Done
            }
            Next::Failed(failure) => Status::Failed(failure),
        };
        // What a process that really runs does here is known only now.
        let returns = self.system.foresight().may_return(found(&self.arena, id));
        self.some_return |= returns;
        self.returns[id.0 as usize] |= returns;
        // Actors are nearly always at rest.
        let status = match &self.latest {
            Some(latest) if **latest == status => latest.clone(),
            _ => Arc::new(status),
        };
        self.latest = Some(status.clone());
        self.status[id.0 as usize] = Some(status);
    }

    /// Does the actor `own` accept this message in local state `id`, or is this internal handler
    /// enabled? O(1) after the first time.
    pub fn accepts(&self, own: ProcessId, id: LocalId, stimulus: Stimulus) -> bool {
        let evaluate = || self.system.actors().accepts(self.get(id), own, stimulus, &self.values);
        match stimulus {
            Stimulus::Message(_) if !self.has_guards => true,
            _ => {
                let mut guards = self.guards.borrow_mut();
                *guards.entry((own, id, stimulus)).or_insert_with(evaluate)
            }
        }
    }

    /// The reaction of the actor `own` in local state `id`, if it has started this number of actors
    /// before. O(1) after the first time.
    pub(crate) fn react(
        &mut self,
        own: ProcessId,
        id: LocalId,
        stimulus: Stimulus,
        children: u32,
    ) -> Arc<Reaction> {
        let occasion = (own, id, stimulus);
        let known = self.reactions.get(&(occasion, None));
        if let Some(known) = known.or_else(|| self.reactions.get(&(occasion, Some(children)))) {
            return known.clone();
        }
        let mut handling =
            Handling { own, children, sent: vec![], started: vec![], births: &mut self.births };
        let local = found(&self.arena, id);
        let after = self.system.actors().handle(local, own, stimulus, &self.values, &mut handling);
        let Handling { sent, started, .. } = handling;
        let after = self.begin(after);
        let sent = sent.into_iter().map(|(to, message)| (to, self.values.intern(message)));
        let sent = sent.collect();
        let started: Box<[_]> = started.into_iter().map(|local| self.begin(local)).collect();
        let key = (occasion, (!started.is_empty()).then_some(children));
        let reaction = Arc::new(Reaction { after, sent, started });
        self.reactions.insert(key, reaction.clone());
        reaction
    }

    fn begin(&mut self, local: S::Local) -> LocalId {
        let id = self.intern(local);
        self.start(id);
        id
    }

    /// The id of a message: the `place`-th that is sent in an action, given by its process and
    /// number; without `sender`, the `place`-th that is pending from the start.
    pub fn message(&mut self, sender: Option<(ProcessId, u32)>, place: u32) -> MessageId {
        self.messages.name(sender, place)
    }

    /// The action that sent a message, and the place there: see [`message`](Locals::message).
    pub fn posting(&self, message: MessageId) -> (Option<(ProcessId, u32)>, u32) {
        self.messages.postings[message.index()]
    }

    /// The process with this birth, a new one if need be.
    pub(crate) fn child(&mut self, birth: Birth) -> ProcessId {
        self.births.child(birth)
    }

    /// The process with this birth, if any execution has started it.
    pub fn known_child(&self, birth: Birth) -> Option<ProcessId> {
        self.births.known(birth)
    }

    /// How `process` came into being; `None` if it exists from the start.
    pub fn birth(&self, process: ProcessId) -> Option<Birth> {
        self.births.parents[process.index()]
    }

    /// An order of processes that does not depend on the order of the search: the children of a
    /// process come directly after it, the oldest first.
    pub(crate) fn compare_processes(&self, one: ProcessId, other: ProcessId) -> Ordering {
        let (root, other_root) = (self.root(one), self.root(other));
        match root == other_root {
            true if one == other => Ordering::Equal,
            true => self.lineage(one).cmp(&self.lineage(other)),
            false => root.cmp(&other_root),
        }
    }

    /// An order of messages that does not depend on the order of the search: by sender, the oldest
    /// first.
    pub(crate) fn compare_messages(&self, one: MessageId, other: MessageId) -> Ordering {
        let ((sender, place), (other_sender, other_place)) =
            (self.posting(one), self.posting(other));
        let by_sender = match (sender, other_sender) {
            (Some((process, act)), Some((other, other_act))) => {
                self.compare_processes(process, other).then(act.cmp(&other_act))
            }
            _ => sender.is_some().cmp(&other_sender.is_some()),
        };
        by_sender.then(place.cmp(&other_place))
    }

    /// The ancestor that exists from the start.
    fn root(&self, process: ProcessId) -> ProcessId {
        let mut root = process;
        while let Some(birth) = self.birth(root) {
            root = birth.parent;
        }
        root
    }

    /// The ancestor that exists from the start, then the place of each start from there on.
    fn lineage(&self, process: ProcessId) -> SmallVec<[u32; 8]> {
        let mut lineage = SmallVec::new();
        let mut process = process;
        while let Some(Birth { parent, place, is_carrier }) = self.birth(process) {
            lineage.extend([place, u32::from(is_carrier)]);
            process = parent;
        }
        lineage.push(process.0);
        lineage.reverse();
        lineage
    }

    /// The number of processes found so far.
    pub fn process_count(&self) -> usize {
        self.births.parents.len()
    }

    fn intern(&mut self, local: S::Local) -> LocalId {
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let hash = hasher.hash_one(&local);
        let arena = &self.arena;
        if let Some(&id) = self.ids.find(hash, |&id| *found(arena, id) == local) {
            self.system.release(&local);
            return id;
        }
        let returns = self.system.foresight().may_return(&local);
        self.some_return |= returns;
        let id = match self.free.pop() {
            Some(id) => {
                self.arena[id.0 as usize - 1] = Some(local);
                self.returns[id.0 as usize] = returns;
                id
            }
            None => {
                self.arena.push(Some(local));
                self.returns.push(returns);
                self.status.push(None);
                LocalId(self.arena.len() as u32)
            }
        };
        let arena = &self.arena;
        self.ids.insert_unique(hash, id, |&id| hasher.hash_one(found(arena, id)));
        id
    }
}

impl<S: System> Drop for Locals<'_, S> {
    fn drop(&mut self) {
        self.arena.iter().flatten().for_each(|local| self.system.release(local));
    }
}

/// The local state behind `id`.
fn found<L>(arena: &[Option<L>], id: LocalId) -> &L {
    arena[id.0 as usize - 1].as_ref().expect("a local state that is needed is kept")
}

/// A handler at work, and what it did so far.
struct Handling<'l, L> {
    own: ProcessId,
    /// Number of processes that it has started before.
    children: u32,
    sent: Vec<(ProcessId, Value)>,
    started: Vec<L>,
    births: &'l mut Births,
}

impl<L> Outbox<L> for Handling<'_, L> {
    fn send(&mut self, to: ProcessId, message: Value) {
        self.sent.push((to, message));
    }

    fn spawn(&mut self, actor: L) -> ProcessId {
        let place = self.children + self.started.len() as u32;
        self.started.push(actor);
        self.births.child(Birth::of_child(self.own, place))
    }
}
