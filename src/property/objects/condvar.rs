//! Condition variables: the processes that wait, and those that are woken.

use super::{Await, LeakKind, Named, Own, Replay, Request, Wait, Words, listed};
use crate::model::{
    Action, CondvarId, Handle, May, Object, Op, ProcessId, Response, State, System, Touch,
};

pub(super) enum Use {
    Enrol(CondvarId),
    Notify { condvar: CondvarId, all: bool },
    Wake { condvar: CondvarId, handle: Handle },
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Enrol(_) => "cond_wait",
            Use::Notify { all: false, .. } => "notify_one",
            Use::Notify { all: true, .. } => "notify_all",
            Use::Wake { .. } => "wake",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Enrol(condvar) => format!("waits at {}", at.locals.name_of(condvar)),
            Use::Wake { handle, .. } => at.completed((by.process, handle)),
            Use::Notify { condvar, .. } => {
                let name = at.locals.name_of(condvar);
                match at.state.condvar(condvar).waiting().count() {
                    0 => format!("notifies {name}, where nobody waits"),
                    1 => format!("notifies {name}, where 1 waits"),
                    n => format!("notifies {name}, where {n} wait"),
                }
            }
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Enrol(condvar) | Use::Notify { condvar, .. } | Use::Wake { condvar, .. }) = *self;
        at.now(condvar)
    }

    /// Notifications wake processes in their order.
    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let &Use::Wake { condvar, .. } = self else { return None };
        let wakes = |p: &ProcessId| matches!(at.pending(*p), Some(Op::Wake { condvar: other, .. }) if *other == condvar);
        let helpers = at.others(process).filter(wakes).collect();
        let words =
            format!("earlier notifications of {} to take effect", at.locals.name_of(condvar));
        Some(Wait { words, helpers, hopeless: None })
    }
}

/// The processes that have notified, and are about to wake others.
fn wakers<S: System>(at: &Replay<'_, S>, condvar: CondvarId) -> impl Iterator<Item = ProcessId> {
    at.state.processes().filter(move |&process| {
        matches!(at.pending(process), Some(Op::Wake { condvar: other, .. }) if *other == condvar)
    })
}

/// The wait to be woken.
pub(super) fn wait(handle: Handle) -> Await {
    Await::one("cond_wait", handle)
}

/// An enrolment, by its index in the log.
pub(super) struct Enrolled(pub(super) CondvarId, pub(super) u32);

impl<S: System> Request<S> for Enrolled {
    fn object(&self, _: &State) -> Object {
        self.0.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Queued
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        format!("was woken at {}", at.locals.name_of(self.0))
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let name = at.locals.name_of(self.0);
        let mut helpers = at.suppliers(Touch::new(self.0.notes(), May::Change));
        helpers.retain(|&p| p != process);
        helpers.extend(wakers(at, self.0));
        helpers.sort_unstable();
        helpers.dedup();
        let words = format!("a notification of {name}");
        Wait::for_one(words, helpers, || self.why_nobody(at, process))
    }
}

impl Enrolled {
    /// Why no process will notify it. A notification that came before the enrolment does not wake
    /// the process; the sentence names such a lost notification.
    fn why_nobody<S: System>(&self, at: &Replay<'_, S>, process: ProcessId) -> String {
        let condvar = at.state.condvar(self.0);
        let turn = condvar.enrolments()[self.1 as usize].turn;
        if condvar.notifications().len() as u32 > turn {
            return "every notification since then has woken another process, and no other \
                    process that is left notifies it"
                .into();
        }
        let before = turn.checked_sub(1).and_then(|last| notified_at(at, self.0, last));
        match before.filter(|&before| !has_looked(at, process, before)) {
            Some(lost) => {
                let by = made_at(at, lost);
                format!("nobody will notify it: the notification came before the wait ({by})")
            }
            None => "no other process that is left notifies it".into(),
        }
    }
}

/// A notification, by its index in the log.
pub(super) struct Notified(pub(super) CondvarId, pub(super) u32);

impl<S: System> Request<S> for Notified {
    fn object(&self, _: &State) -> Object {
        self.0.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Queued
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        let all = at.state.condvar(self.0).enrolments().iter();
        let woken = all.filter(|one| one.woken_by() == Some(self.1));
        let names: Vec<_> = woken.map(|one| at.name(one.process)).collect();
        match names.is_empty() {
            true => "wakes nobody".into(),
            false => format!("wakes {}", names.join(", ")),
        }
    }

    fn wait(&self, _: &Replay<'_, S>, _: ProcessId) -> Wait {
        unreachable!("a wake step needs only wake steps, which never block for ever")
    }
}

/// The position in the execution of the notification with this index.
fn notified_at<S: System>(at: &Replay<'_, S>, condvar: CondvarId, wanted: u32) -> Option<usize> {
    let is_it = |&place: &usize| {
        let op = at.locals.op(at.state.before(place));
        matches!(op, Some(Op::Notify { condvar: other, .. }) if *other == condvar)
    };
    (0..at.state.depth()).filter(is_it).nth(wanted as usize)
}

/// Has the process, which waits for a notification, checked its condition after this position of
/// the execution? Then it has not missed an earlier notification. A check is an access to a cell.
/// If the process never accesses a cell (its values are behind a mutex and not in the model), a
/// check is a lock of a mutex.
fn has_looked<S: System>(at: &Replay<'_, S>, process: ProcessId, since: usize) -> bool {
    let own = |&place: &usize| at.state.action(place).process == process;
    let op = |place: usize| at.locals.op(at.state.before(place));
    let accesses = |place: usize| matches!(op(place), Some(Op::Access(..)));
    let locks = |place: usize| matches!(op(place), Some(Op::MutexWaitAny(_) | Op::TryLock(_)));
    let depth = at.state.depth();
    match (0..depth).filter(own).any(accesses) {
        true => (since..depth).filter(own).any(accesses),
        false => (since..depth).filter(own).any(locks),
    }
}

/// The process that acted at this position of the execution, and the line.
fn made_at<S: System>(at: &Replay<'_, S>, place: usize) -> String {
    let name = at.name(at.state.action(place).process);
    let site = at.locals.system().describe().site(at.locals.get(at.state.before(place)));
    match site.filter(|site| site.line > 0) {
        Some(site) => format!("{name}, line {}", site.line),
        None => name.to_owned(),
    }
}

/// The processes that wait.
pub(super) fn now<S: System>(at: &Replay<'_, S>, condvar: CondvarId) -> Vec<Named> {
    let waiting = at.state.condvar(condvar).waiting();
    let names = waiting.map(|one| at.name(one.process).to_owned()).collect();
    vec![(format!("waiting at {}", at.locals.name_of(condvar)), listed(names, "nobody"))]
}
