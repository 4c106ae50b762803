//! What an executed action does to objects. The dependence relation, happens-before, races and the
//! actions that may be swapped all follow from it. It fixes what a class of executions is, and
//! every count.
//!
//! Each object has a few *lanes*: orders of events. An action *acts* on a lane in one of these
//! ways:
//!
//! | it ([`Mode`]) | and depends on |
//! |---|---|
//! | changes the lane | the changes before it, and the looks and marks since the last one |
//! | changes it, and completes a request | what a change depends on, and the tests that found this request incomplete |
//! | looks at the last change, and changes nothing | the last change |
//! | looks at the last change, and leaves a mark; marks commute | the last change |
//! | adds to what is gathered under a key | nothing: additions commute |
//! | finds that a request is not complete yet | nothing; what completes the request depends on it |
//!
//! Besides, an action may *need* ([`Need`]) the change at a place of a lane, everything that was
//! added under a key, or a certain event of the execution. All events of one process are dependent.
//!
//! The acts of the operations, one line for each lane:
//!
//! | lane ([`Part`]) | operations that act on it | operations that need it |
//! |---|---|---|
//! | sends, receives of a mailbox | isend, irecv: change, and complete the partner; test→false at the other end: not yet | wait, test→true, any→j: the partner |
//! | the network | send, receive, match, cancel, an entry, a probe that takes: add | – (they need events: the send, the own receive, the matches of competitors) |
//! | requests for a mutex | async_lock: change | – |
//! | queue of a mutex | unlock: change, and complete the next request; test→false: not yet | wait, test→true: the last unlock ahead |
//! | queue of a mutex that is tried | async_lock, unlock, try_lock→true: change; try_lock→false: look | mutex_wait |
//! | turns of a reader-writer lock | request of a writer: change; of a reader: mark | – |
//! | leaves of it, by turn and hold | unlock: add | wait: the writer before it; a writer also the readers since then |
//! | notes of a condition variable | notification: change; enrolment: mark | – |
//! | wakes of it | step that wakes: change | wait: the step that woke it |
//! | requests for a semaphore | async_acquire: change | – |
//! | releases of it | release: change | acquire_wait: the release that granted it |
//! | arrivals at a barrier, by round | arrival: add | barrier_wait: all of its round |
//! | counts of a latch | count_down: add | wait: all of them |
//! | contents of a cell | access that changes it: change; one that leaves it: look | – |
//! | a process | spawn, handler that starts it: change | join: its last event |
//! | inbox of an actor | handler: add | – (it needs an event: the handler that sent its message) |
//!
//! Sources: Pham, Jéron and Quinson (FORTE 2019), section 3.3, made exact where the paper leaves it
//! open:
//!
//! - *Any-forms.* Which of several completed communications a `waitany` returns is a choice, part
//!   of the action. If it were "the first one paired", the order of two sends to two mailboxes
//!   would decide it, although they are independent.
//! - *Patterns.* A post is paired on arrival with the oldest unpaired opposite one that matches.
//!   That is the only stable matching of the order of sends with the order of receives: if s and r
//!   preferred each other to their partners, the later of the two would have taken the other on
//!   arrival. So sends and receives commute, and a pair once made is never revised.
//! - *Data.* The receiver learns a received value by a wait, a test or `value`, never by the
//!   pairing: otherwise a send would write another process's local state.
//! - *Writes.* A plain write is a change, whatever it writes; a failed `cas`, and a `swap` or
//!   `fetch_add` that leaves the content, are reads.
//!
//! The relation is conditional: whether a wait depends on a send is decided by the send that its
//! communication is paired with. So an effect describes an executed action, with such questions
//! answered in the execution at hand. Effects are stable: later actions of an execution never
//! change an answer, because each lane is totally ordered, or its additions commute.

use smallvec::SmallVec;

use super::{Part, ProcessId};

/// An order of events about one object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(u32);

impl Lane {
    /// The number of kinds of lanes.
    pub(crate) const PARTS: usize = Part::ALL.len();

    const SHIFT: u32 = 5;

    /// The lane of this kind for the object with this number, which must be below 2²⁷.
    #[inline]
    pub(crate) const fn new(part: Part, object: u32) -> Lane {
        Lane(object << Lane::SHIFT | part as u32)
    }

    /// Its number, as an index: each object has 2⁵ of them.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Its kind.
    #[inline]
    pub fn part(self) -> Part {
        Part::ALL[(self.0 & ((1 << Lane::SHIFT) - 1)) as usize]
    }

    /// The number of the object.
    #[inline]
    pub(crate) fn object(self) -> u32 {
        self.0 >> Lane::SHIFT
    }

    /// One bit of 64, chosen by a hash of the lane.
    #[inline]
    pub(crate) fn bit(self) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        1 << (u64::from(self.0).wrapping_mul(ODD) >> (u64::BITS - 6))
    }
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.part(), self.object())
    }
}

impl ProcessId {
    /// The lane of what starts this process. A `Need::All` of this lane means the last event of
    /// the process.
    #[inline]
    pub fn lane(self) -> Lane {
        Lane::new(Part::Process, self.0)
    }
}

/// How an action acts on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// The next change.
    Change,
    /// The next change, which completes this request of the object.
    Complete(u32),
    /// Sees the last change.
    Look,
    /// Sees the last change, and leaves a mark. Marks commute with one another.
    Mark,
    /// Adds to what is gathered under this key.
    Add(u32),
    /// Finds that nothing has completed this request.
    NotYet(u32),
}

/// One act of an action on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Act {
    /// The lane.
    pub lane: Lane,
    /// How the action acts on it.
    pub(crate) mode: Mode,
    /// The place of a change among the changes of the lane, if something may need it; else
    /// [`Effect::NOWHERE`].
    pub(crate) place: u32,
}

/// Something that must come before an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// The change at this place of the lane.
    At(Lane, u32),
    /// Everything that was added to the lane under this key. For the lane of a process: its last
    /// event.
    All(Lane, u32),
    /// The event at this position of the execution.
    Event(u32),
}

/// The needs of one way to go on.
pub(crate) type Needs = SmallVec<[Need; 2]>;

impl Need {
    /// The kind of lane on which the needed event comes.
    pub(crate) fn part(self) -> Part {
        match self {
            Need::At(lane, _) | Need::All(lane, _) => lane.part(),
            Need::Event(_) => Part::Network,
        }
    }
}

/// What an executed action does: on which lanes it acts, and what it cannot come before.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Its own position in the execution, if something may need it; else [`Effect::NOWHERE`].
    pub(crate) at: u32,
    /// Its acts on lanes.
    pub acts: SmallVec<[Act; 1]>,
    /// What it needs, besides what its own process already knew.
    pub(crate) needs: Needs,
}

/// As derived, but it copies each list as a whole, which `SmallVec` does only in `from_slice`.
impl Clone for Effect {
    #[inline]
    fn clone(&self) -> Effect {
        let Effect { at, acts, needs } = self;
        Effect { at: *at, acts: SmallVec::from_slice(acts), needs: SmallVec::from_slice(needs) }
    }
}

// Searches keep and copy many effects.
const _: () = assert!(size_of::<Effect>() <= 64);

impl Act {
    /// An act without a place: nothing needs it by its place.
    #[inline]
    pub(crate) fn new(lane: Lane, mode: Mode) -> Act {
        Act { lane, mode, place: Effect::NOWHERE }
    }
}

impl Effect {
    /// No position, or no place.
    pub(crate) const NOWHERE: u32 = u32::MAX;

    /// The effect of an action that other processes cannot see: a choice, a local step, a poll that
    /// finds nothing.
    #[inline]
    pub(crate) fn nothing() -> Effect {
        Effect { at: Effect::NOWHERE, acts: SmallVec::new(), needs: SmallVec::new() }
    }

    /// The effect of an action with one act, which nothing needs by its place.
    #[inline]
    pub(crate) fn act(lane: Lane, mode: Mode) -> Effect {
        Effect::act_at(lane, mode, Effect::NOWHERE)
    }

    /// The effect of an action with one act: a change at this place of the lane.
    #[inline]
    pub(crate) fn act_at(lane: Lane, mode: Mode, place: u32) -> Effect {
        let act = Act { lane, mode, place };
        Effect { acts: SmallVec::from_buf([act]), ..Effect::nothing() }
    }

    /// The effect of an action that only observes that it may go on.
    #[inline]
    pub(crate) fn needing(needs: &[Need]) -> Effect {
        Effect { needs: SmallVec::from_slice(needs), ..Effect::nothing() }
    }

    /// The effect of an access that reads the content of a lane, and changes it if `is_change`.
    #[inline]
    pub(crate) fn access(lane: Lane, is_change: bool) -> Effect {
        Effect::act(lane, if is_change { Mode::Change } else { Mode::Look })
    }

    /// The effect of a test that finds none of these requests complete, each with the lane of what
    /// would complete it.
    pub(crate) fn not_yet(tested: impl IntoIterator<Item = (Lane, u32)>) -> Effect {
        let act = |(lane, request)| Act::new(lane, Mode::NotYet(request));
        Effect { acts: tested.into_iter().map(act).collect(), ..Effect::nothing() }
    }

    /// The effect of a handler of this actor, as far as it is known before the handler runs.
    pub(crate) fn handler(actor: ProcessId) -> Effect {
        Effect::act(actor.inbox(), Mode::Add(0))
    }

    /// Is it the effect of a handler?
    #[inline]
    pub(crate) fn is_handler(&self) -> bool {
        self.acts.first().is_some_and(|act| act.lane.part() == Part::Inbox)
    }

    /// Is it the effect of a test that found nothing complete, where something may complete later?
    #[inline]
    pub(crate) fn is_failed_test(&self) -> bool {
        self.acts.first().is_some_and(|act| matches!(act.mode, Mode::NotYet(_)))
    }

    /// Did the action leave every object unchanged?
    #[inline]
    pub fn is_observation(&self) -> bool {
        self.acts.iter().all(|act| matches!(act.mode, Mode::Look | Mode::NotYet(_)))
    }

    /// Did the action change this lane?
    #[inline]
    pub(crate) fn changes(&self, lane: Lane) -> bool {
        self.acts.iter().any(|act| act.lane == lane && act.mode.is_change())
    }

    /// Is the action one that this need asks for?
    #[inline]
    pub(crate) fn is(&self, need: Need) -> bool {
        match need {
            Need::Event(at) => self.at == at,
            Need::At(lane, place) => {
                let meant = |act: &Act| act.lane == lane && act.place == place;
                self.acts.iter().any(|act| meant(act) && act.mode.is_change())
            }
            Need::All(lane, key) => {
                self.acts.iter().any(|act| act.lane == lane && act.mode == Mode::Add(key))
            }
        }
    }

    /// Is the action, of process `q`, needed by an action of another process with the effect
    /// `other`?
    fn is_needed(&self, q: ProcessId, other: &Effect) -> bool {
        let is = |&need: &Need| self.is(need) || need == Need::All(q.lane(), 0);
        other.needs.iter().any(is)
    }

    /// Did the action start `process`?
    #[inline]
    fn starts(&self, process: ProcessId) -> bool {
        self.changes(process.lane())
    }
}

impl Mode {
    /// Is it a change of the lane?
    #[inline]
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Mode::Change | Mode::Complete(_))
    }

    /// Are two acts in these modes on one lane dependent?
    #[inline]
    pub(crate) fn clashes(self, other: Mode) -> bool {
        use Mode::*;
        match (self, other) {
            (Change | Complete(_), Change | Complete(_) | Look | Mark) => true,
            (Look | Mark, Change | Complete(_)) => true,
            (Complete(request), NotYet(tested)) | (NotYet(tested), Complete(request)) => {
                request == tested
            }
            _ => false,
        }
    }
}

/// Are these two actions of one execution dependent?
///
/// Symmetric. Independent actions neither enable nor disable one another, and lead to one state in
/// either order. The exhaustive explorer checks the first of these in debug builds.
pub fn dependent((p, a): (ProcessId, &Effect), (q, b): (ProcessId, &Effect)) -> bool {
    p == q
        || a.acts.iter().any(|x| b.acts.iter().any(|y| x.lane == y.lane && x.mode.clashes(y.mode)))
        || a.is_needed(p, b)
        || b.is_needed(q, a)
        || a.starts(q)
        || b.starts(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_of_its_part_and_object() {
        for (number, &part) in Part::ALL.iter().enumerate() {
            assert_eq!(number, part as usize);
            let lane = Lane::new(part, 7);
            assert_eq!((lane.part(), lane.object()), (part, 7));
        }
    }
}
