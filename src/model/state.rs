//! A state as logs: what an execution has done to the objects, and how to undo it.
//!
//! Nothing is erased while executing: a mailbox keeps every send and receive ever posted, a mutex
//! every request. So an action is undone by popping its entries, in O(1) and without a copy. And a
//! position in a log names the same thing all along an execution; the chains of the unfolding are
//! made of such positions.
//!
//! The objects (`objects`) say what operations do, and keep their own invariants. Each operation
//! restores the invariants between objects and processes: a request in a log is noted with its
//! process, and a spawned process exists from its spawn on.

mod open;
mod pieces;
mod portrait;
mod posts;
mod scope;
mod terms;
mod ways;

pub use pieces::Piece;
pub use portrait::Parts;
pub use posts::Offer;
pub use terms::{Describer, has_term};

pub(crate) use scope::Scope;

use super::objects::collective::Collectives;
use super::objects::inbox::Inboxes;
use super::objects::network::Network;
use super::objects::{NONE, ObjectId, Operation, Place, Posted, all_kinds, by_operation, place};
use super::op::*;
use super::{
    Action, Choice, Effect, LocalId, Locals, Needed, Object, ObjectTable, Op, ProcessId, Response,
    Status, System, Touch, ValueId,
};

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) local: LocalId,
    /// For each of its requests the position in the log of its object.
    pub(super) posted: Vec<Posted>,
    /// Number of its actions so far.
    pub(super) acted: u32,
    /// Number of processes that it has started, but for carriers.
    pub(super) children: u32,
    /// The carriers that it has started.
    pub(super) carriers: Vec<ProcessId>,
    /// The local states of its misses: of its tests and probes that found nothing. Not all of them:
    /// see `State::adds_to_misses`.
    pub(super) misses: Vec<LocalId>,
    /// The index of its first recent miss: the first one after its last other action.
    pub(super) recent: u32,
    /// The depth at which it was spawned; `NONE` if it exists from the start, or does not exist.
    pub(super) born: u32,
}

impl Process {
    pub(super) const ABSENT: Process = Process {
        local: LocalId::ABSENT,
        posted: Vec::new(),
        carriers: Vec::new(),
        misses: Vec::new(),
        recent: 0,
        acted: 0,
        children: 0,
        born: NONE,
    };
}

/// What [`State::undo`] needs to know about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) action: Action,
    pub(super) before: LocalId,
    /// Did it change a cell?
    pub(super) changed: bool,
    /// Was it added to the misses of its process?
    pub(super) missed: bool,
    /// `Process::recent` of its process before it.
    pub(super) recent: u32,
    /// Number of messages before it.
    pub(super) messages: u32,
    /// The position in the log of the message that it took or found, or `NONE`.
    pub(super) taken: u32,
    /// Number of processes that it started.
    pub(super) started: u32,
}

macro_rules! define_state {
    ($($(#[$doc:meta])* $kind:ident($id:ident) $all:ident [$($log:ty)?],)*) => {
        /// A global state, reached by the execution that it remembers.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct State {
            pub(super) processes: Vec<Process>,
            /// Number of objects that it has a log for: those in the table at its last step.
            pub(super) known: usize,
            $($(pub(super) $all: Vec<$log>,)?)*
            pub(super) inboxes: Inboxes,
            pub(super) network: Network,
            pub(super) collectives: Collectives,
            pub(super) trail: Vec<Done>,
        }

        impl State {
            /// A misused object, if there is one: a barrier with more processes than participants,
            /// a latch with more counts than it has, a p2p or bag mailbox with two receiving
            /// processes, a collective whose ranks do not agree. From then on an execution has no
            /// meaning.
            #[inline]
            pub fn misused(&self) -> Option<Object> {
                $(if let Some(id) = <$id as ObjectId>::misused(self) {
                    return Some(Object::$kind(id));
                })*
                None
            }

            /// Begins logs for the objects that are new in the table since the last step.
            fn make_room(&mut self, table: &ObjectTable) {
                for &object in &table.order()[self.known..] {
                    match object {
                        $(Object::$kind(id) => <$id as ObjectId>::begin(self, table.$all.start(id.0)),)*
                    }
                }
                self.known = table.order().len();
            }
        }
    };
}
all_kinds!(define_state);

impl Done {
    /// The operation that was carried out.
    fn op<'l, S: System>(&self, locals: &'l Locals<'_, S>) -> &'l Op {
        match locals.status(self.before) {
            Status::At(op) => op,
            _ => panic!("{:?} moved after it had ended", self.action.process),
        }
    }
}

impl State {
    /// The initial state of a system.
    pub fn initial<S: System>(locals: &mut Locals<'_, S>) -> State {
        let mut state = State::default();
        state.network.max_polls = u32::from(locals.system().objects().max_polls.0);
        state.make_room(locals.objects());
        for &local in locals.initial() {
            state.processes.push(Process { local, ..Process::ABSENT });
        }
        for (place, (to, content)) in
            locals.system().actors().initial_messages().into_iter().enumerate()
        {
            let content = locals.values.intern(content);
            let id = locals.message(None, place as u32);
            state.inboxes.send(id, to, content, None);
        }
        state
    }

    /// Was an object [misused](State::misused)?
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.misused().is_some()
    }

    /// The number of actions that led here.
    pub fn depth(&self) -> usize {
        self.trail.len()
    }

    /// The actions that led here, in order.
    pub fn schedule(&self) -> impl ExactSizeIterator<Item = Action> + DoubleEndedIterator {
        self.trail.iter().map(|done| done.action)
    }

    /// The action at `position` in the execution that led here.
    pub fn action(&self, position: usize) -> Action {
        self.trail[position].action
    }

    /// The local state of its process before the action at `position`.
    pub fn before(&self, position: usize) -> LocalId {
        self.trail[position].before
    }

    /// The message that the action at `position` took or found, by its position in the log of
    /// messages, or in the log of sends at p2p and bag mailboxes.
    pub(crate) fn taken(&self, position: usize) -> Option<u32> {
        place(self.trail[position].taken)
    }

    /// The processes that exist.
    pub fn processes(&self) -> impl Iterator<Item = ProcessId> {
        (0..self.processes.len() as u32).map(ProcessId).filter(|&p| self.exists(p))
    }

    /// The processes that exist, without the carriers of the network (`State::is_carrier`).
    pub fn program_processes(&self) -> impl Iterator<Item = ProcessId> {
        self.processes().filter(|&process| !self.is_carrier(process))
    }

    /// Does `process` exist here?
    pub fn exists(&self, process: ProcessId) -> bool {
        self.local(process) != LocalId::ABSENT
    }

    /// Tells which local states its execution has passed through, and which values its objects have
    /// had.
    pub(crate) fn tell_needed(&self, needed: &mut Needed) {
        self.values().for_each(|value| needed.keep_value(value));
        for process in &self.processes {
            needed.keep(process.local);
            process.misses.iter().for_each(|&local| needed.keep(local));
        }
        self.trail.iter().for_each(|done| needed.keep(done.before));
    }

    /// The values in the logs of its objects.
    fn values(&self) -> impl Iterator<Item = ValueId> {
        let posts = self.mailboxes.iter().flat_map(|mailbox| mailbox.sends.iter());
        let entries = self.collectives.entries().iter();
        let contents = self.cells.iter().flatten().copied();
        contents
            .chain(posts.map(|post| post.value))
            .chain(self.network.sends().iter().map(|sent| sent.value))
            .chain(self.inboxes.log().iter().map(|message| message.content))
            .chain(entries.flat_map(|entry| [entry.value, entry.result()]))
    }

    /// The local state of `process`, [`LocalId::ABSENT`] if it does not exist here.
    #[inline]
    pub fn local(&self, process: ProcessId) -> LocalId {
        self.processes.get(process.index()).map_or(LocalId::ABSENT, |process| process.local)
    }

    /// Calls `each` with the choices that `process` has here; none if it is blocked or has ended.
    pub fn choices<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        mut each: impl FnMut(Choice),
    ) {
        // What is done with a choice is unknown there, so all callers share one copy of it.
        let mut each: &mut dyn FnMut(Choice) = &mut each;
        self.each_choice(locals, process, &mut each);
    }

    /// [`State::choices`], compiled for each caller, because inner loops have no time for calls.
    #[inline]
    pub(super) fn each_choice<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        each: &mut impl FnMut(Choice),
    ) {
        let local = self.local(process);
        if local == LocalId::ABSENT {
            return;
        }
        let Some(op) = locals.op(local) else { return };
        let place = Place { state: self, locals, process };
        by_operation!(op, operation => operation.choices(&place, each));
    }

    /// If `process` were at the operation of this local state, at which it has been: would the
    /// operation find something?
    pub(super) fn would_find<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        local: LocalId,
    ) -> bool {
        let Some(op) = locals.op(local) else { return false };
        let place = Place { state: self, locals, process };
        let mut found = false;
        let mut look = |choice| {
            let is_optional = self.is_optional_at(op, Action { process, choice });
            found |= choice != Choice::NOTHING && !is_optional;
        };
        by_operation!(op, operation => operation.choices(&place, &mut look));
        found
    }

    /// Does `process` have an enabled action?
    pub fn can_move<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        let mut any = false;
        self.each_choice(locals, process, &mut |_| any = true);
        any
    }

    /// The enabled actions, by process and then by choice, appended to `actions`.
    pub fn enabled<S: System>(&self, locals: &Locals<'_, S>, actions: &mut Vec<Action>) {
        for process in self.processes() {
            let push = &mut |choice| actions.push(Action { process, choice });
            self.each_choice(locals, process, push);
        }
    }

    /// Is nothing enabled?
    pub fn is_terminal<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !self.processes().any(|process| self.can_move(locals, process))
    }

    /// The processes that are neither done nor failed, and the actors that have pending messages,
    /// failed ones included.
    pub fn unfinished<S: System>(&self, locals: &Locals<'_, S>) -> impl Iterator<Item = ProcessId> {
        self.processes().filter(|&process| self.is_unfinished(locals, process))
    }

    /// Is the process neither done nor failed, or an actor that has pending messages? Not an actor
    /// that is done: it has crashed, and nobody waits for what is sent to it.
    pub fn is_unfinished<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        match locals.op(self.local(process)) {
            None if *locals.status(self.local(process)) == Status::Done => false,
            None | Some(Op::Handle { .. }) => self.inboxes.has_pending(process),
            Some(Op::Deliver) => false,
            Some(_) => true,
        }
    }

    /// The unfinished processes that are not daemons; none if a process excuses them. A terminal
    /// state with such a process is a deadlock.
    pub fn stuck<S: System>(&self, locals: &Locals<'_, S>) -> impl Iterator<Item = ProcessId> {
        let is_excused = self.processes().any(|process| locals.excuses(self.local(process)));
        let is_stuck = move |process| !is_excused && !locals.is_daemon(self.local(process));
        self.unfinished(locals).filter(move |&process| is_stuck(process))
    }

    /// Executes an enabled action. Amortised O(1), except for patterns at mailboxes.
    pub fn step<S: System>(&mut self, locals: &mut Locals<'_, S>, action: Action) {
        self.execute(locals, action, |locals, before, response| locals.resume(before, response));
    }

    /// Executes an enabled action, and returns the response to its process; `None` for an actor.
    pub(crate) fn step_and_tell<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
    ) -> Option<Response> {
        let mut observed = None;
        self.execute(locals, action, |locals, before, response| {
            observed = Some(response);
            locals.resume(before, response)
        });
        observed
    }

    /// Executes an enabled action that is known to lead its process to local state `after`.
    pub(crate) fn step_into<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
        after: LocalId,
    ) {
        self.execute(locals, action, |locals, before, response| {
            debug_assert_eq!(locals.lead(before, response), after, "{action:?} led elsewhere");
            locals.start(after);
            after
        });
    }

    /// Executes an enabled action; `resume` computes the local state after the response, unless the
    /// process is an actor.
    fn execute<'s, S: System>(
        &mut self,
        locals: &mut Locals<'s, S>,
        action: Action,
        resume: impl FnOnce(&mut Locals<'s, S>, LocalId, Response) -> LocalId,
    ) {
        let before = self.local(action.process);
        let messages = self.inboxes.log().len() as u32;
        let recent = self.processes[action.process.index()].recent;
        let mut done = Done {
            action,
            before,
            changed: false,
            missed: false,
            recent,
            messages,
            taken: NONE,
            started: 0,
        };
        let after = if let Some(Op::Handle { .. }) = locals.op(before) {
            self.react(locals, &mut done)
        } else {
            let (status, world) = locals.world(before);
            let Status::At(op) = status else {
                panic!("{:?} has ended and cannot move", action.process);
            };
            let response =
                by_operation!(op, operation => operation.carry_out(self, world, &mut done));
            if let Response::Spawned(child) = response {
                locals.start(self.local(child));
            }
            resume(locals, before, response)
        };
        let misses = action.choice == Choice::NOTHING;
        done.missed = misses && self.adds_to_misses(locals, action.process);
        let is_quiet = self.is_quiet(&*locals, action, before);
        let process = &mut self.processes[action.process.index()];
        process.local = after;
        process.acted += 1;
        match misses {
            true => process.misses.extend(done.missed.then_some(before)),
            false if is_quiet => {}
            false => process.recent = process.misses.len() as u32,
        }
        self.trail.push(done);
        if self.known < locals.objects().order().len() {
            self.make_room(locals.objects());
        }
        self.audit(locals);
    }

    /// Undoes the last action. O(1).
    ///
    /// # Panics
    /// In an initial state.
    pub fn undo<S: System>(&mut self, locals: &Locals<'_, S>) {
        let done = self.trail.pop().expect("an action to undo");
        let process = &mut self.processes[done.action.process.index()];
        process.local = done.before;
        process.acted -= 1;
        process.recent = done.recent;
        if done.missed {
            process.misses.pop();
        }
        let (op, births) = (done.op(locals), locals.births());
        by_operation!(op, operation => operation.undo(self, births, &done));
    }

    /// The effect that the enabled action would have if it were executed here.
    pub fn peek<S: System>(&mut self, locals: &mut Locals<'_, S>, action: Action) -> Effect {
        self.step(locals, action);
        let effect = self.effect(locals);
        self.undo(locals);
        effect
    }

    /// The effect of the last action, resolved in this execution.
    ///
    /// # Panics
    /// In an initial state.
    pub fn effect<S: System>(&self, locals: &Locals<'_, S>) -> Effect {
        let done = self.trail.last().expect("an action");
        let place = Place { state: self, locals, process: done.action.process };
        by_operation!(done.op(locals), operation => operation.effect(&place, done))
    }

    /// Calls `each` with everything that the operation of `process`, which is enabled, watches
    /// here. If it watches nothing, it is independent of everything that other processes may do
    /// before it.
    pub fn watches<S: System>(
        &self,
        locals: &mut Locals<'_, S>,
        process: ProcessId,
        mut each: impl FnMut(Touch),
    ) {
        let system = locals.system();
        let (status, world) = locals.world(self.local(process));
        let Status::At(op) = status else { panic!("{process:?} has ended and does nothing") };
        by_operation!(op, operation => {
            operation.watches(self, system, world.values, process, &mut each);
        });
    }

    /// Calls `each` with everything that the last action touched.
    ///
    /// # Panics
    /// In an initial state.
    pub fn touches<S: System>(&self, locals: &Locals<'_, S>, mut each: impl FnMut(Touch)) {
        let done = self.trail.last().expect("an action");
        let op = done.op(locals);
        by_operation!(op, operation => {
            operation.touches(self, locals.system(), done, &mut each);
        });
    }
}
