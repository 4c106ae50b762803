//! Reader-writer locks: a fair queue of readers and writers.
//!
//! Requests are served in their order, but adjacent readers hold the lock together. No process
//! overtakes: a reader behind a waiting writer waits, too, so no process starves. Cut the order
//! behind each writer into *turns*: some readers, and then the writer that waits for them.
//!
//! ```text
//!  turn 0: R R W    turn 1: W    turn 2: R R R ..
//! ```
//!
//! **Which actions commute.** The writers before a request determine its turn, and no process
//! observes the order of the readers within a turn. So a read request is like a read of a cell, and
//! a write request like a write: two readers commute, a writer commutes with no request. Unlocks
//! only remove requests from the front, so they commute with requests and with one another. A
//! reader of turn k may go on when the writer of turn k - 1 has left. The writer of turn k waits
//! for that, too, and for the readers of its turn. (Without readers in its turn, it has one unlock
//! as its cause; otherwise several, as at a barrier.) A request is given up only after it was
//! granted, so all former turns are over then.
//!
//! Invariant: `turns` is empty as long as there was no request; later only its last turn has no
//! writer.

use super::{ObjectId, Operation, Place, Posted, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Effect, Handle, Hold, Lane, Locals, May, Mode, Need, Needs, Part, PartSet, ProcessId, Response,
    RwLockId, System, Values,
};

impl RwLockId {
    /// The lane of the requests: writers change the turn, readers see it.
    pub(crate) fn turns(self) -> Lane {
        Lane::new(Part::Turns, self.0)
    }

    /// The lane of the unlocks.
    pub(crate) fn leaves(self) -> Lane {
        Lane::new(Part::Leaves, self.0)
    }
}

impl ObjectId for RwLockId {
    type Declared = ();
    type Start = ();

    const PARTS: &'static [Part] = &[Part::Turns, Part::Leaves];
    const IS_ALONE: bool = true;

    fn start(_: &(), _: &mut Values) {}

    fn begin(state: &mut State, _: ()) {
        state.rwlocks.push(RwLock::default());
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        let mut all: Vec<u32> = Vec::new();
        let mut first = 0;
        // Within a turn the order of the readers does not matter.
        for request in state.rwlock(self).queue() {
            match request.hold {
                Hold::Shared => all.push(2 * request.process.0),
                Hold::Exclusive => {
                    all[first..].sort_unstable();
                    all.push(2 * request.process.0 + 1);
                    first = all.len();
                }
            }
        }
        all[first..].sort_unstable();
        parts.list(all)
    }

    fn has_open_requests(self, state: &State) -> bool {
        state.rwlock(self).queue().next().is_some()
    }
}

/// The key of the unlocks of requests with this turn and hold.
fn leaving(turn: u32, hold: Hold) -> u32 {
    2 * turn + u32::from(hold == Hold::Exclusive)
}

/// A turn: readers, and the writer behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Turn {
    /// Number of readers that asked, and number of them that have left.
    readers: u32,
    left: u32,
    is_over: bool,
}

/// A request for a reader-writer lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RwRequest {
    /// The process that asked.
    pub(crate) process: ProcessId,
    /// As a reader or a writer.
    pub hold: Hold,
    /// Its turn.
    pub turn: u32,
    /// Is it unlocked?
    pub is_over: bool,
}

/// A reader-writer lock, with its past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RwLock {
    requests: Vec<RwRequest>,
    turns: Vec<Turn>,
}

impl RwLock {
    /// Every request so far.
    pub fn requests(&self) -> &[RwRequest] {
        &self.requests
    }

    /// The requests that hold the lock or wait for it, in order.
    pub(crate) fn queue(&self) -> impl Iterator<Item = &RwRequest> {
        self.requests.iter().filter(|request| !request.is_over)
    }

    /// Does this request hold the lock, or did it?
    pub(crate) fn is_granted(&self, request: &RwRequest) -> bool {
        let former = request.turn.checked_sub(1);
        let may_begin = former.is_none_or(|former| self.turns[former as usize].is_over);
        let Turn { readers, left, .. } = self.turns[request.turn as usize];
        may_begin && (request.hold == Hold::Shared || left == readers)
    }

    fn request(&mut self, process: ProcessId, hold: Hold) -> u32 {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        let turn = self.turns.len() as u32 - 1;
        match hold {
            Hold::Shared => self.turns[turn as usize].readers += 1,
            Hold::Exclusive => self.turns.push(Turn::default()),
        }
        self.requests.push(RwRequest { process, hold, turn, is_over: false });
        self.requests.len() as u32 - 1
    }

    fn undo_request(&mut self) {
        let request = self.requests.pop().expect("a request to undo");
        match request.hold {
            Hold::Shared => self.turns[request.turn as usize].readers -= 1,
            Hold::Exclusive => drop(self.turns.pop()),
        }
        if self.requests.is_empty() {
            self.turns.clear();
        }
    }

    fn set_over(&mut self, request: u32, is_over: bool) {
        let request = &mut self.requests[request as usize];
        request.is_over = is_over;
        let turn = &mut self.turns[request.turn as usize];
        match (request.hold, is_over) {
            (Hold::Shared, true) => turn.left += 1,
            (Hold::Shared, false) => turn.left -= 1,
            (Hold::Exclusive, _) => turn.is_over = is_over,
        }
    }
}

impl State {
    /// A reader-writer lock.
    pub fn rwlock(&self, id: RwLockId) -> &RwLock {
        &self.rwlocks[id.index()]
    }

    /// A request for a reader-writer lock, with its position.
    pub fn rwlock_request(&self, process: ProcessId, handle: Handle) -> (u32, RwRequest) {
        match self.posted(process, handle) {
            Posted::RwLock(lock, position) => {
                (position, self.rwlock(lock).requests[position as usize])
            }
            other => panic!("{handle:?} of {process:?} is not a request for a lock but {other:?}"),
        }
    }
}

/// The request of read_lock and write_lock.
pub(in crate::model) struct Request {
    pub(in crate::model) lock: RwLockId,
    pub(in crate::model) hold: Hold,
}

impl Request {
    fn mode(&self) -> Mode {
        match self.hold {
            Hold::Shared => Mode::Mark,
            Hold::Exclusive => Mode::Change,
        }
    }
}

impl Operation for Request {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.lock.turns())
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (self.mode(), state.next_posted(process))
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        let position = state.rwlocks[self.lock.index()].request(process, self.hold);
        state.note(process, Posted::RwLock(self.lock, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.rwlocks[self.lock.index()].undo_request();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.lock.turns(), self.mode())
    }

    fn may<S: System>(&self, _: &State, _: &S) -> May {
        match self.hold {
            Hold::Shared => May::Look,
            Hold::Exclusive => May::Change,
        }
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// The wait of read_lock and write_lock.
pub(in crate::model) struct Wait {
    pub(in crate::model) lock: RwLockId,
    pub(in crate::model) handle: Handle,
}

impl Operation for Wait {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let (_, request) = at.state.rwlock_request(at.process, self.handle);
        let left = |turn, hold| Need::All(self.lock.leaves(), leaving(turn, hold));
        let former = request.turn.checked_sub(1);
        needs.extend(former.map(|former| left(former, Hold::Exclusive)));
        if request.hold == Hold::Exclusive {
            needs.push(left(request.turn, Hold::Shared));
        }
        at.state.rwlock(self.lock).is_granted(&request).then_some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Leaves.alone()
    }

    fn may_observe(&self) -> bool {
        true
    }
}

/// unlock.
pub(in crate::model) struct Unlock {
    pub(in crate::model) lock: RwLockId,
    pub(in crate::model) handle: Handle,
}

impl Unlock {
    fn set_over(&self, state: &mut State, process: ProcessId, is_over: bool) {
        let (position, request) = state.rwlock_request(process, self.handle);
        let lock = &mut state.rwlocks[self.lock.index()];
        debug_assert!(lock.is_granted(&request), "only a process that holds the lock unlocks it");
        lock.set_over(position, is_over);
    }
}

impl Operation for Unlock {
    fn gathers(&self) -> Option<Lane> {
        Some(self.lock.leaves())
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        self.set_over(state, done.action.process, true);
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        self.set_over(state, done.action.process, false);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let (_, RwRequest { turn, hold, .. }) =
            state.rwlock_request(done.action.process, self.handle);
        Effect::act(self.lock.leaves(), Mode::Add(leaving(turn, hold)))
    }

    fn may_observe(&self) -> bool {
        false
    }
}
