//! A state as logs: what an execution has done to the objects, and how to take it back.
//!
//! Nothing is erased while executing: a mailbox keeps every send and receive ever posted, a mutex every
//! request. Undoing an action then is popping its entries, O(1) and without a copy; and a position in a log
//! names the same thing along an execution, which is what chains of the unfolding are made of.
//!
//! The objects keep their own invariants ([`super::object`]); those between objects and processes (a request
//! in a log is noted with its process, a spawned process exists from its spawn on) are restored by
//! [`State::step`] and [`State::undo`].

use super::object::NONE;
use super::{
    Action, Barrier, BarrierId, CellId, Choice, End, Envelope, Footprint, Handle, LocalId, Locals,
    Mailbox, MailboxId, Mutex, MutexId, Objects, Op, Outcome, Post, Posted, ProcessId, Request,
    Semaphore, SemaphoreId, Status, System, ValueId, Values,
};

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    local: LocalId,
    /// Where each of its requests went: a position in the log of its object.
    posted: Vec<Posted>,
    spawned: u32,
    /// At which depth it was spawned; `NONE` if it exists from the start, or does not exist.
    born: u32,
}

impl Process {
    const ABSENT: Process =
        Process { local: LocalId::ABSENT, posted: Vec::new(), spawned: 0, born: NONE };
}

/// What [`State::undo`] needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    action: Action,
    before: LocalId,
    /// Did it change a cell?
    changed: bool,
}

/// A global state, reached by the execution that it remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    processes: Vec<Process>,
    mailboxes: Vec<Mailbox>,
    mutexes: Vec<Mutex>,
    semaphores: Vec<Semaphore>,
    barriers: Vec<Barrier>,
    /// Per cell its initial content and every content after a change.
    cells: Vec<Vec<ValueId>>,
    trail: Vec<Done>,
}

impl State {
    /// The state before anything has happened, without processes.
    pub(super) fn new(objects: &Objects, values: &mut Values) -> State {
        let cells = objects.cells.iter().map(|(_, value)| vec![values.intern(value.clone())]);
        let semaphores = objects.semaphores.iter().map(|&(_, initial)| Semaphore {
            initial,
            requests: Vec::new(),
            releases: Vec::new(),
        });
        let barriers =
            objects.barriers.iter().map(|&(_, size)| Barrier { size, rounds: Vec::new() });
        State {
            processes: Vec::new(),
            mailboxes: vec![Mailbox::default(); objects.mailboxes.len()],
            mutexes: vec![Mutex::new(); objects.mutexes.len()],
            semaphores: semaphores.collect(),
            barriers: barriers.collect(),
            cells: cells.collect(),
            trail: Vec::new(),
        }
    }

    /// The initial state of a system.
    pub fn initial<S: System>(locals: &mut Locals<'_, S>) -> State {
        let mut state = locals.system().objects().initial_state(&mut locals.values);
        for &local in locals.initial() {
            state.processes.push(Process { local, posted: Vec::new(), spawned: 0, born: NONE });
        }
        state
    }

    /// How many actions led here.
    pub fn depth(&self) -> usize {
        self.trail.len()
    }

    /// The actions that led here.
    pub fn schedule(&self) -> impl ExactSizeIterator<Item = Action> + DoubleEndedIterator {
        self.trail.iter().map(|done| done.action)
    }

    /// The actions that led here, for a replay elsewhere: see [`State::portable_ids`].
    pub fn portable_schedule(&self) -> Vec<Action> {
        let ids = self.portable_ids();
        let rename = |action: Action| Action { process: ids[action.process.index()], ..action };
        self.schedule().map(rename).collect()
    }

    /// What a replay of this execution alone, on fresh [`Locals`], calls each process. An explorer numbers
    /// spawned processes in the order in which it happened to meet them on all its branches; a replay,
    /// in the order in which this one execution spawns them.
    pub fn portable_ids(&self) -> Vec<ProcessId> {
        let mut ids: Vec<_> = (0..self.processes.len() as u32).map(ProcessId).collect();
        let born = |p: &ProcessId| self.processes[p.index()].born;
        let mut spawned: Vec<_> = self.processes().filter(|p| born(p) != NONE).collect();
        spawned.sort_by_key(born);
        let first = self.processes().count() - spawned.len();
        for (index, process) in spawned.into_iter().enumerate() {
            ids[process.index()] = ProcessId((first + index) as u32);
        }
        ids
    }

    /// The process that the last action spawned, if it was a spawn.
    pub fn just_spawned<S: System>(&self, locals: &Locals<'_, S>) -> Option<ProcessId> {
        let last = self.trail.last()?;
        match locals.op(last.before) {
            Some(Op::Spawn(_)) => {
                let parent = last.action.process;
                locals.known_child(parent, self.spawned_count(parent) - 1)
            }
            _ => None,
        }
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

    /// Where the request `handle` of `process` went.
    pub fn posted(&self, process: ProcessId, handle: Handle) -> Posted {
        self.processes[process.index()].posted[handle.index()]
    }

    /// How many requests `process` has posted: the number of its next handle.
    pub fn posted_count(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].posted.len() as u32
    }

    /// How many processes `process` has spawned.
    pub fn spawned_count(&self, process: ProcessId) -> u32 {
        self.processes[process.index()].spawned
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

    /// The processes that are neither done nor failed. In a terminal state they make it a deadlock.
    pub fn unfinished<S: System>(&self, locals: &Locals<'_, S>) -> impl Iterator<Item = ProcessId> {
        self.processes().filter(|&p| !locals.status(self.local(p)).has_ended())
    }

    /// Executes an enabled action. Amortised O(1), but for patterns at mailboxes.
    pub fn step<S: System>(&mut self, locals: &mut Locals<'_, S>, action: Action) {
        let before = self.local(action.process);
        let (outcome, changed) = self.carry_out(locals, action);
        let after = locals.resume(before, outcome);
        self.settle(Done { action, before, changed }, after);
    }

    /// Executes an enabled action that is known to lead its process to local state `after`.
    pub fn step_into<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
        after: LocalId,
    ) {
        let before = self.local(action.process);
        let (outcome, changed) = self.carry_out(locals, action);
        debug_assert_eq!(locals.resume(before, outcome), after, "{action:?} led elsewhere");
        self.settle(Done { action, before, changed }, after);
    }

    /// The process that acted is in its new local state.
    fn settle(&mut self, done: Done, after: LocalId) {
        self.processes[done.action.process.index()].local = after;
        self.trail.push(done);
    }

    /// The effect on the objects; what the process is told of it, and whether a cell changed.
    fn carry_out<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        action: Action,
    ) -> (Outcome, bool) {
        let Action { process, choice } = action;
        let Status::At(op) = locals.status(self.local(process)) else {
            panic!("{process:?} has ended and cannot move");
        };
        let mut changed = false;
        let outcome = match *op {
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
                changed = new.is_some();
                self.cells[cell.index()].extend(new);
                outcome
            }
            Op::Choose { lo, .. } => Outcome::Chosen(lo + i64::from(choice.0)),
            Op::Spawn(child) => {
                let nth = self.spawned_count(process);
                self.processes[process.index()].spawned += 1;
                locals.start(child);
                let id = locals.child(process, nth);
                while self.processes.len() <= id.index() {
                    self.processes.push(Process::ABSENT);
                }
                let born = self.trail.len() as u32;
                self.processes[id.index()] = Process { local: child, born, ..Process::ABSENT };
                Outcome::Spawned(id)
            }
        };
        (outcome, changed)
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
        let Done { action: Action { process, .. }, before, changed } =
            self.trail.pop().expect("an action to undo");
        let Status::At(op) = locals.status(before) else {
            panic!("{process:?} moved after it had ended");
        };
        self.processes[process.index()].local = before;
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
                self.barriers[barrier.index()].rounds[round as usize].pop();
            }
            Op::Access(cell, _) => {
                if changed {
                    self.cells[cell.index()].pop();
                }
            }
            Op::Spawn(_) => {
                let nth = &mut self.processes[process.index()].spawned;
                *nth -= 1;
                let child = locals.known_child(process, *nth).expect("a child to undo");
                self.processes[child.index()] = Process::ABSENT;
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

    /// What the last action touched, resolved in this execution.
    ///
    /// # Panics
    /// In an initial state.
    pub fn footprint<S: System>(&self, locals: &Locals<'_, S>) -> Footprint {
        let &Done { action: Action { process, choice }, before, changed } =
            self.trail.last().expect("an action");
        let Status::At(op) = locals.status(before) else {
            panic!("{process:?} moved after it had ended");
        };
        let watched = |comm: &Handle| {
            let (mailbox, end, position, _) = self.communication(process, *comm);
            (mailbox, end, position)
        };
        match op {
            Op::Isend { mailbox, .. } => self.footprint_of_post(*mailbox, End::Send),
            Op::Irecv { mailbox, .. } => self.footprint_of_post(*mailbox, End::Receive),
            Op::WaitAny(comms) | Op::TestAny(comms) => match choice {
                Choice::NOTHING => Footprint::Incomplete(comms.iter().map(watched).collect()),
                Choice(index) => {
                    let (mailbox, end, _, partner) =
                        self.communication(process, comms[index as usize]);
                    let partner = partner.expect("a completed communication has a partner");
                    Footprint::Completed { mailbox, partner_end: end.opposite(), partner }
                }
            },
            Op::AsyncLock(mutex) => Footprint::Lock(*mutex),
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => match choice {
                Choice::NOTHING => Footprint::NotOwned(
                    requests.iter().map(|&r| (r.mutex, self.mutex_request(process, r))).collect(),
                ),
                Choice(index) => {
                    let request = requests[index as usize];
                    let mutex = self.mutex(request.mutex);
                    let by = mutex.granted_by(self.mutex_request(process, request));
                    Footprint::Owned { mutex: request.mutex, by }
                }
            },
            Op::Unlock(request) => {
                let mutex = self.mutex(request.mutex);
                let position = mutex.releases().len() as u32 - 1;
                let new_owner = mutex.owner().filter(|&o| mutex.granted_by(o) == Some(position));
                Footprint::Unlock { mutex: request.mutex, position, new_owner }
            }
            Op::AsyncAcquire(semaphore) => Footprint::Acquire(*semaphore),
            Op::AcquireWait { semaphore, handle } => {
                let request = self.semaphore_request(process, *handle);
                let by = self.semaphore(*semaphore).granted_by(request);
                Footprint::Granted { semaphore: *semaphore, by }
            }
            Op::Release(semaphore) => {
                let position = self.semaphore(*semaphore).releases.len() as u32 - 1;
                Footprint::Release { semaphore: *semaphore, position }
            }
            Op::Arrive { barrier, round } => Footprint::Arrive { barrier: *barrier, round: *round },
            Op::BarrierWait { barrier, round } => {
                Footprint::Pass { barrier: *barrier, round: *round }
            }
            Op::Access(cell, _) if changed => Footprint::Write(*cell),
            Op::Access(cell, _) => Footprint::Read(*cell),
            Op::Choose { .. } | Op::Local => Footprint::Nothing,
            Op::Spawn(_) => {
                let nth = self.spawned_count(process) - 1;
                Footprint::Spawn(locals.known_child(process, nth).expect("a spawned child"))
            }
            Op::Join(target) => Footprint::Join(*target),
        }
    }

    fn footprint_of_post(&self, mailbox: MailboxId, end: End) -> Footprint {
        let partner = self.mailbox(mailbox).posts(end).last().and_then(Post::partner);
        Footprint::Post { mailbox, end, position: self.last_position(mailbox, end), partner }
    }

    fn last_position(&self, mailbox: MailboxId, end: End) -> u32 {
        self.mailbox(mailbox).posts(end).len() as u32 - 1
    }
}
