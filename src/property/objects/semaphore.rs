//! Semaphores: the units, and who queues for them.

use super::{Named, Own, Request, Words};
use crate::model::{
    Action, Handle, Object, ProcessId, Response, SemaphoreId, State, System, Touch,
};
use crate::property::arrows::{Arrow, ArrowKind, Past};
use crate::property::deadlock::Wait;
use crate::property::leaks::LeakKind;
use crate::property::replay::Replay;

pub(super) enum Use {
    Acquire(SemaphoreId),
    Wait(Handle),
    Release(SemaphoreId),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Acquire(_) => "async_acquire",
            Use::Wait(_) => "acquire_wait",
            Use::Release(_) => "release",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Acquire(id) => {
                let (name, semaphore) = (at.locals.name_of(id), at.state.semaphore(id));
                match semaphore.is_granted(semaphore.requests.len() as u32 - 1) {
                    true => format!("is granted a unit of {name}"),
                    false => format!("queues for a unit of {name}"),
                }
            }
            Use::Wait(handle) => at.completed(by.process, handle),
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
        match *self {
            Use::Acquire(semaphore) | Use::Release(semaphore) => at.now(semaphore),
            Use::Wait(_) => Vec::new(),
        }
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        match *self {
            Use::Wait(handle) => Some(at.wait_for(process, handle)),
            Use::Acquire(_) | Use::Release(_) => None,
        }
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        Arrow::all(past.needed(to), to, ArrowKind::Handover)
    }
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
        let mut helpers = at.suppliers(Touch::Release(self.0));
        helpers.retain(|&p| p != process);
        let hopeless =
            helpers.is_empty().then(|| "no other process that is left releases it".into());
        Wait { words, helpers, hopeless }
    }
}

/// The free units, or who queues for them.
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
