//! The prefix as a list of events, for pictures and for other programs.

use super::net::ModelNet;
use super::search::{FinitePrefix, build_up_to};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::Explorer;
use crate::explore::observer::NoObserver;
use crate::model::{ProcessId, Schedule, System};
use crate::unfolding::prefix::{Prefix, PrefixEvent};

/// A prefix, or the smallest events of it.
#[derive(Clone, Debug)]
pub struct ShownPrefix {
    /// The events, cutoffs included; causes come first.
    pub events: Vec<ShownEvent>,
    /// The pairs in immediate conflict, each once, with the smaller number first, in order.
    pub conflicts: Vec<(usize, usize)>,
    /// Are there no further events?
    pub is_whole: bool,
}

/// An event of a prefix.
#[derive(Clone, Debug)]
pub struct ShownEvent {
    /// The process that acts.
    pub process: ProcessId,
    /// Its local configuration as an execution: the event is its last action, or its last two
    /// actions if it locks a mutex in one step.
    pub schedule: Schedule,
    /// Its direct causes, and perhaps causes of these; ascending.
    pub causes: Vec<usize>,
    /// For a cutoff: the event with the same state after its local configuration; `None` in it for
    /// the start.
    pub cutoff_of: Option<Option<usize>>,
}

/// Builds the prefix of a system, or its smallest events if there are more than `max_events`.
///
/// # Errors
/// A sentence that says why the system has no prefix that can be built.
pub fn finite_prefix<S: System>(
    system: &S,
    max_events: usize,
    budget: Budget,
) -> Result<ShownPrefix, String> {
    if let Some(refusal) = FinitePrefix.refusal(system, &budget) {
        return Err(refusal);
    }
    let mut queued = Default::default();
    loop {
        let mut observer = NoObserver;
        let mut driver = Driver::new(system, budget.clone(), &mut observer);
        let mut net = ModelNet::new(system, queued, driver.signal().clone());
        let (mut prefix, is_whole) = build_up_to(&mut net, &mut driver, max_events);
        match net.must_start_again() {
            Some(more) => queued = more.clone(),
            None if net.is_refused() => {
                return Err("processes are started in a loop, so the prefix is not finite".into());
            }
            None => return Ok(show(&mut net, &mut prefix, max_events, is_whole)),
        }
    }
}

fn show<S: System>(
    net: &mut ModelNet<'_, S>,
    prefix: &mut Prefix,
    max_events: usize,
    is_whole: bool,
) -> ShownPrefix {
    let mut ids: Vec<PrefixEvent> =
        prefix.events().filter(|&event| prefix.is_judged(event)).collect();
    ids.sort_by_key(|&event| (prefix.event(event).size, event));
    let is_whole = is_whole && ids.len() <= max_events;
    ids.truncate(max_events);
    let mut number = vec![None; prefix.events().len() + 1];
    ids.iter().enumerate().for_each(|(at, &event)| number[event as usize] = Some(at));
    let mut past = Vec::new();
    let events = ids.iter().map(|&id| {
        prefix.collect(&[id], &mut past);
        let path: Vec<u32> = past.iter().map(|&event| prefix.event(event).transition).collect();
        net.go_to(&path);
        let mut causes: Vec<usize> =
            prefix.causes(id).filter_map(|cause| number[cause as usize]).collect();
        causes.sort_unstable();
        causes.dedup();
        ShownEvent {
            process: net.mover(prefix.event(id).line),
            schedule: Schedule::of(&net.state),
            causes,
            cutoff_of: prefix.cutoff_of(id).map(|of| number[of as usize]),
        }
    });
    let events = events.collect();
    let mut conflicts = Vec::new();
    for (at, &event) in ids.iter().enumerate() {
        let rivals = prefix.immediate_conflicts(event).into_iter();
        let rivals = rivals.filter_map(|rival| number[rival as usize]);
        conflicts.extend(rivals.map(|rival| (at.min(rival), at.max(rival))));
    }
    conflicts.sort_unstable();
    conflicts.dedup();
    ShownPrefix { events, conflicts, is_whole }
}
