//! What executions leave behind: messages that are never received, requests that are never
//! answered, mutexes that are never unlocked.
//!
//! A process that really runs may report more leaks when it ends ([`Remark`]), for example an
//! object that it never freed.
//!
//! A leak is not a violation. Leaks are searched at the end of executions without a violation, in
//! which no process has failed. (In a deadlock, messages and requests are left as well, but the
//! deadlock is reported instead.) So a leak is a statement about one execution: "in some execution
//! this message is never received". An explorer that reaches every terminal state finds, for each
//! kind of leak, every process that has one.
//!
//! Two leaks are the same if they have the same kind and the same place in the source; without a
//! place, if they have the same kind, process and object. Most executions have the leaks of earlier
//! ones, and to find the place of a request is a walk along the execution. So a set has what was
//! seen, under a cheap key: the process, the number of its request, and its final local state. The
//! place is searched only for a new key. (Two executions that end in the same local state may have
//! made the request at different places. Then one of these places is reported.)

use rustc_hash::FxHashSet;
#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use super::objects::{Own, request};
use super::process_failure;
use crate::model::{
    Handle, LocalId, Locals, Needed, Object, ProcessId, Remark, RemarkKind, Schedule, Site, State,
    System,
};

/// Maximum number of leaks that are kept.
const MAX_LEAKS: usize = 1000;

/// The most keys of leaks that are kept when local states are forgotten: where a process that leaks
/// remembers what it received, each class has keys of its own.
const MOST_SEEN: usize = 1000;

/// The kinds of leak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub enum LeakKind {
    /// A message that no receive takes.
    Message,
    /// A receive that gets no message.
    Receive,
    /// An entry into a collective that never completes.
    Collective,
    /// A request for a unit of a semaphore that is never granted.
    Acquire,
    /// A mutex or a reader-writer lock that its owner never unlocks.
    Held,
    /// A request for a mutex or a reader-writer lock that is never granted and never withdrawn.
    Queued,
    /// A leak that the process itself reports.
    Remarked(RemarkKind),
}

/// Something that an execution leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Leak {
    /// The kind of leak.
    pub kind: LeakKind,
    /// The process that leaves it.
    pub(crate) process: String,
    /// The mailbox, mutex or semaphore, or the object that the process itself reports.
    pub object: String,
    /// Where the message was sent or the request was made.
    pub site: Option<Site>,
    /// An execution that leaves it behind.
    pub schedule: Schedule,
}

impl Leak {
    /// Adds it to `found`, unless the same leak is there already or there are [`MAX_LEAKS`].
    pub(crate) fn add_to(self, found: &mut Vec<Leak>) {
        let is_same = |known: &Leak| {
            known.kind == self.kind
                && match &self.site {
                    Some(_) => known.site == self.site,
                    None => (&known.process, &known.object) == (&self.process, &self.object),
                }
        };
        if found.len() < MAX_LEAKS && !found.iter().any(is_same) {
            found.push(self);
        }
    }

    /// Replays its execution on the model.
    ///
    /// # Errors
    /// If it does not end in this leak: no search of this system has found it.
    #[cfg(feature = "cli")]
    pub(crate) fn check<S: System>(&self, system: &S) -> Result<(), String> {
        let mut locals = Locals::new(system);
        let state = self.schedule.replay(&mut locals).map_err(|refusal| refusal.to_string())?;
        let mut leaks = Leaks::default();
        if state.is_terminal(&locals) {
            leaks.look(&locals, &state);
        }
        let is_this = |found: Leak| Leak { schedule: self.schedule.clone(), ..found } == *self;
        match leaks.found().into_iter().any(is_this) {
            true => Ok(()),
            false => Err("its schedule does not end in it".into()),
        }
    }
}

/// The key of a leak: process, number of the request or remark, kind, and final local state. It is
/// found without a walk along the execution.
type Seen = (ProcessId, Handle, LeakKind, LocalId);

/// The leaks found so far.
#[derive(Debug, Default)]
pub(crate) struct Leaks {
    found: Vec<Leak>,
    seen: FxHashSet<Seen>,
}

impl Leaks {
    /// Adds the leaks of the execution that ends in `state`. It has no violation.
    #[inline]
    pub(crate) fn look<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        if self.found.len() >= MAX_LEAKS {
            return;
        }
        let describe = locals.system().describe();
        let remarks = state.program_processes().filter_map(|process| {
            let end = state.local(process);
            Some((process, end, describe.remarks(locals.get(end))?))
        });
        for (process, end, remarks) in remarks {
            self.note_remarks(locals, state, (process, end, &remarks));
        }
        if state.has_open_requests(locals.objects()) {
            self.note(locals, state);
        }
    }

    /// Tells by which local states leaks are known. If there are many, it forgets them instead: a
    /// leak that is looked at again is found to be known.
    pub(crate) fn tell_needed(&mut self, needed: &mut Needed) {
        if self.seen.len() > MOST_SEEN {
            self.seen.clear();
        }
        self.seen.iter().for_each(|&(.., end)| needed.keep(end));
    }

    /// Adds a leak that a search on behalf of this one has found.
    pub(crate) fn adopt(&mut self, leak: Leak) {
        leak.add_to(&mut self.found);
    }

    /// The leaks so far, in the order in which they were found.
    #[cfg(feature = "json")]
    pub(crate) fn listed(&self) -> &[Leak] {
        &self.found
    }

    /// The leaks, in the order in which they were found.
    pub(crate) fn found(self) -> Vec<Leak> {
        self.found
    }

    #[cold]
    fn note_remarks<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        (process, end, remarks): (ProcessId, LocalId, &[Remark]),
    ) {
        if has_failed(locals, state) {
            return;
        }
        for (number, remark) in (0..).map(Handle).zip(remarks) {
            let kind = LeakKind::Remarked(remark.kind);
            if self.seen.insert((process, number, kind, end)) {
                let describe = locals.system().describe();
                let leak = Leak {
                    kind,
                    process: describe.process_name(locals.get(end)),
                    object: remark.object.clone().into_owned(),
                    site: remark.site.clone(),
                    schedule: Schedule::of(state),
                };
                leak.add_to(&mut self.found);
            }
        }
    }

    #[cold]
    fn note<S: System>(&mut self, locals: &Locals<'_, S>, state: &State) {
        if has_failed(locals, state) {
            return;
        }
        for (process, handle, posted) in state.open_requests() {
            let (kind, object) =
                request::<S, _>(posted, |request| (request.leak(state), request.object(state)));
            let is_lock = matches!(kind, LeakKind::Held | LeakKind::Queued);
            let end = state.local(process);
            // A process that still waits may unlock it later, and a daemon may wait for ever.
            let waits = !locals.status(end).has_ended();
            if waits && (is_lock || kind != LeakKind::Message && locals.is_daemon(end)) {
                continue;
            }
            if self.seen.insert((process, handle, kind, end)) {
                self.add(locals, state, (process, handle), (kind, object));
            }
        }
    }

    fn add<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        (process, handle): Own,
        (kind, object): (LeakKind, Object),
    ) {
        let describe = locals.system().describe();
        let leak = Leak {
            kind,
            process: describe.process_name(locals.get(state.local(process))),
            object: locals.name_of(object),
            site: describe.site(locals.get(asked_from(locals, state, process, handle))),
            schedule: Schedule::of(state),
        };
        leak.add_to(&mut self.found);
    }
}

fn has_failed<S: System>(locals: &Locals<'_, S>, state: &State) -> bool {
    state.processes().any(|process| process_failure(locals, state, process).is_some())
}

/// The local state from which the process made this request.
fn asked_from<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    process: ProcessId,
    handle: Handle,
) -> LocalId {
    let mut past = state.clone();
    while past.depth() > 0 {
        past.undo(locals);
        let is_before = !past.exists(process) || past.posted_count(process) <= handle.0;
        if is_before {
            return past.local(process);
        }
    }
    panic!("{process:?} never made request {handle:?}")
}
