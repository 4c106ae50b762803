//! The prefix as a list of events, for pictures and for other programs.

use std::collections::BTreeMap;

use super::net::ModelNet;
use super::occurrence::OccurrenceNet;
use super::search::{FinitePrefix, build_up_to};
use super::transitions::Plan;
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::explorer::Explorer;
use crate::explore::observer::NoObserver;
use crate::model::{Locals, ProcessId, Schedule, State, System};
use crate::property::{Replay, Step};
use crate::unfolding::direct_causes;
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
    /// The processes that exist from the start or act, with their names. Several may share one.
    pub processes: Vec<(ProcessId, String)>,
    /// The same events with their conditions.
    pub net: OccurrenceNet,
}

/// An event of a prefix.
#[derive(Clone, Debug)]
pub struct ShownEvent {
    /// The process that acts, or for which the network acts.
    pub process: ProcessId,
    /// What it does. If it locks a mutex in one step, this is the second of the two actions.
    pub step: Step,
    /// Its local configuration as an execution: the event is its last action, or its last two
    /// actions if it locks a mutex in one step.
    pub schedule: Schedule,
    /// The event of each action of this execution.
    pub steps: Vec<usize>,
    /// Its direct causes, ascending. None of them is a cause of another.
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
    built(system, max_events, budget, |net, prefix, is_whole| {
        show(system, net, prefix, max_events, is_whole)
    })
}

/// The events of the complete finite prefix of a system, cutoffs included, causes first: the local
/// configuration of each, as an execution. There are copies of events for sets of reads, no read
/// arcs. The letters of transitions in the adequate order are in the order of this list.
///
/// # Errors
/// A sentence that says why the system has no prefix that can be built; or that it was not built to
/// the end.
pub fn listed_prefix<S: System>(system: &S, budget: Budget) -> Result<Vec<Schedule>, String> {
    let list = built(system, usize::MAX, budget, |net, prefix, is_whole| {
        let (events, mut past) = (prefix.events(), Vec::new());
        let schedule = |event| {
            prefix.collect(&[event], &mut past);
            let path: Vec<u32> = past.iter().map(|&event| prefix.event(event).transition).collect();
            net.go_to(&path);
            Schedule::of(&net.state)
        };
        is_whole.then(|| events.map(schedule).collect())
    })?;
    list.ok_or("the prefix is not built to the end".into())
}

/// Builds the prefix of a system, or some of its events if there are more than `max_events`, and
/// calls `then` with it, and whether there are no more.
fn built<S: System, T>(
    system: &S,
    max_events: usize,
    budget: Budget,
    then: impl FnOnce(&mut ModelNet<'_, S>, &mut Prefix, bool) -> T,
) -> Result<T, String> {
    if let Some(refusal) = FinitePrefix::default().refusal(system, &budget) {
        return Err(refusal);
    }
    let mut plan = Plan::default();
    loop {
        let mut observer = NoObserver;
        let mut driver = Driver::new(system, budget.clone(), &mut observer);
        let mut net = ModelNet::new(system, plan, driver.signal().clone());
        let (mut prefix, is_whole) = build_up_to(&mut net, &mut driver, max_events);
        match net.must_start_again() {
            Some(more) => plan = more.clone(),
            None if net.is_refused() => {
                return Err("processes are started in a loop, so the prefix is not finite".into());
            }
            None => return Ok(then(&mut net, &mut prefix, is_whole)),
        }
    }
}

fn show<S: System>(
    system: &S,
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
    let name = |locals: &Locals<'_, S>, state: &State, process: ProcessId| {
        system.describe().process_name(locals.get(state.local(process)))
    };
    net.go_to(&[]);
    let start = net.state.program_processes().map(|p| (p, name(&net.locals, &net.state, p)));
    let mut processes: BTreeMap<ProcessId, String> = start.collect();
    let mut past = Vec::new();
    let causes: Vec<Vec<usize>> = ids
        .iter()
        .map(|&id| prefix.causes(id).filter_map(|cause| number[cause as usize]).collect())
        .collect();
    let events = ids.iter().zip(direct_causes(&causes)).map(|(&id, causes)| {
        prefix.collect(&[id], &mut past);
        let path: Vec<u32> = past.iter().map(|&event| prefix.event(event).transition).collect();
        net.go_to(&path);
        let process = net.served(prefix.event(id).line);
        processes.entry(process).or_insert_with(|| name(&net.locals, &net.state, process));
        let mut steps = Vec::with_capacity(net.state.depth());
        for (&event, depth) in past.iter().zip(net.depths()) {
            steps.resize(depth, number[event as usize].expect("its causes are shown"));
        }
        let schedule = Schedule::of(&net.state);
        ShownEvent {
            process,
            steps,
            step: last_step(system, &schedule),
            schedule,
            causes,
            cutoff_of: prefix.cutoff_of(id).map(|of| number[of as usize]),
        }
    });
    let events: Vec<ShownEvent> = events.collect();
    let mut conflicts = Vec::new();
    for (at, &event) in ids.iter().enumerate() {
        let rivals = prefix.immediate_conflicts(event).into_iter();
        let rivals = rivals.filter_map(|rival| number[rival as usize]);
        conflicts.extend(rivals.map(|rival| (at.min(rival), at.max(rival))));
    }
    conflicts.sort_unstable();
    conflicts.dedup();
    let processes = processes.into_iter().collect();
    let net = OccurrenceNet::new(net, prefix, &ids);
    ShownPrefix { events, conflicts, is_whole, processes, net }
}

fn last_step<S: System>(system: &S, schedule: &Schedule) -> Step {
    let steps = Replay::new(system).follow(schedule).expect("a configuration is an execution");
    steps.into_iter().next_back().expect("[e] contains e")
}
