//! The syntax tree of a random program.

use std::fmt;

use mazurka::model::{Call, Delivery, Partners};

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The number of mailboxes.
    pub mailboxes: usize,
    /// The delivery of each mailbox; those beyond the end of the list are ordered.
    pub deliveries: Vec<Delivery>,
    /// The maximum number of consecutive unsuccessful polls; `None` for the default.
    pub polls: Option<u8>,
    /// The number of mutexes.
    pub mutexes: usize,
    /// The number of mutexes that are tried; they are the last ones.
    pub tried: usize,
    /// The number of reader-writer locks.
    pub rwlocks: usize,
    /// The number of condition variables.
    pub condvars: usize,
    /// The initial units of each semaphore.
    pub semaphores: Vec<u32>,
    /// The participants of each barrier.
    pub barriers: Vec<u32>,
    /// The counts of each latch.
    pub latches: Vec<u32>,
    /// The ranks of each collective.
    pub collectives: Vec<u32>,
    /// The initial contents of each cell.
    pub cells: Vec<i64>,
    /// The processes that exist from the start.
    pub processes: Vec<Body>,
    /// The processes among these that are daemons.
    pub daemons: Vec<usize>,
    /// Whether spawned processes are daemons, too.
    pub spawns_daemons: bool,
    /// Templates for `spawn`, each with one parameter, variable 0.
    pub templates: Vec<Body>,
    /// `final`: this cell holds this.
    pub finally: Option<(usize, i64)>,
}

/// The statements of a process.
pub type Body = Vec<Statement>;

/// A variable of a process, written once; `b` if it holds a bool, `v` for an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// Of type int.
    Int(usize),
    /// Of type bool.
    Bool(usize),
}

/// What is sent: a number, or that much more than a variable of the process.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The variable.
    pub more_than: Option<usize>,
    /// The number.
    pub number: i64,
}

impl From<i64> for Sent {
    fn from(number: i64) -> Self {
        Sent { more_than: None, number }
    }
}

/// In C, and in the modelling language.
impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.more_than {
            Some(variable) => write!(f, "v{variable} + {}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// The condition of a branch or an assertion.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// The variable.
    pub of: Variable,
    /// The comparison; bools are compared as 0 and 1.
    pub test: Comparison,
}

/// A comparison.
#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    /// `== n`
    Equals(i64),
    /// `!= n`
    Differs(i64),
}

impl Comparison {
    /// Whether it holds for `value`.
    pub fn holds(self, value: i64) -> bool {
        match self {
            Comparison::Equals(n) => value == n,
            Comparison::Differs(n) => value != n,
        }
    }
}

/// A statement. A communication is identified by the number of its `isend` or `irecv` in the text.
#[derive(Clone, Debug)]
#[rustfmt::skip]
#[allow(missing_docs)]
pub enum Statement {
    Isend { comm: usize, mailbox: usize, value: Sent, src: Option<i64>, tag: Option<i64> },
    /// At p2p and bag mailboxes only.
    Issend { comm: usize, mailbox: usize, value: Sent, src: Option<i64>, tag: Option<i64> },
    Probe { mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Iprobe { mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Mprobe { comm: usize, mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Cancel { comm: usize, into: usize },
    /// Enters collective `collective`. Of the results, only sums for all ranks are used.
    Enter {
        comm: usize, collective: usize, call: Call, value: Sent, synchronizing: bool, partners: Option<Partners>,
    },
    Irecv { comm: usize, mailbox: usize, src: Option<i64>, tag: Option<i64> },
    Send { mailbox: usize, value: i64 },
    Recv { mailbox: usize, into: usize },
    /// `into` gets the value, if the communication is a receive.
    Wait { comm: usize, into: Option<usize> },
    Test { comm: usize, into: usize },
    WaitAny { comms: Vec<usize>, into: usize },
    TestAny { comms: Vec<usize>, into: usize },
    WaitAll { comms: Vec<usize> },
    /// `value(c)`, a violation unless c was seen complete.
    ValueOf { comm: usize, into: usize },
    AsyncLock(usize),
    MutexWait(usize),
    MutexTest { mutex: usize, into: usize },
    MutexWaitAny { mutexes: Vec<usize>, into: usize },
    MutexTestAny { mutexes: Vec<usize>, into: usize },
    /// `into` gets the result.
    TryLock { mutex: usize, into: usize },
    Unlock(usize),
    Lock(usize),
    ReadLock(usize),
    WriteLock(usize),
    RwUnlock(usize),
    CondWait { condvar: usize, mutex: usize },
    NotifyOne(usize),
    NotifyAll(usize),
    AsyncAcquire(usize),
    AcquireWait(usize),
    Acquire(usize),
    Release(usize),
    AsyncBarrier(usize),
    BarrierWait(usize),
    Barrier(usize),
    CountDown(usize),
    LatchWait(usize),
    Read { cell: usize, into: usize },
    Write { cell: usize, value: i64 },
    Cas { cell: usize, old: i64, new: i64, into: usize },
    FetchAdd { cell: usize, addend: i64, into: usize },
    Swap { cell: usize, value: i64, into: usize },
    Choose { lo: i64, hi: i64, into: usize },
    Local,
    Spawn { handle: usize, template: usize, argument: i64 },
    Join { handle: usize },
    Assert(Condition),
    If { condition: Condition, then: Body, otherwise: Body },
}
