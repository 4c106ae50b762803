//! What runs real processes: it starts them, delivers outcomes to them, and returns their
//! questions.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use super::Local;
use crate::model::{
    Access as Accessing, Contents, Envelope, Failure, FailureKind, Handle, Invariants, MailboxId,
    Objects, Op, ProcessId, Remark, Response, Site, Touch, Value, ValueId, Values,
};

/// Real processes, each of which is run alone.
///
/// # Contract
/// - A process is deterministic: after the same observations, it asks the same.
///   [`History`](super::History) checks that whenever outcomes are delivered again.
/// - A process learns of others only by the outcomes that are delivered to it.
/// - Its questions are well-formed, as [`System`](crate::model::System) defines. The handles of its
///   requests are the numbers that it received.
/// - A process that asks nothing within a time limit, chosen by the runner, has failed: a hang is a
///   [`Failure`] like others. If the runner cannot end such a process, it returns the limit from
///   [`Runner::patience`].
/// - A process that is not deterministic may get an outcome that does not answer its question
///   ([`Told::answers`]). It stops there, as if it had ended: nothing is added to the replies any
///   more.
/// - A live process is used only by the thread that started it.
pub trait Runner: Send + Sync + 'static {
    /// What a process is started from: its program and arguments. Processes with equal starts ask
    /// the same after the same observations.
    type Start: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// A process that has received some outcomes, and waits for the next. Dropping it ends it.
    type Live: 'static;

    /// The objects that processes act on.
    fn objects(&self) -> &Objects;

    /// The processes that exist from the start, in order.
    fn processes(&self) -> Vec<Self::Start>;

    /// The name of processes with this start.
    fn name(&self, start: &Self::Start) -> String;

    /// Whether processes with this start may wait for ever. See
    /// [`System::is_daemon`](crate::model::System::is_daemon).
    fn is_daemon(&self, start: &Self::Start) -> bool {
        let _ = start;
        false
    }

    /// Starts a process and delivers these outcomes, one after another. Appends to `replies` its
    /// first question, and its question after each outcome; nothing more after its end.
    fn start(
        &self,
        start: &Self::Start,
        told: &[Told],
        replies: &mut Vec<Reply<Self::Start>>,
    ) -> Self::Live;

    /// Delivers these outcomes to a live process, one after another. Appends to `replies` its
    /// question after each; nothing more after its end.
    fn tell(&self, live: &mut Self::Live, told: &[Told], replies: &mut Vec<Reply<Self::Start>>);

    /// Starts a process and brings it to the first question that the [`Past`] does not expect, or
    /// for which it has no outcome: only that question is appended to `replies`. Returns also
    /// the past that is left. `None` if the runner cannot do this; then the outcomes are delivered
    /// one after another.
    fn retrace(
        &self,
        start: &Self::Start,
        past: impl FnOnce() -> Past,
        replies: &mut Vec<Reply<Self::Start>>,
    ) -> Option<(Self::Live, Past)> {
        let _ = (start, past, replies);
        None
    }

    /// A second process in the same state, if that is cheaper than delivering the outcomes to a new
    /// one.
    fn fork(&self, live: &mut Self::Live) -> Option<Self::Live> {
        let _ = live;
        None
    }

    /// Whether the first process of each start that has ended is run once more, to check that it
    /// asks the same. Otherwise nondeterminism is noticed only where outcomes are delivered again.
    fn repeats(&self) -> bool {
        false
    }

    /// The kind of failure if a process with this start asks something else after the same
    /// observations: an error, or unsupported behaviour if the program may well be correct.
    fn on_difference(&self, start: &Self::Start) -> FailureKind {
        let _ = start;
        FailureKind::Error
    }

    /// The time limit for a process until its next question, if the runner does not enforce it
    /// itself, because processes run in the thread that calls it.
    /// [`System::attempt`](crate::model::System::attempt) then deals with hangs.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Whether a process that makes the same round again and again, with nothing but observations,
    /// is taken to wait in a loop.
    fn waits(&self) -> bool {
        false
    }

    /// Whether a process with this pending operation may come back to its present state later
    /// ([`Reply::back`]). `None` if the operation is not known yet.
    fn may_return(&self, op: Option<&Op>) -> bool {
        let _ = op;
        false
    }

    /// The place in the source that defines this start.
    fn site(&self, start: &Self::Start) -> Option<Arc<Site>> {
        let _ = start;
        None
    }

    /// The invariants, if there are any.
    fn invariants(&self) -> Option<&dyn Invariants<Local>> {
        None
    }

    /// Asked when a search has ended: whether it has to be done again, because what the runner has
    /// said before was too little.
    fn searches_again(&self) -> bool {
        false
    }

    /// What the runner adds to [`System::noted`](crate::model::System::noted).
    fn noted(&self) -> Option<String> {
        None
    }

    /// See [`System::recall`](crate::model::System::recall).
    fn recall(&self, noted: &str) -> bool {
        noted.is_empty()
    }

    /// The judgement of terminal states that are not deadlocks, if there is one.
    fn judge(&self) -> Option<&Judge> {
        None
    }

    /// Whether a process with this start, or one that it spawns, may ever touch this. See
    /// [`Foresight::may_touch`](crate::model::Foresight::may_touch).
    fn may_touch(&self, start: &Self::Start, touch: Touch) -> bool {
        let _ = (start, touch);
        true
    }

    /// Whether a process with this start, or one that it spawns, may ever send this. See
    /// [`Foresight::may_send`](crate::model::Foresight::may_send).
    fn may_send(&self, start: &Self::Start, mailbox: MailboxId, pattern: Envelope) -> bool {
        let _ = (start, mailbox, pattern);
        true
    }

    /// Whether any process may cancel. See
    /// [`Foresight::may_cancel`](crate::model::Foresight::may_cancel).
    fn may_cancel(&self) -> bool {
        true
    }
}

/// Judges the contents of the cells at the end: a failure, or `None`.
pub type Judge = dyn Fn(Contents<'_>) -> Option<Failure> + Send + Sync;

/// A question of a process, its place, and what the process did on the way there.
#[derive(Clone, Debug)]
pub struct Reply<S> {
    /// The question.
    pub asked: Asked<S>,
    /// The place in its source.
    pub site: Option<Arc<Site>>,
    /// What the process has printed since its previous question.
    pub printed: Option<Box<str>>,
    /// If the process is in the state before its last n outcomes, and will do the same again after
    /// the same observations: n. Otherwise 0.
    pub back: u32,
    /// Whether a later reply may lead back here. The runner may also say so of all processes with
    /// this operation ([`Runner::may_return`]).
    pub may_return: bool,
    /// Whether the execution is explored elsewhere if the process waits here for ever. See
    /// [`System::is_in_vain`](crate::model::System::is_in_vain).
    pub in_vain: bool,
    /// The remarks of the process, if it has ended.
    pub remarks: Option<Arc<[Remark]>>,
    /// A hash of the question and its place, for [`Past::next`]; 0 if the runner has none.
    pub stamp: u64,
}

impl<S> Reply<S> {
    /// A question at this place, by a process that has printed nothing.
    pub fn new(asked: Asked<S>, site: Option<Arc<Site>>) -> Reply<S> {
        Reply {
            asked,
            site,
            printed: None,
            back: 0,
            may_return: false,
            in_vain: false,
            remarks: None,
            stamp: 0,
        }
    }
}

/// The question of a process: its next operation, or its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<S> {
    /// An operation. The [`ValueId`]s in it are indices into `values`.
    Op {
        /// The operation; not a spawn.
        op: Op,
        /// The values that it passes on.
        values: Vec<Value>,
    },
    /// A spawn of a process with this start.
    Spawn(S),
    /// The process has ended.
    Done,
    /// The process has ended, and `join` returns this value.
    Returned(Value),
    /// The process has failed.
    Failed(Failure),
}

impl<S> Asked<S> {
    /// An operation without values.
    pub fn op(op: Op) -> Asked<S> {
        Asked::Op { op, values: Vec::new() }
    }

    /// An operation with this value.
    pub fn with(value: Value, op: impl FnOnce(ValueId) -> Op) -> Asked<S> {
        Asked::Op { op: op(ValueId(0)), values: vec![value] }
    }

    /// An operation with two values.
    pub fn with_two(one: Value, other: Value, op: impl FnOnce(ValueId, ValueId) -> Op) -> Asked<S> {
        Asked::Op { op: op(ValueId(0), ValueId(1)), values: vec![one, other] }
    }

    /// The possible outcomes.
    pub fn outcomes(&self) -> Outcomes {
        match self {
            Asked::Op { op, .. } => Outcomes::of(op),
            Asked::Spawn(_) => Outcomes::Spawned,
            Asked::Done | Asked::Returned(_) | Asked::Failed(_) => Outcomes::None,
        }
    }

    /// Whether the process has ended.
    pub fn is_end(&self) -> bool {
        matches!(self, Asked::Done | Asked::Returned(_) | Asked::Failed(_))
    }
}

/// The possible outcomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// None: the process has ended.
    None,
    /// It happened.
    Unit,
    /// The handle of a request; if it `tries`, perhaps that there is none.
    Posted {
        /// Whether it may find the object taken.
        tries: bool,
    },
    /// The index of the complete element; if it `tests`, perhaps that none is complete.
    Completed {
        /// The number of elements.
        elements: u32,
        /// Whether it does not wait.
        tests: bool,
    },
    /// The result of a probe.
    Tuple,
    /// Whether it took effect.
    Bool,
    /// The content of a cell.
    Value,
    /// The previous content of a cell to which a number was to be added.
    Sum,
    /// A number in this range.
    Chosen {
        /// The first value.
        lo: i64,
        /// The end of the range, exclusive.
        hi: i64,
    },
    /// The id of a process.
    Spawned,
    /// The value that the joined process returned, or unit.
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
            Access(_, Accessing::Read | Accessing::Swap(_) | Accessing::Update(_)) => {
                Outcomes::Value
            }
            Access(_, Accessing::FetchAdd(_)) => Outcomes::Sum,
            &Choose { lo, hi } => Outcomes::Chosen { lo, hi },
            Join(_) => Outcomes::Returned,
            Spawn(_) => Outcomes::Spawned,
            Deliver | Handle { .. } => Outcomes::None,
            _ => Outcomes::Unit,
        }
    }
}

/// An observation: the outcome of an operation. It is a [`Response`] whose meaning does not depend
/// on the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It happened.
    Unit,
    /// The handle of the request just posted.
    Posted(Handle),
    /// Element `index` is complete; `value` is the received value, or unit if it is not a receive.
    Completed {
        /// The index in the operation's list.
        index: u32,
        /// The received value.
        value: Value,
    },
    /// A test found nothing complete.
    Incomplete,
    /// The content of a cell, whether a `cas` succeeded, the result of a probe, or the value that a
    /// process returned.
    Value(Value),
    /// The value of a `choose`.
    Chosen(i64),
    /// The process that a `spawn` started. Its id is valid in one search only.
    Spawned(ProcessId),
    /// A `fetch_add` would leave the 64-bit range; the cell is unchanged.
    Overflow,
}

impl Told {
    /// Whether this can be the outcome of this question.
    pub fn answers<S>(&self, asked: &Asked<S>) -> bool {
        self.is_one_of(asked.outcomes())
    }

    /// Whether it is an unsuccessful poll.
    pub fn is_in_vain(&self) -> bool {
        match self {
            Told::Incomplete => true,
            Told::Value(Value::Tuple(parts)) => parts.first() == Some(&Value::Bool(false)),
            _ => false,
        }
    }

    /// Whether it is one of these outcomes.
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

    /// The observation that a response is.
    pub(crate) fn new(response: Response, values: &Values) -> Told {
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

/// Where a running process shows that it goes on.
pub(super) trait Pulse: Send + Sync {
    /// It has got an outcome.
    fn go_on(&self);
}

/// The outcomes that lead a new process to a history that is known, and what it is expected to ask.
/// Of each question only a hash is compared. A process that can do so goes on at once with the next
/// outcome, without returning to the search ([`Runner::retrace`]).
pub struct Past {
    /// Those that the process has got already are gone.
    told: Vec<Told>,
    /// The hash of the question that each of them answers.
    stamps: Vec<u64>,
    /// The number of outcomes that the process has got.
    done: usize,
    /// Has the process asked for something that is not expected?
    is_over: bool,
    /// Is told of each outcome that the process gets.
    pulse: Arc<dyn Pulse>,
}

impl Past {
    /// These outcomes, the last one first, each with the hash of the question that it answers.
    pub(super) fn of(backwards: impl Iterator<Item = (u64, Told)>, pulse: Arc<dyn Pulse>) -> Past {
        let (mut stamps, mut told): (Vec<u64>, Vec<Told>) = backwards.unzip();
        stamps.reverse();
        told.reverse();
        Past { told, stamps, done: 0, is_over: false, pulse }
    }

    /// The next outcome, if the process asks what it has asked before; `stamp` is the hash of its
    /// question ([`Reply::stamp`]). `None` from the first question on that it has not asked before.
    pub fn next(&mut self, stamp: u64) -> Option<Told> {
        self.is_over |= stamp == 0 || self.stamps.get(self.done) != Some(&stamp);
        if self.is_over {
            return None;
        }
        self.pulse.go_on();
        self.done += 1;
        Some(std::mem::replace(&mut self.told[self.done - 1], Told::Unit))
    }

    /// The number of outcomes that the process has got.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// The outcomes that it has not got.
    pub(super) fn left(&self) -> &[Told] {
        &self.told[self.done..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counts(std::sync::atomic::AtomicU32);

    impl Pulse for Counts {
        fn go_on(&self) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn a_past_ends_with_the_first_question_that_differs() {
        let begin = |stamps: [u64; 3]| {
            let pulse = Arc::new(Counts(Default::default()));
            let numbered = stamps.into_iter().zip([0, 1, 2]).rev();
            let backwards = numbered.map(|(stamp, n)| (stamp, Told::Chosen(n)));
            (Past::of(backwards, pulse.clone()), pulse)
        };
        let (mut past, pulse) = begin([5, 7, 9]);
        let told: Vec<_> = [5, 7, 9].into_iter().map_while(|stamp| past.next(stamp)).collect();
        assert_eq!(told, [Told::Chosen(0), Told::Chosen(1), Told::Chosen(2)]);
        assert_eq!((past.next(9), past.left().len()), (None, 0), "what comes now is new");
        assert_eq!(pulse.0.load(std::sync::atomic::Ordering::Relaxed), 3);
        let (mut past, _) = begin([5, 7, 9]);
        assert_eq!(past.next(5), Some(Told::Chosen(0)));
        assert_eq!((past.next(8), past.next(7)), (None, None), "it has asked something else");
        assert_eq!((past.done(), past.left()), (1, &[Told::Chosen(1), Told::Chosen(2)][..]));
        let (mut unknown, _) = begin([0, 7, 9]);
        assert_eq!(unknown.next(0), None, "a runner without hashes");
    }
}
