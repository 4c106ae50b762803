//! Why a process cannot move, in any state of an execution.
//!
//! What it waits for, and who may help, is found as for a deadlock ([`super::deadlock`]). There no
//! process moves any more. Here others may, and the network: a message that is there may not have
//! reached its receive yet. So that no process sends what matches is no reason before that.

use rustc_hash::FxHashSet;

use super::Replay;
use super::deadlock::Blocked;
use super::objects::holders;
use crate::model::{Object, Op, ProcessId, Status, System};

/// Why a process cannot move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It has run its last statement, in this step (from 1), or before the first step.
    Ended(Option<usize>),
    /// It has stopped on this violation, in this step.
    Failed(Option<usize>, String),
    /// An actor that has no message, and no internal handler that can run.
    Idle,
    /// It waits at an operation, or in a loop that changes nothing, as long as nothing happens.
    Waits(Box<Waiting>),
}

/// A process that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) blocked: Blocked,
    /// The processes that hold the locks that it waits for.
    pub(crate) held: Vec<Held>,
    /// The variables of an actor that takes none of its messages.
    pub(crate) variables: Vec<(String, String)>,
}

/// The processes that cannot move, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AtRest {
    pub(crate) waiting: Vec<String>,
    /// Actors without a message.
    pub(crate) idle: Vec<String>,
    pub(crate) ended: Vec<String>,
    pub(crate) failed: Vec<String>,
}

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) process: String,
    /// The lock.
    pub(crate) object: String,
    /// The step (from 1) in which it got the lock.
    pub(crate) since: usize,
}

impl<S: System> Replay<'_, S> {
    /// The processes for which nothing can happen, neither in them nor in the network.
    pub(crate) fn at_rest(&self) -> AtRest {
        let movers: FxHashSet<_> =
            self.enabled().iter().map(|action| self.state.served(action.process)).collect();
        let mut all = AtRest::default();
        for process in self.state.program_processes().filter(|p| !movers.contains(p)) {
            let place = match self.locals.status(self.state.local(process)) {
                Status::Done => &mut all.ended,
                Status::Failed(_) => &mut all.failed,
                Status::At(op) if self.is_idle(process, op) => &mut all.idle,
                Status::At(_) => &mut all.waiting,
            };
            place.push(self.name(process).into());
        }
        all
    }

    fn is_idle(&self, process: ProcessId, op: &Op) -> bool {
        matches!(op, Op::Handle { .. }) && !self.state.inboxes().has_pending(process)
    }

    /// Why a process of the program cannot move; `None` if it can.
    pub(crate) fn why(&self, process: ProcessId) -> Option<Why> {
        let spins = self.spins.iter().any(|spin| spin.process == process);
        if self.state.can_move(&self.locals, process) && !spins {
            return None;
        }
        Some(match self.status(process)? {
            Status::Done => Why::Ended(self.last_step_of(process)),
            Status::Failed(failure) => {
                Why::Failed(self.last_step_of(process), failure.message.clone())
            }
            Status::At(op) if self.is_idle(process, op) => Why::Idle,
            Status::At(op) => Why::Waits(Box::new(self.waiting(process, op))),
        })
    }

    fn waiting(&self, process: ProcessId, op: &Op) -> Waiting {
        let mut wait = self.wait(process).expect("a blocked process waits");
        if self.network_moves() {
            wait.hopeless = None;
        }
        Waiting {
            blocked: self.blocked(process, &wait),
            held: self.held_by_others(process, &locks(op)),
            variables: match op {
                Op::Handle { .. } => self.variables(process),
                _ => Vec::new(),
            },
        }
    }

    /// The last step of a process (from 1), or the one that has started it; `None` if it exists
    /// from the start and has not moved.
    fn last_step_of(&self, process: ProcessId) -> Option<usize> {
        let last = self.state.schedule().rposition(|action| action.process == process);
        last.or_else(|| self.state.born(process)).map(|step| step + 1)
    }

    /// Can the network match a message, or end the entry of a rank?
    fn network_moves(&self) -> bool {
        let mut carriers = self.state.processes().filter(|&p| self.state.is_carrier(p));
        carriers.any(|carrier| self.state.can_move(&self.locals, carrier))
    }

    /// The other processes that hold these locks, and since when.
    fn held_by_others(&self, process: ProcessId, locks: &[Object]) -> Vec<Held> {
        let mut all = Vec::new();
        for &lock in locks {
            let others = holders(&self.state, lock).into_iter().filter(|&other| other != process);
            all.extend(others.map(|other| Held {
                process: self.name(other).into(),
                object: self.locals.name_of(lock),
                since: self.held_since(lock, other),
            }));
        }
        all
    }

    /// The step (from 1) since which a process holds a lock.
    fn held_since(&self, lock: Object, holder: ProcessId) -> usize {
        let mut past = self.state.clone();
        let mut since = past.depth();
        while past.depth() > 0 {
            past.undo(&self.locals);
            if !holders(&past, lock).contains(&holder) {
                break;
            }
            since = past.depth();
        }
        since
    }
}

/// The locks that an operation waits for.
fn locks(op: &Op) -> Vec<Object> {
    match op {
        Op::MutexWaitAny(requests) => requests.iter().map(|r| Object::Mutex(r.mutex)).collect(),
        Op::RwWait { lock, .. } => vec![Object::RwLock(*lock)],
        _ => Vec::new(),
    }
}
