//! An execution with its state and its happens-before order, which is extended and shortened at its
//! end.
//!
//! DPOR and related searches walk along it. `push` executes an action, `pop` undoes it; neither
//! visits the rest of the execution.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::spin::{self, Earlier};
use super::{HappensBefore, Heights};
use crate::model::{
    Action, Choice, Effect, Handled, Lane, LocalId, Locals, MessageId, Needed, Op, ProcessId,
    Response, State, Status, System,
};

/// A schedulable unit, whose actions are in a fixed order. Races are between strands.
///
/// The actions of one process are in a fixed order, so a process is a strand. An actor takes its
/// messages in any order, so each message is a strand (of a single action), and so is each internal
/// handler: two strands of one actor depend on one another and can race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Strand {
    /// A process that is not an actor.
    Process(ProcessId),
    /// A message to an actor.
    Message(MessageId),
    /// An internal handler of an actor.
    Internal(ProcessId, u32),
}

impl Strand {
    /// The strand of an action; `is_actor` says whether its process is an actor.
    pub(crate) fn of(action: Action, is_actor: bool) -> Strand {
        if !is_actor {
            return Strand::Process(action.process);
        }
        match action.choice.handled() {
            Handled::Message(message) => Strand::Message(message),
            Handled::Internal(handler) => Strand::Internal(action.process, handler),
        }
    }
}

/// An execution from the initial state.
pub struct Execution<'s, S: System> {
    /// The local states, interned, of all executions so far.
    pub locals: Locals<'s, S>,
    state: State,
    order: HappensBefore,
    /// The heights, if they are bounded.
    heights: Option<Heights>,
    /// Do loops that wait run literally?
    is_literal: bool,
    /// The actions that the last call of [`Execution::enabled`] left out as too high.
    cut: Vec<Action>,
    /// Did the last call of [`Execution::enabled`] leave out actions that would end a spin
    /// iteration?
    is_holding: bool,
    /// Scratch space: the actions that [`Execution::looking_back`] has to execute again.
    undone: Vec<Action>,
}

impl<'s, S: System> Execution<'s, S> {
    /// The empty execution.
    pub fn new(system: &'s S) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        Execution {
            locals,
            state,
            order: HappensBefore::default(),
            heights: None,
            is_literal: false,
            cut: Vec::new(),
            is_holding: false,
            undone: Vec::new(),
        }
    }

    /// The execution with loops that wait run literally: no action is left out because it would end
    /// a spin iteration.
    pub(crate) fn literal(self) -> Self {
        Execution { is_literal: true, ..self }
    }

    /// The execution with a bound: no action higher than `max_height` is enabled (`Heights`), and
    /// loops that wait run literally.
    ///
    /// # Panics
    /// If the execution is not empty.
    pub fn up_to(self, max_height: u32) -> Self {
        assert!(self.is_empty(), "heights count from the start");
        Execution { heights: Some(Heights::new(max_height)), ..self.literal() }
    }

    /// The interned local states, and the state at the end of the execution.
    pub fn parts(&mut self) -> (&mut Locals<'s, S>, &State) {
        (&mut self.locals, &self.state)
    }

    /// The state at the end of the execution.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its happens-before order.
    pub(crate) fn order(&self) -> &HappensBefore {
        &self.order
    }

    /// The number of its actions.
    pub(crate) fn len(&self) -> usize {
        self.state.depth()
    }

    /// Is it the empty execution?
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Executes an enabled action.
    #[inline]
    pub fn push(&mut self, action: Action) {
        self.state.step(&mut self.locals, action);
        self.order.push(action.process, self.state.effect(&self.locals));
        if let Some(heights) = &mut self.heights {
            heights.push(&self.order);
        }
    }

    /// Undoes the last action, and returns it with its effect.
    ///
    /// # Panics
    /// If the execution is empty.
    pub fn pop(&mut self) -> (Action, Effect) {
        let action = self.state.action(self.len() - 1);
        self.state.undo(&self.locals);
        if let Some(heights) = &mut self.heights {
            heights.pop();
        }
        (action, self.order.pop())
    }

    /// Forgets the local states that it has not passed through, but for those that `tell` says are
    /// needed.
    pub(crate) fn forget(&mut self, tell: impl FnOnce(&mut Needed)) {
        self.locals.forget(|needed| {
            self.state.tell_needed(needed);
            tell(needed);
        });
    }

    /// Calls `look` in the state after the first `length` actions. `look` may execute actions; they
    /// are undone, so the execution is the same afterwards.
    pub(crate) fn looking_back<T>(
        &mut self,
        length: usize,
        look: impl FnOnce(&mut Locals<'s, S>, &mut State) -> T,
    ) -> T {
        while self.state.depth() > length {
            self.undone.push(self.state.action(self.state.depth() - 1));
            self.state.undo(&self.locals);
        }
        let seen = look(&mut self.locals, &mut self.state);
        while self.state.depth() > length {
            self.state.undo(&self.locals);
        }
        while let Some(action) = self.undone.pop() {
            self.state.step(&mut self.locals, action);
        }
        seen
    }

    /// The action at `position`.
    pub(crate) fn action(&self, position: usize) -> Action {
        self.state.action(position)
    }

    /// The operation that the action at `position` carried out.
    pub(crate) fn op(&self, position: usize) -> &Op {
        let op = self.locals.op(self.state.before(position));
        op.expect("a process that moved was at an operation")
    }

    /// Appends the enabled actions to `actions`, by process and then by choice, without those that
    /// are too high or would end a spin iteration (`spin`).
    #[inline]
    pub fn enabled(&mut self, actions: &mut Vec<Action>) {
        let start = actions.len();
        self.state.enabled(&self.locals, actions);
        self.cut.clear();
        self.is_holding = false;
        if self.waits() || self.has_tops() {
            self.leave_out(actions, start);
        }
    }

    /// Removes from `actions`, from index `start` on, the actions that would end a spin iteration,
    /// and moves the actions that are too high to `cut`.
    #[inline(never)]
    fn leave_out(&mut self, actions: &mut Vec<Action>, start: usize) {
        if self.waits() {
            let Execution { locals, state, order, .. } = self;
            self.is_holding = spin::hold_back(locals, state, order, actions, start);
        }
        if self.has_tops() {
            for action in actions.split_off(start) {
                let kept = if self.is_too_high(action) { &mut self.cut } else { &mut *actions };
                kept.push(action);
            }
        }
    }

    /// Sorts enabled actions by process and then by choice, in an order that does not depend on
    /// earlier executions ([`Locals::compare_processes`]).
    pub(crate) fn sort(&self, actions: &mut [Action]) {
        let compare = |one: &Action, other: &Action| self.compare(*one, *other);
        if !actions.is_sorted_by(|one, other| compare(one, other).is_le()) {
            actions.sort_by(compare);
        }
    }

    fn compare(&self, one: Action, other: Action) -> Ordering {
        if one.process != other.process {
            return self.locals.compare_processes(one.process, other.process);
        }
        let op = self.locals.op(self.state.local(one.process));
        match (one.choice.handled(), other.choice.handled()) {
            (Handled::Message(one), Handled::Message(other))
                if op.is_some_and(|op| matches!(op, Op::Handle { .. }) || op.chooses_message()) =>
            {
                self.locals.compare_messages(one, other)
            }
            _ => one.choice.0.cmp(&other.choice.0),
        }
    }

    fn is_too_high(&mut self, action: Action) -> bool {
        let Some(heights) = &self.heights else { return false };
        self.order.push(action.process, self.state.peek(&mut self.locals, action));
        let is_too_high = heights.exclude(&self.order);
        self.order.pop();
        is_too_high
    }

    /// The actions that the last call of [`Execution::enabled`] left out as too high. If it
    /// returned no action, the bound cuts the execution.
    pub fn cut(&self) -> &[Action] {
        &self.cut
    }

    /// Did the last call of [`Execution::enabled`] leave out actions that would end a spin
    /// iteration? If it returned no action, and none is cut, then only spin iterations are
    /// possible.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_holding
    }

    /// May actions be left out because they would end a spin iteration? Not with a bound on the
    /// depth: there loops run literally.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        !self.is_literal && self.locals.some_may_return()
    }

    /// Has an action of the execution the greatest height allowed?
    #[inline]
    pub fn has_tops(&self) -> bool {
        self.heights.as_ref().is_some_and(Heights::have_tops)
    }

    /// Has the action at `position` the greatest height allowed, so that all its successors are too
    /// high?
    pub(crate) fn is_top(&self, position: usize) -> bool {
        self.heights.as_ref().is_some_and(|heights| heights.is_top(position))
    }

    /// The processes that wait at an access to a register because the access would end a spin
    /// iteration.
    pub(crate) fn held_accesses(&mut self) -> SmallVec<[ProcessId; 4]> {
        let mut held = SmallVec::new();
        if self.waits() {
            let processes: SmallVec<[ProcessId; 8]> = self.state.processes().collect();
            for process in processes {
                let op = self.locals.op(self.state.local(process));
                let action = Action { process, choice: Choice::ONLY };
                let is_access = op.is_some_and(|op| self.state.register(op).is_some());
                if is_access && self.ends_spin_iteration(action) {
                    held.push(process);
                }
            }
        }
        held
    }

    fn ends_spin_iteration(&mut self, action: Action) -> bool {
        let Execution { locals, state, order, .. } = self;
        spin::ends_spin_iteration(locals, state, order, action)
    }

    /// If the action at `position` had had this choice and the effect `touched`, would it have
    /// ended a spin iteration?
    pub(crate) fn ends_spin_iteration_instead(
        &mut self,
        position: usize,
        choice: Choice,
        touched: &Effect,
    ) -> bool {
        let process = self.order.process(position);
        let own = self.order.of_process(process);
        let nth = own.partition_point(|&at| (at as usize) < position);
        let place = (process, nth, self.state.before(position));
        self.would_end_spin_iteration(place, choice, touched)
    }

    /// If the process had this choice after its first actions, as many as given, in this local
    /// state, with the effect `touched`, would that end a spin iteration?
    pub(crate) fn would_end_spin_iteration(
        &mut self,
        place: (ProcessId, usize, LocalId),
        choice: Choice,
        touched: &Effect,
    ) -> bool {
        let waits = self.waits();
        let Execution { locals, state, order, .. } = self;
        waits && spin::would_end_spin_iteration(locals, state, order, place, choice, touched)
    }

    /// The event that the process's action number `nth` follows: its previous action, or the action
    /// that started the process.
    pub(crate) fn previous(&self, process: ProcessId, nth: usize) -> Option<usize> {
        spin::previous(&self.state, &self.order, process, nth)
    }

    /// The register that the action at `position` accesses, if its process may wait there in a
    /// loop.
    pub(crate) fn awaited(&self, position: usize) -> Option<Lane> {
        self.awaited_from(self.state.before(position))
    }

    /// The register that the next action of `process` accesses, if the process may wait there in a
    /// loop.
    pub(crate) fn awaits(&self, process: ProcessId) -> Option<Lane> {
        self.awaited_from(self.state.local(process))
    }

    fn awaited_from(&self, local: LocalId) -> Option<Lane> {
        match self.waits() && self.locals.may_return(local) {
            true => self.state.register(self.locals.op(local)?),
            false => None,
        }
    }

    /// The newest of the [earlier accesses](Execution::earlier_accesses).
    pub(crate) fn earlier_access(
        &mut self,
        process: ProcessId,
        later: Option<usize>,
    ) -> Option<Earlier> {
        self.earlier_accesses(process, later).next().map(|(_, earlier)| earlier)
    }

    /// The earlier versions of its register at which an access could have come, newest first, each
    /// with its number. The access is that of the action at position `later`, or else the next
    /// action of the process.
    pub(crate) fn earlier_accesses(
        &mut self,
        process: ProcessId,
        later: Option<usize>,
    ) -> impl Iterator<Item = (usize, Earlier)> {
        let Execution { locals, state, order, .. } = self;
        let own = order.of_process(process);
        let (nth, before) = match later {
            Some(later) => {
                let nth = own.partition_point(|&at| (at as usize) < later);
                (nth, state.before(later))
            }
            None => (own.len(), state.local(process)),
        };
        let register = locals.op(before).and_then(|op| state.register(op));
        let end = later.unwrap_or(order.len());
        let latest = register.map_or(0, |register| spin::version_at(order, register, end));
        spin::earlier_accesses(locals, state, order, (process, nth), before, latest)
    }

    /// The number of the version of the register at which the access at `position` came.
    ///
    /// # Panics
    /// If the action is not an access to a register.
    pub fn version_before(&self, position: usize) -> usize {
        let register = self.state.register(self.op(position)).expect("an access to a register");
        spin::version_at(&self.order, register, position)
    }

    /// The response to the action at `position`, an access to a register, if it had come at this
    /// version; `None` if the access would have changed the register.
    pub(crate) fn observed(&mut self, position: usize, version: usize) -> Option<Response> {
        let status = self.locals.shared_status(self.state.before(position));
        let Status::At(op) = &*status else { unreachable!("a process that moved") };
        self.state.observed(op, &mut self.locals.values, self.order.process(position), version)
    }

    /// The effect of an enabled action if it were executed now.
    pub(crate) fn effect(&mut self, action: Action) -> Effect {
        self.state.peek(&mut self.locals, action)
    }

    /// Is `process` an actor in the current state? An actor that has failed still is an actor.
    pub(crate) fn is_actor(&self, process: ProcessId) -> bool {
        self.state.exists(process)
            && match self.locals.op(self.state.local(process)) {
                Some(op) => matches!(op, Op::Handle { .. }),
                None => self
                    .order
                    .of_process(process)
                    .last()
                    .is_some_and(|&last| self.order.effect(last as usize).is_handler()),
            }
    }

    /// The strand of an action, whether it is enabled, pending or executed.
    pub(crate) fn strand(&self, action: Action) -> Strand {
        Strand::of(action, self.is_actor(action.process))
    }

    /// The strand of the action at `position`.
    pub(crate) fn strand_at(&self, position: usize) -> Strand {
        Strand::of(self.action(position), matches!(self.op(position), Op::Handle { .. }))
    }
}
