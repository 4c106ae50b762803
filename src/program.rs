//! Programs of async closures: each of them is a process.
//!
//! ```
//! use mazurka::program::Program;
//!
//! let mut program = Program::new();
//! let inbox = program.mailbox("inbox");
//! for i in 0..3 {
//!     program.process(format!("sender {i}"), async move || inbox.send(i).await);
//! }
//! program.process("receiver", async move || {
//!     let mut sum = 0;
//!     for _ in 0..3 {
//!         sum += inbox.recv().await;
//!     }
//!     assert_eq!(sum, 3);
//! });
//! mazurka::check(&program.build()).assert_ok();
//! ```
//!
//! A process may do what Rust can do. It awaits operations on the objects of its program, and no
//! other futures. Panics inside it, `assert!` included, are violations. If there is a violation or
//! a deadlock, [`assert_ok`](crate::check::Check::assert_ok) panics with the execution that leads
//! to it: which process did what, in which line.
//!
//! Handles of objects can be copied into as many closures as use them. Values that are sent, stored
//! and guarded may be of any type that is [`Data`], which handles are, too. A process makes objects
//! of its own with [`Mailbox::new`] and the like. Reports call such an object after its maker:
//! `reply of client 1`. An object is for the program that has declared or made it. To use it in
//! another program is a violation.
//!
//! # What is not seen
//!
//! Data that closures share in another way (an `Arc<Mutex<_>>` of the standard library, an atomic,
//! a `static`) is not an object of the program. It is not part of the verification, and each run of
//! a closure finds what earlier runs have left there. So whatever depends on such data is
//! accidental. Where that shows, it is a violation: a closure that asks for another operation, or a
//! [`finally`](Program::finally) with another verdict, when it is run again. Debug builds check
//! this: they run closures again later, and `finally` after them. Data that all runs leave
//! unchanged, or that changes no operation that is asked for, is not noticed. If a lock of the
//! standard library is held across an `await`, the next process that wants the lock hangs.
//!
//! # Determinism
//!
//! A closure is run alone, once for each distinct history of outcomes, and not once for each
//! execution ([`history`](crate::systems::history)). So after the same outcomes it must ask for the
//! same operation. It must not look at clocks, random numbers, the order of a `HashMap`, or
//! anything that outlives a run. If it does, that is found wherever the closure is run again, and
//! is a violation with both requests; each is run twice at least. Use [`choose`] for a value that
//! may vary.
//! What a process prints with `println!` is printed whenever it is run; what it prints with
//! [`print()`] is shown with the counterexample.
//!
//! # Processes that compute for ever
//!
//! A process that does not await an operation for 10 seconds ([`Program::step_timeout`]) hangs.
//! [`check`](fn@crate::check) reports this as a violation, with the operation after which it
//! happens. A thread cannot be ended from outside. So the thread of this process goes on until the
//! program ends, and the search is done once more. Code that calls
//! [`explore`](fn@crate::explore::explore) directly has to do it within
//! [`System::attempt`](crate::model::System::attempt).
//!
//! # Loops that wait
//!
//! Two states of a closure cannot be compared. So a loop such as `while flag.read().await == 0 {}`
//! is known by what it asks and is told: when two rounds were the same, and only looked, 100 rounds
//! more are tried. If the loop gives up in one of them, it is followed to its end. If not, the
//! process is taken to wait there until something changes, and the verdict says that it rests on
//! this. What a process counts in further rounds is not explored. So it must not depend on how long
//! it has waited. Before a livelock is reported, its loops are tried for 10,000 rounds. A round
//! that locks a mutex or sends something changes something.
//!
//! A loop that tests a request at a p2p or bag mailbox waits after [`Program::max_polls`]
//! unsuccessful tests, and the search is not complete. Await the request instead.
//!
//! # Programs that run for ever
//!
//! A process that may wait for ever, such as a server, is a [`daemon`](Program::daemon). A process
//! that acts for ever, and changes something each time, makes executions that never end. They are
//! cut, and the program is not verified: [`check`](fn@crate::check) explores all executions up to a
//! depth, as deep as it can within 2,000 of them, and says how deep that was. So what is wrong
//! within a few steps is found.
//!
//! # What is missing
//!
//! - Other futures, such as timers of tokio, and `join!` and `select!` on several operations: a
//!   process does one operation after the other. To await them is a violation. [`wait_any`] waits
//!   for one of several requests.
//! - Panics as violations where the profile says `panic = "abort"`: there they end the test.
//! - Tests of requests for mutexes.
//!
//! | item | meaning |
//! |---|---|
//! | [`Program`] | objects and processes, to be built |
//! | [`Mailbox`], [`Request`], [`wait_any`] | messages |
//! | [`Channel`] | messages with room for some, which can be closed, and picked out |
//! | [`Mutex`], [`RwLock`], [`Condvar`] | locks with what they guard |
//! | [`Cell`], [`Semaphore`], [`Barrier`], [`Latch`] | other shared objects |
//! | [`Collective`], [`Rank`] | broadcasts, reductions and the like |
//! | [`spawn`], [`spawn_daemon`], [`Child`], [`choose`], [`print()`] | operations without an object |
//! | [`End`], [`State`] | what `finally` can read when all processes have ended; what an invariant can read in every state |

mod channels;
mod collectives;
mod data;
mod handle;
mod invariants;
mod locks;
mod mailboxes;
mod making;
pub(crate) mod panics;
mod process;
mod runner;
mod shared;
mod spawning;
mod text;
mod updates;

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use channels::Channel;
pub use collectives::{Collective, Rank};
pub use data::Data;
pub use invariants::State;
pub use locks::{Condvar, Guard, Mutex, ReadGuard, RwLock, WriteGuard};
pub use mailboxes::{Mailbox, Request, wait_any};
pub use runner::Closures;
pub use shared::{Barrier, Bits, Cell, Latch, Semaphore};
pub use spawning::{Child, choose, print, spawn, spawn_daemon};
pub use updates::Integer;

use crate::model::{
    Asking, BarrierId, CellId, CollectiveId, CondvarId, Contents, Delivery, LatchId, MailboxId,
    MutexId, Objects, Polls, RwLockId, SemaphoreId, Value,
};
use crate::systems::history::{History, Judge};
use channels::Buffer;
use data::{is_unit, pack, unpack};
use handle::{Named, lasting};
use invariants::{All, Invariant};
use locks::Content;
use making::Making;
use spawning::Start;

/// How long a process may compute, unless [`Program::step_timeout`] says otherwise.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);

/// A program to be built: its objects and its processes.
pub struct Program {
    making: Arc<Making>,
    objects: Objects,
    processes: Vec<Start>,
    finally: Option<Box<Judge>>,
    invariants: Vec<Invariant>,
    step_timeout: Option<Duration>,
}

impl Default for Program {
    fn default() -> Program {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let making = Arc::new(Making::new(NUMBER.fetch_add(1, Ordering::Relaxed)));
        Program {
            making,
            objects: Objects::default(),
            processes: Vec::new(),
            finally: None,
            invariants: Vec::new(),
            step_timeout: None,
        }
    }
}

impl Program {
    /// A program without processes.
    pub fn new() -> Program {
        Program::default()
    }

    /// A handle of the object of this program that is declared next, and has this number.
    fn named<I>(&self, name: &str, id: I) -> Named<I> {
        Named { id, program: self.making.program, name: lasting(name) }
    }

    /// A mailbox. Messages are received in the order in which they were sent, also those of
    /// different senders.
    pub fn mailbox<T: Data>(&mut self, name: impl Into<String>) -> Mailbox<T> {
        self.mailbox_with(name, Delivery::Ordered)
    }

    /// A mailbox. The messages of one sender are received in their order, and messages of different
    /// senders in any order, as in MPI. One process receives there.
    pub fn p2p_mailbox<T: Data>(&mut self, name: impl Into<String>) -> Mailbox<T> {
        self.mailbox_with(name, Delivery::P2p)
    }

    /// A mailbox. Messages are received in any order. One process receives there.
    pub fn bag_mailbox<T: Data>(&mut self, name: impl Into<String>) -> Mailbox<T> {
        self.mailbox_with(name, Delivery::Bag)
    }

    fn mailbox_with<T: Data>(&mut self, name: impl Into<String>, delivery: Delivery) -> Mailbox<T> {
        let name = name.into();
        let named = self.named(&name, MailboxId(self.objects.mailboxes.len() as u32));
        self.objects.mailboxes.push(name, delivery);
        Mailbox::of(named, delivery)
    }

    /// A channel with room for this number of messages. It can be closed.
    ///
    /// # Panics
    /// If there is no room at all.
    #[track_caller]
    pub fn channel<T: Data>(&mut self, name: impl Into<String>, capacity: usize) -> Channel<T> {
        Channel::of(self.cell(name, Buffer::default()), capacity)
    }

    /// A mutex that guards `content`.
    pub fn mutex<T: Data>(&mut self, name: impl Into<String>, content: T) -> Mutex<T> {
        self.mutex_with(name.into(), content, Asking::Queues)
    }

    /// A mutex that guards `content`, and may be [tried](Mutex::try_lock). A process that tries
    /// observes whether another process has the mutex. So the order of all operations on it
    /// matters, and there are more executions than with an ordinary mutex.
    pub fn tried_mutex<T: Data>(&mut self, name: impl Into<String>, content: T) -> Mutex<T> {
        self.mutex_with(name.into(), content, Asking::Tries)
    }

    fn mutex_with<T: Data>(&mut self, name: String, content: T, asking: Asking) -> Mutex<T> {
        let named = self.named(&name, MutexId(self.objects.mutexes.len() as u32));
        self.objects.mutexes.push(&name, asking);
        Mutex::of(named, asking, self.content(&name, content))
    }

    /// A reader-writer lock that guards `content`.
    pub fn rwlock<T: Data>(&mut self, name: impl Into<String>, content: T) -> RwLock<T> {
        let name = name.into();
        let named = self.named(&name, RwLockId(self.objects.rwlocks.len() as u32));
        self.objects.rwlocks.push(&name, ());
        RwLock::of(named, self.content(&name, content))
    }

    fn content<T: Data>(&mut self, name: &str, content: T) -> Content<T> {
        let cell = (!is_unit::<T>()).then(|| self.cell(name, content).named());
        Content::new(cell)
    }

    /// A condition variable.
    pub fn condvar(&mut self, name: impl Into<String>) -> Condvar {
        let name = name.into();
        let named = self.named(&name, CondvarId(self.objects.condvars.len() as u32));
        self.objects.condvars.push(name, ());
        Condvar(named)
    }

    /// A semaphore with `units` units at the start.
    pub fn semaphore(&mut self, name: impl Into<String>, units: u32) -> Semaphore {
        let name = name.into();
        let named = self.named(&name, SemaphoreId(self.objects.semaphores.len() as u32));
        self.objects.semaphores.push(name, units);
        Semaphore(named)
    }

    /// A latch that this number of counts opens.
    pub fn latch(&mut self, name: impl Into<String>, counts: u32) -> Latch {
        let name = name.into();
        let named = self.named(&name, LatchId(self.objects.latches.len() as u32));
        self.objects.latches.push(name, counts);
        Latch(named)
    }

    /// A barrier for this number of participants.
    pub fn barrier(&mut self, name: impl Into<String>, participants: u32) -> Barrier {
        let name = name.into();
        let named = self.named(&name, BarrierId(self.objects.barriers.len() as u32));
        self.objects.barriers.push(name, participants);
        Barrier(named)
    }

    /// A collective with this number of ranks.
    pub fn collective(&mut self, name: impl Into<String>, ranks: u32) -> Collective {
        let name = name.into();
        let named = self.named(&name, CollectiveId(self.objects.collectives.len() as u32));
        self.objects.collectives.push(name, ranks);
        Collective { named, ranks }
    }

    /// A shared cell with this content.
    pub fn cell<T: Data>(&mut self, name: impl Into<String>, content: T) -> Cell<T> {
        let (name, content) = (name.into(), pack(content));
        if let Some(objection) = self.making.objection(&content) {
            panic!("{objection}");
        }
        let named = self.named(&name, CellId(self.objects.cells.len() as u32));
        self.objects.cells.push(name, content);
        Cell::of(named)
    }

    /// A process that exists from the start.
    #[track_caller]
    pub fn process<F: AsyncFn() + Send + Sync + 'static>(
        &mut self,
        name: impl Into<String>,
        closure: F,
    ) {
        self.start(name.into(), closure, false);
    }

    #[track_caller]
    fn start<F: AsyncFn() + Send + Sync + 'static>(
        &mut self,
        name: String,
        closure: F,
        is_daemon: bool,
    ) {
        let (name, body, place) = (name.into(), process::body(closure), Location::caller());
        let number = self.making.first_process();
        self.processes.push(Start { name, body, place, is_daemon, number });
    }

    /// A process that may wait for ever, such as a server. An execution in which only daemons are
    /// left, and wait, is not a deadlock: it has ended, and [`finally`](Program::finally) is
    /// checked.
    ///
    /// ```
    /// use mazurka::program::Program;
    ///
    /// let mut program = Program::new();
    /// let (requests, replies) = (program.mailbox("requests"), program.mailbox("replies"));
    /// program.daemon("server", async move || {
    ///     loop {
    ///         let number: i64 = requests.recv().await;
    ///         replies.send(number + 1).await;
    ///     }
    /// });
    /// program.process("client", async move || {
    ///     requests.send(1).await;
    ///     assert_eq!(replies.recv().await, 2);
    /// });
    /// mazurka::check(&program.build()).assert_ok();
    /// ```
    #[track_caller]
    pub fn daemon<F: AsyncFn() + Send + Sync + 'static>(
        &mut self,
        name: impl Into<String>,
        closure: F,
    ) {
        self.start(name.into(), closure, true);
    }

    /// A check at the end of each execution, when all processes but [daemons](Program::daemon) have
    /// ended: it may `assert!` what cells and mutexes contain then.
    pub fn finally(&mut self, judge: impl Fn(End<'_>) + Send + Sync + 'static) {
        let program = self.making.program;
        let judged = move |contents: Contents<'_>| {
            panics::guarded(|| judge(End { contents, program })).err()
        };
        self.finally = Some(Box::new(judged));
    }

    /// What must hold in every state: it may `assert!` what cells, mutexes and mailboxes contain.
    /// It must depend on nothing else. The order of all changes of what it reads matters, so there
    /// may be more executions.
    ///
    /// ```should_panic
    /// use mazurka::program::Program;
    ///
    /// let mut program = Program::new();
    /// let (lock, inside) = (program.cell("lock", false), program.cell("inside", 0));
    /// for name in ["A", "B"] {
    ///     program.process(name, async move || {
    ///         while lock.read().await {}
    ///         lock.write(true).await;
    ///         inside.fetch_add(1).await;
    ///         inside.fetch_sub(1).await;
    ///         lock.write(false).await;
    ///     });
    /// }
    /// program.invariant("one at a time", move |state| assert!(state.read(inside) <= 1));
    /// mazurka::check(&program.build()).assert_ok();
    /// ```
    pub fn invariant(
        &mut self,
        name: impl Into<String>,
        judge: impl Fn(State<'_>) + Send + Sync + 'static,
    ) {
        let program = self.making.program;
        self.invariants.push(Invariant::new(name.into(), program, Box::new(judge)));
    }

    /// A process that computes for longer than `time` without awaiting an operation hangs, which is
    /// a violation. The default is 10 seconds.
    pub fn step_timeout(&mut self, time: Duration) {
        self.step_timeout = Some(time);
    }

    /// Maximum number of consecutive unsuccessful tests at p2p or bag mailboxes; then a process
    /// waits for what it tests, and a search is not complete. The default is 2.
    pub fn max_polls(&mut self, polls: u8) {
        self.objects.max_polls = Polls(polls);
    }

    /// The program as a system, to be handed to [`check`](fn@crate::check).
    pub fn build(self) -> History<Closures> {
        let Program { making, mut objects, processes, finally, invariants, step_timeout } = self;
        making.declare(&mut objects);
        let invariants = All::of(invariants, &objects);
        let step_timeout = step_timeout.unwrap_or(STEP_TIMEOUT);
        let closures = Closures::new(objects, processes, finally, step_timeout, making, invariants);
        History::new(closures)
    }
}

/// The end of an execution.
#[derive(Clone, Copy)]
pub struct End<'e> {
    contents: Contents<'e>,
    program: u32,
}

impl End<'_> {
    /// What a cell contains.
    pub fn read<T: Data>(self, cell: Cell<T>) -> T {
        self.content(cell.named())
    }

    /// What a mutex guards.
    pub fn inside<T: Data>(self, mutex: Mutex<T>) -> T {
        self.guarded(mutex.content())
    }

    /// What a reader-writer lock guards.
    pub fn inside_rwlock<T: Data>(self, lock: RwLock<T>) -> T {
        self.guarded(lock.content())
    }

    fn guarded<T: Data>(self, content: Content<T>) -> T {
        match content.cell() {
            Some(cell) => self.content(cell),
            None => unpack(&Value::Unit),
        }
    }

    fn content<T: Data>(self, cell: Named<CellId>) -> T {
        self.expect(cell);
        unpack(&(self.contents)(cell.id))
    }

    fn expect<I>(self, named: Named<I>) {
        let is_own = named.program == self.program;
        assert!(is_own, "{named:?} is an object of another program");
    }
}
