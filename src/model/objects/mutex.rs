//! Mutexes: a queue, with its past.
//!
//! Invariant, restored by each method that changes a mutex: `head` is the first request that is not
//! released, and `opened[i]` is the release after which all requests up to `i` were released, known
//! for all i before `head`. A mutex without requests allocates nothing.
//!
//! **Which actions commute.** A mutex is a queue. If processes only queue, only the processes in
//! the queue observe what is in it. So a request and an unlock commute: an unlocking process leaves
//! the queue from any place, a requesting process goes to its end. A `try_lock` observes whether
//! the queue is empty, and that depends on every request and unlock. So a mutex that is tried
//! anywhere ([`Asking::Tries`]) is treated as a cell that holds the queue: a request, an unlock and
//! a successful try are changes of it, in one total order; a failed try is a read. A wait still
//! depends only on the unlock that granted the request, since no later change revokes it. Some
//! changes that might commute are dependent (a request and an unlock, both in a long queue). But
//! that is symmetric, stable and never wrong, and mutexes that are not tried keep their finer
//! relation.

use super::{
    NONE, ObjectId, Operation, Place, Posted, World, choices_of_any, place, response_of_any,
};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Asking, Choice, Effect, Lane, Locals, May, Mode, MutexId, Need, Needs, Part, PartSet,
    ProcessId, Request, Response, System, Touch, ValueId, Values,
};

impl MutexId {
    /// The lane of the requests, unless the mutex is tried.
    #[inline]
    pub(crate) fn requests(self) -> Lane {
        Lane::new(Part::Requests, self.0)
    }

    /// The lane of what changes the queue: the unlocks; if the mutex is tried, the requests, too.
    #[inline]
    pub(crate) fn queue(self) -> Lane {
        Lane::new(Part::Queue, self.0)
    }
}

impl ObjectId for MutexId {
    type Declared = Asking;
    type Start = Asking;

    const PARTS: &'static [Part] = &[Part::Requests, Part::Queue];
    const IS_ALONE: bool = true;

    fn start(&declared: &Asking, _: &mut Values) -> Asking {
        declared
    }

    fn begin(state: &mut State, asking: Asking) {
        state.mutexes.push(Mutex::new(asking));
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        parts.queue(state.mutex(self).queue())
    }

    fn has_open_requests(self, state: &State) -> bool {
        state.mutex(self).owner().is_some()
    }
}

/// The queue of a mutex, with its past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutex {
    /// Every request in order: its process, and the position of its release.
    requests: Vec<(ProcessId, u32)>,
    /// Every release in order: the request that it ended. If the mutex is tried, each request is
    /// also entered, as [`NONE`], so that these are all changes of the queue.
    releases: Vec<u32>,
    /// The first request that is not released.
    head: u32,
    /// `opened[i]`: the release after which all requests up to `i` were released.
    opened: Vec<u32>,
    asking: Asking,
}

impl Mutex {
    /// A mutex that is free and was never requested.
    pub(in crate::model) fn new(asking: Asking) -> Self {
        let (requests, releases, opened) = (Vec::new(), Vec::new(), Vec::new());
        Mutex { requests, releases, head: 0, opened, asking }
    }

    /// May a `try_lock` ask for it?
    pub fn is_tried(&self) -> bool {
        self.asking == Asking::Tries
    }

    /// Was the queue empty after the first `changes` changes of it? Only for a mutex that is tried.
    pub(crate) fn was_free(&self, changes: usize) -> bool {
        debug_assert!(self.is_tried(), "requests are not among the changes");
        let so_far = &self.releases[..changes];
        2 * so_far.iter().filter(|&&ended| ended == NONE).count() == changes
    }

    /// Every request so far, by process.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = ProcessId> {
        self.requests.iter().map(|&(process, _)| process)
    }

    /// Every release so far, by the position of the request that it ended. If the mutex is tried,
    /// its requests are among them, as `u32::MAX`.
    pub fn releases(&self) -> &[u32] {
        &self.releases
    }

    /// The owner's request, if the mutex is not free.
    pub fn owner(&self) -> Option<u32> {
        ((self.head as usize) < self.requests.len()).then_some(self.head)
    }

    /// The processes in the queue, the owner first.
    pub fn queue(&self) -> impl Iterator<Item = ProcessId> {
        let rest = &self.requests[self.head as usize..];
        rest.iter().filter(|&&(_, released)| released == NONE).map(|&(process, _)| process)
    }

    /// Is (or was) every request before `request` released?
    pub(crate) fn is_granted(&self, request: u32) -> bool {
        request <= self.head
    }

    /// The release that granted `request`, by position; `None` if it was first or is not granted.
    pub fn granted_by(&self, request: u32) -> Option<u32> {
        let before = request.checked_sub(1)?;
        self.opened.get(before as usize).copied()
    }

    /// The release of `request`, by position; `None` if it is not released.
    pub fn released_at(&self, request: u32) -> Option<u32> {
        place(self.requests[request as usize].1)
    }

    /// Appends `process` to the queue, and returns the position of its request.
    pub(in crate::model) fn request(&mut self, process: ProcessId) -> u32 {
        self.requests.push((process, NONE));
        self.releases.extend(self.is_tried().then_some(NONE));
        self.requests.len() as u32 - 1
    }

    /// Undoes the last request.
    pub(in crate::model) fn undo_request(&mut self) {
        self.requests.pop().expect("a request to undo");
        if self.is_tried() {
            self.releases.pop();
        }
    }

    /// Removes this request from the queue.
    pub(in crate::model) fn release(&mut self, request: u32) {
        let position = self.releases.len() as u32;
        self.requests[request as usize].1 = position;
        self.releases.push(request);
        while self.requests.get(self.head as usize).is_some_and(|&(_, at)| at != NONE) {
            self.head += 1;
            self.opened.push(position);
        }
    }

    /// Undoes the last release.
    pub(in crate::model) fn undo_release(&mut self) {
        let request = self.releases.pop().expect("a release to undo");
        self.requests[request as usize].1 = NONE;
        self.head = self.head.min(request);
        self.opened.truncate(self.head as usize);
    }
}

impl State {
    /// A mutex.
    pub fn mutex(&self, id: MutexId) -> &Mutex {
        &self.mutexes[id.index()]
    }

    /// The position of a mutex request.
    pub fn mutex_request(&self, process: ProcessId, request: Request) -> u32 {
        match self.posted(process, request.handle) {
            Posted::Mutex(mutex, position) if mutex == request.mutex => position,
            other => panic!("{request:?} of {process:?} is {other:?}"),
        }
    }

    /// What has granted this request, `Some(None)` if that needed nothing; `None` if it is not
    /// granted.
    fn granted(&self, process: ProcessId, request: Request) -> Option<Option<Need>> {
        let position = self.mutex_request(process, request);
        let mutex = self.mutex(request.mutex);
        let by = mutex.granted_by(position).map(|by| Need::At(request.mutex.queue(), by));
        mutex.is_granted(position).then_some(by)
    }

    /// Does the process own the mutex through this request of its own?
    pub(crate) fn owns(&self, process: ProcessId, request: Request) -> bool {
        self.mutex(request.mutex).is_granted(self.mutex_request(process, request))
    }
}

/// async_lock.
pub(in crate::model) struct Lock(pub(in crate::model) MutexId);

impl Operation for Lock {
    fn lane(&self, state: &State) -> Option<Lane> {
        let is_tried = state.mutex(self.0).is_tried();
        Some(if is_tried { self.0.queue() } else { self.0.requests() })
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, state.next_posted(process))
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        let position = state.mutexes[self.0.index()].request(process);
        state.note(process, Posted::Mutex(self.0, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.mutexes[self.0.index()].undo_request();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.lane(at.state).expect("it takes a place"), Mode::Change)
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// try_lock.
pub(in crate::model) struct Try(pub(in crate::model) MutexId);

impl Try {
    fn touched(&self, is_change: bool) -> Touch {
        Touch::new(self.0.queue(), if is_change { May::Change } else { May::Look })
    }
}

impl Operation for Try {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.queue())
    }

    fn at(
        &self,
        state: &State,
        _: &mut Values,
        process: ProcessId,
        changes: u32,
    ) -> (Mode, Response) {
        match state.mutex(self.0).was_free(changes as usize) {
            true => (Mode::Change, state.next_posted(process)),
            false => (Mode::Look, Response::Incomplete),
        }
    }

    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        assert!(
            state.mutex(self.0).is_tried(),
            "{:?} is not declared as one that is tried",
            self.0
        );
        done.changed = state.mutex(self.0).owner().is_none();
        match done.changed {
            true => Lock(self.0).carry_out(state, world, done),
            false => Response::Incomplete,
        }
    }

    fn undo(&self, state: &mut State, births: &Births, done: &Done) {
        if done.changed {
            Lock(self.0).undo(state, births, done);
        }
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, done: &Done) -> Effect {
        Effect::access(self.0.queue(), done.changed)
    }

    /// Whether it is a change depends on the queue.
    fn watches<S: System>(
        &self,
        state: &State,
        _: &S,
        _: &mut Values,
        _: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        each(self.touched(state.mutex(self.0).owner().is_none()));
    }

    fn touches<S: System>(&self, _: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        each(self.touched(done.changed));
    }

    fn may_observe(&self) -> bool {
        true
    }
}

/// mutex_waitany, mutex_testany.
pub(in crate::model) struct Own<'o> {
    pub(in crate::model) requests: &'o [Request],
    pub(in crate::model) is_test: bool,
}

impl Operation for Own<'_> {
    fn ways(&self, _: &State, _: ProcessId) -> u32 {
        self.requests.len() as u32
    }

    fn way<S: System>(
        &self,
        at: &Place<'_, '_, S>,
        index: u32,
        needs: &mut Needs,
    ) -> Option<Response> {
        let request = self.requests[index as usize];
        if let Some(need) = at.state.granted(at.process, request)? {
            needs.push(need);
        }
        Some(Response::Completed { index, value: ValueId::UNIT })
    }

    fn awaits(&self) -> PartSet {
        Part::Queue.alone()
    }

    fn is_test(&self) -> bool {
        self.is_test
    }

    fn not_yet(&self, state: &State, process: ProcessId) -> Effect {
        let position = |&request: &Request| state.mutex_request(process, request);
        Effect::not_yet(self.requests.iter().map(|r| (r.mutex.queue(), position(r))))
    }

    #[inline]
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, process, .. } = at;
        let is_owned = |&request: &Request| state.owns(process, request);
        choices_of_any(self.requests.iter().map(is_owned), self.is_test, each);
    }

    fn carry_out(&self, _: &mut State, _: World<'_>, done: &mut Done) -> Response {
        response_of_any(done.action.choice, |_| ValueId::UNIT)
    }

    fn watches<S: System>(
        &self,
        state: &State,
        _: &S,
        _: &mut Values,
        process: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        let open = self.requests.iter().filter(|&&request| !state.owns(process, request));
        open.for_each(|request| each(Touch::new(request.mutex.queue(), May::NotYet)));
    }

    /// The result of a test may depend on whether an operation that watches this comes before it.
    fn touches<S: System>(&self, _: &State, _: &S, _: &Done, each: &mut impl FnMut(Touch)) {
        if self.is_test {
            let tested = self.requests.iter();
            tested.for_each(|request| each(Touch::new(request.mutex.queue(), May::NotYet)));
        }
    }

    fn may_observe(&self) -> bool {
        true
    }

    fn is_choice(&self) -> bool {
        self.requests.len() > 1
    }
}

/// unlock.
pub(in crate::model) struct Unlock(pub(in crate::model) Request);

impl Operation for Unlock {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.mutex.queue())
    }

    fn at(&self, _: &State, _: &mut Values, _: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, Response::Unit)
    }

    /// The request of the process that it makes the owner.
    fn completes(&self, state: &State, process: ProcessId, changes: u32) -> Option<u32> {
        let mutex = state.mutex(self.0.mutex);
        let own = state.mutex_request(process, self.0);
        let was_granted =
            mutex.is_granted(own) && mutex.granted_by(own).is_none_or(|unlock| unlock < changes);
        let was_released = |&next: &u32| mutex.released_at(next).is_some_and(|at| at < changes);
        let mut behind = own + 1..mutex.requests().len() as u32;
        behind.find(|next| !was_released(next)).filter(|_| was_granted)
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let position = state.mutex_request(done.action.process, self.0);
        state.mutexes[self.0.mutex.index()].release(position);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, _: &Done) {
        state.mutexes[self.0.mutex.index()].undo_release();
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, _: &Done) -> Effect {
        let &Place { state, .. } = at;
        let mutex = state.mutex(self.0.mutex);
        let place = mutex.releases().len() as u32 - 1;
        let new_owner = mutex.owner().filter(|&o| mutex.granted_by(o) == Some(place));
        let mode = new_owner.map_or(Mode::Change, Mode::Complete);
        Effect::act_at(self.0.mutex.queue(), mode, place)
    }

    /// A process that has observed that its request is granted no longer waits for any other
    /// unlock.
    fn may<S: System>(&self, state: &State, system: &S) -> May {
        let is_tried = state.mutex(self.0.mutex).is_tried();
        if is_tried || system.foresight().may_cancel() { May::Change } else { May::Turn }
    }

    fn may_observe(&self) -> bool {
        false
    }
}
