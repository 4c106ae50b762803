//! ex(C), operation by operation, and incrementally (Pham, Jéron, Quinson, FORTE 2019, sections 4.2, 4.3).
//!
//! The extensions of C by an action a of process p have histories `[pre] ∪ [x] ∪ ..`, where pre is p's last
//! event and each x is an event of C that a depends on. Which x are possible depends on the operation: there is
//! one file for each kind of object, as in the model.
//!
//! When e joins C, the new extensions are those that have e among their direct causes:
//! - the next action of e's own process, with all combinations of other causes in C;
//! - the next actions of other processes that depend on e;
//! - *open choices*: a `waitany` of C that returned 1 could have returned 2, with e as the cause. Such an
//!   extension belongs to no enabled action, so theorem 1 of the paper, which looks only at enabled actions,
//!   misses it; `tests/naive` has the programs that show this. With actors all extensions are of this kind: a
//!   message may come at every position of its receiver's chain (`actor`).
//!
//! Events that are too high are no extensions ([`Unfolding::new`]). [`EventId::NONE`] stands for them, and it is
//! never enabled. Suppose that a process could do something before e joined C, and after e the same is too high.
//! Then it is taken off en(C), like everything in conflict with e.

mod actor;
mod barrier;
mod condvar;
mod mailbox;
mod mutex;
mod network;
mod process;
pub(super) mod rwlock;
mod semaphore;
mod spin;
mod versions;

use std::ops::RangeInclusive;

use smallvec::{SmallVec, smallvec};

use super::event::{EventId, EventKind, Watch};
use super::lanes::Lane;
use super::structure::Draft;
use mailbox::Post;

use super::{Configuration, Unfolding};
use crate::model::{Choice, Envelope, LocalId, Locals, Op, ProcessId, Response, Status, System};

/// A process at a point of its execution: who acts, from which local state, after which event.
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

    /// The next element of a chain.
    fn change(chain: Lane, response: Response) -> Self {
        Shape { kind: EventKind::Change, chain, ..Shape::plain(response) }
    }
}

/// From this many causes on, their maximal ones are remembered instead of looked for again.
const CROWD: usize = 16;

/// A few events.
type Events = SmallVec<[EventId; 4]>;

/// What one event lets an any-form return: several results if its list names the same thing more than once.
type Results = SmallVec<[(Choice, Response); 1]>;

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
        if self.concerns_others(e) {
            self.extend_others(c, e);
            if !c.open.is_empty() {
                self.extend_open_choices(c, e);
            }
        }
    }

    /// May an action of another process depend on e directly? Not if e only waited or computed.
    fn concerns_others(&self, e: EventId) -> bool {
        let event = self.structure.event(e);
        event.kind != EventKind::Plain
            || matches!(self.op(e), Op::Arrive { .. } | Op::RwUnlock { .. } | Op::Wake { .. })
            || self.locals.status(event.after).has_ended()
    }

    /// Takes the last event of C back; ex(C) and en(C) are as before it.
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

    /// The extensions of C by the next action of a process that has just got there.
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

    /// Finds all extensions of C by `op` from an origin whose last event has just joined C, and returns the enabled ones.
    fn extensions(&mut self, c: &Configuration, from: Origin, op: &Op) -> Events {
        if let Some(act) = c.versioned(op) {
            return self.extend_versions(c, from, act);
        }
        match *op {
            Op::Isend { .. } | Op::Irecv { .. } => self.extend_post(c, from, Post::of(op)),
            Op::Send { .. } | Op::Receive { .. } | Op::Enter { .. } => {
                let posted = self.posted(c, from);
                smallvec![self.add(c, from, Shape::plain(posted), &[])]
            }
            Op::Probe { mailbox, pattern, form } => {
                self.extend_probe(c, from, (mailbox, pattern, form))
            }
            Op::CancelOutcome(comm) => self.extend_cancelled(c, from, comm),
            Op::Deliver => self.extend_delivery(c, from.process),
            Op::WaitAny(ref comms) => self.extend_completed(c, from, comms),
            Op::TestAny(ref comms) if c.state.is_of_network(from.process, comms[0]) => {
                self.extend_poll(c, from, comms)
            }
            Op::TestAny(ref comms) => self.extend_test(c, from, comms),
            Op::AsyncLock(mutex) => {
                let chain = self.structure.lanes.locks(mutex);
                self.extend_request(c, from, chain)
            }
            Op::MutexWaitAny(ref requests) => self.extend_owned(c, from, requests),
            Op::MutexTestAny(ref requests) => self.extend_mutex_test(c, from, requests),
            Op::Unlock(request) => self.extend_unlock(c, from, request),
            Op::AsyncAcquire(semaphore) => {
                let chain = self.structure.lanes.acquires(semaphore);
                self.extend_request(c, from, chain)
            }
            Op::Release(semaphore) => self.extend_release(c, from, semaphore),
            Op::AcquireWait { semaphore, handle } => {
                self.extend_acquired(c, from, semaphore, handle)
            }
            Op::RwWait { lock, handle } => self.extend_rw_wait(c, from, lock, handle),
            Op::AwaitWake { condvar, handle } => self.extend_woken(c, from, condvar, handle),
            Op::Wake { condvar, handle } => self.extend_wake(c, from, condvar, handle),
            Op::RwUnlock { .. } | Op::Arrive { .. } | Op::Local | Op::Cancel(_) => {
                smallvec![self.add(c, from, Shape::plain(Response::Unit), &[])]
            }
            Op::BarrierWait { barrier, round } => self.extend_passed(c, from, barrier, round),
            Op::Access(..)
            | Op::TryLock(_)
            | Op::RwRequest { .. }
            | Op::Enrol(_)
            | Op::Notify { .. } => {
                unreachable!("these act on versions")
            }
            Op::Choose { lo, hi } => self.extend_choose(c, from, lo, hi),
            Op::Spawn(_) => self.extend_spawn(c, from),
            Op::Join(target) => self.extend_joined(c, from, target),
            Op::Handle { internals } => self.extend_handlers(c, from, internals),
        }
    }

    /// The extensions of C by next actions of other processes, with the new e among their causes.
    fn extend_others(&mut self, c: &mut Configuration, e: EventId) {
        let acted = self.structure.event(e).process;
        for process in 0..self.locals.process_count() as u32 {
            let process = ProcessId(process);
            if self.structure.is_stopped() {
                return;
            }
            let local = c.state.local(process);
            if process != acted && local != LocalId::ABSENT {
                self.extend_other(c, process, e);
            }
        }
    }

    /// The extensions of C by the next action of one of them.
    #[inline(always)]
    fn extend_other(&mut self, c: &mut Configuration, process: ProcessId, e: EventId) {
        let Some(op) = self.locals.op(c.state.local(process)) else { return };
        if let Some(act) = c.versioned(op) {
            return self.extend_versions_by(c, process, act, e);
        }
        match *op {
            Op::Isend { .. } | Op::Irecv { .. } => {
                let post = Post::of(op);
                self.extend_post_by(c, process, post, e);
            }
            Op::WaitAny(ref comms) | Op::TestAny(ref comms) => {
                let found = self.completions_by(c, process, comms, e);
                self.extend_completed_by(c, process, &found, e);
            }
            Op::AsyncLock(mutex) => {
                let chain = self.structure.lanes.locks(mutex);
                self.extend_chain_by(c, process, chain, e);
            }
            Op::MutexWaitAny(ref requests) | Op::MutexTestAny(ref requests) => {
                let found = self.ownerships_by(c, process, requests, e);
                self.extend_completed_by(c, process, &found, e);
            }
            Op::Unlock(request) => self.extend_unlock_by(c, process, request, e),
            Op::AsyncAcquire(semaphore) => {
                let chain = self.structure.lanes.acquires(semaphore);
                self.extend_chain_by(c, process, chain, e);
            }
            Op::Release(semaphore) => {
                let chain = self.structure.lanes.releases(semaphore);
                self.extend_chain_by(c, process, chain, e);
            }
            Op::AcquireWait { semaphore, handle } => {
                self.extend_acquired_by(c, process, semaphore, handle, e);
            }
            Op::RwWait { lock, handle } => self.extend_rw_wait_by(c, process, lock, handle, e),
            Op::AwaitWake { condvar, handle } => {
                self.extend_woken_by(c, process, condvar, handle, e);
            }
            Op::Wake { condvar, handle } => self.extend_wake_by(c, process, condvar, handle, e),
            Op::BarrierWait { barrier, round } => {
                self.extend_passed_by(c, process, barrier, round, e);
            }
            Op::Join(target) => self.extend_joined_by(c, process, target, e),
            Op::CancelOutcome(comm) => {
                let from = self.origin(c, process);
                let enabled = self.extend_cancelled(c, from, comm);
                if !enabled.is_empty() && c.enabled_of(process).is_empty() {
                    c.set_enabled(process, &enabled);
                }
            }
            Op::Arrive { .. } | Op::Choose { .. } | Op::Local | Op::Spawn(_) => {}
            Op::RwRequest { .. } | Op::RwUnlock { .. } | Op::Enter { .. } => {}
            Op::Enrol(_) | Op::Notify { .. } => {}
            Op::Send { .. } | Op::Receive { .. } | Op::Probe { .. } | Op::Cancel(_) => {}
            Op::Access(..) | Op::TryLock(_) | Op::Handle { .. } | Op::Deliver => {}
        }
    }

    /// The any-forms of C that could have returned what e completes.
    fn extend_open_choices(&mut self, c: &Configuration, e: EventId) {
        for index in 0..c.open.len() {
            let chosen = self.structure.event(c.open[index]);
            let lane = self.structure.lanes.process(chosen.process);
            let known = self.structure.last(e, lane);
            if e == c.open[index] || self.structure.depth(lane, known) >= chosen.own.depth {
                continue;
            }
            let from = self.place_of(c.open[index]);
            let found = match self.locals.op(from.before) {
                Some(Op::WaitAny(comms) | Op::TestAny(comms)) => {
                    self.completions_by(c, from.process, comms, e)
                }
                Some(Op::MutexWaitAny(requests) | Op::MutexTestAny(requests)) => {
                    self.ownerships_by(c, from.process, requests, e)
                }
                _ => Results::new(),
            };
            for (choice, response) in found {
                self.add(c, from, Shape { choice, ..Shape::plain(response) }, &[e]);
            }
        }
    }

    /// Finds the extensions with a place in a chain, at each position in `range` of the chain in C, and returns the last.
    fn extend_positions(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        range: RangeInclusive<u32>,
    ) -> EventId {
        let mut last = EventId::NONE;
        for position in range {
            if self.structure.is_stopped() {
                return EventId::NONE;
            }
            let link = c.before(shape.chain, position);
            last = self.add(c, from, Shape { link, ..shape }, &[link]);
        }
        last
    }

    /// The positions of a chain that `from` may still take in C.
    fn positions(&self, c: &Configuration, from: Origin, chain: Lane) -> RangeInclusive<u32> {
        self.known(from.after_event, chain)..=c.len_of(chain)
    }

    /// How many events of `chain` are in the local configuration of `event`.
    fn known(&self, event: EventId, chain: Lane) -> u32 {
        match event {
            EventId::NONE => 0,
            event => self.structure.depth(chain, self.structure.last(event, chain)),
        }
    }

    /// A request that depends only on the requests before it.
    fn extend_request(&mut self, c: &Configuration, from: Origin, chain: Lane) -> Events {
        let shape = Shape::change(chain, self.posted(c, from));
        let range = self.positions(c, from, chain);
        smallvec![self.extend_positions(c, from, shape, range)]
    }

    fn posted(&self, c: &Configuration, from: Origin) -> Response {
        Response::Posted(crate::model::Handle(c.state.posted_count(from.process)))
    }

    /// The same when e joins the chain, for a process at such an operation.
    fn extend_chain_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        chain: Lane,
        e: EventId,
    ) {
        if self.structure.event(e).chain != chain {
            return;
        }
        let from = self.origin(c, process);
        let response = match self.locals.op(from.before) {
            Some(Op::Release(_)) => Response::Unit,
            _ => self.posted(c, from),
        };
        let shape = Shape { link: e, ..Shape::change(chain, response) };
        let enabled = self.add(c, from, shape, &[e]);
        self.set_only_enabled(c, from.process, enabled);
    }

    fn set_only_enabled(&self, c: &mut Configuration, process: ProcessId, event: EventId) {
        c.set_enabled(process, &[event]);
    }

    /// A wait or test of an any-form that e has just made successful, in each of these ways, if there are any.
    fn extend_completed_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        results: &[(Choice, Response)],
        e: EventId,
    ) {
        if results.is_empty() {
            return;
        }
        let from = self.origin(c, process);
        // A test of the network may find nothing, whatever is complete.
        let stays = |&&event: &&EventId| {
            let event = self.structure.event(event);
            event.choice != Choice::NOTHING || event.kind != EventKind::FailedTest
        };
        let mut enabled: Events =
            c.enabled_of(from.process).iter().filter(stays).copied().collect();
        for &(choice, response) in results {
            enabled.push(self.add(c, from, Shape { choice, ..Shape::plain(response) }, &[e]));
        }
        c.set_enabled(from.process, &enabled);
    }

    /// The event of this origin and shape with `from`'s own past and `others` as its causes, all in C, from
    /// U or new. [`EventId::NONE`] if it is too high, ends a fruitless round (`spin`), or the work is to stop.
    fn add(
        &mut self,
        c: &Configuration,
        from: Origin,
        shape: Shape<'_>,
        others: &[EventId],
    ) -> EventId {
        self.add_with(c, from, shape, others, |locals| locals.resume(from.before, shape.response))
    }

    /// The same, where `after` gives the local state that follows.
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
            self.cut_off = true;
            self.too_high += 1;
            return EventId::NONE;
        }
        draft.after = after(&mut self.locals);
        if self.waits && self.ends_fruitless_round(c, &draft) {
            return EventId::NONE;
        }
        self.structure.insert(&draft, c)
    }

    /// The maximal ones among some events of C, ascending.
    fn direct_causes(&mut self, own: EventId, others: &[EventId]) -> Events {
        let mut causes = match others.len() < CROWD {
            true => self.maximal(own, others),
            false => {
                // All who wait at a barrier have the same arrivals before them.
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

    /// The maximal ones among some events of C. O(n²).
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
