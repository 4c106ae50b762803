//! Counting semaphores: requests and releases, each in order.

use super::{Operation, Place, Posted, World};
use crate::model::locals::Births;
use crate::model::state::{Done, State};
use crate::model::{
    Choice, Effect, Handle, Lane, Mode, Need, Part, ProcessId, Response, SemaphoreId, System, Touch,
};

impl SemaphoreId {
    /// The requests.
    pub fn acquires(self) -> Lane {
        Lane::new(Part::Acquires, self.0)
    }

    /// The releases.
    pub fn releases(self) -> Lane {
        Lane::new(Part::Releases, self.0)
    }
}

/// A counting semaphore: the first requests, up to the initial count, are granted at once; each later one by a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// Units at the start.
    pub initial: u32,
    /// Every request so far.
    pub requests: Vec<ProcessId>,
    /// Every release so far.
    pub releases: Vec<ProcessId>,
}

impl Semaphore {
    /// Is this request granted?
    pub fn is_granted(&self, request: u32) -> bool {
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
            other => panic!("{handle:?} of {process:?} is no semaphore request but {other:?}"),
        }
    }
}

/// async_acquire.
pub(in crate::model) struct Acquire(pub(in crate::model) SemaphoreId);

impl Operation for Acquire {
    fn choices<S: System>(&self, _: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        each(Choice::ONLY);
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

    fn effect(&self, _: &State, _: &Births, _: &Done) -> Effect {
        Effect::act(self.0.acquires(), Mode::Change)
    }

    fn touch<S: System>(&self, _: &S) -> Option<Touch> {
        Some(Touch::Acquire(self.0))
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
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, process, .. } = at;
        let request = state.semaphore_request(process, self.handle);
        if state.semaphore(self.semaphore).is_granted(request) {
            each(Choice::ONLY);
        }
    }

    fn carry_out(&self, _: &mut State, _: World<'_>, _: &mut Done) -> Response {
        Response::Unit
    }

    fn undo(&self, _: &mut State, _: &Births, _: &Done) {}

    fn effect(&self, state: &State, _: &Births, done: &Done) -> Effect {
        let request = state.semaphore_request(done.action.process, self.handle);
        let by = state.semaphore(self.semaphore).granted_by(request);
        Effect::needing(by.map(|by| Need::At(self.semaphore.releases(), by)).as_slice())
    }

    fn touch<S: System>(&self, _: &S) -> Option<Touch> {
        None
    }

    fn may_observe(&self) -> bool {
        true
    }
}

/// release.
pub(in crate::model) struct Release(pub(in crate::model) SemaphoreId);

impl Operation for Release {
    fn choices<S: System>(&self, _: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        each(Choice::ONLY);
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        state.semaphores[self.0.index()].releases.push(done.action.process);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, _: &Done) {
        state.semaphores[self.0.index()].releases.pop();
    }

    fn effect(&self, state: &State, _: &Births, _: &Done) -> Effect {
        let place = state.semaphore(self.0).releases.len() as u32 - 1;
        Effect::act_at(self.0.releases(), Mode::Change, place)
    }

    fn touch<S: System>(&self, _: &S) -> Option<Touch> {
        Some(Touch::Release(self.0))
    }

    fn may_observe(&self) -> bool {
        false
    }
}
