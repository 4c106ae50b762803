//! Extensions at mutexes: unlocks, waits and tests. (Requests are plain chains.)
//!
//! - mutex_wait, mutex_test→true: the unlock that makes the process the owner, none if it was first.
//! - mutex_test→false: `[pre]` alone, if the process does not own the mutex there.
//! - unlock: each position in the chain of unlocks, and each position among the failed tests of the process
//!   that becomes the owner.

use smallvec::{SmallVec, smallvec};

use super::{Events, Origin, Results, Shape};
use crate::model::{Choice, ProcessId, Request, Response, System, ValueId};
use crate::unfolding::event::{EventId, EventKind, Watch};
use crate::unfolding::lanes::Lane;
use crate::unfolding::{Configuration, Unfolding};

fn owned(index: usize) -> (Choice, Response) {
    let response = Response::Completed { index: index as u32, value: ValueId::UNIT };
    (Choice(index as i32), response)
}

impl<S: System> Unfolding<'_, S> {
    pub(super) fn extend_owned(
        &mut self,
        c: &Configuration,
        from: Origin,
        requests: &[Request],
    ) -> Events {
        let mut enabled = Events::new();
        for (index, &request) in requests.iter().enumerate() {
            let mutex = c.state.mutex(request.mutex);
            let position = c.state.mutex_request(from.process, request);
            if !mutex.is_granted(position) {
                continue;
            }
            let cause = match mutex.granted_by(position) {
                None => EventId::NONE,
                Some(unlock) => c.at(self.structure.lanes.unlocks(request.mutex), unlock),
            };
            let (choice, response) = owned(index);
            enabled.push(self.add(c, from, Shape { choice, ..Shape::plain(response) }, &[cause]));
        }
        enabled
    }

    pub(super) fn extend_mutex_test(
        &mut self,
        c: &Configuration,
        from: Origin,
        requests: &[Request],
    ) -> Events {
        let failed = self.extend_failed_mutex_test(c, from, requests);
        let succeeded = self.extend_owned(c, from, requests);
        match succeeded.is_empty() {
            true => smallvec![failed],
            false => succeeded,
        }
    }

    fn extend_failed_mutex_test(
        &mut self,
        c: &Configuration,
        from: Origin,
        requests: &[Request],
    ) -> EventId {
        let mut watches: SmallVec<[Watch; 2]> = SmallVec::new();
        for &request in requests {
            let position = c.state.mutex_request(from.process, request);
            let unlocks = self.structure.lanes.unlocks(request.mutex);
            let known = self.known(from.after_event, unlocks);
            if is_granted_within(c, request, position, known) {
                return EventId::NONE;
            }
            let request = c.at(self.structure.lanes.locks(request.mutex), position);
            watches.push(Watch { lane: unlocks, request });
        }
        let kind = EventKind::FailedTest;
        let plain = Shape::plain(Response::Incomplete);
        self.add(c, from, Shape { choice: Choice::NOTHING, kind, watches: &watches, ..plain }, &[])
    }

    /// The places in this list of requests that are granted because of e.
    pub(super) fn ownerships_by(
        &self,
        c: &Configuration,
        process: ProcessId,
        requests: &[Request],
        e: EventId,
    ) -> Results {
        let event = self.structure.event(e);
        let granted = |request: Request| {
            let position = c.state.mutex_request(process, request);
            event.chain == self.structure.lanes.unlocks(request.mutex)
                && c.state.mutex(request.mutex).granted_by(position) == Some(event.link.depth - 1)
        };
        let owned_now = requests.iter().enumerate().filter(|&(_, &request)| granted(request));
        owned_now.map(|(index, _)| owned(index)).collect()
    }

    pub(super) fn extend_unlock(
        &mut self,
        c: &Configuration,
        from: Origin,
        request: Request,
    ) -> Events {
        let chain = self.structure.lanes.unlocks(request.mutex);
        let mut last = EventId::NONE;
        for position in self.positions(c, from, chain) {
            last = self.extend_unlock_at(c, from, request, chain, position);
        }
        smallvec![last]
    }

    fn extend_unlock_at(
        &mut self,
        c: &Configuration,
        from: Origin,
        request: Request,
        chain: Lane,
        position: u32,
    ) -> EventId {
        let link = c.before(chain, position);
        let shape = Shape { link, ..Shape::change(chain, Response::Unit) };
        let mut last = self.add(c, from, shape, &[link]);
        for index in 0..c.tests[chain.index()].len() {
            let test = c.tests[chain.index()][index];
            if self.makes_tester_owner(c, from, request, position, test) {
                last = self.add(c, from, shape, &[link, test]);
            }
        }
        last
    }

    /// Would the unlock at this position make the process that ran `test` the owner?
    fn makes_tester_owner(
        &self,
        c: &Configuration,
        from: Origin,
        request: Request,
        position: u32,
        test: EventId,
    ) -> bool {
        let lanes = &self.structure.lanes;
        let (locks, unlocks) = (lanes.locks(request.mutex), lanes.unlocks(request.mutex));
        let own = c.state.mutex_request(from.process, request);
        if self.known(test, unlocks) > position || !is_granted_within(c, request, own, position) {
            return false;
        }
        let mutex = c.state.mutex(request.mutex);
        let is_released = |&next: &u32| mutex.released_at(next).is_some_and(|at| at < position);
        let Some(next) = (own + 1..c.len_of(locks)).find(|next| !is_released(next)) else {
            return false;
        };
        let next = c.at(locks, next);
        let watches = |watch: &Watch| watch.lane == unlocks && watch.request == next;
        self.structure.watches[&test].iter().any(watches)
    }

    /// A process at an unlock, when e joins C: the unlock before it, or a failed test.
    pub(super) fn extend_unlock_by(
        &mut self,
        c: &mut Configuration,
        process: ProcessId,
        request: Request,
        e: EventId,
    ) {
        let chain = self.structure.lanes.unlocks(request.mutex);
        let event = self.structure.event(e);
        if event.chain == chain {
            let from = self.origin(c, process);
            let position = c.len_of(chain);
            let enabled = self.extend_unlock_at(c, from, request, chain, position);
            self.set_only_enabled(c, process, enabled);
        } else if event.kind == EventKind::FailedTest
            && self.structure.watches[&e].iter().any(|watch| watch.lane == chain)
        {
            let from = self.origin(c, process);
            for position in self.positions(c, from, chain) {
                if !self.makes_tester_owner(c, from, request, position, e) {
                    continue;
                }
                let link = c.before(chain, position);
                let shape = Shape { link, ..Shape::change(chain, Response::Unit) };
                let extension = self.add(c, from, shape, &[link, e]);
                if position == c.len_of(chain) {
                    self.set_only_enabled(c, process, extension);
                }
            }
        }
    }
}

/// Is the request at `position` granted by the first `unlocks` unlocks of its mutex in C?
fn is_granted_within(c: &Configuration, request: Request, position: u32, unlocks: u32) -> bool {
    let mutex = c.state.mutex(request.mutex);
    mutex.is_granted(position) && mutex.granted_by(position).is_none_or(|unlock| unlock < unlocks)
}
