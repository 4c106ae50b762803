//! One execution as a chart: who did what when, and what went from one process to another.
//!
//! The execution is replayed on the model alone. After each step the logs of the objects tell what
//! provided the things that it got: the post that a receive is paired with, the unlock that granted
//! a mutex, the release of a unit, the handler that sent a message. An arrow goes from the step
//! that provided something to the step that has it, not to the request.

use std::collections::BTreeMap;

use super::lanes::Lanes;
use super::{Arrow, ArrowKind, End, Hold, Lane, Moment, Pending, SpaceTime, Subject};
use crate::explore::Verdict;
use crate::model::{
    self, Access, Action, BarrierId, CellId, Choice, Completion, CondvarId, Handle, Handled,
    MutexId, Object, Op, Posted, ProcessId, Refusal, Request, RwLockId, Schedule, SemaphoreId,
    Settlement, State, System,
};
use crate::property::{Replay, Standing, Step};
use crate::report::{ViolationReport, plural};

impl SpaceTime {
    /// The chart of an execution; only its last `max_steps` steps if it is longer.
    pub fn of_execution<S: System>(
        subject: Subject,
        system: &S,
        actions: &Schedule,
        max_steps: usize,
    ) -> Result<Self, Refusal> {
        let mut replay = Replay::new(system);
        replay.allow_pending(subject.allow_pending);
        let mut book = Book::default();
        let mut steps = Vec::new();
        for (at, &action) in actions.iter().enumerate() {
            let op = pending(&replay, action.process);
            steps.push(replay.step(action)?);
            book.note(&replay, at, action, &op.expect("a process that moved was at an operation"));
        }
        let lanes = Lanes::of_state(replay.state(), |process| replay.name(process).into());
        replay.look_for_livelock();
        let standing = replay.standing();
        let wrong = ViolationReport::of(&replay, &subject.spec, &standing, &[]);
        let verdict = match &wrong {
            Some(wrong) => wrong.kind.into(),
            None if replay.enabled().is_empty() => Verdict::Ok,
            None => Verdict::Incomplete,
        };
        let cycle = wrong.as_ref().and_then(|wrong| wrong.cycle.as_ref());
        let cycle = cycle.into_iter().flatten().filter_map(|link| lanes.named(&link.process));
        let whole = SpaceTime {
            what: "space-time",
            verdict,
            cycle: cycle.collect(),
            file: wrong
                .as_ref()
                .filter(|wrong| wrong.has_files)
                .map(|wrong| wrong.file.as_str().into()),
            line: wrong.as_ref().and_then(|wrong| wrong.line),
            message: wrong.as_ref().map(|wrong| wrong.message.clone()),
            variables: wrong.map_or(Vec::new(), |wrong| wrong.variables),
            lanes: ends(&replay, &standing, &lanes, &book),
            steps: moments(steps, actions, &lanes),
            pending: left_pending(replay.state(), &lanes),
            holds: book.holds(&replay, &lanes),
            arrows: book.arrows,
            replay: actions.to_string(),
            left_out: Vec::new(),
            subject,
        };
        Ok(whole.cut(actions.len().saturating_sub(max_steps)))
    }

    /// Removes the first steps.
    fn cut(mut self, first: usize) -> Self {
        if first == 0 {
            return self;
        }
        self.steps.drain(..first);
        self.steps.iter_mut().enumerate().for_each(|(id, step)| step.id = id);
        self.arrows.retain(|arrow| arrow.from >= first);
        for arrow in &mut self.arrows {
            (arrow.from, arrow.to) = (arrow.from - first, arrow.to - first);
        }
        for message in &mut self.pending {
            message.from = message.from.and_then(|step| step.checked_sub(first));
        }
        self.holds.retain(|hold| hold.to.is_none_or(|to| to >= first));
        for hold in &mut self.holds {
            hold.from = hold.from.saturating_sub(first);
            hold.to = hold.to.map(|to| to - first);
        }
        for lane in &mut self.lanes {
            lane.started_by = lane.started_by.and_then(|step| step.checked_sub(first));
        }
        let steps = if first == 1 { "step".into() } else { plural(first, "step") };
        self.left_out.push(format!("the first {steps} (--max-events)"));
        self
    }
}

fn pending<S: System>(replay: &Replay<'_, S>, process: ProcessId) -> Option<Op> {
    // A refused action may name a process that does not exist.
    let exists = replay.state().exists(process);
    exists.then(|| replay.locals().op(replay.state().local(process)).cloned()).flatten()
}

fn moments(steps: Vec<Step>, actions: &[Action], lanes: &Lanes) -> Vec<Moment> {
    let moment = |(id, step): (usize, Step)| Moment {
        id,
        lane: lanes.of(actions[id].process),
        label: step.action,
        outcome: step.outcome,
        file: step.file,
        line: step.line,
    };
    steps.into_iter().enumerate().map(moment).collect()
}

/// The messages that nobody has taken, oldest first.
fn left_pending(state: &State, lanes: &Lanes) -> Vec<Pending> {
    let messages = state.inboxes().log().iter().filter(|message| message.is_pending());
    messages.map(|m| Pending { from: m.creator(), lane: lanes.of(m.to) }).collect()
}

/// Every process with its state at the end.
fn ends<S: System>(
    replay: &Replay<'_, S>,
    standing: &Standing,
    lanes: &Lanes,
    book: &Book,
) -> Vec<Lane> {
    let deadlock = match standing {
        Standing::Deadlock(deadlock) => Some(deadlock),
        _ => None,
    };
    let end = |process: ProcessId| {
        let name = replay.name(process);
        let blocked = deadlock.and_then(|d| d.blocked.iter().find(|b| b.process == name));
        if let Some(blocked) = blocked {
            return End::Blocked {
                action: blocked.action.clone(),
                waits_for: blocked.waits_for.clone(),
                helpers: blocked.helpers.iter().filter_map(|name| lanes.named(name)).collect(),
                file: blocked.file.clone(),
                line: blocked.line,
            };
        }
        match replay.locals().status(replay.state().local(process)) {
            model::Status::Done => End::Ended,
            model::Status::Failed(_) => End::Failed,
            model::Status::At(Op::Handle { .. })
                if !replay.state().inboxes().has_pending(process) =>
            {
                End::Idle
            }
            model::Status::At(_) => End::Open,
        }
    };
    let lane = |process: ProcessId| Lane {
        name: replay.name(process).into(),
        started_by: book.spawned.get(&process).copied(),
        end: end(process),
    };
    replay.state().program_processes().map(lane).collect()
}

/// Which step did what so far.
#[derive(Default)]
struct Book {
    arrows: Vec<Arrow>,
    /// By mailbox, end and position.
    posts: BTreeMap<(model::MailboxId, model::End, u32), usize>,
    /// By mutex and position among its releases.
    unlocks: BTreeMap<(MutexId, u32), usize>,
    releases: BTreeMap<(SemaphoreId, u32), usize>,
    /// By condition variable and notification.
    wakes: BTreeMap<(CondvarId, u32), usize>,
    arrivals: BTreeMap<(BarrierId, u32), usize>,
    writes: BTreeMap<CellId, usize>,
    /// How many contents a cell has had, if not only the first.
    count: BTreeMap<CellId, usize>,
    spawned: BTreeMap<ProcessId, usize>,
    last: BTreeMap<ProcessId, usize>,
    /// Whose request owns the mutex or lock since when, and until when.
    owned: BTreeMap<(ProcessId, Object, u32), (usize, Option<usize>)>,
    /// The unlocks of reader-writer locks, by turn and by reader or writer.
    rw_unlocks: BTreeMap<(RwLockId, u32, model::Hold), Vec<usize>>,
}

impl Book {
    /// Notes a step that was taken, and what provided the things that it got.
    fn note<S: System>(&mut self, replay: &Replay<'_, S>, at: usize, action: Action, op: &Op) {
        let (state, Action { process, choice }) = (replay.state(), action);
        if !self.last.contains_key(&process) {
            let spawn = self.spawned.get(&process).copied();
            self.arrow(spawn, at, ArrowKind::Spawn);
        }
        self.last.insert(process, at);
        match op {
            Op::Isend { mailbox, .. } => self.posted(state, at, *mailbox, model::End::Send),
            Op::Irecv { mailbox, .. } => self.posted(state, at, *mailbox, model::End::Receive),
            Op::Deliver => self.delivered(state, at),
            Op::Probe { .. } => {
                let found = state.taken(at);
                let sent = found.map(|send| state.network().sends()[send as usize].at());
                self.arrow_from_other(state, sent, at, ArrowKind::Message);
            }
            Op::WaitAny(comms) | Op::TestAny(comms) if choice != Choice::NOTHING => {
                let comm = comms[choice.0 as usize];
                if state.is_of_network(process, comm) {
                    self.told(state, at, state.posted(process, comm));
                    return;
                }
                let (mailbox, end, _, partner) = state.communication(process, comm);
                if let (model::End::Receive, Some(send)) = (end, partner) {
                    self.received(state, at, mailbox, send);
                }
            }
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests)
                if choice != Choice::NOTHING =>
            {
                let request = requests[choice.0 as usize];
                let position = state.mutex_request(process, request);
                self.owns(state, at, process, (request.mutex, position));
            }
            Op::TryLock(mutex) if state.mutex(*mutex).queue().next() == Some(process) => {
                let position = state.mutex(*mutex).requests().len() as u32 - 1;
                self.owns(state, at, process, (*mutex, position));
            }
            Op::Unlock(request) => self.unlocked(state, at, process, *request),
            Op::RwWait { lock, handle } => self.holds_rwlock(state, at, process, (*lock, *handle)),
            Op::RwUnlock { lock, handle } => {
                let (position, request) = state.rwlock_request(process, *handle);
                let place = (*lock, request.turn, request.hold);
                self.rw_unlocks.entry(place).or_default().push(at);
                if let Some(owned) = self.owned.get_mut(&(process, (*lock).into(), position)) {
                    owned.1 = Some(at);
                }
            }
            Op::Wake { condvar, handle } => {
                let position = state.notification(process, *handle);
                self.wakes.insert((*condvar, position), at);
            }
            Op::AwaitWake { condvar, handle } => {
                let by = state.enrolment(process, *handle).woken_by();
                let wake = by.and_then(|by| self.wakes.get(&(*condvar, by)).copied());
                self.arrow(wake, at, ArrowKind::Handover);
            }
            Op::Release(semaphore) => {
                let position = state.semaphore(*semaphore).releases.len() as u32 - 1;
                self.releases.insert((*semaphore, position), at);
            }
            Op::AcquireWait { semaphore, handle } => {
                let position = state.semaphore_request(process, *handle);
                let release = state.semaphore(*semaphore).granted_by(position);
                let release = release.and_then(|at| self.releases.get(&(*semaphore, at)).copied());
                self.arrow(release, at, ArrowKind::Handover);
            }
            Op::Arrive { barrier, round } => {
                self.arrivals.insert((*barrier, *round), at);
            }
            Op::BarrierWait { barrier, round } => {
                let last = self.arrivals.get(&(*barrier, *round)).copied();
                self.arrow_from_other(state, last, at, ArrowKind::Barrier);
            }
            Op::Access(cell, access) => self.accessed(state, at, *cell, *access),
            Op::Join(target) => {
                let last = self.last.get(target).or_else(|| self.spawned.get(target)).copied();
                self.arrow(last, at, ArrowKind::Join);
            }
            Op::Handle { .. } => {
                if let Handled::Message(message) = choice.handled() {
                    let position = state.inboxes().position(message);
                    let sent = position.and_then(|at| state.inboxes().log()[at as usize].creator());
                    self.arrow(sent, at, ArrowKind::Message);
                }
            }
            _ => {}
        }
        for child in state.just_spawned(replay.locals()) {
            self.spawned.insert(child, at);
        }
    }

    /// A receive was matched, or a rank leaves a collective.
    fn delivered(&mut self, state: &State, at: usize) {
        match state.carried_at(at) {
            Posted::Receive(receive) => {
                let outcome = state.network().receives()[receive as usize].outcome();
                if let Settlement::Matched(send) = outcome {
                    let sent = state.network().sends()[send as usize].at();
                    self.arrow(Some(sent), at, ArrowKind::Message);
                }
            }
            Posted::Entry(entry) => {
                let own = state.collectives().entries()[entry as usize].at();
                let causes = state.collectives().causes(entry).into_iter().flatten();
                let last = causes.map(|cause| cause as usize).filter(|&cause| cause != own).max();
                self.arrow(last, at, ArrowKind::Barrier);
            }
            _ => {}
        }
    }

    /// A process is told that a synchronous send was received.
    fn told(&mut self, state: &State, at: usize, posted: Posted) {
        if let Posted::Sent(send) = posted {
            let sent = &state.network().sends()[send as usize];
            let receive = sent.receive().filter(|_| sent.completion == Completion::Late);
            let receive = receive.map(|receive| &state.network().receives()[receive as usize]);
            let matched = receive.and_then(|receive| receive.matched_at());
            self.arrow(matched, at, ArrowKind::Handover);
        }
    }

    fn arrow(&mut self, from: Option<usize>, to: usize, kind: ArrowKind) {
        self.arrows.extend(from.map(|from| Arrow { from, to, kind }));
    }

    /// The same, unless the process itself provided it.
    fn arrow_from_other(&mut self, state: &State, from: Option<usize>, to: usize, kind: ArrowKind) {
        let other = |&from: &usize| state.action(from).process != state.action(to).process;
        self.arrow(from.filter(other), to, kind);
    }

    /// A post that is paired at once is drawn from the opposite one, until the receive is complete.
    fn posted(&mut self, state: &State, at: usize, mailbox: model::MailboxId, end: model::End) {
        let posts = state.mailbox(mailbox).posts(end);
        self.posts.insert((mailbox, end, posts.len() as u32 - 1), at);
        let partner = posts.last().and_then(|post| post.partner());
        let other = partner.and_then(|p| self.posts.get(&(mailbox, end.opposite(), p)).copied());
        let kind = match end {
            model::End::Send => ArrowKind::Pairing,
            model::End::Receive => ArrowKind::Message,
        };
        self.arrow(other, at, kind);
    }

    /// Notes that the message of this send has arrived. Its only arrow goes here.
    fn received(&mut self, state: &State, at: usize, mailbox: model::MailboxId, send: u32) {
        let sent = self.posts.get(&(mailbox, model::End::Send, send)).copied();
        let receive = state.mailbox(mailbox).sends[send as usize].partner();
        let receive = receive.expect("a received message has a receive");
        let asked = self.posts.get(&(mailbox, model::End::Receive, receive)).copied();
        let (sent, asked) = (sent.expect("it was sent"), asked.expect("it was asked for"));
        let pair = |arrow: &Arrow| [(sent, asked), (asked, sent)].contains(&(arrow.from, arrow.to));
        let is_post = |arrow: &Arrow| matches!(arrow.kind, ArrowKind::Message | ArrowKind::Pairing);
        self.arrows.retain(|arrow| !(pair(arrow) && is_post(arrow)));
        let already = self.arrows.iter().any(|a| a.from == sent && a.kind == ArrowKind::Message);
        self.arrow(Some(sent).filter(|_| !already), at, ArrowKind::Message);
    }

    fn owns(
        &mut self,
        state: &State,
        at: usize,
        process: ProcessId,
        (mutex, position): (MutexId, u32),
    ) {
        self.owned.entry((process, mutex.into(), position)).or_insert((at, None));
        let unlock = state.mutex(mutex).granted_by(position);
        let unlock = unlock.and_then(|at| self.unlocks.get(&(mutex, at)).copied());
        self.arrow_from_other(state, unlock, at, ArrowKind::Handover);
    }

    /// The arrows come from the last unlocks that were waited for: of the writer before, and of the
    /// readers since then.
    fn holds_rwlock(
        &mut self,
        state: &State,
        at: usize,
        process: ProcessId,
        (lock, handle): (RwLockId, Handle),
    ) {
        let (position, request) = state.rwlock_request(process, handle);
        self.owned.entry((process, lock.into(), position)).or_insert((at, None));
        let readers = self.rw_unlocks.get(&(lock, request.turn, model::Hold::Shared)).cloned();
        let readers =
            readers.filter(|_| request.hold == model::Hold::Exclusive).unwrap_or_default();
        let former = request.turn.checked_sub(1).map(|turn| (lock, turn, model::Hold::Exclusive));
        let writer = former.and_then(|place| self.rw_unlocks.get(&place)).cloned();
        let last = match readers.is_empty() {
            true => writer.unwrap_or_default(),
            false => readers,
        };
        for unlock in last {
            self.arrow_from_other(state, Some(unlock), at, ArrowKind::Handover);
        }
    }

    fn unlocked(&mut self, state: &State, at: usize, process: ProcessId, request: Request) {
        let release = state.mutex(request.mutex).releases().len() as u32 - 1;
        self.unlocks.insert((request.mutex, release), at);
        let position = state.mutex_request(process, request);
        if let Some(owned) = self.owned.get_mut(&(process, request.mutex.into(), position)) {
            owned.1 = Some(at);
        }
    }

    /// The arrow for a cell goes from its last change to an access of another process that sees it.
    fn accessed(&mut self, state: &State, at: usize, cell: CellId, access: Access) {
        if !matches!(access, Access::Write(_)) {
            let written = self.writes.get(&cell).copied();
            self.arrow_from_other(state, written, at, ArrowKind::Content);
        }
        let versions = state.versions(cell).len();
        let known = self.versions(cell);
        if versions > known {
            self.writes.insert(cell, at);
            self.count.insert(cell, versions);
        }
    }

    fn versions(&self, cell: CellId) -> usize {
        self.count.get(&cell).copied().unwrap_or(1)
    }

    fn holds<S: System>(&self, replay: &Replay<'_, S>, lanes: &Lanes) -> Vec<Hold> {
        let hold = |(&(process, mutex, _), &(from, to)): (&(ProcessId, Object, u32), &_)| Hold {
            lane: lanes.of(process),
            mutex: replay.locals().name_of(mutex),
            from,
            to,
        };
        self.owned.iter().map(hold).collect()
    }
}
