//! The carriers of the network: processes that are in no program; they match receives and end
//! entries of collectives.

use super::super::{Operation, Place, Posted, World, place};
use super::{ENDED, Settlement, effect_here};
use crate::model::locals::Births;
use crate::model::state::{Done, Process, State};
use crate::model::{
    Birth, Choice, Effect, Handled, LocalId, May, ProcessId, Response, System, Touch, Values,
};

impl State {
    /// Is this a carrier of the network, and not a process of the program?
    pub(crate) fn is_carrier(&self, process: ProcessId) -> bool {
        self.local(process) == LocalId::CARRIER
    }

    /// The receive that this carrier is to match, or the entry that it is to end. For a free
    /// carrier: the last one that it served.
    ///
    /// # Panics
    /// If it is not a carrier.
    pub fn carried(&self, carrier: ProcessId) -> Posted {
        *self.processes[carrier.index()].posted.last().expect("a carrier has something to carry")
    }

    /// What the carrier matched, dropped or ended in the action at `position`.
    pub(crate) fn carried_at(&self, position: usize) -> Posted {
        let all = &self.processes[self.action(position).process.index()].posted;
        let is_earlier = |&posted: &_| self.carried_to(posted).is_some_and(|at| at < position);
        let found = all[all.partition_point(is_earlier)];
        debug_assert_eq!(self.carried_to(found), Some(position), "an action of this carrier");
        found
    }

    /// The position in the execution of the action of a carrier that matched, dropped or ended
    /// this.
    fn carried_to(&self, posted: Posted) -> Option<usize> {
        match posted {
            Posted::Receive(receive) => self.network.receives[receive as usize].matched_at(),
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].ended_at(),
            other => panic!("no carrier serves {other:?}"),
        }
    }

    /// The position in the execution where this receive or entry of a carrier was posted.
    pub(crate) fn carried_from(&self, posted: Posted) -> usize {
        match posted {
            Posted::Receive(receive) => self.network.receives[receive as usize].at(),
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].at(),
            other => panic!("no carrier serves {other:?}"),
        }
    }

    /// The process that a carrier works for; for any other process, the process itself.
    pub(crate) fn served(&self, process: ProcessId) -> ProcessId {
        match self.is_carrier(process) {
            true => self.action(self.carried_from(self.carried(process))).process,
            false => process,
        }
    }

    /// Has its process observed that this receive or entry of a carrier is complete?
    pub(crate) fn is_seen(&self, posted: Posted) -> bool {
        match posted {
            Posted::Receive(receive) => self.network.receives[receive as usize].is_seen(),
            Posted::Entry(entry) => self.collectives.entries()[entry as usize].is_seen(),
            other => panic!("no carrier serves {other:?}"),
        }
    }

    /// A carrier for what the process posts in the current action: the first free one, or a new
    /// one.
    pub(in crate::model::objects) fn carrier(
        &mut self,
        births: &mut Births,
        done: &mut Done,
    ) -> ProcessId {
        let process = done.action.process;
        let carriers = &self.processes[process.index()].carriers;
        let birth = Birth::of_carrier(process, carriers.len() as u32);
        let free = carriers.iter().find(|&&carrier| self.is_seen(self.carried(carrier)));
        free.copied().unwrap_or_else(|| {
            done.started = 1;
            let carrier = self.begin(births, birth, LocalId::CARRIER);
            self.processes[process.index()].carriers.push(carrier);
            carrier
        })
    }

    /// Removes the carrier that the action just undone had started, if it had started one.
    pub(in crate::model::objects) fn dismiss(&mut self, done: &Done) {
        if done.started > 0 {
            let carriers = &mut self.processes[done.action.process.index()].carriers;
            let carrier = carriers.pop().expect("the one that was started");
            self.processes[carrier.index()] = Process::ABSENT;
        }
    }
}

/// The operation of a carrier with a receive, or with an entry of a collective.
pub(in crate::model) struct Delivering;

impl Operation for Delivering {
    fn choices<S: System>(&self, at: &Place<'_, '_, S>, each: &mut impl FnMut(Choice)) {
        let &Place { state, process, .. } = at;
        match state.carried(process) {
            Posted::Entry(entry) => {
                let all = &state.collectives;
                let is_open = all.entries()[entry as usize].ended_at().is_none();
                if is_open && all.causes(entry).is_some() {
                    each(ENDED);
                }
            }
            Posted::Receive(receive) => state.network.choices(receive, each),
            other => panic!("no carrier serves {other:?}"),
        }
    }

    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let at = state.trail.len() as u32;
        match (state.carried(done.action.process), done.action.choice.handled()) {
            (Posted::Entry(entry), _) => state.collectives.end(entry, at, world.values),
            (Posted::Receive(receive), Handled::Message(id)) => {
                done.taken = state.network.position(id).expect("a message that was sent");
                state.network.match_up(receive, done.taken, at);
            }
            (Posted::Receive(receive), Handled::Internal(_)) => {
                let receive = &mut state.network.receives[receive as usize];
                (receive.outcome, receive.matched_at) = (Settlement::Dropped, at);
                state.network.open -= 1;
            }
            (other, _) => panic!("no carrier serves {other:?}"),
        }
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        match state.carried(done.action.process) {
            Posted::Entry(entry) => state.collectives.reopen(entry),
            Posted::Receive(receive) => state.network.unmatch(receive),
            other => panic!("no carrier serves {other:?}"),
        }
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let network = &state.network;
        let causes = match (state.carried(done.action.process), place(done.taken)) {
            (Posted::Entry(entry), _) => state.collectives.causes(entry),
            (Posted::Receive(receive), Some(send)) => network.causes(network.taker(receive), send),
            (Posted::Receive(receive), None) => network.dropping(receive).map(|way| way.causes),
            (other, _) => panic!("no carrier serves {other:?}"),
        };
        effect_here(state, true, &causes.expect("a match has its causes"))
    }

    /// Another message may come, or become the first of its sender.
    fn watches<S: System>(
        &self,
        state: &State,
        _: &S,
        _: &mut Values,
        process: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        if let Posted::Receive(receive) = state.carried(process) {
            state.network.receives[receive as usize].mailbox.awaits().for_each(each);
        }
    }

    fn touches<S: System>(&self, state: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        match state.carried(done.action.process) {
            Posted::Entry(entry) => {
                let collective = state.collectives.entries()[entry as usize].collective;
                each(Touch::new(collective.ends(), May::Add));
            }
            Posted::Receive(receive) => {
                let mailbox = state.network.receives[receive as usize].mailbox;
                each(Touch::new(mailbox.matches(), May::Add));
            }
            _ => {}
        }
    }

    fn may_open(&self) -> bool {
        true
    }

    fn may_observe(&self) -> bool {
        false
    }

    fn is_choice(&self) -> bool {
        true
    }
}
