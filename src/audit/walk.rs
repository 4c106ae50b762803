//! An execution, with the events of the unfolding that its steps are.
//!
//! An event is an action with its history. Histories are compared by their direct causes, which are
//! events again, so an event is a number in a table of actions with sets of numbers. The causes
//! follow from the dependence relation alone: a step is compared with each earlier one. So an event
//! has the same number in whatever order independent steps are executed, and on every branch.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Refused;
use crate::model::{Action, Choice, Effect, Locals, ProcessId, State, System, dependent};

/// An event: its number in the table of all events met so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Event(u32);

/// A set of positions in an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions(SmallVec<[u64; 2]>);

impl Positions {
    pub(super) fn has(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, position: usize) {
        if self.0.len() <= position / 64 {
            self.0.resize(position / 64 + 1, 0);
        }
        self.0[position / 64] |= 1 << (position % 64);
    }

    fn insert_all(&mut self, others: &Positions) {
        if self.0.len() < others.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        self.0.iter_mut().zip(&others.0).for_each(|(word, other)| *word |= other);
    }

    /// Has it a position of the other set?
    pub(super) fn meets(&self, others: &Positions) -> bool {
        self.0.iter().zip(&others.0).any(|(word, other)| word & other != 0)
    }
}

/// A step of an execution.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) effect: Effect,
    pub(super) event: Event,
    /// The positions of its direct causes.
    pub(super) causes: SmallVec<[u32; 4]>,
    /// The positions of all its causes.
    pub(super) past: Positions,
}

/// A configuration, by its maximal events in the order of their numbers.
pub(super) type Key = Box<[Event]>;

/// An execution from the initial state, which grows and shrinks at its end.
pub(super) struct Walk<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    pub(super) state: State,
    pub(super) steps: Vec<Step>,
    events: FxHashMap<(Action, SmallVec<[Event; 4]>), Event>,
}

impl<'s, S: System> Walk<'s, S> {
    /// The empty execution.
    pub(super) fn new(system: &'s S) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        Walk { locals, state, steps: Vec::new(), events: FxHashMap::default() }
    }

    /// The number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// What is enabled at the end.
    pub(super) fn enabled(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.enabled(&self.locals, &mut actions);
        actions
    }

    /// Executes an enabled action.
    pub(super) fn push(&mut self, action: Action) -> Result<(), Refused> {
        self.state.step(&mut self.locals, action);
        let effect = self.state.effect(&self.locals);
        let (mut causes, mut past) = (SmallVec::new(), Positions::default());
        for (position, step) in self.steps.iter().enumerate().rev() {
            let is_known = past.has(position);
            if !is_known
                && dependent((step.action.process, &step.effect), (action.process, &effect))
            {
                causes.push(position as u32);
                past.insert(position);
                past.insert_all(&step.past);
            }
        }
        let mut names: SmallVec<[Event; 4]> =
            causes.iter().map(|&cause| self.steps[cause as usize].event).collect();
        names.sort_unstable();
        let next = Event(self.events.len() as u32);
        let event = *self.events.entry((action, names)).or_insert(next);
        self.steps.push(Step { action, effect, event, causes, past });
        self.look(action)
    }

    /// Executes an enabled action. `enabled` is what was enabled before, and then what is enabled
    /// after it: nothing may be missing that other processes could do, but failed tests.
    pub(super) fn push_on(
        &mut self,
        action: Action,
        enabled: &mut Vec<Action>,
    ) -> Result<(), Refused> {
        self.push(action)?;
        let after = self.enabled();
        let is_lost = |one: &&Action| {
            let may_end = one.process == action.process || one.choice == Choice::NOTHING;
            !may_end && !after.contains(one)
        };
        if enabled.iter().any(|one| is_lost(&one)) {
            return Err(Refused::new("a step of one process ends what another one could do"));
        }
        let is_choice = |two: &[Action]| two[0].process == two[1].process;
        if after.windows(2).any(|two| is_choice(two) && !self.may_choose(two[0].process)) {
            return Err(Refused::new("a process has a choice at what is said to have none"));
        }
        *enabled = after;
        Ok(())
    }

    /// May there be several ways for the process to go on?
    pub(super) fn may_choose(&self, process: ProcessId) -> bool {
        let op = self.locals.op(self.state.local(process));
        op.is_some_and(|op| op.is_choice() || op.is_test())
    }

    /// Undoes the last step.
    pub(super) fn pop(&mut self) -> Step {
        self.state.undo(&self.locals);
        self.steps.pop().expect("a step to undo")
    }

    /// Undoes all but the first steps.
    pub(super) fn cut(&mut self, length: usize) {
        while self.len() > length {
            self.pop();
        }
    }

    /// The configuration that the execution has reached.
    pub(super) fn key(&self) -> Key {
        let mut is_cause = Positions::default();
        let causes = self.steps.iter().flat_map(|step| step.causes.iter());
        causes.for_each(|&cause| is_cause.insert(cause as usize));
        let maximal = self.steps.iter().enumerate().filter(|&(at, _)| !is_cause.has(at));
        let mut key: Vec<Event> = maximal.map(|(_, step)| step.event).collect();
        key.sort_unstable();
        key.into()
    }

    /// The last step of `process` among the first ones.
    pub(super) fn last_of(&self, process: ProcessId, length: usize) -> Option<usize> {
        self.steps[..length].iter().rposition(|step| step.action.process == process)
    }

    /// Refuses what the argument for completeness does not cover.
    fn look(&mut self, action: Action) -> Result<(), Refused> {
        has_meaning(&mut self.locals, &self.state, action.process)?;
        if action.choice == Choice::NOTHING {
            let (last, earlier) = self.steps.split_last().expect("the step of the action");
            let is_own = |step: &Step| step.action.process == action.process;
            // The first step of a process has one cause: the step that has started the process.
            let is_first = !earlier.iter().any(is_own);
            let are_own = last.causes.iter().all(|&cause| is_own(&earlier[cause as usize]));
            if !(are_own || is_first && last.causes.len() == 1) {
                return Err(Refused::new("a failed test depends on a step of another process"));
            }
        }
        Ok(())
    }
}

/// Refuses a state to which a step of this process leads, if nothing follows from what comes next.
pub(super) fn has_meaning<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    process: ProcessId,
) -> Result<(), Refused> {
    if state.misused().is_some() {
        return Err(Refused::new("an object is misused: what follows has no meaning"));
    }
    match state.is_cut_at_poll(locals, process) {
        true => Err(Refused::new("the bound on polls cuts an execution")),
        false => Ok(()),
    }
}
