//! Where a search is, for observers and properties, which do not know the type of the system.
//!
//! A search has a [`State`], which consists of numbers, and [`Locals`], which say what the numbers
//! stand for. The type of the latter depends on the system, so it cannot be passed to a trait
//! object. A [`Position`] shows both in the program's own terms. It consists of references; its
//! methods compute what they return.

use std::any::Any;
use std::fmt::Debug;

use super::{Spin, broken_invariants, final_failure, is_deadlock, oversubscription};
use crate::model::{
    CellId, Failure, LocalId, Locals, Op, ProcessId, Schedule, Site, State, Status, System, Value,
    Values,
};
use crate::trace::{HappensBefore, order};

/// Where a search is.
#[derive(Clone, Copy)]
pub struct Position<'p> {
    state: &'p State,
    terms: &'p dyn Terms,
    process: Option<ProcessId>,
    spins: &'p [Spin],
}

impl<'p> Position<'p> {
    /// The position in this state, whose local states these are.
    #[inline]
    pub fn new<S: System>(locals: &'p Locals<'_, S>, state: &'p State) -> Self {
        Position { state, terms: locals, process: None, spins: &[] }
    }

    /// The position for a question about this process, which has just reached its local state.
    pub(crate) fn about(self, process: ProcessId) -> Self {
        Position { process: Some(process), ..self }
    }

    /// The position in a livelock in which these processes spin.
    pub(crate) fn going_round(self, spins: &'p [Spin]) -> Self {
        Position { spins, ..self }
    }

    /// The state: the processes, the contents of the objects, the actions that led here.
    ///
    /// Its numbers of spawned processes, messages and objects are those of this search.
    pub fn state(self) -> &'p State {
        self.state
    }

    /// The execution that led here, in portable names.
    pub fn schedule(self) -> Schedule {
        Schedule::of(self.state)
    }

    /// The happens-before order of the execution that led here. It is the same in all executions of
    /// a class, so a [`Property`](super::Property) may depend on it if the explorer visits every
    /// class.
    pub fn order(self) -> HappensBefore {
        self.terms.order(self.state)
    }

    /// The process that a [`Property`](super::Property) is asked about; `None` if it is asked about
    /// the whole state.
    pub fn process(self) -> Option<ProcessId> {
        self.process
    }

    /// In a livelock: the processes that spin.
    pub fn spins(self) -> &'p [Spin] {
        self.spins
    }

    /// The processes that exist, without the carriers (`State::is_carrier`), which belong to the
    /// network. For a carrier the other methods answer about the process that it serves.
    pub fn processes(self) -> impl Iterator<Item = ProcessId> + use<'p> {
        self.state.program_processes()
    }

    /// The name that the author of the program gave the process. Several may have the same name.
    ///
    /// # Panics
    /// If the process does not exist here. The same holds for the other questions about a process.
    pub fn name(self, process: ProcessId) -> String {
        self.terms.name(self.state.local(self.state.served(process)))
    }

    /// What the process is about to do, or how it has ended.
    pub fn status(self, process: ProcessId) -> &'p Status {
        self.terms.status(self.state.local(process))
    }

    /// The place of the process in the source, if the system has one.
    pub fn site(self, process: ProcessId) -> Option<Site> {
        self.terms.site(self.state.local(self.state.served(process)))
    }

    /// The place in the source of the action at this position of the execution that led here.
    pub fn site_of_action(self, place: usize) -> Option<Site> {
        self.terms.site(self.state.before(place))
    }

    /// The operation of the action at this position of the execution that led here; `None` for a
    /// carrier.
    pub fn op_of_action(self, place: usize) -> Option<&'p Op> {
        match self.terms.status(self.state.before(place)) {
            Status::At(op) => Some(op),
            _ => None,
        }
    }

    /// The local state of the process, for printing.
    pub fn local(self, process: ProcessId) -> &'p dyn Debug {
        self.terms.local(self.state.local(self.state.served(process))).0
    }

    /// The local state of the process with its type; `None` if `L` is not the system's type of
    /// local states.
    pub fn local_as<L: 'static>(self, process: ProcessId) -> Option<&'p L> {
        self.terms.local(self.state.local(self.state.served(process))).1.downcast_ref()
    }

    /// The variables of the process that are in scope, with their values.
    pub fn variables(self, process: ProcessId) -> Vec<(String, String)> {
        let known = |other| self.state.exists(other).then(|| self.name(other));
        self.terms.variables(self.state.local(self.state.served(process)), &known)
    }

    /// The content of the cell with this index in the declarations.
    pub fn cell(self, declared: CellId) -> Value {
        self.terms.cell(self.state, declared)
    }

    /// The cells with their names and contents, in order of declaration. If very many are declared,
    /// only those that some process has reached.
    pub fn cells(self) -> Vec<(String, Value)> {
        self.terms.cells(self.state)
    }

    /// The table of the values that [`ValueId`](crate::model::ValueId)s stand for.
    pub fn values(self) -> &'p Values {
        self.terms.values()
    }

    /// In a terminal state: is some process that is not a daemon neither done nor failed? Or does
    /// some actor have pending messages, unless `allow_pending`?
    pub fn is_deadlocked(self, allow_pending: bool) -> bool {
        self.terms.is_deadlocked(self.state, allow_pending)
    }

    /// What the system's [`Finale`](crate::model::Finale) says is wrong with a terminal state.
    pub fn final_failure(self) -> Option<Failure> {
        self.terms.final_failure(self.state)
    }

    /// The first of the system's [`Invariants`](crate::model::Invariants) that fail in the state.
    pub fn broken_invariant(self) -> Option<Failure> {
        self.terms.broken_invariant(self.state)
    }

    /// Misuse of an object, such as too many arrivals at a barrier.
    pub(super) fn oversubscription(self) -> Option<Failure> {
        self.terms.oversubscription(self.state)
    }
}

/// The part of [`Locals`] that does not depend on the type of the system.
trait Terms {
    fn order(&self, state: &State) -> HappensBefore;
    fn name(&self, local: LocalId) -> String;
    fn status(&self, local: LocalId) -> &Status;
    fn site(&self, local: LocalId) -> Option<Site>;
    fn local(&self, local: LocalId) -> (&dyn Debug, &dyn Any);
    fn variables(
        &self,
        local: LocalId,
        known: &dyn Fn(ProcessId) -> Option<String>,
    ) -> Vec<(String, String)>;
    fn cell(&self, state: &State, declared: CellId) -> Value;
    fn cells(&self, state: &State) -> Vec<(String, Value)>;
    fn values(&self) -> &Values;
    fn is_deadlocked(&self, state: &State, allow_pending: bool) -> bool;
    fn final_failure(&self, state: &State) -> Option<Failure>;
    fn broken_invariant(&self, state: &State) -> Option<Failure>;
    fn oversubscription(&self, state: &State) -> Option<Failure>;
}

impl<S: System> Terms for Locals<'_, S> {
    fn order(&self, state: &State) -> HappensBefore {
        order(self.system(), &Schedule::of(state))
    }

    fn name(&self, local: LocalId) -> String {
        self.system().describe().process_name(self.get(local))
    }

    fn status(&self, local: LocalId) -> &Status {
        Locals::status(self, local)
    }

    fn site(&self, local: LocalId) -> Option<Site> {
        self.system().describe().site(self.get(local))
    }

    fn local(&self, local: LocalId) -> (&dyn Debug, &dyn Any) {
        (self.get(local), self.get(local))
    }

    fn variables(
        &self,
        local: LocalId,
        known: &dyn Fn(ProcessId) -> Option<String>,
    ) -> Vec<(String, String)> {
        self.system().describe().variables(self.get(local), known)
    }

    fn cell(&self, state: &State, declared: CellId) -> Value {
        state.content_of_declared(self, declared)
    }

    fn cells(&self, state: &State) -> Vec<(String, Value)> {
        let declared = self.objects().cells.in_order().into_iter().map(|cell| {
            let name = self.name_of(CellId(cell));
            (name, state.content_of_declared(self, CellId(self.objects().cells.declared(cell))))
        });
        declared.collect()
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn is_deadlocked(&self, state: &State, allow_pending: bool) -> bool {
        is_deadlock(self, state, allow_pending)
    }

    fn final_failure(&self, state: &State) -> Option<Failure> {
        final_failure(self, state)
    }

    fn broken_invariant(&self, state: &State) -> Option<Failure> {
        broken_invariants(self, state).into_iter().next().map(|(_, failure)| failure)
    }

    fn oversubscription(&self, state: &State) -> Option<Failure> {
        oversubscription(self, state)
    }
}
