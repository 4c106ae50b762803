//! Processes as such: what they do alone, how they start others and wait for their end.

use super::{Operation, Place, World, place};
use crate::model::locals::Births;
use crate::model::state::{Done, Process, State};
use crate::model::{
    Birth, Effect, LocalId, Locals, Mode, Need, Needs, Part, PartSet, ProcessId, Response, System,
};

impl State {
    /// The action that spawned `process`, by its position in the execution; `None` if it exists
    /// from the start.
    pub(crate) fn born(&self, process: ProcessId) -> Option<usize> {
        place(self.processes[process.index()].born).map(|position| position as usize)
    }

    /// The number of actions that `process` has made.
    pub fn acted(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].acted
    }

    /// The number of processes that `process` has started, but for carriers.
    pub(crate) fn children(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].children
    }

    /// The number of processes that `process` had started, but for carriers, when this many actions
    /// had been carried out. O(n) for n that it has started since.
    pub(crate) fn children_at<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        length: usize,
    ) -> u32 {
        let was_started = |&place: &u32| {
            let child = locals.births().known(Birth::of_child(process, place - 1));
            self.born(child.expect("a process that was started")) < Some(length)
        };
        (1..=self.children(process)).rev().find(was_started).unwrap_or(0)
    }

    /// Starts a process in the current action of `parent`.
    pub(in crate::model) fn start(
        &mut self,
        births: &mut Births,
        parent: ProcessId,
        local: LocalId,
    ) -> ProcessId {
        let children = &mut self.processes[parent.index()].children;
        let birth = Birth::of_child(parent, *children);
        *children += 1;
        self.begin(births, birth, local)
    }

    /// Starts the process with this birth in the current action of its parent.
    pub(super) fn begin(&mut self, births: &mut Births, birth: Birth, local: LocalId) -> ProcessId {
        let id = births.child(birth);
        while self.processes.len() <= id.index() {
            self.processes.push(Process::ABSENT);
        }
        let born = self.trail.len() as u32;
        self.processes[id.index()] = Process { local, born, ..Process::ABSENT };
        id
    }

    /// Did the last action start processes?
    #[inline]
    pub(crate) fn has_just_spawned(&self) -> bool {
        self.trail.last().is_some_and(|last| last.started > 0)
    }

    /// The processes that the last action started, in order.
    pub fn just_spawned<S: System>(
        &self,
        locals: &Locals<'_, S>,
    ) -> impl Iterator<Item = ProcessId> {
        let last = self.trail.last().into_iter();
        last.flat_map(move |last| self.started(locals.births(), last))
    }

    /// The processes that the action `last`, which is the last one, started.
    pub(super) fn started(&self, births: &Births, last: &Done) -> impl Iterator<Item = ProcessId> {
        let parent = last.action.process;
        let children = self.children(parent);
        let is_new = |&carrier: &ProcessId| self.born(carrier) == Some(self.depth() - 1);
        (0..last.started).rev().map(move |age| {
            let carrier = self.processes[parent.index()].carriers.last().copied().filter(is_new);
            let child = || births.known(Birth::of_child(parent, children - 1 - age));
            carrier.or_else(child).expect("a process that was started")
        })
    }

    /// Removes the processes that were started by the action just undone.
    pub(super) fn unstart(&mut self, births: &Births, done: &Done) {
        let parent = done.action.process;
        for _ in 0..done.started {
            let children = &mut self.processes[parent.index()].children;
            *children -= 1;
            let child = births.known(Birth::of_child(parent, *children));
            let child = child.expect("a process that was started");
            self.processes[child.index()] = Process::ABSENT;
        }
    }
}

/// choose.
pub(in crate::model) struct Choose {
    pub(in crate::model) lo: i64,
    pub(in crate::model) hi: i64,
}

impl Choose {
    fn chosen(&self, way: u32) -> Response {
        Response::Chosen(self.lo + i64::from(way))
    }
}

impl Operation for Choose {
    fn ways(&self, _: &State, _: ProcessId) -> u32 {
        (self.hi - self.lo) as u32
    }

    fn way<S: System>(&self, _: &Place<'_, '_, S>, index: u32, _: &mut Needs) -> Option<Response> {
        Some(self.chosen(index))
    }

    fn carry_out(&self, _: &mut State, _: World<'_>, done: &mut Done) -> Response {
        self.chosen(done.action.choice.0 as u32)
    }

    fn may_observe(&self) -> bool {
        true
    }

    fn is_choice(&self) -> bool {
        self.hi - self.lo > 1
    }
}

/// local.
pub(in crate::model) struct Local;

impl Operation for Local {
    fn may_observe(&self) -> bool {
        true
    }
}

/// spawn.
pub(in crate::model) struct Spawn(pub(in crate::model) LocalId);

impl Operation for Spawn {
    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        done.started = 1;
        Response::Spawned(state.start(world.births, done.action.process, self.0))
    }

    fn undo(&self, state: &mut State, births: &Births, done: &Done) {
        state.unstart(births, done);
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        let child = state.started(at.locals.births(), done).next().expect("a spawned child");
        Effect::act(child.lane(), Mode::Change)
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// join.
pub(in crate::model) struct Join(pub(in crate::model) ProcessId);

impl Operation for Join {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let local = at.state.local(self.0);
        needs.push(Need::All(self.0.lane(), 0));
        let response = at.locals.returned(local).map_or(Response::Unit, Response::Value);
        at.locals.status(local).has_ended().then_some(response)
    }

    fn awaits(&self) -> PartSet {
        Part::Process.alone()
    }

    fn carry_out(&self, state: &mut State, world: World<'_>, _: &mut Done) -> Response {
        let returned = world.returned.get(&state.local(self.0)).copied();
        returned.map_or(Response::Unit, Response::Value)
    }

    fn may_observe(&self) -> bool {
        true
    }
}
