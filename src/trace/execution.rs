//! An execution with its state and its happens-before order, going forward and back.
//!
//! DPOR and related searches walk along it. Pushing executes an action, popping takes it back;
//! neither looks at the rest of the execution.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::spin::{self, Earlier};
use super::{HappensBefore, Heights};
use crate::model::{
    Action, Choice, Effect, Handled, Lane, LocalId, Locals, MessageId, Op, ProcessId, Response,
    State, Status, System,
};

/// What is scheduled on its own, one action after the other. Races are between strands.
///
/// The actions of one process are in a fixed order, so a process is a strand. An actor takes its
/// messages in any order, so each message is a strand (of a single action), and so is each internal
/// handler: two strands of one actor depend on one another and can race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strand {
    /// A process that is no actor.
    Process(ProcessId),
    /// A message.
    Message(MessageId),
    /// An internal handler of an actor.
    Internal(ProcessId, u32),
}

impl Strand {
    /// The strand of an action of a process that is an actor or is not.
    pub fn of(action: Action, is_actor: bool) -> Strand {
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
    /// The local states met on all branches.
    pub locals: Locals<'s, S>,
    state: State,
    order: HappensBefore,
    /// The heights, if there is a bound to them.
    heights: Option<Heights>,
    /// Do loops that wait run literally?
    is_literal: bool,
    /// The actions that were too high when the enabled actions were last asked for.
    cut: Vec<Action>,
    /// Did that answer leave out actions that would end a fruitless round?
    is_holding: bool,
    /// The actions that [`Execution::looking_back`] has to do again.
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

    /// The same, but loops that wait run literally: no action is left out because it would end a
    /// fruitless round.
    pub fn literal(self) -> Self {
        Execution { is_literal: true, ..self }
    }

    /// The same, but no action that is higher than this will be enabled ([`Heights`]), and loops
    /// that wait run literally.
    ///
    /// # Panics
    /// If it is not empty.
    pub fn up_to(self, max_height: u32) -> Self {
        assert!(self.is_empty(), "heights count from the start");
        Execution { heights: Some(Heights::new(max_height)), ..self.literal() }
    }

    /// The local states met so far, and the state that it leads to.
    pub fn parts(&mut self) -> (&mut Locals<'s, S>, &State) {
        (&mut self.locals, &self.state)
    }

    /// The state that it leads to.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its happens-before order.
    pub fn order(&self) -> &HappensBefore {
        &self.order
    }

    /// How many actions it has.
    pub fn len(&self) -> usize {
        self.state.depth()
    }

    /// Is it the empty execution?
    pub fn is_empty(&self) -> bool {
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

    /// Takes the last action back, and returns it with what it touched.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) -> (Action, Effect) {
        let action = self.state.action(self.len() - 1);
        self.state.undo(&self.locals);
        if let Some(heights) = &mut self.heights {
            heights.pop();
        }
        (action, self.order.pop())
    }

    /// Lets `look` continue from the state after the first `length` actions. What `look` does is
    /// undone, so that the execution is as before.
    pub fn looking_back<T>(
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
    pub fn action(&self, position: usize) -> Action {
        self.state.action(position)
    }

    /// The operation that the action at `position` carried out.
    pub fn op(&self, position: usize) -> &Op {
        let op = self.locals.op(self.state.before(position));
        op.expect("a process that moved was at an operation")
    }

    /// Appends the enabled actions to `actions`, by process and then by choice, without those that
    /// are too high or would end a fruitless round ([`spin`]).
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

    /// Removes from `actions`, from `start` on, those that would end a fruitless round, and moves
    /// those that are too high to `cut`.
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
    /// what was met before ([`Locals::compare_processes`]).
    pub fn sort(&self, actions: &mut [Action]) {
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

    /// The actions that [`Execution::enabled`] left out as too high when it was last called. If it
    /// left nothing in, the bound cuts the execution.
    pub fn cut(&self) -> &[Action] {
        &self.cut
    }

    /// Did [`Execution::enabled`], when it was last called, leave out actions that would end a
    /// fruitless round? If it left nothing in, and nothing is cut, then nothing but fruitless
    /// rounds is possible.
    pub fn is_waiting(&self) -> bool {
        self.is_holding
    }

    /// Are loops that wait looked for? With a bound on the depth they are not: there loops run
    /// literally.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        !self.is_literal && self.locals.some_may_return()
    }

    /// Is some action of the execution as high as the bound allows?
    #[inline]
    pub fn has_tops(&self) -> bool {
        self.heights.as_ref().is_some_and(Heights::have_tops)
    }

    /// Is the action at `position` so high that whatever happens after it is too high?
    pub fn is_top(&self, position: usize) -> bool {
        self.heights.as_ref().is_some_and(|heights| heights.is_top(position))
    }

    /// The processes that wait at an access to a register, because it would end a fruitless round.
    pub fn held_accesses(&mut self) -> SmallVec<[ProcessId; 4]> {
        let mut held = SmallVec::new();
        if self.waits() {
            let processes: SmallVec<[ProcessId; 8]> = self.state.processes().collect();
            for process in processes {
                let op = self.locals.op(self.state.local(process));
                let action = Action { process, choice: Choice::ONLY };
                let is_access = op.is_some_and(|op| op.register().is_some());
                if is_access && self.is_fruitless(action) {
                    held.push(process);
                }
            }
        }
        held
    }

    fn is_fruitless(&mut self, action: Action) -> bool {
        let Execution { locals, state, order, .. } = self;
        spin::is_fruitless(locals, state, order, action)
    }

    /// If the action at `position` had got this other result, and had touched this, would it have
    /// ended a fruitless round?
    pub fn is_fruitless_instead(
        &mut self,
        position: usize,
        choice: Choice,
        touched: &Effect,
    ) -> bool {
        let waits = self.waits();
        let Execution { locals, state, order, .. } = self;
        waits && spin::is_fruitless_instead(locals, state, order, position, choice, touched)
    }

    /// The register that the action at `position` is an access to, if its process may wait for it
    /// in a loop.
    pub fn awaited(&self, position: usize) -> Option<Lane> {
        self.awaited_from(self.state.before(position))
    }

    /// The register that the next action of `process` is an access to, if the process may wait for
    /// it in a loop.
    pub fn awaits(&self, process: ProcessId) -> Option<Lane> {
        self.awaited_from(self.state.local(process))
    }

    fn awaited_from(&self, local: LocalId) -> Option<Lane> {
        match self.waits() && self.locals.may_return(local) {
            true => self.locals.op(local)?.register(),
            false => None,
        }
    }

    /// The newest of the [earlier accesses](Execution::earlier_accesses).
    pub fn earlier_access(&mut self, process: ProcessId, later: Option<usize>) -> Option<Earlier> {
        self.earlier_accesses(process, later).next().map(|(_, earlier)| earlier)
    }

    /// The earlier versions of its register at which an access could have come, newest first: the
    /// access at position `later`, or else the one that the process is at.
    pub fn earlier_accesses(
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
        let register = locals.op(before).and_then(Op::register);
        let end = later.unwrap_or(order.len());
        let latest = register.map_or(0, |register| spin::version_at(order, register, end));
        spin::earlier_accesses(locals, state, order, (process, nth), before, latest)
    }

    /// The number of the version that the access to a register at `position` came upon.
    ///
    /// # Panics
    /// If it is no access.
    pub fn version_before(&self, position: usize) -> usize {
        let register = self.op(position).register().expect("an access to a register");
        spin::version_at(&self.order, register, position)
    }

    /// What the process of the action at `position`, an access to a register, would have been told
    /// at this version of it; `None` if it would have changed it.
    pub fn observed(&mut self, position: usize, version: usize) -> Option<Response> {
        let status = self.locals.shared_status(self.state.before(position));
        let Status::At(op) = &*status else { unreachable!("a process that moved") };
        self.state.observed(op, version, &mut self.locals.values)
    }

    /// What the enabled action would touch if it were executed now.
    pub fn effect(&mut self, action: Action) -> Effect {
        self.state.peek(&mut self.locals, action)
    }

    /// Is `process` an actor here? An actor that has failed still is one.
    pub fn is_actor(&self, process: ProcessId) -> bool {
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
    pub fn strand(&self, action: Action) -> Strand {
        Strand::of(action, self.is_actor(action.process))
    }

    /// The strand of the action at `position`.
    pub fn strand_at(&self, position: usize) -> Strand {
        Strand::of(self.action(position), matches!(self.op(position), Op::Handle { .. }))
    }
}
