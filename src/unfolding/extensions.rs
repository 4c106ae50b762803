//! ex(C), incrementally (Pham, Jéron, Quinson, FORTE 2019, sections 4.2, 4.3).
//!
//! The extensions of C by an action a of process p have histories `[pre] ∪ [x] ∪ ..`, where pre is
//! p's last event and each x is an event of C that a depends on. Which x are possible follows from
//! how the model describes the operation:
//!
//! - *It takes the next place in a lane* ([`State::lane`]). In C it may come after the first k
//!   changes of the lane, for each k from the number of changes in `[pre]` on. If it looks at the
//!   lane there, x is the k-th change. If it changes the lane, it also comes after some of the
//!   looks at the k-th change, and after some of the failed tests of the request that it completes:
//!   a change is after such an observation, or in conflict with it. So there is an extension for
//!   each combination of positions among the observations of each process: 2^n of them after n
//!   processes that have read once.
//! - *It has some ways to go on* ([`State::ways`]). Each way that is possible in C is an extension;
//!   its needs are the x.
//! - *It is a test* ([`State::not_yet`]). It fails after `[pre]` alone, if no way is possible
//!   there.
//! - Actors (`actor`) and p2p and bag mailboxes (`network`) are special.
//!
//! When e joins C, the new extensions have e among their direct causes:
//! - the next action of e's own process, with all combinations of other causes in C;
//! - the next actions of other processes: those whose lane e has changed or observed, and those
//!   that await something on a lane of e's;
//! - *open choices*: a `waitany` of C that returned 1 could have returned 2, with e as the cause.
//!   Such an extension belongs to no enabled action, so theorem 1 of the paper, which looks only at
//!   enabled actions, misses it; `tests/naive` has the programs that show this. With actors all
//!   extensions are of this kind: a message may come at every position of its receiver's chain
//!   (`actor`).
//!
//! Events that are too high are not extensions ([`Unfolding::new`]). [`EventId::NONE`] stands for
//! them, and it is never enabled. If a process could do something before e joined C, and after e
//! the same is too high, then it is removed from en(C), like everything in conflict with e.
//!
//! [`State::lane`]: crate::model::State::lane
//! [`State::ways`]: crate::model::State::ways
//! [`State::not_yet`]: crate::model::State::not_yet

mod actor;
mod network;
mod places;
mod spin;
mod ways;

pub(super) use places::Combined;

use smallvec::{SmallVec, smallvec};

use super::event::{EventId, EventKind, Watch};
use super::lanes::Lane;
use super::structure::Draft;

use super::{Configuration, Unfolding};
use crate::model::{
    Birth, Choice, Envelope, LocalId, Locals, Op, Part, PartSet, ProcessId, Response, Status,
    System,
};

/// A process at a point of its execution: the process, its local state, and its last event.
#[derive(Clone, Copy, Debug)]
struct Origin {
    process: ProcessId,
    before: LocalId,
    previous: EventId,
    /// `previous`, or the spawn of the process.
    after_event: EventId,
}

/// What distinguishes an extension from others of the same origin.
#[derive(Clone, Copy, Debug)]
struct Shape<'a> {
    choice: Choice,
    response: Response,
    kind: EventKind,
    chain: Lane,
    /// The previous change of the chain.
    link: EventId,
    envelope: Envelope,
    watches: &'a [Watch],
}

impl Shape<'_> {
    /// An event without a place in a chain.
    fn plain(response: Response) -> Self {
        Shape {
            choice: Choice::ONLY,
            response,
            kind: EventKind::Plain,
            chain: Lane::NONE,
            link: EventId::NONE,
            envelope: Envelope::default(),
            watches: &[],
        }
    }
}

/// From `CROWD` causes on, their maximal events are remembered instead of computed again.
const CROWD: usize = 16;

/// A few events.
type Events = SmallVec<[EventId; 4]>;

impl<S: System> Unfolding<'_, S> {
    /// ex(∅).
    pub(super) fn extend_empty(&mut self, c: &mut Configuration) {
        for process in 0..self.locals.initial().len() as u32 {
            self.extend_own(c, ProcessId(process));
        }
    }

    /// C := C ∪ {e} for an e ∈ en(C), with the new extensions.
    pub fn push(&mut self, c: &mut Configuration, e: EventId) {
        c.record(&mut self.structure, &mut self.locals, e);
        let process = self.structure.event(e).process;
        self.extend_own(c, process);
        let started: SmallVec<[ProcessId; 4]> = c.state.just_spawned(&self.locals).collect();
        for child in started {
            self.extend_own(c, child);
        }
        if let Op::Handle { .. } = self.op(e) {
            self.extend_receivers(c, e);
            // No action of another process depends on it, except a join if it was the last one.
            let after = self.structure.event(e).after;
            if !self.locals.status(after).has_ended() {
                return;
            }
        }
        self.extend_network(c, e);
        let left = self.left_by(e);
        if left != PartSet::NONE || self.structure.event(e).kind != EventKind::Plain {
            self.extend_others(c, e, left);
            if !c.open.is_empty() {
                self.extend_open_choices(c, e, left);
            }
        }
    }

    /// The kinds of lanes on which e, which has just joined C, has left something that other
    /// processes may need. (`network` finds out by itself which processes are concerned there.)
    fn left_by(&self, e: EventId) -> PartSet {
        let event = self.structure.event(e);
        let mut left = PartSet::NONE;
        if event.kind == EventKind::Change {
            left = self.structure.lanes.of_chain(event.chain).part().alone();
        } else if let Some(lane) = self.op(e).gathers() {
            left = lane.part().alone();
        }
        match self.locals.status(event.after).has_ended() {
            true => left.or(Part::Process.alone()),
            false => left,
        }
    }

    /// Removes the last event of C; ex(C) and en(C) are as they were before it.
    ///
    /// # Panics
    /// If C is empty.
    pub fn pop(&mut self, c: &mut Configuration) -> EventId {
        c.unwind(&self.structure, &self.locals)
    }

    fn origin(&self, c: &Configuration, process: ProcessId) -> Origin {
        let lanes = &self.structure.lanes;
        Origin {
            process,
            before: c.state.local(process),
            previous: c.cut[lanes.process(process).index()],
            after_event: c.last_of(lanes, process),
        }
    }

    /// The extensions of C by the next action of a process that has just reached this action.
    fn extend_own(&mut self, c: &mut Configuration, process: ProcessId) {
        let enabled = self.extensions_of(c, process);
        c.set_enabled(process, &enabled);
    }

    /// Finds all extensions of C by the next action of a process, and returns the enabled ones.
    pub(super) fn extensions_of(&mut self, c: &Configuration, process: ProcessId) -> Events {
        let from = self.origin(c, process);
        match &*self.locals.shared_status(from.before) {
            Status::At(op) => self.extensions(c, from, op),
            Status::Done | Status::Failed(_) => Events::new(),
        }
    }

    /// Finds all extensions of C by `op` from an origin whose last event has just joined C, and
    /// returns the enabled ones.
    fn extensions(&mut self, c: &Configuration, from: Origin, op: &Op) -> Events {
        if let Some(lane) = c.state.lane(op) {
            let chain = self.structure.lanes.chain(lane);
            let places = self.places(c, from, chain);
            return match self.extend_places(c, from, (op, chain), places, EventId::NONE) {
                Some(last) => smallvec![last],
                None => Events::new(),
            };
        }
        match *op {
            Op::Send { .. } | Op::Receive { .. } | Op::Enter { .. } => {
                let posted = c.state.next_posted(from.process);
                smallvec![self.add(c, from, Shape::plain(posted), &[])]
            }
            Op::Probe { mailbox, pattern, form } => {
                self.extend_probe(c, from, (mailbox, pattern, form))
            }
            Op::Deliver => self.extend_delivery(c, from.process),
            Op::Handle { internals } => self.extend_handlers(c, from, internals),
            Op::Spawn(_) => {
                let place = c.state.children(from.process);
                let child = self.locals.child(Birth::of_child(from.process, place));
                smallvec![self.add(c, from, Shape::plain(Response::Spawned(child)), &[])]
            }
            Op::TestAny(ref comms) if c.state.is_of_network(from.process, comms[0]) => {
                let mut enabled = self.extend_ways(c, from, op, EventId::NONE);
                enabled.extend(self.extend_vain_poll(c, from));
                enabled
            }
            _ => {
                let failed = self.extend_failed_test(c, from, op);
                let enabled = self.extend_ways(c, from, op, EventId::NONE);
                match failed {
                    Some(failed) if enabled.is_empty() => smallvec![failed],
                    _ => enabled,
                }
            }
        }
    }

    /// The extensions of C by next actions of other processes, with the new e among their causes.
    /// `left` are the kinds of lanes on which e has left something.
    fn extend_others(&mut self, c: &mut Configuration, e: EventId, left: PartSet) {
        let acted = self.structure.event(e).process;
        for process in 0..self.locals.process_count() as u32 {
            let process = ProcessId(process);
            if self.structure.is_stopped() {
                return;
            }
            let local = c.state.local(process);
            if process != acted && local != LocalId::ABSENT {
                self.extend_other(c, process, e, left);
            }
        }
    }

    /// The extensions of C by the next action of one other process.
    #[inline(always)]
    fn extend_other(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        e: EventId,
        left: PartSet,
    ) {
        let Some(op) = self.locals.op(c.state.local(process)) else { return };
        if let Some(lane) = c.state.lane(op) {
            let chain = self.structure.lanes.chain(lane);
            if self.acts_on(e, chain) {
                self.extend_place_by(c, process, chain, e);
            }
        } else if op.awaits().meets(left) && self.is_needed(c, (op, process), e) {
            self.extend_ways_by(c, process, e);
        }
    }

    /// Is e a change, a look or a failed test at this chain?
    #[inline]
    fn acts_on(&self, e: EventId, chain: Lane) -> bool {
        let event = self.structure.event(e);
        event.chain == chain
            || event.kind == EventKind::FailedTest
                && self.structure.watches[&e].iter().any(|watch| watch.lane == chain)
    }

    /// The any-forms of C that could have returned what e completes.
    fn extend_open_choices(&mut self, c: &Configuration, e: EventId, left: PartSet) {
        for index in 0..c.open.len() {
            let chosen = self.structure.event(c.open[index]);
            let lane = self.structure.lanes.process(chosen.process);
            let known = self.structure.last(e, lane);
            if e == c.open[index] || self.structure.depth(lane, known) >= chosen.own.depth {
                continue;
            }
            let from = self.place_of(c.open[index]);
            let status = self.locals.shared_status(from.before);
            let Status::At(op) = &*status else { unreachable!("an event has an operation") };
            if op.awaits().meets(left) {
                self.extend_ways(c, from, op, e);
            }
        }
    }

    /// The event of this origin and shape with `from`'s own past and `others` as its causes, all in
    /// C. It is taken from U, or new. [`EventId::NONE`] if it is too high, ends a spin iteration
    /// (`spin`), or the work is to stop.
    fn add(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        others: &[EventId],
    ) -> EventId {
        self.add_with(c, from, shape, others, |locals| locals.lead(from.before, shape.response))
    }

    /// See [`add`](Unfolding::add). `after` computes the local state after the event.
    fn add_with(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        others: &[EventId],
        after: impl FnOnce(&mut Locals<'_, S>) -> LocalId,
    ) -> EventId {
        if self.structure.is_stopped() {
            return EventId::NONE;
        }
        let causes = self.direct_causes(from.after_event, others);
        let mut draft = Draft {
            process: from.process,
            choice: shape.choice,
            is_choice: self.locals.op(from.before).is_some_and(Op::is_choice),
            causes: &causes,
            before: from.before,
            after: LocalId::ABSENT,
            previous: from.previous,
            after_event: from.after_event,
            chain: shape.chain,
            link: shape.link,
            kind: shape.kind,
            watches: shape.watches,
            envelope: shape.envelope,
        };
        if let Some(known) = self.structure.find(&draft) {
            return if self.structure.is_barred(known) { EventId::NONE } else { known };
        }
        let height = causes.iter().map(|&cause| self.structure.event(cause).height).max();
        if height.is_some_and(|height| height >= self.max_height) {
            self.too_high += 1;
            return EventId::NONE;
        }
        draft.after = after(&mut self.locals);
        if self.waits && self.ends_spin_iteration(c, &draft) {
            return EventId::NONE;
        }
        self.structure.insert(&draft, c)
    }

    /// The maximal events among `own` and `others`, which are events of C; ascending.
    fn direct_causes(&mut self, own: EventId, others: &[EventId]) -> Events {
        let mut causes = match others.len() < CROWD {
            true => self.maximal(own, others),
            false => {
                // All processes that wait at a barrier have the same arrivals before them.
                if self.crowd.0[..] != *others {
                    self.crowd = (others.to_vec(), self.maximal(EventId::NONE, others));
                }
                match self.crowd.1.contains(&own) {
                    true => self.crowd.1.clone(),
                    false => self.maximal(own, &self.crowd.1),
                }
            }
        };
        causes.sort_unstable();
        causes
    }

    /// The maximal events among `own` and `others`, which are events of C. O(n²).
    fn maximal(&self, own: EventId, others: &[EventId]) -> Events {
        let mut causes = Events::new();
        causes.extend(own.is_some().then_some(own));
        for &other in others {
            if self.structure.is_stopped() {
                break;
            }
            let is_below =
                |&cause: &EventId| self.structure.is_at_or_before_in_configuration(other, cause);
            if !other.is_some() || causes.iter().any(is_below) {
                continue;
            }
            causes.retain(|cause| !self.structure.is_at_or_before_in_configuration(*cause, other));
            causes.push(other);
        }
        causes
    }
}
