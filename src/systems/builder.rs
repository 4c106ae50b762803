//! Systems built in Rust: objects by name, and processes as lists of steps.
//!
//! A [`Builder`] declares objects and processes and returns typed names for them, so a step cannot
//! confuse a mutex with a mailbox. The [`Script`] that it builds manages the numbers of requests,
//! the rounds of barriers and the like.
//!
//! ```
//! use mazurka::systems::{Builder, Variables, assert_that, recv, send, set};
//!
//! let mut system = Builder::new();
//! let (mailbox, total) = (system.mailbox("m"), system.variable("total"));
//! let received = system.variable("received");
//! system.process("Sender", [send(mailbox, 2), send(mailbox, 3)]);
//! system.process("Receiver", [
//!     recv(mailbox).into(received),
//!     set(total, received),
//!     recv(mailbox).into(received),
//!     set(total, move |v: Variables<'_>| v[total] + v[received]),
//!     assert_that("the sum", move |v| v[total] == 5),
//! ]);
//! mazurka::check(&system.build()).assert_ok();
//! ```
//!
//! Each process has its own variables: 64-bit integers that start at 0. A value computed from them
//! is a closure, which must be a function: equal variables give equal results. Steps know the line
//! of Rust source in which they were written, and a counterexample shows it.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::instruction::{Access, Code, Form, Instruction};
use super::script::Script;
use crate::model::{
    Asking, BarrierId, CellId, CollectiveId, Completion, CondvarId, Contents, Delivery, Envelope,
    Failure, FailureKind, MailboxId, MutexId, Objects, Op, RwLockId, SemaphoreId, Site, Value,
};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($id:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(super) $id);
    )*};
}
names! {
    /// A declared mailbox.
    Mailbox(MailboxId);
    /// A declared mutex.
    Mutex(MutexId);
    /// A declared reader-writer lock.
    RwLock(RwLockId);
    /// A declared condition variable.
    Condvar(CondvarId);
    /// A declared semaphore.
    Semaphore(SemaphoreId);
    /// A declared barrier.
    Barrier(BarrierId);
    /// A declared collective.
    Collective(CollectiveId);
    /// A declared shared cell, which holds an integer.
    Cell(CellId);
    /// A declared variable, of which every process has its own copy.
    Variable(usize);
    /// A name for a pending communication. In every process it stands for another one.
    Communication(usize);
    /// A name for a spawned process. In every process it stands for another one.
    Child(usize);
    /// The code of processes that are spawned.
    Template(usize);
}

/// The variables of a process: `v[x]` is the value of `x`.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'v>(pub(super) &'v [i64]);

impl std::ops::Index<Variable> for Variables<'_> {
    type Output = i64;

    fn index(&self, variable: Variable) -> &i64 {
        self.0.get(variable.0).unwrap_or(&0)
    }
}

/// A value that a process computes: a number, a variable, or a closure over its variables.
#[derive(Clone)]
pub struct Expression(pub(super) Arc<dyn Fn(Variables<'_>) -> i64 + Send + Sync>);

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an expression")
    }
}

impl From<i64> for Expression {
    fn from(number: i64) -> Self {
        Expression(Arc::new(move |_| number))
    }
}

impl From<Variable> for Expression {
    fn from(variable: Variable) -> Self {
        Expression(Arc::new(move |v| v[variable]))
    }
}

impl<F: Fn(Variables<'_>) -> i64 + Send + Sync + 'static> From<F> for Expression {
    fn from(compute: F) -> Self {
        Expression(Arc::new(compute))
    }
}

/// A step of a process: one or more operations in a row.
#[derive(Clone, Debug)]
pub struct Step {
    pub(super) code: Vec<(Instruction, Option<Arc<Site>>)>,
}

impl Step {
    /// A step of these instructions. Its place in the source is the place of the caller's caller.
    #[track_caller]
    pub(super) fn new(code: impl IntoIterator<Item = Instruction>) -> Step {
        let place = Location::caller();
        let (line, column, text) = (place.line(), place.column(), String::new());
        let site = Arc::new(Site { file: None, line, column, text });
        Step { code: code.into_iter().map(|one| (one, Some(site.clone()))).collect() }
    }

    /// Stores the result in a variable. The result is the value that was received, read or chosen;
    /// for a test or a `cas`, whether it succeeded (0 or 1); for an operation on a list, the index
    /// of the complete element, or -1 if none is complete.
    ///
    /// # Panics
    /// If the step has no result.
    pub fn into(mut self, variable: Variable) -> Step {
        let last = self.code.last_mut().and_then(|(instruction, _)| instruction.result());
        *last.expect("a step that has a result") = Some(variable.0);
        self
    }
}

fn all(steps: impl IntoIterator<Item = Step>) -> Vec<(Instruction, Option<Arc<Site>>)> {
    steps.into_iter().flat_map(|step| step.code).collect()
}

/// Declares the parts of a [`Script`].
#[derive(Default)]
pub struct Builder {
    pub(super) objects: Objects,
    variables: Vec<String>,
    communications: usize,
    children: usize,
    codes: Vec<Code>,
    processes: Vec<usize>,
    finally: Option<Final>,
}

/// Judges terminal states that are not deadlocks.
pub(super) type Final = Arc<dyn Fn(Contents<'_>) -> Option<Failure> + Send + Sync>;

impl Builder {
    /// A builder without declarations.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Declares a mailbox.
    pub fn mailbox(&mut self, name: impl Into<String>) -> Mailbox {
        self.objects.mailboxes.push(name, Delivery::Ordered);
        Mailbox(MailboxId(self.objects.mailboxes.len() as u32 - 1))
    }

    /// Declares mailboxes `name[0]`, `name[1]`, ..
    pub fn mailboxes(&mut self, name: impl Into<String>, count: usize) -> Vec<Mailbox> {
        let first = self.objects.mailboxes.len() as u32;
        self.objects.mailboxes.push_array(name, count as u32, Delivery::Ordered);
        (first..first + count as u32).map(|id| Mailbox(MailboxId(id))).collect()
    }

    /// Declares a mutex.
    pub fn mutex(&mut self, name: impl Into<String>) -> Mutex {
        self.objects.mutexes.push(name, Asking::Queues);
        Mutex(MutexId(self.objects.mutexes.len() as u32 - 1))
    }

    /// Declares mutexes `name[0]`, `name[1]`, ..
    pub fn mutexes(&mut self, name: impl Into<String>, count: usize) -> Vec<Mutex> {
        let first = self.objects.mutexes.len() as u32;
        self.objects.mutexes.push_array(name, count as u32, Asking::Queues);
        (first..first + count as u32).map(|id| Mutex(MutexId(id))).collect()
    }

    /// Declares a reader-writer lock.
    pub fn rwlock(&mut self, name: impl Into<String>) -> RwLock {
        self.objects.rwlocks.push(name, ());
        RwLock(RwLockId(self.objects.rwlocks.len() as u32 - 1))
    }

    /// Declares a condition variable.
    pub fn condvar(&mut self, name: impl Into<String>) -> Condvar {
        self.objects.condvars.push(name, ());
        Condvar(CondvarId(self.objects.condvars.len() as u32 - 1))
    }

    /// Declares a semaphore with this number of units.
    pub fn semaphore(&mut self, name: impl Into<String>, units: u32) -> Semaphore {
        self.objects.semaphores.push(name, units);
        Semaphore(SemaphoreId(self.objects.semaphores.len() as u32 - 1))
    }

    /// Declares a barrier for this number of processes.
    pub fn barrier(&mut self, name: impl Into<String>, processes: u32) -> Barrier {
        self.objects.barriers.push(name, processes);
        Barrier(BarrierId(self.objects.barriers.len() as u32 - 1))
    }

    /// Declares a shared cell with this initial content.
    pub fn cell(&mut self, name: impl Into<String>, content: i64) -> Cell {
        self.objects.cells.push(name, Value::Int(content));
        Cell(CellId(self.objects.cells.len() as u32 - 1))
    }

    /// Declares a variable. Every process has its own copy, which starts at 0.
    pub fn variable(&mut self, name: impl Into<String>) -> Variable {
        self.variables.push(name.into());
        Variable(self.variables.len() - 1)
    }

    /// Declares a name for a communication, which every process uses for its own.
    pub fn communication(&mut self) -> Communication {
        self.communications += 1;
        Communication(self.communications - 1)
    }

    /// Declares a name for a spawned process, which every process uses for its own.
    pub fn child(&mut self) -> Child {
        self.children += 1;
        Child(self.children - 1)
    }

    /// Adds a process that exists from the start.
    pub fn process(&mut self, name: impl Into<String>, steps: impl IntoIterator<Item = Step>) {
        let Template(code) = self.template(name, steps);
        self.processes.push(code);
    }

    /// Adds a process that exists from the start and may wait for ever, such as a server. A final
    /// state in which only daemons are left, and wait, is not a deadlock.
    ///
    /// ```
    /// use mazurka::systems::{Builder, recv, repeat_while, send};
    ///
    /// let mut system = Builder::new();
    /// let mailbox = system.mailbox("m");
    /// system.process("Client", [send(mailbox, 1), send(mailbox, 2)]);
    /// system.daemon("Server", [repeat_while(|_| true, [recv(mailbox)])]);
    /// mazurka::check(&system.build()).assert_ok();
    /// ```
    pub fn daemon(&mut self, name: impl Into<String>, steps: impl IntoIterator<Item = Step>) {
        let Template(code) = self.daemon_template(name, steps);
        self.processes.push(code);
    }

    /// Adds daemons that [`spawn`] starts.
    pub fn daemon_template(
        &mut self,
        name: impl Into<String>,
        steps: impl IntoIterator<Item = Step>,
    ) -> Template {
        let Template(code) = self.template(name, steps);
        self.codes[code].is_daemon = true;
        Template(code)
    }

    /// Adds processes that [`spawn`] starts.
    pub fn template(
        &mut self,
        name: impl Into<String>,
        steps: impl IntoIterator<Item = Step>,
    ) -> Template {
        self.codes.push(Code::new(name.into(), all(steps), &self.objects));
        Template(self.codes.len() - 1)
    }

    /// States a condition on the cells in every final state in which no process waits. A failure
    /// shows `what`.
    pub fn finally(
        &mut self,
        what: impl Into<String>,
        holds: impl Fn(&dyn Fn(Cell) -> i64) -> bool + Send + Sync + 'static,
    ) {
        let what = what.into();
        self.finally = Some(Arc::new(move |contents| {
            let content = |cell: Cell| contents(cell.0).int();
            let message = format!("final: {what}");
            let failure = Failure { kind: FailureKind::Assertion, message, site: None };
            (!holds(&content)).then_some(failure)
        }));
    }

    /// Builds the system.
    ///
    /// # Panics
    /// If a mutex (for an array: one of its mutexes) is used both by [`try_lock`](super::try_lock)
    /// and by a test of a request.
    pub fn build(self) -> Script {
        let Builder { mut objects, variables, codes, processes, finally, .. } = self;
        let instructions = || codes.iter().flat_map(|code| &code.instructions);
        for (instruction, _) in instructions() {
            if let Instruction::TryLock { mutex, .. } = instruction {
                objects.mutexes.restart(mutex.0, Asking::Tries);
            }
        }
        for (instruction, _) in instructions() {
            if let Instruction::Own { mutexes, form: Form::Test | Form::TestAny, .. } = instruction
            {
                for mutex in mutexes {
                    let is_tried = *objects.mutexes.start(mutex.0) == Asking::Tries;
                    let name = || objects.mutexes.name(mutex.0);
                    assert!(!is_tried, "a mutex that is tried cannot be tested: {}", name());
                }
            }
        }
        Script::new(objects, variables, codes, processes, finally)
    }
}

/// Sends a value and waits until it is received.
#[track_caller]
pub fn send(mailbox: Mailbox, value: impl Into<Expression>) -> Step {
    let [post, wait] = Instruction::rendezvous(mailbox.0, Some(value.into()));
    Step::new([post, wait])
}

/// Waits for a message and receives it.
#[track_caller]
pub fn recv(mailbox: Mailbox) -> Step {
    Step::new(Instruction::rendezvous(mailbox.0, None))
}

/// Starts to send a value; the communication continues in the background.
#[track_caller]
pub fn isend(name: Communication, mailbox: Mailbox, value: impl Into<Expression>) -> Step {
    isend_with(name, mailbox, value, Envelope::default())
}

/// Starts to send a value with a source or a tag, like [`isend`].
#[track_caller]
pub fn isend_with(
    name: Communication,
    mailbox: Mailbox,
    value: impl Into<Expression>,
    envelope: Envelope,
) -> Step {
    let (comm, value) = (Some(name.0), Some(value.into()));
    let completion = Completion::Early;
    Step::new([Instruction::Post { comm, mailbox: mailbox.0, envelope, value, completion }])
}

/// Starts to receive; the communication continues in the background.
#[track_caller]
pub fn irecv(name: Communication, mailbox: Mailbox) -> Step {
    irecv_with(name, mailbox, Envelope::default())
}

/// Starts to receive a message with this source or tag, like [`irecv`].
#[track_caller]
pub fn irecv_with(name: Communication, mailbox: Mailbox, pattern: Envelope) -> Step {
    let (comm, envelope) = (Some(name.0), pattern);
    let (value, completion) = (None, Completion::Early);
    Step::new([Instruction::Post { comm, mailbox: mailbox.0, envelope, value, completion }])
}

/// Waits for a communication; the result is the value received.
#[track_caller]
pub fn wait(name: Communication) -> Step {
    Step::new([Instruction::Wait { comm: Some(name.0), into: None }])
}

/// Tests whether a communication is complete. The result is 0 or 1.
#[track_caller]
pub fn test(name: Communication) -> Step {
    Step::new([Instruction::Test { comm: name.0, into: None }])
}

/// Waits for one of several communications; the result is its index in the list.
#[track_caller]
pub fn wait_any(names: &[Communication]) -> Step {
    let comms = names.iter().map(|name| name.0).collect();
    Step::new([Instruction::CompleteAny { comms, is_test: false, into: None }])
}

/// Tests whether one of several communications is complete. The result is its index in the list, or
/// -1.
#[track_caller]
pub fn test_any(names: &[Communication]) -> Step {
    let comms = names.iter().map(|name| name.0).collect();
    Step::new([Instruction::CompleteAny { comms, is_test: true, into: None }])
}

/// The value that a communication has received. The process must have observed its completion.
#[track_caller]
pub fn value_of(name: Communication) -> Step {
    Step::new([Instruction::ValueOf { comm: name.0, into: None }])
}

/// Acquires a unit of a semaphore: requests it and waits.
#[track_caller]
pub fn acquire(semaphore: Semaphore) -> Step {
    Step::new([Instruction::Acquire(semaphore.0), Instruction::AcquireWait(semaphore.0)])
}

/// Requests a unit of a semaphore, without waiting.
#[track_caller]
pub fn async_acquire(semaphore: Semaphore) -> Step {
    Step::new([Instruction::Acquire(semaphore.0)])
}

/// Waits for the unit that was requested last.
#[track_caller]
pub fn acquire_wait(semaphore: Semaphore) -> Step {
    Step::new([Instruction::AcquireWait(semaphore.0)])
}

/// Releases a unit of a semaphore.
#[track_caller]
pub fn release(semaphore: Semaphore) -> Step {
    Step::new([Instruction::Release(semaphore.0)])
}

/// Arrives at a barrier and waits until all have arrived.
#[track_caller]
pub fn barrier(barrier: Barrier) -> Step {
    Step::new([Instruction::Arrive(barrier.0), Instruction::Pass(barrier.0)])
}

/// Arrives at a barrier, without waiting.
#[track_caller]
pub fn arrive(barrier: Barrier) -> Step {
    Step::new([Instruction::Arrive(barrier.0)])
}

/// Waits for the round of a barrier in which this process arrived last.
#[track_caller]
pub fn barrier_wait(barrier: Barrier) -> Step {
    Step::new([Instruction::Pass(barrier.0)])
}

/// Reads a cell.
#[track_caller]
pub fn read(cell: Cell) -> Step {
    Step::new([Instruction::access(cell.0, Access::Read)])
}

/// Writes a cell.
#[track_caller]
pub fn write(cell: Cell, value: impl Into<Expression>) -> Step {
    Step::new([Instruction::access(cell.0, Access::Write(value.into()))])
}

/// Writes `new` if the cell contains `old`; the result is whether it did (0 or 1).
#[track_caller]
pub fn cas(cell: Cell, old: impl Into<Expression>, new: impl Into<Expression>) -> Step {
    let (old, new) = (old.into(), new.into());
    Step::new([Instruction::access(cell.0, Access::CompareAndSwap(old, new))])
}

/// Adds to a cell; the result is its previous content.
#[track_caller]
pub fn fetch_add(cell: Cell, addend: impl Into<Expression>) -> Step {
    Step::new([Instruction::access(cell.0, Access::FetchAdd(addend.into()))])
}

/// Writes a cell; the result is its previous content.
#[track_caller]
pub fn swap(cell: Cell, value: impl Into<Expression>) -> Step {
    Step::new([Instruction::access(cell.0, Access::Swap(value.into()))])
}

/// Chooses a number. The search tries every number of the range.
#[track_caller]
pub fn choose(range: std::ops::Range<i64>) -> Step {
    let (lo, hi) = (range.start, range.end);
    assert!(lo < hi && hi - lo <= i64::from(i32::MAX), "choose from {lo}..{hi}");
    Step::new([Instruction::Choose { lo, hi, into: None }])
}

/// A visible step without effect.
#[track_caller]
pub fn local() -> Step {
    Step::new([Instruction::Plain(Op::Local, "local")])
}

/// Spawns a process; `argument` is the initial value of its first variable.
#[track_caller]
pub fn spawn(name: Child, template: Template, argument: impl Into<Expression>) -> Step {
    let (child, code, argument) = (name.0, template.0, argument.into());
    Step::new([Instruction::Spawn { child, code, argument }])
}

/// Waits until a process has ended.
#[track_caller]
pub fn join(name: Child) -> Step {
    Step::new([Instruction::Join(name.0)])
}

/// Sets a variable. Other processes cannot see this step.
#[track_caller]
pub fn set(variable: Variable, value: impl Into<Expression>) -> Step {
    Step::new([Instruction::Set(variable.0, value.into())])
}

/// Fails unless the condition holds. The failure shows `what`.
#[track_caller]
pub fn assert_that(
    what: impl Into<String>,
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
) -> Step {
    Step::new([Instruction::Assert(what.into().into(), condition(holds))])
}

/// Runs the first steps if the condition holds, otherwise the second ones.
#[track_caller]
pub fn branch(
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
    then: impl IntoIterator<Item = Step>,
    otherwise: impl IntoIterator<Item = Step>,
) -> Step {
    let (then, otherwise) = (all(then), all(otherwise));
    let mut step = Step::new([Instruction::Unless(condition(holds), then.len() as i32 + 2)]);
    let over = Step::new([Instruction::Jump(otherwise.len() as i32 + 1)]);
    step.code.extend(then.into_iter().chain(over.code).chain(otherwise));
    step
}

/// Repeats steps while the condition holds.
#[track_caller]
pub fn repeat_while(
    holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static,
    steps: impl IntoIterator<Item = Step>,
) -> Step {
    let body = all(steps);
    let length = body.len() as i32;
    let mut step = Step::new([Instruction::Unless(condition(holds), length + 2)]);
    let back = Step::new([Instruction::Jump(-length - 1)]);
    step.code.extend(body.into_iter().chain(back.code));
    step
}

fn condition(holds: impl Fn(Variables<'_>) -> bool + Send + Sync + 'static) -> Expression {
    Expression(Arc::new(move |v| i64::from(holds(v))))
}
