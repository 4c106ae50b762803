//! The syntax tree of a random program.

use mazurka::model::{Call, Delivery};

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// How many mailboxes.
    pub mailboxes: usize,
    /// How each of them delivers; those behind the end are ordered.
    pub deliveries: Vec<Delivery>,
    /// So often in a row a poll may be in vain; `None` for the ordinary number.
    pub polls: Option<u8>,
    /// How many mutexes.
    pub mutexes: usize,
    /// How many of them, the last ones, are tried.
    pub tried: usize,
    /// How many reader-writer locks.
    pub rwlocks: usize,
    /// How many condition variables.
    pub condvars: usize,
    /// Initial units.
    pub semaphores: Vec<u32>,
    /// Participants.
    pub barriers: Vec<u32>,
    /// Ranks.
    pub collectives: Vec<u32>,
    /// Initial contents.
    pub cells: Vec<i64>,
    /// The processes that exist from the start.
    pub processes: Vec<Body>,
    /// Those of them that are daemons.
    pub daemons: Vec<usize>,
    /// Are those that are spawned daemons, too?
    pub spawns_daemons: bool,
    /// Templates for `spawn`, each with one parameter, variable 0.
    pub templates: Vec<Body>,
    /// `final`: this cell holds this.
    pub finally: Option<(usize, i64)>,
}

/// What a process does.
pub type Body = Vec<Statement>;

/// A variable of a process, written once; `b` if it holds a bool, `v` for an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// Of type int.
    Int(usize),
    /// Of type bool.
    Bool(usize),
}

/// What a branch or an assertion looks at.
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
    /// Does it hold of `value`?
    pub fn holds(self, value: i64) -> bool {
        match self {
            Comparison::Equals(n) => value == n,
            Comparison::Differs(n) => value != n,
        }
    }
}

/// A statement. Communications are known by the number of the `isend` or `irecv`, in program text
/// order.
#[derive(Clone, Debug)]
#[rustfmt::skip]
#[allow(missing_docs)]
pub enum Statement {
    Isend { comm: usize, mailbox: usize, value: i64, src: Option<i64>, tag: Option<i64> },
    /// At p2p and bag mailboxes only.
    Issend { comm: usize, mailbox: usize, value: i64, src: Option<i64>, tag: Option<i64> },
    Probe { mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Iprobe { mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Mprobe { comm: usize, mailbox: usize, src: Option<i64>, tag: Option<i64>, into: usize },
    Cancel { comm: usize, into: usize },
    /// Enters collective `collective`; what it yields is not used in the text.
    Enter { comm: usize, collective: usize, call: Call, value: i64, synchronizing: bool },
    Irecv { comm: usize, mailbox: usize, src: Option<i64>, tag: Option<i64> },
    Send { mailbox: usize, value: i64 },
    Recv { mailbox: usize, into: usize },
    /// `into` if the communication is a receive.
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
    /// `into` whether it did.
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
