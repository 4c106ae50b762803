//! Weak initials: the enabled actions that can be put at the beginning of a continuation.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), definition 4.3, with actions in the place of
//! processes: a ∈ WI(v) after E iff some execution E·a·.. contains v's events, that is, iff
//!
//! - v contains a, and nothing before a there happens before it (then a ∈ I(v), an *initial*), or
//! - v contains no action of a's process, and a is independent of all of v.
//!
//! If an action is asleep after E, everything that begins with it was explored. So a continuation of which it is a
//! weak initial need not be explored.
//!
//! Whether two actions are independent is a question about footprints, and a footprint is taken at some place of an
//! execution. Here the footprint of a was taken after E or before. Those of v's events were taken in an execution that
//! has another event in front of them: the one of a race that v reverses. In most cases that makes no difference,
//! because an action with its history is the same event everywhere. The exception is which post a post was paired with on
//! arrival, and whom an unlock made the owner: that depends on who came first. Only failed tests ask for it.
//! [`dependence`] leaves such pairs open, and they are decided by executing them.

use crate::model::{
    Action, End, Footprint, Independence, Locals, MailboxId, PaperRelation, ProcessId, State,
    System,
};

/// Do these two events depend on one another? Neither happens before the other. `None` if their footprints do not
/// tell.
pub fn dependence(a: (ProcessId, &Footprint), b: (ProcessId, &Footprint)) -> Option<bool> {
    use Footprint::*;
    if a.0 == b.0 {
        return Some(true);
    }
    match (a.1, b.1) {
        // Neither sent the other's message; numbers of messages differ from execution to execution.
        (Handler { .. }, _) | (_, Handler { .. }) => Some(false),
        // Neither is a cause of the other; places are those of one execution.
        (Network { .. }, _) | (_, Network { .. }) => Some(false),
        (Post { mailbox, end, .. }, Incomplete(tested))
        | (Incomplete(tested), Post { mailbox, end, .. }) => {
            let concerned = tested.iter().any(|t| t.0 == *mailbox && t.1 == end.opposite());
            (!concerned).then_some(false)
        }
        (Unlock { mutex, .. }, NotOwned(tested)) | (NotOwned(tested), Unlock { mutex, .. }) => {
            let concerned = tested.iter().any(|t| t.0 == *mutex);
            (!concerned).then_some(false)
        }
        _ => Some(PaperRelation.dependent(a, b)),
    }
}

/// A few bits that say what an event touches. If two events have no bit in common, they are of different processes, and their
/// footprints tell that they do not depend on one another ([`dependence`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Signature {
    processes: u64,
    objects: u64,
}

impl Signature {
    /// That of an event of this process.
    #[inline]
    pub fn of(process: ProcessId, footprint: &Footprint) -> Signature {
        use Footprint::*;
        let of_posts =
            |mailbox: MailboxId, end: End| object(u32::from(end == End::Send), mailbox.0);
        let mut processes = of_process(process);
        let objects = match footprint {
            Post { mailbox, end, .. } => of_posts(*mailbox, *end),
            Completed { mailbox, partner_end, .. } => of_posts(*mailbox, *partner_end),
            Incomplete(tested) => tested
                .iter()
                .fold(0, |all, &(mailbox, end, _)| all | of_posts(mailbox, end.opposite())),
            Lock(mutex) => object(2, mutex.0),
            Unlock { mutex, .. } | Owned { mutex, .. } => object(3, mutex.0),
            Enqueue(mutex) | Held(mutex) => object(3, mutex.0),
            NotOwned(tested) => tested.iter().fold(0, |all, (mutex, _)| all | object(3, mutex.0)),
            RwRequest { lock, .. } | RwOwned { lock, .. } | RwUnlock { lock, .. } => {
                object(4, lock.0)
            }
            Enrol(condvar) | Notify(condvar) => object(5, condvar.0),
            Woken { condvar, .. } | Wake { condvar, .. } => object(5, condvar.0),
            Acquire(semaphore) => object(6, semaphore.0),
            Release { semaphore, .. } | Granted { semaphore, .. } => object(7, semaphore.0),
            Arrive { barrier, .. } | Pass { barrier, .. } => object(8, barrier.0),
            Read(cell) | Write(cell) => object(9, cell.0),
            Spawn(other) | Join(other) => {
                processes |= of_process(*other);
                0
            }
            Network { .. } | Handler { .. } | Nothing => 0,
        };
        Signature { processes, objects }
    }

    /// Have they a bit in common?
    #[inline]
    pub fn meets(self, other: Signature) -> bool {
        self.processes & other.processes | self.objects & other.objects != 0
    }
}

/// The bit of a process.
fn of_process(process: ProcessId) -> u64 {
    1 << (process.0 % u64::BITS)
}

/// The bit of an object of this kind.
fn object(kind: u32, number: u32) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    1 << ((u64::from(number) << 4 | u64::from(kind)).wrapping_mul(ODD) >> (u64::BITS - 6))
}

/// Is `a` a weak initial of this continuation? `None` if the footprints do not tell. Events whose [`Signature`] does not meet that
/// of `a` make no difference, and may be left out.
pub fn is_weak_initial<'f>(
    a: (Action, &Footprint),
    continuation: impl Iterator<Item = (Action, &'f Footprint)>,
) -> Option<bool> {
    let process = a.0.process;
    let mut open = false;
    for (action, footprint) in continuation {
        if action.process == process {
            return if action == a.0 && open { None } else { Some(action == a.0) };
        }
        match dependence((process, a.1), (action.process, footprint)) {
            Some(true) => return Some(false),
            Some(false) => {}
            None => open = true,
        }
    }
    (!open).then_some(true)
}

/// Is `a` a weak initial of this continuation? Found out by executing: both are executable in `state`.
pub fn is_weak_initial_in<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    a: Action,
    continuation: impl Iterator<Item = Action>,
) -> bool {
    let start = state.depth();
    let mut answer = true;
    for action in continuation {
        if action.process == a.process {
            answer = action == a;
            break;
        }
        let footprint = state.peek(locals, a);
        state.step(locals, action);
        let passed = state.footprint(locals);
        if dependent_here((a.process, &footprint), (action.process, &passed)) {
            answer = false;
            break;
        }
    }
    while state.depth() > start {
        state.undo(locals);
    }
    answer
}

/// Do two actions that are enabled in one state depend on one another, by their footprints there?
pub fn dependent_here(a: (ProcessId, &Footprint), b: (ProcessId, &Footprint)) -> bool {
    dependence(a, b).unwrap_or_else(|| PaperRelation.dependent(a, b))
}
