//! Mutexes: owner and queue.

use super::{Arrow, Await, Hold, LeakKind, Named, Own, Past, Replay, Request, Wait, Words, listed};
use crate::model::{
    self, Action, May, MutexId, Object, ProcessId, Response, State, Status, System, Touch,
};

pub(super) enum Use {
    Lock(MutexId),
    Try(MutexId),
    Unlock(model::Request),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Lock(_) => "async_lock",
            Use::Try(_) => "try_lock",
            Use::Unlock(_) => "unlock",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        Some(match *self {
            Use::Lock(mutex) => requested(at, mutex),
            Use::Try(mutex) => match owner(at, mutex) == Some(by.process) {
                true => format!("true: owns {}", at.locals.name_of(mutex)),
                false => held(at, mutex),
            },
            Use::Unlock(request) => unlocked(at, by.process, request),
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        let (Use::Lock(mutex) | Use::Try(mutex) | Use::Unlock(model::Request { mutex, .. })) =
            *self;
        at.now(mutex)
    }

    fn wait_in_loop(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let &Use::Try(mutex) = self else { return None };
        Some(wait_for_mutex(at, process, mutex))
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        match *self {
            Use::Try(mutex) if past.effect(to).changes(mutex.queue()) => {
                past.handover_of_others(past.last_change(mutex.queue(), to), to)
            }
            Use::Try(_) | Use::Lock(_) | Use::Unlock(_) => Vec::new(),
        }
    }

    fn hold(&self, at: &Replay<'_, S>, by: Action) -> Option<Hold> {
        match *self {
            Use::Try(mutex) => {
                let place = at.state.mutex(mutex).requests().len() as u32 - 1;
                let is_own = owner(at, mutex) == Some(by.process);
                is_own.then(|| Hold::Begins(mutex.into(), place))
            }
            Use::Unlock(request) => {
                let place = at.state.mutex_request(by.process, request);
                Some(Hold::Ends(request.mutex.into(), place))
            }
            Use::Lock(_) => None,
        }
    }
}

/// A wait or a test for one of these mutexes.
pub(super) fn own(requests: &[model::Request], is_test: bool) -> Await {
    let name = if is_test { "mutex_test" } else { "mutex_wait" };
    let handles = requests.iter().map(|request| request.handle).collect();
    Await { name, none: "owns none of them", handles, is_test }
}

/// A request, by its index in the log.
pub(super) struct Queued(pub(super) MutexId, pub(super) u32);

impl<S: System> Request<S> for Queued {
    fn object(&self, _: &State) -> Object {
        self.0.into()
    }

    fn leak(&self, state: &State) -> LeakKind {
        match state.mutex(self.0).owner() == Some(self.1) {
            true => LeakKind::Held,
            false => LeakKind::Queued,
        }
    }

    fn completed(&self, at: &Replay<'_, S>, _: Own) -> String {
        format!("owns {}", at.locals.name_of(self.0))
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Wait {
        wait_for_mutex(at, process, self.0)
    }

    fn is_complete(&self, at: &Replay<'_, S>, _: Own) -> bool {
        at.state.mutex(self.0).is_granted(self.1)
    }

    fn incomplete(&self, at: &Replay<'_, S>) -> String {
        held(at, self.0)
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        past.handover_of_others(past.needed(to), to)
    }

    fn held(&self) -> Option<(Object, u32)> {
        Some((self.0.into(), self.1))
    }
}

fn wait_for_mutex<S: System>(at: &Replay<'_, S>, process: ProcessId, mutex: MutexId) -> Wait {
    let name = at.locals.name_of(mutex);
    let ahead: Vec<_> = at.state.mutex(mutex).queue().take_while(|&p| p != process).collect();
    let words = format!("mutex {name}, held by {}", at.name(ahead[0])) + &queued(at, &ahead[1..]);
    let hopeless = why_still_locked(at, &name, &ahead, |p: ProcessId| {
        let ways = [Touch::new(mutex.queue(), May::Turn), Touch::new(mutex.queue(), May::Change)];
        ways.into_iter().any(|touch| at.may_still(p, touch))
    });
    let helpers = if hopeless.is_some() { Vec::new() } else { vec![ahead[0]] };
    Wait { words, helpers, hopeless }
}

/// A remark that these processes are ahead in the queue.
pub(super) fn queued<S: System>(at: &Replay<'_, S>, ahead: &[ProcessId]) -> String {
    let names: Vec<_> = ahead.iter().map(|&p| at.name(p)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", with {} ahead in the queue", names.join(", ")),
    }
}

/// Why the processes `ahead` do not all unlock; `None` if they may. One that cannot is reason
/// enough.
pub(super) fn why_still_locked<S: System>(
    at: &Replay<'_, S>,
    name: &str,
    ahead: &[ProcessId],
    unlocks: impl Fn(ProcessId) -> bool,
) -> Option<String> {
    let gone = ahead.iter().find(|&&p| at.has_ended(p));
    let gone = gone.or_else(|| ahead.iter().find(|&&p| !unlocks(p)));
    gone.map(|&p| match at.status(p) {
        Some(Status::Failed(_)) => {
            format!("{} has failed without unlocking {name}", at.name(p))
        }
        Some(Status::Done) => format!("{} has ended without unlocking {name}", at.name(p)),
        _ => format!("{} never unlocks {name} from where it is", at.name(p)),
    })
}

fn owner<S: System>(at: &Replay<'_, S>, mutex: MutexId) -> Option<ProcessId> {
    owner_in(&at.state, mutex)
}

/// The process that owns the mutex.
pub(super) fn owner_in(state: &State, mutex: MutexId) -> Option<ProcessId> {
    state.mutex(mutex).queue().next()
}

fn held<S: System>(at: &Replay<'_, S>, mutex: MutexId) -> String {
    let owner = owner(at, mutex).expect("another owner");
    format!("false: {} is held by {}", at.locals.name_of(mutex), at.name(owner))
}

fn requested<S: System>(at: &Replay<'_, S>, mutex: MutexId) -> String {
    let name = at.locals.name_of(mutex);
    let queue: Vec<_> = at.state.mutex(mutex).queue().collect();
    match queue.as_slice() {
        [_] => format!("gets {name}"),
        [owner, .., _] => format!("queues for {name}, held by {}", at.name(*owner)),
        [] => unreachable!("a request was just made"),
    }
}

fn unlocked<S: System>(at: &Replay<'_, S>, process: ProcessId, request: model::Request) -> String {
    let name = at.locals.name_of(request.mutex);
    if !at.state.owns(process, request) {
        return format!("takes back its request for {name}");
    }
    match owner(at, request.mutex) {
        Some(next) => format!("releases {name}, now held by {}", at.name(next)),
        None => format!("releases {name}"),
    }
}

/// The owner, then the queue.
pub(super) fn now<S: System>(at: &Replay<'_, S>, mutex: MutexId) -> Vec<Named> {
    let queue = at.state.mutex(mutex).queue().map(|p| at.name(p).to_owned());
    vec![(format!("queue of {}", at.locals.name_of(mutex)), listed(queue.collect(), "free"))]
}
