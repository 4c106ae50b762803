//! Systems built in Rust: objects by name, and processes as lists of steps.
//!
//! A [`Builder`] declares objects and processes and returns typed names for them, so a step cannot
//! confuse a mutex with a mailbox. [`build`](Builder::build) makes code of them, as a text is
//! compiled to code: a step is a function that emits instructions ([`assembly`]).
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

mod assembly;
mod locks;
mod network;
mod steps;

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::program::Program;
use crate::model::{
    Asking, BarrierId, CellId, CollectiveId, CondvarId, Delivery, LatchId, MailboxId, MutexId,
    Object, Objects, RwLockId, SemaphoreId, Value,
};
use assembly::Assembly;
pub use locks::*;
pub use network::*;
pub use steps::*;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($id:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name($id);
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
    /// A declared latch.
    Latch(LatchId);
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
pub struct Variables<'v>(&'v [Value]);

impl std::ops::Index<Variable> for Variables<'_> {
    type Output = i64;

    fn index(&self, variable: Variable) -> &i64 {
        match self.0.get(variable.0) {
            Some(Value::Int(number)) => number,
            _ => &0,
        }
    }
}

/// A value that a process computes: a number, a variable, or a closure over its variables.
#[derive(Clone)]
pub struct Expression(Formula);

#[derive(Clone)]
enum Formula {
    Number(i64),
    Variable(Variable),
    Computed(Arc<dyn Fn(Variables<'_>) -> i64 + Send + Sync>),
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an expression")
    }
}

impl From<i64> for Expression {
    fn from(number: i64) -> Self {
        Expression(Formula::Number(number))
    }
}

impl From<Variable> for Expression {
    fn from(variable: Variable) -> Self {
        Expression(Formula::Variable(variable))
    }
}

impl<F: Fn(Variables<'_>) -> i64 + Send + Sync + 'static> From<F> for Expression {
    fn from(compute: F) -> Self {
        Expression(Formula::Computed(Arc::new(compute)))
    }
}

/// A condition on the variables of a process.
type Condition = Arc<dyn Fn(Variables<'_>) -> bool + Send + Sync>;

/// A step of a process: one or more operations in a row.
#[derive(Clone)]
pub struct Step {
    /// Where it was written.
    place: &'static Location<'static>,
    /// What reports call it.
    name: Cow<'static, str>,
    /// The objects that it names.
    objects: Box<[Object]>,
    /// Emits its code, which may leave values on the stack. If the step has a result, it is on top.
    emit: Arc<dyn Fn(&mut Assembly) + Send + Sync>,
    has_result: bool,
    into: Option<Variable>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.place)
    }
}

impl Step {
    /// A step without a result. Its place in the source is the place of the caller's caller.
    #[track_caller]
    fn new(
        name: impl Into<Cow<'static, str>>,
        objects: impl Into<Box<[Object]>>,
        emit: impl Fn(&mut Assembly) + Send + Sync + 'static,
    ) -> Step {
        Step {
            place: Location::caller(),
            name: name.into(),
            objects: objects.into(),
            emit: Arc::new(emit),
            has_result: false,
            into: None,
        }
    }

    fn with_result(self) -> Step {
        Step { has_result: true, ..self }
    }

    /// Stores the result in a variable. The result is the value that was received, read or chosen;
    /// for a test or a `cas`, whether it succeeded (0 or 1); for an operation on a list, the index
    /// of the complete element, or -1 if none is complete.
    ///
    /// # Panics
    /// If the step has no result.
    pub fn into(self, variable: Variable) -> Step {
        assert!(self.has_result, "{self:?} has no result");
        Step { into: Some(variable), ..self }
    }
}

/// Declares the parts of a system.
#[derive(Default)]
pub struct Builder {
    objects: Objects,
    variables: Vec<String>,
    communications: usize,
    children: usize,
    /// Processes and templates, by the numbers of templates.
    bodies: Vec<Body>,
    /// The number of processes that exist from the start.
    ranks: u32,
    finally: Option<Finally>,
}

/// The steps of a process or of a template.
struct Body {
    name: String,
    steps: Vec<Step>,
    is_daemon: bool,
    /// The index among the processes that exist from the start; `None` for a template.
    rank: Option<u32>,
}

/// A condition on the contents of cells.
type CellCondition = dyn Fn(&dyn Fn(Cell) -> i64) -> bool + Send + Sync;

/// What must hold at the end.
struct Finally {
    place: &'static Location<'static>,
    what: String,
    holds: Arc<CellCondition>,
}

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

    /// Declares a latch that this number of counts opens.
    pub fn latch(&mut self, name: impl Into<String>, counts: u32) -> Latch {
        self.objects.latches.push(name, counts);
        Latch(LatchId(self.objects.latches.len() as u32 - 1))
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
        let Template(body) = self.template(name, steps);
        self.bodies[body].rank = Some(self.ranks);
        self.ranks += 1;
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
        self.process(name, steps);
        self.bodies.last_mut().expect("the process").is_daemon = true;
    }

    /// Adds daemons that [`spawn`] starts.
    pub fn daemon_template(
        &mut self,
        name: impl Into<String>,
        steps: impl IntoIterator<Item = Step>,
    ) -> Template {
        let Template(body) = self.template(name, steps);
        self.bodies[body].is_daemon = true;
        Template(body)
    }

    /// Adds processes that [`spawn`] starts.
    pub fn template(
        &mut self,
        name: impl Into<String>,
        steps: impl IntoIterator<Item = Step>,
    ) -> Template {
        let (name, steps) = (name.into(), steps.into_iter().collect());
        self.bodies.push(Body { name, steps, is_daemon: false, rank: None });
        Template(self.bodies.len() - 1)
    }

    /// States a condition on the cells in every final state in which no process waits. A failure
    /// shows `what`.
    #[track_caller]
    pub fn finally(
        &mut self,
        what: impl Into<String>,
        holds: impl Fn(&dyn Fn(Cell) -> i64) -> bool + Send + Sync + 'static,
    ) {
        let (place, what, holds) = (Location::caller(), what.into(), Arc::new(holds));
        self.finally = Some(Finally { place, what, holds });
    }

    /// Builds the system.
    ///
    /// # Panics
    /// If a mutex (for an array: one of its mutexes) is used both by [`try_lock`] and by a test of
    /// a request, or if a step names a variable or the like of another builder.
    pub fn build(mut self) -> Program {
        let objects = std::mem::take(&mut self.objects);
        let mut assembly = Assembly::new(&self, objects);
        self.bodies.iter().for_each(|body| assembly.body(body));
        if let Some(finally) = self.finally {
            assembly.finally(finally);
        }
        assembly.finish()
    }
}
