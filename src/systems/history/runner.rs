//! What runs real processes: it starts one, tells it outcomes, and says what it asks next.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use crate::model::{
    Access as Accessing, Contents, Envelope, Failure, FailureKind, Handle, MailboxId, Objects, Op,
    ProcessId, Remark, Response, Site, Touch, Value, ValueId, Values,
};

/// Processes that run for themselves, each alone.
///
/// # Contract
/// - A process is deterministic: told the same, it asks the same. [`History`](super::History)
///   checks that wherever a process is told its outcomes again.
/// - All that a process can learn of others is what it is told.
/// - What it asks is well-formed, as [`System`](crate::model::System) says. The handles of its
///   requests are the numbers that it was told.
/// - A process that does not ask anything within a time that the runner chooses has failed: a hang
///   is a [`Failure`] like others. If the runner cannot end such a process, it says so
///   ([`Runner::patience`]).
/// - A process that is not deterministic may be told an outcome that does not answer what it asked
///   ([`Told::answers`]). It stops there, as if it had ended: nothing more is added to the replies.
/// - A live process is used by the thread that started it, and by no other.
pub trait Runner: Send + Sync + 'static {
    /// What a process is started from: its program, and what is given to it. Told the same,
    /// processes that were started from equal ones ask the same.
    type Start: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// A process that has been told some outcomes, and waits for the next. Dropping it ends it.
    type Live: 'static;

    /// The objects that processes act on.
    fn objects(&self) -> &Objects;

    /// The processes that exist from the start, in order.
    fn processes(&self) -> Vec<Self::Start>;

    /// A name for processes that are started from this.
    fn name(&self, start: &Self::Start) -> String;

    /// May processes that are started from this wait for ever? See
    /// [`System::is_daemon`](crate::model::System::is_daemon).
    fn is_daemon(&self, start: &Self::Start) -> bool {
        let _ = start;
        false
    }

    /// Starts a process and tells it these outcomes, one after the other. Adds to `replies` what it
    /// asked first, and what it asked after each outcome; nothing more after it has ended.
    fn start(
        &self,
        start: &Self::Start,
        told: &[Told],
        replies: &mut Vec<Reply<Self::Start>>,
    ) -> Self::Live;

    /// Tells a live process these outcomes, one after the other. Adds to `replies` what it asked
    /// after each; nothing more after it has ended.
    fn tell(&self, live: &mut Self::Live, told: &[Told], replies: &mut Vec<Reply<Self::Start>>);

    /// A second process in the same situation, if that is cheaper than telling one its outcomes
    /// again.
    fn fork(&self, live: &mut Self::Live) -> Option<Self::Live> {
        let _ = live;
        None
    }

    /// Is the first process with a certain start that has ended run once more, to see whether it
    /// asks the same? Otherwise who is never told its outcomes again is not found out.
    fn repeats(&self) -> bool {
        false
    }

    /// What it means that a process which was started from this was told the same twice and asked
    /// something else: that it is wrong, or, if it may well be right, that it cannot be explored.
    fn on_difference(&self, start: &Self::Start) -> FailureKind {
        let _ = start;
        FailureKind::Error
    }

    /// How long a process may run until it asks something, where the runner does not watch that
    /// itself, because processes run in the thread that calls it. What is then done about a hang is
    /// done by [`System::attempt`](crate::model::System::attempt).
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// May a process that asks this come back to where it is then ([`Reply::back`])? `None` if
    /// nobody knows yet what it asks.
    fn may_return(&self, op: Option<&Op>) -> bool {
        let _ = op;
        false
    }

    /// The place in the source at which processes are started from this.
    fn site(&self, start: &Self::Start) -> Option<Arc<Site>> {
        let _ = start;
        None
    }

    /// The judgement of terminal states that are no deadlocks, if there is one.
    fn judge(&self) -> Option<&Judge> {
        None
    }

    /// May the process that was started from this, or one that it spawns, ever touch this? See
    /// [`Foresight::may_touch`](crate::model::Foresight::may_touch).
    fn may_touch(&self, start: &Self::Start, touch: Touch) -> bool {
        let _ = (start, touch);
        true
    }

    /// May the process that was started from this, or one that it spawns, ever send this? See
    /// [`Foresight::may_send`](crate::model::Foresight::may_send).
    fn may_send(&self, start: &Self::Start, mailbox: MailboxId, pattern: Envelope) -> bool {
        let _ = (start, mailbox, pattern);
        true
    }

    /// See [`Foresight::may_cancel`](crate::model::Foresight::may_cancel).
    fn may_cancel(&self) -> bool {
        true
    }
}

/// What is wrong with the contents of the cells at the end.
pub type Judge = dyn Fn(Contents<'_>) -> Option<Failure> + Send + Sync;

/// What a process asks, where, and what it did on the way there.
#[derive(Clone, Debug)]
pub struct Reply<S> {
    /// What it asks.
    pub asked: Asked<S>,
    /// The place in its source.
    pub site: Option<Arc<Site>>,
    /// What it has printed since it asked last.
    pub printed: Option<Box<str>>,
    /// If it is where it was before it was told the last so many outcomes, and will do the same
    /// again if it is told the same: so many. Otherwise 0.
    pub back: u32,
    /// What it says of itself, if it has ended.
    pub remarks: Option<Arc<[Remark]>>,
}

impl<S> Reply<S> {
    /// A process that asks this somewhere, and has printed nothing.
    pub fn new(asked: Asked<S>, site: Option<Arc<Site>>) -> Reply<S> {
        Reply { asked, site, printed: None, back: 0, remarks: None }
    }
}

/// What a process asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<S> {
    /// An operation. The [`ValueId`]s in it are places in `values`.
    Op {
        /// The operation, any but a spawn.
        op: Op,
        /// The values that it hands over.
        values: Vec<Value>,
    },
    /// A process that is started from this.
    Spawn(S),
    /// Nothing: it has ended.
    Done,
    /// Nothing: it has ended, and hands this over to who joins it.
    Returned(Value),
    /// Nothing: something went wrong.
    Failed(Failure),
}

impl<S> Asked<S> {
    /// An operation that hands over nothing.
    pub fn op(op: Op) -> Asked<S> {
        Asked::Op { op, values: Vec::new() }
    }

    /// An operation that hands over this value.
    pub fn with(value: Value, op: impl FnOnce(ValueId) -> Op) -> Asked<S> {
        Asked::Op { op: op(ValueId(0)), values: vec![value] }
    }

    /// An operation that hands over two values.
    pub fn with_two(one: Value, other: Value, op: impl FnOnce(ValueId, ValueId) -> Op) -> Asked<S> {
        Asked::Op { op: op(ValueId(0), ValueId(1)), values: vec![one, other] }
    }

    /// What the process can be told then.
    pub fn outcomes(&self) -> Outcomes {
        match self {
            Asked::Op { op, .. } => Outcomes::of(op),
            Asked::Spawn(_) => Outcomes::Spawned,
            Asked::Done | Asked::Returned(_) | Asked::Failed(_) => Outcomes::None,
        }
    }

    /// Has the process ended?
    pub fn is_end(&self) -> bool {
        matches!(self, Asked::Done | Asked::Returned(_) | Asked::Failed(_))
    }
}

/// What can be told after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// Nothing: the process has ended.
    None,
    /// That it happened.
    Unit,
    /// The name of a request; or, if it `tries`, that there is none.
    Posted {
        /// May it find the object taken?
        tries: bool,
    },
    /// Which of so many elements is complete; or, if it `tests`, that none is.
    Completed {
        /// How many there are.
        elements: u32,
        /// Does it not wait?
        tests: bool,
    },
    /// What a probe saw.
    Tuple,
    /// Whether it had the effect that it was to have.
    Bool,
    /// What a cell held.
    Value,
    /// What a cell held to which a number was to be added.
    Sum,
    /// A number of this range.
    Chosen {
        /// First value.
        lo: i64,
        /// One past the last value.
        hi: i64,
    },
    /// A process.
    Spawned,
    /// What the process returned that has ended; or nothing, if it returned nothing.
    Returned,
}

impl Outcomes {
    fn of(op: &Op) -> Outcomes {
        use Op::*;
        let completed =
            |elements: usize, tests| Outcomes::Completed { elements: elements as u32, tests };
        match op {
            Isend { .. } | Irecv { .. } | Send { .. } | Receive { .. } | Enter { .. } => {
                Outcomes::Posted { tries: false }
            }
            AsyncLock(_) | RwRequest { .. } | Enrol(_) | Notify { .. } | AsyncAcquire(_) => {
                Outcomes::Posted { tries: false }
            }
            TryLock(_) => Outcomes::Posted { tries: true },
            WaitAny(list) => completed(list.len(), false),
            TestAny(list) => completed(list.len(), true),
            MutexWaitAny(list) => completed(list.len(), false),
            MutexTestAny(list) => completed(list.len(), true),
            Probe { .. } => Outcomes::Tuple,
            CancelOutcome(_) | Access(_, Accessing::CompareAndSwap { .. }) => Outcomes::Bool,
            Access(_, Accessing::Read | Accessing::Swap(_)) => Outcomes::Value,
            Access(_, Accessing::FetchAdd(_)) => Outcomes::Sum,
            &Choose { lo, hi } => Outcomes::Chosen { lo, hi },
            Access(_, Accessing::Write(_)) | Cancel(_) | Unlock(_) | RwWait { .. } => {
                Outcomes::Unit
            }
            RwUnlock { .. } | AwaitWake { .. } | Wake { .. } | AcquireWait { .. } | Release(_) => {
                Outcomes::Unit
            }
            Arrive { .. } | BarrierWait { .. } | Local => Outcomes::Unit,
            Join(_) => Outcomes::Returned,
            Spawn(_) => Outcomes::Spawned,
            Deliver | Handle { .. } => Outcomes::None,
        }
    }
}

/// The outcome of an operation: a [`Response`] that means the same in all searches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// Nothing but that it happened.
    Unit,
    /// The name of the request just posted.
    Posted(Handle),
    /// Element `index` is complete; `value` is what a receive received, else unit.
    Completed {
        /// Place in the operation's list.
        index: u32,
        /// The received value.
        value: Value,
    },
    /// A test found nothing complete.
    Incomplete,
    /// What a cell held, whether a `cas` succeeded, what a probe saw, or what a process returned.
    Value(Value),
    /// The value of a `choose`.
    Chosen(i64),
    /// The process that a `spawn` started. Its number belongs to one search.
    Spawned(ProcessId),
    /// A `fetch_add` that would leave the 64-bit range; the cell is unchanged.
    Overflow,
}

impl Told {
    /// Can this be the outcome of what a process asked?
    pub fn answers<S>(&self, asked: &Asked<S>) -> bool {
        self.is_one_of(asked.outcomes())
    }

    /// Does it say that a poll has found nothing?
    pub fn is_in_vain(&self) -> bool {
        match self {
            Told::Incomplete => true,
            Told::Value(Value::Tuple(parts)) => parts.first() == Some(&Value::Bool(false)),
            _ => false,
        }
    }

    /// Is it such an outcome?
    pub fn is_one_of(&self, outcomes: Outcomes) -> bool {
        match (outcomes, self) {
            (Outcomes::None, _) => false,
            (Outcomes::Unit, told) => *told == Told::Unit,
            (Outcomes::Posted { tries }, told) => match told {
                Told::Posted(_) => true,
                told => tries && *told == Told::Incomplete,
            },
            (Outcomes::Completed { elements, tests }, told) => match told {
                Told::Completed { index, .. } => *index < elements,
                told => tests && *told == Told::Incomplete,
            },
            (Outcomes::Tuple, told) => matches!(told, Told::Value(Value::Tuple(_))),
            (Outcomes::Bool, told) => matches!(told, Told::Value(Value::Bool(_))),
            (Outcomes::Value, told) => matches!(told, Told::Value(_)),
            (Outcomes::Sum, told) => matches!(told, Told::Value(Value::Int(_)) | Told::Overflow),
            (Outcomes::Chosen { lo, hi }, told) => {
                matches!(told, Told::Chosen(value) if (lo..hi).contains(value))
            }
            (Outcomes::Returned, told) => matches!(told, Told::Unit | Told::Value(_)),
            (Outcomes::Spawned, told) => matches!(told, Told::Spawned(_)),
        }
    }

    /// The outcome that a response is.
    pub(super) fn new(response: Response, values: &Values) -> Told {
        match response {
            Response::Unit => Told::Unit,
            Response::Posted(handle) => Told::Posted(handle),
            Response::Completed { index, value } => {
                Told::Completed { index, value: values.get(value).clone() }
            }
            Response::Incomplete => Told::Incomplete,
            Response::Value(value) => Told::Value(values.get(value).clone()),
            Response::Chosen(value) => Told::Chosen(value),
            Response::Spawned(process) => Told::Spawned(process),
            Response::Overflow => Told::Overflow,
        }
    }
}
