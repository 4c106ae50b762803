//! Loops that wait: events that end a spin iteration are not built.
//!
//! [`crate::trace::spin`] says what such an event is, and why nothing is lost without it. Here the
//! same is done for event structures. The iteration is found along the process's own branch. What
//! its operations would result in after the history of the event depends only on how far that
//! history reaches along each chain.

use smallvec::SmallVec;

use crate::model::{Choice, LocalId, Needs, Op, ProcessId, Status, System};
use crate::unfolding::event::{Event, EventId, EventKind};
use crate::unfolding::lanes::Lane;
use crate::unfolding::structure::Draft;
use crate::unfolding::{Configuration, Unfolding};

impl<S: System> Unfolding<'_, S> {
    /// Would this event end a spin iteration? Its causes are in C.
    pub(super) fn ends_spin_iteration(&mut self, c: &Configuration, draft: &Draft<'_>) -> bool {
        let may_end = self.locals.may_return(draft.before)
            && self.is_observation(draft.before, draft.kind)
            && !self.tells(c, draft.process, (draft.before, draft.choice), draft.previous);
        if !may_end {
            return false;
        }
        let mut event = draft.previous;
        let mut local = draft.before;
        let mut iteration: SmallVec<[EventId; 8]> = SmallVec::new();
        while local != draft.after {
            if !event.is_some() {
                return false;
            }
            let known = self.structure.event(event);
            local = known.before;
            let (process, choice, parent) = (known.process, known.choice, known.own.parent);
            if !self.locals.may_return(local)
                || !self.is_observation(local, known.kind)
                || self.tells(c, process, (local, choice), parent)
            {
                return false;
            }
            iteration.push(event);
            event = parent;
        }
        iteration.into_iter().all(|event| self.is_stable(c, draft, event))
    }

    /// Does an operation from this local state, of this kind, leave every object unchanged?
    fn is_observation(&self, before: LocalId, kind: EventKind) -> bool {
        let op = self.locals.op(before);
        op.is_some_and(Op::may_observe) && kind != EventKind::Change
    }

    /// Does a process learn that a communication of the network is complete, by this choice from
    /// this local state, after this event of its own?
    fn tells(
        &self,
        c: &Configuration,
        process: ProcessId,
        (before, choice): (LocalId, Choice),
        mut previous: EventId,
    ) -> bool {
        let observed = |before: LocalId, choice| {
            let op = self.locals.op(before)?;
            c.state.observed_complete(process, op, choice)
        };
        let Some(comm) = observed(before, choice) else { return false };
        while previous.is_some() {
            let event = self.structure.event(previous);
            if observed(event.before, event.choice) == Some(comm) {
                return false;
            }
            previous = event.own.parent;
        }
        true
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
            let mut response =
                |version| c.state.observed(op, &mut self.locals.values, process, version);
            return then == now || response(then) == response(now);
        }
        // A poll of the network may always find nothing again.
        if choice != Choice::NOTHING || kind != EventKind::FailedTest {
            return true;
        }
        let status = self.locals.shared_status(before);
        let Status::At(op) = &*status else { unreachable!("an event has an operation") };
        let mut needs = Needs::new();
        (0..c.state.ways(op, process)).all(|index| {
            needs.clear();
            let way = c.state.way(&self.locals, (op, process), index, &mut needs);
            way.is_none() || !self.has_needed(c, &needs, draft.causes)
        })
    }

    /// The number of events of the chain in the history of the draft.
    fn reach(&self, draft: &Draft<'_>, chain: Lane) -> u32 {
        draft.causes.iter().map(|&cause| self.known(cause, chain)).max().unwrap_or(0)
    }
}
