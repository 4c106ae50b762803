//! Reader-writer locks: readers, writer and queue.

use super::mutex::{queued, why_still_locked};
use super::{Arrow, Await, Hold, LeakKind, Named, Own, Past, Replay, Request, Wait, Words, listed};
use crate::model::{
    Action, Handle, Hold as Role, May, Object, ProcessId, Response, RwLock, RwLockId, RwRequest,
    State, System, Touch,
};

pub(super) enum Use {
    Request { lock: RwLockId, hold: Role },
    Unlock { lock: RwLockId, handle: Handle },
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Request { hold: Role::Shared, .. } => "read_lock",
            Use::Request { hold: Role::Exclusive, .. } => "write_lock",
            Use::Unlock { .. } => "unlock",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Request { lock, .. } => asked(at, by.process, lock),
            Use::Unlock { lock, .. } => format!("releases {}", at.locals.name_of(lock)),
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Request { lock, .. } | Use::Unlock { lock, .. }) = *self;
        at.now(lock)
    }

    fn hold(&self, at: &Replay<'_, S>, by: Action) -> Option<Hold> {
        let &Use::Unlock { lock, handle } = self else { return None };
        Some(Hold::Ends(lock.into(), at.state.rwlock_request(by.process, handle).0))
    }
}

/// The wait for a request to be granted.
pub(super) fn wait(handle: Handle) -> Await {
    Await::one("rwlock_wait", handle)
}

/// A request, by its index in the log.
pub(super) struct Queued(pub(super) RwLockId, pub(super) u32);

impl Queued {
    fn of<'s>(&self, state: &'s State) -> (&'s RwLock, &'s RwRequest) {
        let lock = state.rwlock(self.0);
        (lock, &lock.requests()[self.1 as usize])
    }
}

impl<S: System> Request<S> for Queued {
    fn object(&self, _: &State) -> Object {
        self.0.into()
    }

    fn leak(&self, state: &State) -> LeakKind {
        let (lock, own) = self.of(state);
        match lock.is_granted(own) {
            true => LeakKind::Held,
            false => LeakKind::Queued,
        }
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        let (_, own) = self.of(&at.state);
        format!("holds {} as a {}", at.locals.name_of(self.0), role(own.hold))
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let (name, (lock, own)) = (at.locals.name_of(self.0), self.of(&at.state));
        let is_waited_for = |other: &&RwRequest| {
            other.turn < own.turn || other.turn == own.turn && own.hold == Role::Exclusive
        };
        let ahead = lock.queue().take_while(|other| other.process != process);
        let ahead: Vec<_> = ahead.filter(is_waited_for).collect();
        let (helpers, others): (Vec<_>, Vec<_>) =
            ahead.iter().partition(|other| lock.is_granted(other));
        let [helpers, others, ahead] = [helpers, others, ahead]
            .map(|all| all.iter().map(|other| other.process).collect::<Vec<_>>());
        let words =
            format!("lock {name}, held by {}", holders(at, lock, process)) + &queued(at, &others);
        let touch = Touch::new(self.0.leaves(), May::Add);
        let hopeless = why_still_locked(at, &name, &ahead, |p| at.may_still(p, touch));
        let helpers = if hopeless.is_some() { Vec::new() } else { helpers };
        Wait { words, helpers, hopeless }
    }

    /// The lock is handed over by the last unlocks that the request waited for: of the previous
    /// writer, or of all readers after it.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let needs = past.effect(to).needs.iter().rev().map(|&need| past.providers(need, to));
        let last = needs.into_iter().find(|unlocks| !unlocks.is_empty()).unwrap_or_default();
        past.handover_of_others(last, to)
    }

    fn held(&self) -> Option<(Object, u32)> {
        Some((self.0.into(), self.1))
    }
}

/// The result of the request of a `read_lock` or `write_lock`.
fn asked<S: System>(at: &Replay<'_, S>, process: ProcessId, lock: RwLockId) -> String {
    let (name, lock) = (at.locals.name_of(lock), at.state.rwlock(lock));
    let own = lock.requests().last().expect("a request was just made");
    let role = role(own.hold);
    match lock.is_granted(own) {
        true => format!("gets {name} as a {role}"),
        false => {
            format!("queues for {name} as a {role}, held by {}", holders(at, lock, process))
        }
    }
}

/// The processes other than `but` that hold the lock.
fn holders<S: System>(at: &Replay<'_, S>, lock: &RwLock, but: ProcessId) -> String {
    let others = holding(lock).filter(|&process| process != but);
    others.map(|process| at.name(process)).collect::<Vec<_>>().join(", ")
}

/// The processes that hold the lock.
pub(super) fn holding(lock: &RwLock) -> impl Iterator<Item = ProcessId> {
    lock.queue().filter(|request| lock.is_granted(request)).map(|request| request.process)
}

/// The role of a process with such a hold.
fn role(hold: Role) -> &'static str {
    match hold {
        Role::Shared => "reader",
        Role::Exclusive => "writer",
    }
}

/// The queue, with the processes that hold the lock at its front.
pub(super) fn now<S: System>(at: &Replay<'_, S>, id: RwLockId) -> Vec<Named> {
    let lock = at.state.rwlock(id);
    let queue = lock.queue().map(|request| {
        let does = if lock.is_granted(request) { "" } else { " (waits)" };
        format!("{} {}{does}", role(request.hold), at.name(request.process))
    });
    vec![(format!("queue of {}", at.locals.name_of(id)), listed(queue.collect(), "free"))]
}
