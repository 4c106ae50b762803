//! Counting semaphores: requests and releases, each in order.

use super::{ObjectId, Operation, Place, Posted, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Effect, Handle, Lane, Locals, Mode, Need, Needs, Part, PartSet, ProcessId, Response,
    SemaphoreId, System, Values,
};

impl SemaphoreId {
    /// The lane of the requests.
    pub(crate) fn acquires(self) -> Lane {
        Lane::new(Part::Acquires, self.0)
    }

    /// The lane of the releases.
    pub fn releases(self) -> Lane {
        Lane::new(Part::Releases, self.0)
    }
}

impl ObjectId for SemaphoreId {
    type Declared = u32;
    type Start = u32;

    const PARTS: &'static [Part] = &[Part::Acquires, Part::Releases];
    const IS_ALONE: bool = true;

    fn start(&declared: &u32, _: &mut Values) -> u32 {
        declared
    }

    fn begin(state: &mut State, initial: u32) {
        let (requests, releases) = (Vec::new(), Vec::new());
        state.semaphores.push(Semaphore { initial, requests, releases });
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        let semaphore = state.semaphore(self);
        let granted = semaphore.granted() as usize;
        match granted.checked_sub(semaphore.requests.len()) {
            Some(free) => Parts::plain(free as u32),
            None => parts.list(semaphore.requests[granted..].iter().map(|waits| waits.0)),
        }
    }

    fn is_at_start(self, state: &State) -> bool {
        let semaphore = state.semaphore(self);
        semaphore.releases.len() == semaphore.requests.len()
    }

    fn has_open_requests(self, state: &State) -> bool {
        let semaphore = state.semaphore(self);
        semaphore.requests.len() > semaphore.granted() as usize
    }
}

/// A counting semaphore: the first requests, up to the initial count, are granted at once; each
/// later one by a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// Number of units at the start.
    pub initial: u32,
    /// Every request so far.
    pub(crate) requests: Vec<ProcessId>,
    /// Every release so far.
    pub releases: Vec<ProcessId>,
}

impl Semaphore {
    /// The number of requests that are granted, or would be granted if they came.
    fn granted(&self) -> u32 {
        self.initial + self.releases.len() as u32
    }

    /// Is this request granted?
    pub(crate) fn is_granted(&self, request: u32) -> bool {
        (request as usize) < self.initial as usize + self.releases.len()
    }

    /// The release that this request needs, by position; `None` within the initial count.
    pub fn granted_by(&self, request: u32) -> Option<u32> {
        request.checked_sub(self.initial)
    }
}

impl State {
    /// A semaphore.
    pub fn semaphore(&self, id: SemaphoreId) -> &Semaphore {
        &self.semaphores[id.index()]
    }

    /// The position of a semaphore request.
    pub fn semaphore_request(&self, process: ProcessId, handle: Handle) -> u32 {
        match self.posted(process, handle) {
            Posted::Semaphore(_, position) => position,
            other => panic!("{handle:?} of {process:?} is not a semaphore request but {other:?}"),
        }
    }
}

/// async_acquire.
pub(in crate::model) struct Acquire(pub(in crate::model) SemaphoreId);

impl Operation for Acquire {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.acquires())
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, state.next_posted(process))
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        let log = &mut state.semaphores[self.0.index()].requests;
        log.push(process);
        let position = log.len() as u32 - 1;
        state.note(process, Posted::Semaphore(self.0, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.semaphores[self.0.index()].requests.pop();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.0.acquires(), Mode::Change)
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// acquire_wait.
pub(in crate::model) struct AcquireWait {
    pub(in crate::model) semaphore: SemaphoreId,
    pub(in crate::model) handle: Handle,
}

impl Operation for AcquireWait {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let semaphore = at.state.semaphore(self.semaphore);
        let request = at.state.semaphore_request(at.process, self.handle);
        let by = semaphore.granted_by(request);
        needs.extend(by.map(|by| Need::At(self.semaphore.releases(), by)));
        semaphore.is_granted(request).then_some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Releases.alone()
    }

    fn may_observe(&self) -> bool {
        true
    }
}

/// release.
pub(in crate::model) struct Release(pub(in crate::model) SemaphoreId);

impl Operation for Release {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.releases())
    }

    fn at(&self, _: &State, _: &mut Values, _: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, Response::Unit)
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        state.semaphores[self.0.index()].releases.push(done.action.process);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, _: &Done) {
        state.semaphores[self.0.index()].releases.pop();
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        let place = state.semaphore(self.0).releases.len() as u32 - 1;
        Effect::act_at(self.0.releases(), Mode::Change, place)
    }

    fn may_observe(&self) -> bool {
        false
    }
}
