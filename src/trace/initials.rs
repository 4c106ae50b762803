//! Weak initials: the enabled actions that can be put at the beginning of a continuation.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), definition 4.3, with actions in the
//! place of processes: a ∈ WI(v) after E iff some execution E·a·.. contains v's events, that is,
//! iff
//!
//! - v contains a, and nothing before a there happens before it (then a ∈ I(v), an *initial*), or
//! - v contains no action of a's process, and a is independent of all of v.
//!
//! If an action is asleep after E, everything that begins with it was explored. So a continuation
//! of which it is a weak initial need not be explored.
//!
//! Whether two actions are independent depends on their effects, and an effect depends on the place
//! in an execution. Here the effect of a was computed after E or earlier. The effects of the events
//! of v were computed in an execution with one more event before them: the event i of the race that
//! v reverses. In most cases that makes no difference, because an action with its history is the
//! same event everywhere. There are two exceptions: the post with which a post was paired on
//! arrival, and the process that an unlock made the owner, depend on the order of events. Only
//! failed tests depend on these. [`dependence`] leaves such pairs undecided, and they are decided
//! by executing them.

use crate::model::{Action, Effect, Locals, Mode, ProcessId, State, System, dependent};

/// Do these two events, of which neither is a cause of the other, depend on one another? `None` if
/// their effects do not determine this.
pub(crate) fn dependence(a: (ProcessId, &Effect), b: (ProcessId, &Effect)) -> Option<bool> {
    if a.0 == b.0 {
        return Some(true);
    }
    let mut open = false;
    for one in a.1.acts.iter() {
        for other in b.1.acts.iter().filter(|other| other.lane == one.lane) {
            match (one.mode, other.mode) {
                (Mode::NotYet(_), other) if other.is_change() => open = true,
                (one, Mode::NotYet(_)) if one.is_change() => open = true,
                (one, other) if one.clashes(other) => return Some(true),
                _ => {}
            }
        }
    }
    (!open).then_some(false)
}

/// A bit mask of the process and the lanes of an event. If the masks of two events have no bit in
/// common, the events are of different processes, and [`dependence`] would return `Some(false)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signature {
    processes: u64,
    lanes: u64,
}

impl Signature {
    /// The signature of an event of this process with this effect.
    #[inline]
    pub(crate) fn of(process: ProcessId, effect: &Effect) -> Signature {
        let processes = 1 << (process.0 % u64::BITS);
        Signature { processes, lanes: effect.acts.iter().fold(0, |all, act| all | act.lane.bit()) }
    }

    /// Do the two signatures have a bit in common?
    #[inline]
    pub(crate) fn meets(self, other: Signature) -> bool {
        self.processes & other.processes | self.lanes & other.lanes != 0
    }
}

/// Is `a` a weak initial of this continuation? `None` if the effects do not determine this. Events
/// whose [`Signature`] does not meet the signature of `a` make no difference, and may be left out.
pub(crate) fn is_weak_initial<'f>(
    a: (Action, &Effect),
    continuation: impl Iterator<Item = (Action, &'f Effect)>,
) -> Option<bool> {
    let process = a.0.process;
    let mut open = false;
    for (action, effect) in continuation {
        if action.process == process {
            return if action == a.0 && open { None } else { Some(action == a.0) };
        }
        match dependence((process, a.1), (action.process, effect)) {
            Some(true) => return Some(false),
            Some(false) => {}
            None => open = true,
        }
    }
    (!open).then_some(true)
}

/// Is `a` a weak initial of this continuation? Decides by execution: both must be executable in
/// `state`.
pub(crate) fn is_weak_initial_in<S: System>(
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
        let effect = state.peek(locals, a);
        state.step(locals, action);
        let passed = state.effect(locals);
        if dependent_here((a.process, &effect), (action.process, &passed)) {
            answer = false;
            break;
        }
    }
    while state.depth() > start {
        state.undo(locals);
    }
    answer
}

/// Do two actions that are enabled in one state depend on one another, by their effects there?
pub(crate) fn dependent_here(a: (ProcessId, &Effect), b: (ProcessId, &Effect)) -> bool {
    dependence(a, b).unwrap_or_else(|| dependent(a, b))
}
