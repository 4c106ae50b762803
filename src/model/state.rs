//! A state as logs: what an execution has done to the objects, and how to take it back.
//!
//! Nothing is erased while executing: a mailbox keeps every send and receive ever posted, a mutex every
//! request. Undoing an action then is popping its entries, O(1) and without a copy; and a position in a log
//! names the same thing along an execution, which is what chains of the unfolding are made of.
//!
//! The objects keep their own invariants ([`super::object`]); those between objects and processes (a request
//! in a log is noted with its process, a spawned process exists from its spawn on) are restored by
//! [`State::step`] and [`State::undo`].

mod actors;
mod footprint;
mod portrait;
mod touches;

pub use portrait::Parts;

use super::object::{NONE, place};
use super::{
    Action, Barrier, BarrierId, CellId, Choice, End, Envelope, Handle, Inboxes, LocalId, Locals,
    Mailbox, MailboxId, Met, Mutex, MutexId, Object, Op, Outcome, Posted, ProcessId, Request,
    Semaphore, SemaphoreId, Status, Stimulus, System, Value, ValueId,
};

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    local: LocalId,
    /// Where each of its requests went: a position in the log of its object.
    posted: Vec<Posted>,
    /// How many actions it has made.
    acted: u32,
    /// At which depth it was spawned; `NONE` if it exists from the start, or does not exist.
    born: u32,
}

impl Process {
    const ABSENT: Process =
        Process { local: LocalId::ABSENT, posted: Vec::new(), acted: 0, born: NONE };
}

/// What [`State::undo`] needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    action: Action,
    before: LocalId,
    /// Did it change a cell?
    changed: bool,
    /// How many messages there were before it.
    messages: u32,
    /// The message that it took, by its position in the log, or `NONE`.
    taken: u32,
    /// How many processes it started.
    started: u32,
}

/// A global state, reached by the execution that it remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    processes: Vec<Process>,
    /// How many objects it has a log for: those that were met up to its last step.
    known: usize,
    mailboxes: Vec<Mailbox>,
    mutexes: Vec<Mutex>,
    semaphores: Vec<Semaphore>,
    barriers: Vec<Barrier>,
    /// Per cell its initial content and every content after a change.
    cells: Vec<Vec<ValueId>>,
    inboxes: Inboxes,
    trail: Vec<Done>,
}

impl State {
    /// The initial state of a system.
    pub fn initial<S: System>(locals: &mut Locals<'_, S>) -> State {
        let mut state = State::default();
        state.make_room(locals.met());
        for &local in locals.initial() {
            state.processes.push(Process { local, ..Process::ABSENT });
        }
        for (place, (to, content)) in locals.system().initial_messages().into_iter().enumerate() {
            let content = locals.values.intern(content);
            let id = locals.message(None, place as u32);
            state.inboxes.send(id, to, content, None);
        }
        state
    }

    /// Begins the logs of the objects met since the last step.
    fn make_room(&mut self, met: &Met) {
        for &object in &met.order()[self.known..] {
            match object {
                Object::Mailbox(_) => self.mailboxes.push(Mailbox::default()),
                Object::Mutex(_) => self.mutexes.push(Mutex::new()),
                Object::Semaphore(id) => {
                    let (requests, releases) = (Vec::new(), Vec::new());
                    let initial = met.semaphores.start(id.0);
                    self.semaphores.push(Semaphore { initial, requests, releases });
                }
                Object::Barrier(id) => {
                    self.barriers.push(Barrier { size: met.barriers.start(id.0), rounds: vec![] });
                }
                Object::Cell(id) => self.cells.push(vec![met.cells.start(id.0)]),
            }
        }
        self.known = met.order().len();
    }

    /// How many actions led here.
    pub fn depth(&self) -> usize {
        self.trail.len()
    }

    /// The actions that led here.
    pub fn schedule(&self) -> impl ExactSizeIterator<Item = Action> + DoubleEndedIterator {
        self.trail.iter().map(|done| done.action)
    }

    /// The action at `position` of those that led here.
    pub fn action(&self, position: usize) -> Action {
        self.trail[position].action
    }

    /// The local state from which the process of the action at `position` acted.
    pub fn before(&self, position: usize) -> LocalId {
        self.trail[position].before
    }

    /// The message that the action at `position` took, by its place in the log of messages.
    pub fn taken(&self, position: usize) -> Option<u32> {
        place(self.trail[position].taken)
    }

    /// The processes that exist.
    pub fn processes(&self) -> impl Iterator<Item = ProcessId> {
        (0..self.processes.len() as u32).map(ProcessId).filter(|&p| self.exists(p))
    }

    /// Does `process` exist here?
    pub fn exists(&self, process: ProcessId) -> bool {
        self.local(process) != LocalId::ABSENT
    }

    /// The local state of `process`, [`LocalId::ABSENT`] if it does not exist here.
    pub fn local(&self, process: ProcessId) -> LocalId {
        self.processes.get(process.index()).map_or(LocalId::ABSENT, |process| process.local)
    }

    /// A mailbox.
    pub fn mailbox(&self, id: MailboxId) -> &Mailbox {
        &self.mailboxes[id.index()]
    }

    /// A mutex.
    pub fn mutex(&self, id: MutexId) -> &Mutex {
        &self.mutexes[id.index()]
    }

    /// A semaphore.
    pub fn semaphore(&self, id: SemaphoreId) -> &Semaphore {
        &self.semaphores[id.index()]
    }

    /// A barrier.
    pub fn barrier(&self, id: BarrierId) -> &Barrier {
        &self.barriers[id.index()]
    }

    /// Every content that the cell has had, the initial one first. A position here is a *version*.
    pub fn versions(&self, cell: CellId) -> &[ValueId] {
        &self.cells[cell.index()]
    }

    /// The content of the cell.
    pub fn content(&self, cell: CellId) -> ValueId {
        *self.versions(cell).last().expect("a cell has its initial version")
    }

    /// The content of a declared cell.
    pub fn content_of_declared<S: System>(&self, locals: &Locals<'_, S>, cell: CellId) -> Value {
        let met = locals.met().cells.met(cell.0);
        // Another branch of the search may have met it since.
        let log = met.and_then(|met| self.cells.get(met as usize));
        match log.and_then(|versions| versions.last()) {
            Some(&content) => locals.values.get(content).clone(),
            None => locals.system().objects().cells.start(cell.0).clone(),
        }
    }

    /// Where the request `handle` of `process` went.
    pub fn posted(&self, process: ProcessId, handle: Handle) -> Posted {
        self.processes[process.index()].posted[handle.index()]
    }

    /// How many requests `process` has posted: the number of its next handle.
    pub fn posted_count(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].posted.len() as u32
    }

    /// The mailbox, end, position and partner of a communication.
    pub fn communication(
        &self,
        process: ProcessId,
        handle: Handle,
    ) -> (MailboxId, End, u32, Option<u32>) {
        match self.posted(process, handle) {
            Posted::At(mailbox, end, position) => {
                let post = &self.mailbox(mailbox).posts(end)[position as usize];
                (mailbox, end, position, post.partner())
            }
            other => panic!("{handle:?} of {process:?} is no communication but {other:?}"),
        }
    }

    /// The position of a mutex request.
    pub fn mutex_request(&self, process: ProcessId, request: Request) -> u32 {
        match self.posted(process, request.handle) {
            Posted::Mutex(mutex, position) if mutex == request.mutex => position,
            other => panic!("{request:?} of {process:?} is {other:?}"),
        }
    }

    /// The position of a semaphore request.
    pub fn semaphore_request(&self, process: ProcessId, handle: Handle) -> u32 {
        match self.posted(process, handle) {
            Posted::Semaphore(_, position) => position,
            other => panic!("{handle:?} of {process:?} is no semaphore request but {other:?}"),
        }
    }

    /// The barrier that more processes have arrived at than take part in it, if there is one. Such an
    /// execution has no meaning from here on.
    pub fn oversubscribed(&self) -> Option<BarrierId> {
        let index = self.barriers.iter().position(Barrier::is_oversubscribed);
        index.map(|index| BarrierId(index as u32))
    }

    /// Calls `each` with the choices that `process` has here; none if it is blocked or has ended.
    pub fn choices<S: System>(
        &self,
        locals: &Locals<'_, S>,
        process: ProcessId,
        mut each: impl FnMut(Choice),
    ) {
        let local = self.local(process);
        if local == LocalId::ABSENT {
            return;
        }
        let Some(op) = locals.op(local) else { return };
        let mut complete = 0;
        let mut offer = |index: usize, is_complete: bool| {
            if is_complete {
                complete += 1;
                each(Choice(index as i32));
            }
        };
        match op {
            Op::WaitAny(comms) | Op::TestAny(comms) => {
                for (index, &comm) in comms.iter().enumerate() {
                    offer(index, self.communication(process, comm).3.is_some());
                }
            }
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                for (index, &request) in requests.iter().enumerate() {
                    offer(index, self.owns(process, request));
                }
            }
            Op::AcquireWait { semaphore, handle } => {
                let request = self.semaphore_request(process, *handle);
                offer(0, self.semaphore(*semaphore).is_granted(request));
            }
            Op::BarrierWait { barrier, round } => {
                let barrier = self.barrier(*barrier);
                offer(0, barrier.arrived(*round).len() >= barrier.size as usize);
            }
            Op::Join(target) => offer(0, locals.status(self.local(*target)).has_ended()),
            Op::Choose { lo, hi } => {
                for offset in 0..(hi - lo) as i32 {
                    each(Choice(offset));
                }
            }
            Op::Handle { internals } => {
                let log = self.inboxes.log();
                for message in self.inboxes.pending(process).map(|at| &log[at as usize]) {
                    if locals.accepts(process, local, Stimulus::Message(message.content)) {
                        each(Choice::message(message.id));
                    }
                }
                for handler in 0..*internals {
                    if locals.accepts(process, local, Stimulus::Internal(handler)) {
                        each(Choice::internal(handler));
                    }
                }
            }
            Op::Isend { .. }
            | Op::Irecv { .. }
            | Op::AsyncLock(_)
            | Op::Unlock(_)
            | Op::AsyncAcquire(_)
            | Op::Release(_)
            | Op::Arrive { .. }
            | Op::Access(..)
            | Op::Local
            | Op::Spawn(_) => offer(0, true),
        }
        if complete == 0 && matches!(op, Op::TestAny(_) | Op::MutexTestAny(_)) {
            each(Choice::NOTHING);
        }
    }

    /// Does the process own the mutex through this request of its own?
    pub fn owns(&self, process: ProcessId, request: Request) -> bool {
        self.mutex(request.mutex).is_granted(self.mutex_request(process, request))
    }

    /// Has `process` an enabled action?
    pub fn can_move<S: System>(&self, locals: &Locals<'_, S>, process: ProcessId) -> bool {
        let mut any = false;
        self.choices(locals, process, |_| any = true);
        any
    }

    /// The enabled actions, by process and then by choice, appended to `actions`.
    pub fn enabled<S: System>(&self, locals: &Locals<'_, S>, actions: &mut Vec<Action>) {
        for process in self.processes() {
            self.choices(locals, process, |choice| actions.push(Action { process, choice }));
        }
    }

    /// Nothing is enabled.
    pub fn is_terminal<S: System>(&self, locals: &Locals<'_, S>) -> bool {
        !self.processes().any(|process| self.can_move(locals, process))
    }

    /// The processes that are neither done nor failed, and the actors that have pending messages, failed ones
    /// included. In a terminal state they make it a deadlock.
    pub fn unfinished<S: System>(&self, locals: &Locals<'_, S>) -> impl Iterator<Item = ProcessId> {
        self.processes().filter(|&p| match locals.op(self.local(p)) {
            None | Some(Op::Handle { .. }) => self.inboxes.has_pending(p),
            Some(_) => true,
        })
    }

    /// Executes an enabled action. Amortised O(1), but for patterns at mailboxes.
    pub fn step<S: System>(&mut self, locals: &mut Locals<'_, S>, action: Action) {
        self.execute(locals, action, |locals, before, outcome| locals.resume(before, outcome));
    }

    /// Executes an enabled action; what its process is told. An actor is told nothing.
    pub fn step_and_tell<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
    ) -> Option<Outcome> {
        let mut told = None;
        self.execute(locals, action, |locals, before, outcome| {
            told = Some(outcome);
            locals.resume(before, outcome)
        });
        told
    }

    /// Executes an enabled action that is known to lead its process to local state `after`.
    pub fn step_into<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
        after: LocalId,
    ) {
        self.execute(locals, action, |locals, before, outcome| {
            debug_assert_eq!(locals.resume(before, outcome), after, "{action:?} led elsewhere");
            after
        });
    }

    /// Executes an enabled action; `resume` tells where its outcome leads a process that is no actor.
    fn execute<'s, S: System>(
        &mut self,
        locals: &mut Locals<'s, S>,
        action: Action,
        resume: impl FnOnce(&mut Locals<'s, S>, LocalId, Outcome) -> LocalId,
    ) {
        let before = self.local(action.process);
        let messages = self.inboxes.log().len() as u32;
        let mut done = Done { action, before, changed: false, messages, taken: NONE, started: 0 };
        let after = if let Some(Op::Handle { .. }) = locals.op(before) {
            self.react(locals, &mut done)
        } else {
            let outcome = self.carry_out(locals, &mut done);
            resume(locals, before, outcome)
        };
        let process = &mut self.processes[action.process.index()];
        process.local = after;
        process.acted += 1;
        self.trail.push(done);
        if self.known < locals.met().order().len() {
            self.make_room(locals.met());
        }
    }

    /// The effect on the objects; what the process is told of it.
    fn carry_out<S: System>(&mut self, locals: &mut Locals<'_, S>, done: &mut Done) -> Outcome {
        let Action { process, choice } = done.action;
        let Status::At(op) = locals.status(self.local(process)) else {
            panic!("{process:?} has ended and cannot move");
        };
        match *op {
            Op::Isend { mailbox, envelope, value } => {
                self.post(process, mailbox, End::Send, envelope, value)
            }
            Op::Irecv { mailbox, pattern } => {
                self.post(process, mailbox, End::Receive, pattern, ValueId::UNIT)
            }
            Op::WaitAny(ref comms) | Op::TestAny(ref comms) => match choice {
                Choice::NOTHING => Outcome::Incomplete,
                Choice(index) => Outcome::Completed {
                    index: index as u32,
                    value: self.received(process, comms[index as usize]),
                },
            },
            Op::MutexWaitAny(_) | Op::MutexTestAny(_) => match choice {
                Choice::NOTHING => Outcome::Incomplete,
                Choice(index) => Outcome::Completed { index: index as u32, value: ValueId::UNIT },
            },
            Op::AsyncLock(mutex) => {
                let position = self.mutexes[mutex.index()].request(process);
                self.note(process, Posted::Mutex(mutex, position))
            }
            Op::Unlock(request) => {
                let position = self.mutex_request(process, request);
                self.mutexes[request.mutex.index()].release(position);
                Outcome::Unit
            }
            Op::AsyncAcquire(semaphore) => {
                let log = &mut self.semaphores[semaphore.index()].requests;
                log.push(process);
                let position = log.len() as u32 - 1;
                self.note(process, Posted::Semaphore(semaphore, position))
            }
            Op::Release(semaphore) => {
                self.semaphores[semaphore.index()].releases.push(process);
                Outcome::Unit
            }
            Op::Arrive { barrier, round } => {
                let rounds = &mut self.barriers[barrier.index()].rounds;
                if rounds.len() == round as usize {
                    rounds.push(Vec::new());
                }
                rounds[round as usize].push(process);
                Outcome::Unit
            }
            Op::AcquireWait { .. } | Op::BarrierWait { .. } | Op::Local | Op::Join(_) => {
                Outcome::Unit
            }
            Op::Access(cell, access) => {
                let (outcome, new) = access.apply(self.content(cell), &mut locals.values);
                done.changed = new.is_some();
                self.cells[cell.index()].extend(new);
                outcome
            }
            Op::Choose { lo, .. } => Outcome::Chosen(lo + i64::from(choice.0)),
            Op::Spawn(child) => {
                locals.start(child);
                done.started = 1;
                Outcome::Spawned(self.start(locals, process, 0, child))
            }
            Op::Handle { .. } => unreachable!("a handler has no outcome"),
        }
    }

    fn post(
        &mut self,
        process: ProcessId,
        mailbox: MailboxId,
        end: End,
        envelope: Envelope,
        value: ValueId,
    ) -> Outcome {
        let log = &mut self.mailboxes[mailbox.index()];
        log.push(end, process, envelope, value);
        let position = log.posts(end).len() as u32 - 1;
        self.note(process, Posted::At(mailbox, end, position))
    }

    fn note(&mut self, process: ProcessId, posted: Posted) -> Outcome {
        let log = &mut self.processes[process.index()].posted;
        log.push(posted);
        Outcome::Posted(Handle(log.len() as u32 - 1))
    }

    /// What completing this communication hands to its owner.
    ///
    /// # Panics
    /// If it is not complete.
    pub fn received(&self, process: ProcessId, comm: Handle) -> ValueId {
        match self.communication(process, comm) {
            (mailbox, End::Receive, _, Some(partner)) => {
                self.mailbox(mailbox).sends[partner as usize].value
            }
            (_, End::Send, _, Some(_)) => ValueId::UNIT,
            other => panic!("{comm:?} of {process:?} is not complete: {other:?}"),
        }
    }

    /// Takes the last action back. O(1).
    ///
    /// # Panics
    /// In an initial state.
    pub fn undo<S: System>(&mut self, locals: &Locals<'_, S>) {
        let Done { action: Action { process, .. }, before, changed, messages, taken, started } =
            self.trail.pop().expect("an action to undo");
        let Status::At(op) = locals.status(before) else {
            panic!("{process:?} moved after it had ended");
        };
        self.processes[process.index()].local = before;
        self.processes[process.index()].acted -= 1;
        match *op {
            Op::Isend { mailbox, .. } => self.unpost(process, mailbox, End::Send),
            Op::Irecv { mailbox, .. } => self.unpost(process, mailbox, End::Receive),
            Op::AsyncLock(mutex) => {
                self.mutexes[mutex.index()].undo_request();
                self.processes[process.index()].posted.pop();
            }
            Op::Unlock(request) => self.mutexes[request.mutex.index()].undo_release(),
            Op::AsyncAcquire(semaphore) => {
                self.semaphores[semaphore.index()].requests.pop();
                self.processes[process.index()].posted.pop();
            }
            Op::Release(semaphore) => {
                self.semaphores[semaphore.index()].releases.pop();
            }
            Op::Arrive { barrier, round } => {
                let rounds = &mut self.barriers[barrier.index()].rounds;
                rounds[round as usize].pop();
                // The first of a round has begun it.
                rounds.pop_if(|arrived| arrived.is_empty());
            }
            Op::Access(cell, _) => {
                if changed {
                    self.cells[cell.index()].pop();
                }
            }
            Op::Spawn(_) => self.unstart(locals, process, started),
            Op::Handle { .. } => {
                while self.inboxes.log().len() > messages as usize {
                    self.inboxes.unsend();
                }
                self.unstart(locals, process, started);
                if taken != NONE {
                    self.inboxes.untake(taken);
                }
            }
            Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::MutexWaitAny(_)
            | Op::MutexTestAny(_)
            | Op::AcquireWait { .. }
            | Op::BarrierWait { .. }
            | Op::Choose { .. }
            | Op::Local
            | Op::Join(_) => {}
        }
    }

    fn unpost(&mut self, process: ProcessId, mailbox: MailboxId, end: End) {
        self.mailboxes[mailbox.index()].pop(end);
        self.processes[process.index()].posted.pop();
    }
}
