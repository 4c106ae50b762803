//! Semaphores: free units and queue.

use super::{Await, LeakKind, Named, Own, Replay, Request, Wait, Words};
use crate::model::{
    Action, Handle, May, Object, ProcessId, Response, SemaphoreId, State, System, Touch,
};

pub(super) enum Use {
    Acquire(SemaphoreId),
    Release(SemaphoreId),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Acquire(_) => "async_acquire",
            Use::Release(_) => "release",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Acquire(id) => {
                let (name, semaphore) = (at.locals.name_of(id), at.state.semaphore(id));
                match semaphore.is_granted(semaphore.requests.len() as u32 - 1) {
                    true => format!("is granted a unit of {name}"),
                    false => format!("queues for a unit of {name}"),
                }
            }
            Use::Release(id) => {
                let (name, semaphore) = (at.locals.name_of(id), at.state.semaphore(id));
                let granted = semaphore.initial as usize + semaphore.releases.len() - 1;
                match semaphore.requests.get(granted) {
                    Some(&next) => format!("releases a unit of {name} to {}", at.name(next)),
                    None => format!("releases a unit of {name}"),
                }
            }
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Acquire(semaphore) | Use::Release(semaphore)) = *self;
        at.now(semaphore)
    }
}

/// The wait for a unit.
pub(super) fn wait(handle: Handle) -> Await {
    Await::one("acquire_wait", handle)
}

/// A request for a unit.
pub(super) struct Queued(pub(super) SemaphoreId, pub(super) u32);

impl<S: System> Request<S> for Queued {
    fn object(&self, _: &State) -> Object {
        self.0.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Acquire
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        format!("has a unit of {}", at.locals.name_of(self.0))
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        let (name, semaphore) = (at.locals.name_of(self.0), at.state.semaphore(self.0));
        let position = self.1 as usize;
        let words = match position + 1 - semaphore.initial as usize - semaphore.releases.len() {
            1 => format!("a release of semaphore {name}"),
            n => format!("{n} releases of semaphore {name}, being number {n} in its queue"),
        };
        let mut helpers = at.suppliers(Touch::new(self.0.releases(), May::Change));
        helpers.retain(|&p| p != process);
        Wait::for_one(words, helpers, || "no other process that is left releases it".into())
    }
}

/// The free units, or the queue.
pub(super) fn now<S: System>(at: &Replay<'_, S>, id: SemaphoreId) -> Vec<Named> {
    let semaphore = at.state.semaphore(id);
    let units = semaphore.initial as usize + semaphore.releases.len();
    let value = match semaphore.requests.get(units..) {
        Some(waiting) if !waiting.is_empty() => {
            let waiting: Vec<_> = waiting.iter().map(|&p| at.name(p)).collect();
            format!("0 free, queue: {}", waiting.join(", "))
        }
        _ => format!("{} free", units - semaphore.requests.len()),
    };
    vec![(format!("semaphore {}", at.locals.name_of(id)), value)]
}
