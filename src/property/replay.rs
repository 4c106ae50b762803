//! An execution repeated on the bare model, told step by step.
//!
//! Nothing here is shared with the explorers but the model itself, so a schedule that replays and ends in
//! the violation it was reported for is evidence that does not rest on the search that found it.

use std::fmt;

use serde::Serialize;

use super::deadlock::{Deadlock, explain_deadlock};
use super::{failure_after, final_failure};
use crate::model::{
    Access, Action, CellId, Choice, End, Envelope, Failure, Handle, LocalId, Locals, MailboxId,
    MutexId, Op, Outcome, ProcessId, Request, SemaphoreId, Site, State, Status, System, ValueId,
};

/// A step of an execution in the program's own terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Who moved.
    pub process: String,
    /// The operation, as the source has it.
    pub action: String,
    /// What came of it, in words; `None` if there is nothing to say.
    pub outcome: Option<String>,
    /// Line of the operation, from 1.
    pub line: Option<u32>,
    /// Column of the operation, from 1.
    pub column: Option<u32>,
    /// Whether the process stopped after this step.
    pub ended: Option<Ending>,
}

/// How a process stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It has run its last statement.
    Done,
    /// It ran into a violation.
    Failed,
}

/// Something that a step changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A variable, or an object with its kind.
    pub what: String,
    /// Before; `None` if it did not exist.
    pub before: Option<String>,
    /// After; `None` if it no longer exists.
    pub after: Option<String>,
}

/// Where an execution has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Something is enabled, and nothing is wrong so far.
    Open,
    /// Every process has ended and nothing is wrong.
    Ended,
    /// Nothing is enabled, and some process is neither done nor failed.
    Deadlock(Deadlock),
    /// An assertion or a run-time error.
    Failed {
        /// Whose; `None` for `final`.
        process: Option<ProcessId>,
        /// What failed.
        failure: Failure,
    },
}

/// Why a schedule cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The step, from 1.
    pub step: usize,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} of the schedule: {}", self.step, self.why)
    }
}

impl std::error::Error for Refusal {}

/// An execution in the making.
pub struct Replay<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    pub(super) state: State,
    /// By process; spawned ones with a number, so that instances of one template differ.
    names: Vec<String>,
}

impl<'s, S: System> Replay<'s, S> {
    /// Nothing has happened yet.
    pub fn new(system: &'s S) -> Self {
        let mut locals = Locals::new(system);
        let state = State::initial(&mut locals);
        let names = state.processes().map(|p| system.process_name(locals.get(state.local(p))));
        let names = names.collect();
        Replay { locals, state, names }
    }

    /// Where the execution stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The local states met so far.
    pub fn locals(&self) -> &Locals<'s, S> {
        &self.locals
    }

    /// The name of a process that exists.
    pub fn name(&self, process: ProcessId) -> &str {
        &self.names[process.index()]
    }

    /// Where the execution stands. If several things are wrong: what the last step ran into comes first,
    /// then a deadlock, then `final`, then what earlier steps ran into.
    pub fn standing(&self) -> Standing {
        if let Some(standing) = self.failure_of_last_step() {
            return standing;
        }
        let (state, locals) = (&self.state, &self.locals);
        if state.is_terminal(locals) {
            match (explain_deadlock(self), self.failure_at_end()) {
                (Some(deadlock), _) => return Standing::Deadlock(deadlock),
                (None, Some(failed)) => return failed,
                (None, None) => {}
            }
        }
        let earlier = state.processes().find_map(|process| self.failure_of(process));
        match earlier {
            Some(failed) => failed,
            None if state.is_terminal(locals) => Standing::Ended,
            None => Standing::Open,
        }
    }

    /// The failure that the last step ran into, or the first one before any step.
    pub fn failure_of_last_step(&self) -> Option<Standing> {
        match self.state.schedule().next_back() {
            Some(last) => self.failure_of(last.process),
            None => self.state.processes().find_map(|process| self.failure_of(process)),
        }
    }

    /// What `final` objects to.
    pub fn failure_at_end(&self) -> Option<Standing> {
        let failure = final_failure(&self.locals, &self.state)?;
        Some(Standing::Failed { process: None, failure })
    }

    fn failure_of(&self, process: ProcessId) -> Option<Standing> {
        let failure = failure_after(&self.locals, &self.state, process)?;
        Some(Standing::Failed { process: Some(process), failure })
    }

    /// The actions that can be taken now.
    pub fn enabled(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.state.enabled(&self.locals, &mut actions);
        actions
    }

    /// Takes an action, if it is enabled.
    pub fn step(&mut self, action: Action) -> Result<Step, Refusal> {
        self.check(action)?;
        Ok(self.take(action))
    }

    /// Takes an action like [`step`](Replay::step), and tells what it changed.
    pub fn step_with_changes(&mut self, action: Action) -> Result<(Step, Vec<Change>), Refusal> {
        self.check(action)?;
        let op = self.pending(action.process).expect("an enabled process").clone();
        let before = self.view(action.process, &op);
        let step = self.take(action);
        let after = self.view(action.process, &op);
        Ok((step, differences(before, after)))
    }

    /// The operation that a process is at, its place and text.
    pub(super) fn site(&self, process: ProcessId) -> Site {
        let op = self.pending(process);
        let site = self.locals.system().site(self.locals.get(self.state.local(process)));
        site.unwrap_or_else(|| Site { line: 0, column: 0, text: op.map_or("", describe).into() })
    }

    pub(super) fn pending(&self, process: ProcessId) -> Option<&Op> {
        match self.state.local(process) {
            LocalId::ABSENT => None,
            local => self.locals.op(local),
        }
    }

    fn take(&mut self, Action { process, choice }: Action) -> Step {
        let site = self.site(process);
        let op = self.pending(process).expect("an enabled process").clone();
        let told = match &op {
            Op::Access(cell, access) => {
                let before = self.state.content(*cell);
                Some(access.apply(before, &mut self.locals.values))
            }
            _ => None,
        };
        self.state.step(&mut self.locals, Action { process, choice });
        self.name_the_new();
        let ended = match self.locals.status(self.state.local(process)) {
            Status::At(_) => None,
            Status::Done => Some(Ending::Done),
            Status::Failed(_) => Some(Ending::Failed),
        };
        Step {
            process: self.name(process).into(),
            action: site.text,
            outcome: match told {
                Some(told) => Some(self.accessed(&op, told)),
                None => self.outcome(process, &op, choice),
            },
            line: (site.line > 0).then_some(site.line),
            column: (site.line > 0).then_some(site.column),
            ended,
        }
    }

    /// Names the processes that exist and have no name yet.
    fn name_the_new(&mut self) {
        for process in (self.names.len()..self.locals.process_count()).map(|p| ProcessId(p as u32))
        {
            let template =
                self.locals.system().process_name(self.locals.get(self.state.local(process)));
            let is_namesake = |name: &&String| {
                name.strip_prefix(&template).is_some_and(|rest| rest.starts_with('#'))
            };
            let number = 1 + self.names.iter().filter(is_namesake).count();
            self.names.push(format!("{template}#{number}"));
        }
    }

    /// Is the action enabled? If not, says why in terms of the program.
    fn check(&self, action: Action) -> Result<(), Refusal> {
        let Action { process, choice } = action;
        let refuse = |why| Err(Refusal { step: self.state.depth() + 1, why });
        if !self.state.exists(process) {
            let last = self.names.len().saturating_sub(1);
            return refuse(format!(
                "there is no process {} here, they are numbered 0 to {last}",
                process.0
            ));
        }
        let name = self.name(process);
        let mut choices = Vec::new();
        self.state.choices(&self.locals, process, |choice| choices.push(choice));
        if choices.contains(&choice) {
            return Ok(());
        }
        if self.pending(process).is_none() {
            return refuse(format!("{name} (process {}) has ended already", process.0));
        }
        let text = self.site(process).text;
        if choices.is_empty() {
            let wait = self.wait(process).map_or(String::new(), |wait| format!(": {}", wait.words));
            return refuse(format!("{name} (process {}) waits at `{text}`{wait}", process.0));
        }
        let possible: Vec<_> = choices.iter().map(|choice| choice.0.to_string()).collect();
        refuse(format!(
            "{name} (process {}) is at `{text}`, where the choice can be {} but not {}",
            process.0,
            possible.join(", "),
            choice.0
        ))
    }

    /// A value in the program's words.
    pub(super) fn value(&self, value: ValueId) -> String {
        self.locals.system().show_value(self.locals.values.get(value))
    }

    /// `" 3"`, or nothing for unit.
    fn content(&self, value: ValueId) -> String {
        if value == ValueId::UNIT { String::new() } else { format!(" {}", self.value(value)) }
    }

    /// What came of an operation of `process` that was just carried out, in words.
    fn outcome(&self, process: ProcessId, op: &Op, choice: Choice) -> Option<String> {
        let state = &self.state;
        let objects = self.locals.system().objects();
        let completed = |comms: &[Handle]| self.completed(process, comms[choice.0 as usize]);
        let owned = |requests: &[Request]| {
            format!("owns {}", self.mutex(requests[choice.0 as usize].mutex))
        };
        Some(match op {
            Op::Isend { mailbox, envelope, value } => {
                let taker = state.mailbox(*mailbox).sends.last().and_then(|post| post.partner());
                let taker = taker.map_or(String::new(), |receive| {
                    let taker = state.mailbox(*mailbox).receives[receive as usize].process;
                    format!("; pairs with a receive of {}", self.name(taker))
                });
                format!("sends{}{}{taker}", self.content(*value), label(*envelope))
            }
            Op::Irecv { mailbox, .. } => {
                let sender =
                    state.mailbox(*mailbox).receives.last().and_then(|post| post.partner());
                sender.map_or("no message yet".into(), |send| {
                    let sender = state.mailbox(*mailbox).sends[send as usize].process;
                    format!("pairs with a send of {}", self.name(sender))
                })
            }
            Op::WaitAny(comms) if comms.len() == 1 => completed(comms),
            Op::WaitAny(comms) => format!("returns index {}: {}", choice.0, completed(comms)),
            Op::TestAny(comms) if choice == Choice::NOTHING => {
                if comms.len() == 1 {
                    "false".into()
                } else {
                    "-1: nothing is complete".into()
                }
            }
            Op::TestAny(comms) if comms.len() == 1 => format!("true: {}", completed(comms)),
            Op::TestAny(comms) => format!("returns index {}: {}", choice.0, completed(comms)),
            Op::AsyncLock(mutex) => self.requested(*mutex),
            Op::MutexWaitAny(requests) if requests.len() == 1 => owned(requests),
            Op::MutexTestAny(requests) if choice == Choice::NOTHING && requests.len() == 1 => {
                let mutex = requests[0].mutex;
                let owner = state.mutex(mutex).queue().next().expect("another owner");
                format!("false: {} is held by {}", self.mutex(mutex), self.name(owner))
            }
            Op::MutexTestAny(_) if choice == Choice::NOTHING => "-1: owns none of them".into(),
            Op::MutexTestAny(requests) if requests.len() == 1 => {
                format!("true: {}", owned(requests))
            }
            Op::MutexWaitAny(requests) | Op::MutexTestAny(requests) => {
                format!("returns index {}: {}", choice.0, owned(requests))
            }
            Op::Unlock(request) => self.unlocked(process, *request),
            Op::AsyncAcquire(semaphore) => {
                let name = &objects.semaphores[semaphore.index()].0;
                let position = state.semaphore(*semaphore).requests.len() as u32 - 1;
                if state.semaphore(*semaphore).is_granted(position) {
                    format!("is granted a unit of {name}")
                } else {
                    format!("queues for a unit of {name}")
                }
            }
            Op::AcquireWait { semaphore, .. } => {
                format!("has a unit of {}", objects.semaphores[semaphore.index()].0)
            }
            Op::Release(semaphore) => self.released(*semaphore),
            Op::Arrive { barrier, round } => {
                let (name, size) = &objects.barriers[barrier.index()];
                let arrived = state.barrier(*barrier).arrived(*round).len();
                format!("{arrived} of {size} have arrived at {name}")
            }
            Op::BarrierWait { barrier, .. } => {
                format!("passes {}", objects.barriers[barrier.index()].0)
            }
            Op::Choose { lo, .. } => format!("chooses {}", lo + i64::from(choice.0)),
            Op::Spawn(_) => {
                let nth = state.spawned_count(process) - 1;
                let child = self.locals.known_child(process, nth).expect("a spawned child");
                format!("starts {}", self.name(child))
            }
            Op::Join(target) => format!("{} has ended", self.name(*target)),
            Op::Local => return None,
            Op::Access(..) => unreachable!("accesses are told by what they did to the cell"),
        })
    }

    fn completed(&self, process: ProcessId, comm: Handle) -> String {
        let (mailbox, end, _, partner) = self.state.communication(process, comm);
        let partner = partner.expect("a completed communication has a partner") as usize;
        let post = &self.state.mailbox(mailbox).posts(end.opposite())[partner];
        match end {
            End::Receive => {
                format!("receives{} from {}", self.content(post.value), self.name(post.process))
            }
            End::Send => format!("received by {}", self.name(post.process)),
        }
    }

    fn accessed(&self, op: &Op, (told, new): (Outcome, Option<ValueId>)) -> String {
        let Op::Access(cell, access) = op else { unreachable!("{op:?} is no access") };
        let name = self.cell(*cell);
        let content = self.value(self.state.content(*cell));
        match (access, told) {
            (_, Outcome::Overflow) => format!("leaves the 64-bit range; {name} stays {content}"),
            (Access::Read, _) => format!("reads {name} = {content}"),
            (Access::Write(_), _) => format!("writes {name} = {content}"),
            (Access::CompareAndSwap { .. }, Outcome::Value(ValueId::FALSE)) => {
                format!("false: {name} is {content}")
            }
            (Access::CompareAndSwap { .. }, _) => format!("true: {name} = {content}"),
            (Access::FetchAdd(_) | Access::Swap(_), Outcome::Value(old)) if new.is_some() => {
                format!("{name} goes from {} to {content}", self.value(old))
            }
            (Access::FetchAdd(_) | Access::Swap(_), _) => format!("{name} stays {content}"),
        }
    }

    fn requested(&self, mutex: MutexId) -> String {
        let name = self.mutex(mutex);
        let queue: Vec<_> = self.state.mutex(mutex).queue().collect();
        match queue.as_slice() {
            [_] => format!("gets {name}"),
            [owner, .., _] => format!("queues for {name}, held by {}", self.name(*owner)),
            [] => unreachable!("a request was just made"),
        }
    }

    fn unlocked(&self, process: ProcessId, request: Request) -> String {
        let name = self.mutex(request.mutex);
        if !self.state.owns(process, request) {
            return format!("takes back its request for {name}");
        }
        match self.state.mutex(request.mutex).queue().next() {
            Some(next) => format!("releases {name}, now held by {}", self.name(next)),
            None => format!("releases {name}"),
        }
    }

    fn released(&self, semaphore: SemaphoreId) -> String {
        let name = &self.locals.system().objects().semaphores[semaphore.index()].0;
        let semaphore = self.state.semaphore(semaphore);
        let granted = semaphore.initial as usize + semaphore.releases.len() - 1;
        match semaphore.requests.get(granted) {
            Some(&next) => format!("releases a unit of {name} to {}", self.name(next)),
            None => format!("releases a unit of {name}"),
        }
    }

    pub(super) fn mailbox(&self, mailbox: MailboxId) -> &str {
        &self.locals.system().objects().mailboxes[mailbox.index()]
    }

    pub(super) fn mutex(&self, mutex: MutexId) -> &str {
        &self.locals.system().objects().mutexes[mutex.index()]
    }

    fn cell(&self, cell: CellId) -> &str {
        &self.locals.system().objects().cells[cell.index()].0
    }

    /// The variables of `process` and the objects that `op` may change.
    fn view(&self, process: ProcessId, op: &Op) -> Vec<(String, String)> {
        let local = self.state.local(process);
        let mut view = self.locals.system().variables(self.locals.get(local));
        let objects = self.locals.system().objects();
        match op {
            Op::Isend { mailbox, .. } | Op::Irecv { mailbox, .. } => {
                let name = self.mailbox(*mailbox);
                view.push((format!("messages at {name}"), self.pending_at(*mailbox, End::Send)));
                view.push((format!("receives at {name}"), self.pending_at(*mailbox, End::Receive)));
            }
            Op::AsyncLock(mutex) | Op::Unlock(Request { mutex, .. }) => {
                let queue: Vec<_> =
                    self.state.mutex(*mutex).queue().map(|p| self.name(p)).collect();
                let queue = if queue.is_empty() { "free".into() } else { queue.join(", ") };
                view.push((format!("queue of {}", self.mutex(*mutex)), queue));
            }
            Op::AsyncAcquire(semaphore) | Op::Release(semaphore) => {
                let name = &objects.semaphores[semaphore.index()].0;
                view.push((format!("semaphore {name}"), self.units(*semaphore)));
            }
            Op::Arrive { barrier, round } => {
                let arrived = self.state.barrier(*barrier).arrived(*round);
                let arrived: Vec<_> = arrived.iter().map(|&p| self.name(p)).collect();
                let arrived = if arrived.is_empty() { "nobody".into() } else { arrived.join(", ") };
                let name = &objects.barriers[barrier.index()].0;
                view.push((format!("arrived at {name} (round {})", round + 1), arrived));
            }
            Op::Access(cell, _) => {
                view.push((self.cell(*cell).into(), self.value(self.state.content(*cell))));
            }
            Op::WaitAny(_)
            | Op::TestAny(_)
            | Op::MutexWaitAny(_)
            | Op::MutexTestAny(_)
            | Op::AcquireWait { .. }
            | Op::BarrierWait { .. }
            | Op::Choose { .. }
            | Op::Local
            | Op::Spawn(_)
            | Op::Join(_) => {}
        }
        view
    }

    /// The posts at an end of a mailbox that have no partner.
    fn pending_at(&self, mailbox: MailboxId, end: End) -> String {
        let posts = self.state.mailbox(mailbox).posts(end);
        let pending = posts.iter().filter(|post| post.partner().is_none()).map(|post| {
            let name = self.name(post.process);
            let label = label(post.envelope);
            match end {
                End::Send if post.value == ValueId::UNIT => format!("one of {name}{label}"),
                End::Send => format!("{} of {name}{label}", self.value(post.value)),
                End::Receive => format!("{name}{label}"),
            }
        });
        let pending: Vec<_> = pending.collect();
        if pending.is_empty() { "none".into() } else { pending.join(", ") }
    }

    fn units(&self, semaphore: SemaphoreId) -> String {
        let semaphore = self.state.semaphore(semaphore);
        let units = semaphore.initial as usize + semaphore.releases.len();
        match semaphore.requests.get(units..) {
            Some(waiting) if !waiting.is_empty() => {
                let waiting: Vec<_> = waiting.iter().map(|&p| self.name(p)).collect();
                format!("0 free, queue: {}", waiting.join(", "))
            }
            _ => format!("{} free", units - semaphore.requests.len()),
        }
    }
}

/// `" with tag 3 from source 1"`, as far as an envelope or a pattern says so.
pub(super) fn label(envelope: Envelope) -> String {
    let tag = envelope.tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
    let src = envelope.src.map_or(String::new(), |src| format!(" from source {src}"));
    tag + &src
}

/// A text for operations of systems without a source.
fn describe(op: &Op) -> &'static str {
    match op {
        Op::Isend { .. } => "isend",
        Op::Irecv { .. } => "irecv",
        Op::WaitAny(_) => "wait",
        Op::TestAny(_) => "test",
        Op::AsyncLock(_) => "async_lock",
        Op::MutexWaitAny(_) => "mutex_wait",
        Op::MutexTestAny(_) => "mutex_test",
        Op::Unlock(_) => "unlock",
        Op::AsyncAcquire(_) => "async_acquire",
        Op::AcquireWait { .. } => "acquire_wait",
        Op::Release(_) => "release",
        Op::Arrive { .. } => "async_barrier",
        Op::BarrierWait { .. } => "barrier_wait",
        Op::Access(_, Access::Read) => "read",
        Op::Access(_, Access::Write(_)) => "write",
        Op::Access(_, Access::CompareAndSwap { .. }) => "cas",
        Op::Access(_, Access::FetchAdd(_)) => "fetch_add",
        Op::Access(_, Access::Swap(_)) => "swap",
        Op::Choose { .. } => "choose",
        Op::Local => "local",
        Op::Spawn(_) => "spawn",
        Op::Join(_) => "join",
    }
}

/// What differs between two views of one thing, in the order of the later one.
fn differences(before: Vec<(String, String)>, after: Vec<(String, String)>) -> Vec<Change> {
    let find = |view: &[(String, String)], what: &str| {
        view.iter().find(|(name, _)| name == what).map(|(_, content)| content.clone())
    };
    let appeared = after.iter().map(|(what, content)| Change {
        what: what.clone(),
        before: find(&before, what),
        after: Some(content.clone()),
    });
    let vanished = before.iter().filter(|(what, _)| find(&after, what).is_none());
    let vanished = vanished.map(|(what, content)| Change {
        what: what.clone(),
        before: Some(content.clone()),
        after: None,
    });
    appeared.chain(vanished).filter(|change| change.before != change.after).collect()
}
