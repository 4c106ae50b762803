//! Loops that wait: events that end a fruitless round are not built.
//!
//! What such an event is, and why nothing is lost without them, is told in [`crate::trace::spin`]; this is the same
//! for event structures. The round is found along the process's own branch. What its operations would result in after
//! the history of the event is told by how far that history reaches along each chain.

use smallvec::SmallVec;

use crate::model::{Choice, LocalId, MutexId, Op, Status, System};
use crate::unfolding::event::{Event, EventId, EventKind};
use crate::unfolding::lanes::Lane;
use crate::unfolding::structure::Draft;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    /// Would this event end a fruitless round? Its causes are in C.
    pub(super) fn ends_fruitless_round(&mut self, c: &Configuration, draft: &Draft<'_>) -> bool {
        if !self.locals.may_return(draft.before) || !self.is_observation(draft.before, draft.kind) {
            return false;
        }
        let mut event = draft.previous;
        let mut local = draft.before;
        let mut round: SmallVec<[EventId; 8]> = SmallVec::new();
        while local != draft.after {
            if !event.is_some() {
                return false;
            }
            let known = self.structure.event(event);
            local = known.before;
            if !self.locals.may_return(local) || !self.is_observation(local, known.kind) {
                return false;
            }
            round.push(event);
            event = known.own.parent;
        }
        round.into_iter().all(|event| self.is_stable(c, draft, event))
    }

    /// Does an operation from this local state, of this kind, leave every object as it was?
    fn is_observation(&self, before: LocalId, kind: EventKind) -> bool {
        let op = self.locals.op(before);
        op.is_some_and(Op::may_observe) && kind != EventKind::Change
    }

    /// Would this event's operation have the same result again after the history of the draft?
    fn is_stable(&mut self, c: &Configuration, draft: &Draft<'_>, event: EventId) -> bool {
        let known = self.structure.event(event);
        let Event { process, choice, before, kind, chain, ref link, .. } = *known;
        if kind == EventKind::Read {
            // The link of a read is one below the change that it sees.
            let (then, now) = (link.depth as usize - 1, self.reach(draft, chain) as usize);
            let status = self.locals.shared_status(before);
            let Status::At(op) = &*status else { unreachable!("an event has an operation") };
            let mut told = |version| c.state.observed(op, version, &mut self.locals.values);
            return then == now || told(then) == told(now);
        }
        match self.locals.op(before).expect("an event has an operation") {
            // A poll of the network may always be in vain again.
            Op::TestAny(comms) if c.state.is_of_network(process, comms[0]) => true,
            Op::TestAny(comms) if choice == Choice::NOTHING => comms.iter().all(|&comm| {
                let (mailbox, end, _, partner) = c.state.communication(process, comm);
                let reach = self.reach(draft, self.structure.lanes.posts(mailbox, end.opposite()));
                partner.is_none_or(|partner| partner >= reach)
            }),
            Op::MutexTestAny(requests) if choice == Choice::NOTHING => {
                requests.iter().all(|&request| {
                    let position = c.state.mutex_request(process, request);
                    let reach = self.reach_of_unlocks(draft, request.mutex);
                    let mutex = c.state.mutex(request.mutex);
                    !mutex.is_granted(position)
                        || mutex.granted_by(position).is_some_and(|unlock| unlock >= reach)
                })
            }
            _ => true,
        }
    }

    fn reach_of_unlocks(&self, draft: &Draft<'_>, mutex: MutexId) -> u32 {
        self.reach(draft, self.structure.lanes.unlocks(mutex))
    }

    /// How many events of the chain the history of the draft has.
    fn reach(&self, draft: &Draft<'_>, chain: Lane) -> u32 {
        draft.causes.iter().map(|&cause| self.known(cause, chain)).max().unwrap_or(0)
    }
}
