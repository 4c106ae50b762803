//! The instructions of a process of a [`Script`](super::Script), and their texts for people.

use std::sync::Arc;

use super::builder::Expression;
use crate::model::{
    Asking, BarrierId, Call, CellId, CollectiveId, Completion, CondvarId, End, Envelope, Hold,
    MailboxId, May, MutexId, Objects, Op, Part, Probing, RwLockId, SemaphoreId, Site, Touch,
};

/// The variable in which a result is stored, if there is one.
pub(super) type Kept = Option<usize>;

/// An operation, or a computation between two operations.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// An `isend` if there is a value, otherwise an `irecv`. `comm` is the name of the
    /// communication; without a name it is the latest one.
    Post {
        comm: Option<usize>,
        mailbox: MailboxId,
        envelope: Envelope,
        value: Option<Expression>,
        /// At a p2p or bag mailbox: when the send is complete.
        completion: Completion,
    },
    /// `comm` is the name for a message that a probe takes. `into` stores the source.
    Probe {
        comm: usize,
        mailbox: MailboxId,
        pattern: Envelope,
        form: Probing,
        into: Kept,
    },
    /// `comm` is the name of the communication; without a name it is the latest one.
    Enter {
        comm: Option<usize>,
        collective: CollectiveId,
        call: Call,
        value: Expression,
        completion: Completion,
    },
    Cancel(usize),
    CancelOutcome {
        comm: usize,
        into: Kept,
    },
    Wait {
        comm: Option<usize>,
        into: Kept,
    },
    Test {
        comm: usize,
        into: Kept,
    },
    CompleteAny {
        comms: Box<[usize]>,
        is_test: bool,
        into: Kept,
    },
    ValueOf {
        comm: usize,
        into: Kept,
    },
    Lock(MutexId),
    TryLock {
        mutex: MutexId,
        into: Kept,
    },
    Own {
        mutexes: Box<[MutexId]>,
        form: Form,
        into: Kept,
    },
    Unlock(MutexId),
    RwRequest(RwLockId, Hold),
    RwWait(RwLockId),
    RwUnlock(RwLockId),
    Enrol(CondvarId, MutexId),
    AwaitWake(CondvarId),
    Notify {
        condvar: CondvarId,
        all: bool,
    },
    Wake(CondvarId),
    Acquire(SemaphoreId),
    AcquireWait(SemaphoreId),
    Release(SemaphoreId),
    Arrive(BarrierId),
    Pass(BarrierId),
    Access {
        cell: CellId,
        access: Access,
        into: Kept,
    },
    Choose {
        lo: i64,
        hi: i64,
        into: Kept,
    },
    /// An operation as it is, with the name of its step. It has no result, and takes no place in a
    /// lane.
    Plain(Op, &'static str),
    Spawn {
        child: usize,
        code: usize,
        argument: Expression,
    },
    Join(usize),
    Set(usize, Expression),
    Assert(Arc<str>, Expression),
    /// Jumps by this distance unless the condition holds (is not 0).
    Unless(Expression, i32),
    Jump(i32),
}

/// A way to ask whether the process owns a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Wait,
    Test,
    WaitAny,
    TestAny,
}

/// An access to a cell.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Read,
    Write(Expression),
    CompareAndSwap(Expression, Expression),
    FetchAdd(Expression),
    Swap(Expression),
}

impl Instruction {
    /// A post without a name, and the wait for it.
    pub(super) fn rendezvous(mailbox: MailboxId, value: Option<Expression>) -> [Instruction; 2] {
        let (comm, envelope) = (None, Envelope::default());
        [
            Instruction::Post { comm, mailbox, envelope, value, completion: Completion::Early },
            Instruction::Wait { comm: None, into: None },
        ]
    }

    pub(super) fn access(cell: CellId, access: Access) -> Instruction {
        Instruction::Access { cell, access, into: None }
    }

    /// Where its result is stored, if it has one.
    pub(super) fn result(&mut self) -> Option<&mut Kept> {
        use Instruction::*;
        match self {
            Access { access: self::Access::Write(_), .. } | Own { form: Form::Wait, .. } => None,
            Probe { into, .. } | CancelOutcome { into, .. } => Some(into),
            Wait { into, .. } | Test { into, .. } | CompleteAny { into, .. } => Some(into),
            ValueOf { into, .. } | Own { into, .. } | Access { into, .. } => Some(into),
            TryLock { into, .. } | Choose { into, .. } => Some(into),
            Cancel(_) | Enter { .. } => None,
            Post { .. } | Lock(_) | Unlock(_) | Acquire(_) | AcquireWait(_) | Release(_) => None,
            Arrive(_) | Pass(_) | Plain(..) | Spawn { .. } | Join(_) | Set(..) | Assert(..) => None,
            Enrol(..) | AwaitWake(_) | Notify { .. } | Wake(_) => None,
            RwRequest(..) | RwWait(_) | RwUnlock(_) | Unless(..) | Jump(_) => None,
        }
    }

    /// Whether the instruction may touch this, wherever it is executed.
    pub(super) fn may_touch(&self, objects: &Objects, Touch { lane, may }: Touch) -> bool {
        use Instruction::*;
        use May::{Add, Change, Look, NotYet, Turn};
        match *self {
            Post { mailbox, ref value, .. } => {
                let end = if value.is_some() { End::Send } else { End::Receive };
                let arrivals = if value.is_some() { mailbox.messages() } else { mailbox.matches() };
                (lane, may) == (mailbox.posts(end), Change)
                    || (lane, may) == (arrivals, Add)
                    || (lane, may) == (mailbox.matches(), Add)
            }
            Probe { mailbox, .. } => (lane, may) == (mailbox.matches(), Add),
            // The mailboxes that these look at depend on what was posted.
            Wait { .. } | Test { .. } | CompleteAny { .. } => match lane.part() {
                Part::Matches | Part::Ends => may == May::Open,
                Part::Sends | Part::Receives => may == NotYet,
                _ => false,
            },
            Enter { collective, .. } => (lane, may) == (collective.ends(), Add),
            Lock(mutex) => {
                let is_tried = *objects.mutexes.start(mutex.0) == Asking::Tries;
                may == Change && (lane == mutex.requests() || is_tried && lane == mutex.queue())
            }
            TryLock { mutex, .. } => lane == mutex.queue() && matches!(may, Look | Change),
            Unlock(mutex) => lane == mutex.queue() && matches!(may, Turn | Change),
            Own { ref mutexes, .. } => {
                may == NotYet && mutexes.iter().any(|mutex| lane == mutex.queue())
            }
            RwRequest(lock, Hold::Shared) => (lane, may) == (lock.turns(), Look),
            RwRequest(lock, Hold::Exclusive) => (lane, may) == (lock.turns(), Change),
            RwUnlock(lock) => (lane, may) == (lock.leaves(), Add),
            Enrol(condvar, _) => (lane, may) == (condvar.notes(), Look),
            Notify { condvar, .. } => (lane, may) == (condvar.notes(), Change),
            Acquire(semaphore) => (lane, may) == (semaphore.acquires(), Change),
            Release(semaphore) => (lane, may) == (semaphore.releases(), Change),
            Arrive(barrier) => (lane, may) == (barrier.lane(), Add),
            Plain(ref op, _) => op.gathers() == Some(lane) && may == Add,
            Access { cell, ref access, .. } => {
                let is_read = matches!(access, self::Access::Read);
                lane == cell.lane() && (may == Look || may == Change && !is_read)
            }
            _ => false,
        }
    }
}

/// The code of a process.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) instructions: Vec<(Instruction, Option<Arc<Site>>)>,
    pub(super) is_daemon: bool,
}

impl Code {
    /// Code with a text for each operation, as its author would write it.
    pub(super) fn new(
        name: String,
        mut instructions: Vec<(Instruction, Option<Arc<Site>>)>,
        objects: &Objects,
    ) -> Code {
        for (instruction, site) in &mut instructions {
            let text = text(instruction, objects);
            *site = site.as_ref().map(|site| Arc::new(Site { text, ..Site::clone(site) }));
        }
        Code { name, instructions, is_daemon: false }
    }
}

fn text(instruction: &Instruction, objects: &Objects) -> String {
    use Instruction::*;
    let mailbox = |id: &MailboxId| objects.mailboxes.name(id.0);
    let mutex = |id: &MutexId| objects.mutexes.name(id.0);
    let mutexes = |ids: &[MutexId]| ids.iter().map(mutex).collect::<Vec<_>>().join(", ");
    let condvar = |id: &CondvarId| objects.condvars.name(id.0);
    let rwlock = |id: &RwLockId| objects.rwlocks.name(id.0);
    let semaphore = |id: &SemaphoreId| objects.semaphores.name(id.0);
    let barrier = |id: &BarrierId| objects.barriers.name(id.0);
    match instruction {
        Post { comm, mailbox: id, value, completion, .. } => {
            let verb = if value.is_some() { "send" } else { "recv" };
            let begin = match (comm.is_some(), *completion == Completion::Late) {
                (true, true) => "is",
                (true, false) => "i",
                (false, true) => "s",
                (false, false) => "",
            };
            format!("{begin}{verb}({})", mailbox(id))
        }
        Probe { mailbox: id, form, .. } => {
            let begin = match form {
                Probing::Wait => "",
                Probing::Test => "i",
                Probing::Take => "m",
            };
            format!("{begin}probe({})", mailbox(id))
        }
        Enter { comm, collective, call, .. } => {
            let begin = if comm.is_some() { "i" } else { "" };
            let name = objects.collectives.name(collective.0);
            format!("{begin}{}({name})", call.kind.name())
        }
        Cancel(_) | CancelOutcome { .. } => "cancel".into(),
        Wait { .. } => "wait".into(),
        Test { .. } => "test".into(),
        CompleteAny { is_test: false, .. } => "wait_any".into(),
        CompleteAny { is_test: true, .. } => "test_any".into(),
        ValueOf { .. } => "value_of".into(),
        Lock(id) => format!("lock({})", mutex(id)),
        Own { mutexes: ids, form, .. } => match form {
            Form::Wait => format!("lock({})", mutexes(ids)),
            Form::Test => format!("mutex_test({})", mutexes(ids)),
            Form::WaitAny => format!("mutex_wait_any({})", mutexes(ids)),
            Form::TestAny => format!("mutex_test_any({})", mutexes(ids)),
        },
        TryLock { mutex: id, .. } => format!("try_lock({})", mutex(id)),
        Unlock(id) => format!("unlock({})", mutex(id)),
        RwRequest(id, Hold::Shared) => format!("read_lock({})", rwlock(id)),
        RwRequest(id, Hold::Exclusive) => format!("write_lock({})", rwlock(id)),
        Enrol(id, _) | AwaitWake(id) => format!("cond_wait({})", condvar(id)),
        Notify { condvar: id, all: true } => format!("notify_all({})", condvar(id)),
        Notify { condvar: id, .. } | Wake(id) => format!("notify_one({})", condvar(id)),
        RwWait(id) => format!("lock({})", rwlock(id)),
        RwUnlock(id) => format!("unlock({})", rwlock(id)),
        Acquire(id) | AcquireWait(id) => format!("acquire({})", semaphore(id)),
        Release(id) => format!("release({})", semaphore(id)),
        Arrive(id) | Pass(id) => format!("barrier({})", barrier(id)),
        Access { cell, access, .. } => {
            let verb = match access {
                self::Access::Read => "read",
                self::Access::Write(_) => "write",
                self::Access::CompareAndSwap(..) => "cas",
                self::Access::FetchAdd(_) => "fetch_add",
                self::Access::Swap(_) => "swap",
            };
            format!("{verb}({})", objects.cells.name(cell.0))
        }
        Choose { lo, hi, .. } => format!("choose({lo}..{hi})"),
        Plain(op, name) => {
            let object = op.object().map_or(String::new(), |object| objects.name(object));
            format!("{name}({object})")
        }
        Spawn { .. } => "spawn".into(),
        Join(_) => "join".into(),
        Set(..) => "set".into(),
        Assert(what, _) => format!("assert_that({what:?})"),
        Unless(..) | Jump(_) => "branch".into(),
    }
}
