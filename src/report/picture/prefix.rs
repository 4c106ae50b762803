//! The complete finite prefix as a picture.

use super::lanes::Lanes;
use super::order::{depths, reduced};
use super::{CutoffOf, Event, Fate, PartialOrder, Subject};
use crate::explore::ShownPrefix;
use crate::model::{Locals, ProcessId, Schedule, State, System};
use crate::property::{Replay, Step};

impl PartialOrder {
    /// The events of a prefix. An event is described by replaying its local configuration.
    pub fn of_prefix<S: System>(subject: Subject, system: &S, prefix: &ShownPrefix) -> Self {
        let steps: Vec<Step> =
            prefix.events.iter().map(|event| last_step(system, &event.schedule)).collect();
        let lanes = lanes(system, prefix);
        let listed: Vec<Vec<usize>> = prefix.events.iter().map(|one| one.causes.clone()).collect();
        let causes = reduced(&listed);
        let depths = depths(&causes);
        let events = prefix.events.iter().zip(steps).zip(causes).enumerate();
        let events = events.map(|(id, ((event, step), causes))| Event {
            id,
            lane: lanes.of(event.process),
            depth: depths[id],
            label: step.action,
            outcome: outcome(step.outcome, event.cutoff_of),
            file: step.file,
            line: step.line,
            causes,
            cutoff_of: event.cutoff_of.map(|of| of.map_or(CutoffOf::Start, CutoffOf::Event)),
            fate: Fate::Open,
        });
        let more = "larger events follow (--max-events)";
        PartialOrder {
            what: "prefix",
            events: events.collect(),
            conflicts: prefix.conflicts.clone(),
            configurations: Vec::new(),
            complete: prefix.is_whole,
            left_out: if prefix.is_whole { Vec::new() } else { vec![more.into()] },
            lanes: lanes.names,
            subject,
        }
    }
}

/// The outcome of an event in words; for a cutoff, also what it leads back to.
fn outcome(own: Option<String>, cutoff_of: Option<Option<usize>>) -> Option<String> {
    let back = cutoff_of.map(|of| match of {
        Some(event) => format!("cutoff: as after {event}"),
        None => "cutoff: as at the start".into(),
    });
    let both: Vec<String> = own.into_iter().chain(back).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

fn last_step<S: System>(system: &S, schedule: &Schedule) -> Step {
    let steps = Replay::new(system).follow(schedule).expect("a configuration is an execution");
    steps.into_iter().next_back().expect("[e] contains e")
}

/// A lane for each process that exists from the start or acts.
fn lanes<S: System>(system: &S, prefix: &ShownPrefix) -> Lanes {
    let mut locals = Locals::new(system);
    let start = State::initial(&mut locals);
    let name = |locals: &Locals<'_, S>, state: &State, process: ProcessId| {
        system.describe().process_name(locals.get(state.local(process)))
    };
    let mut named: Vec<(ProcessId, String)> =
        start.processes().map(|process| (process, name(&locals, &start, process))).collect();
    for event in &prefix.events {
        if named.iter().all(|&(process, _)| process != event.process) {
            let end = event.schedule.replay(&mut locals).expect("a configuration is an execution");
            named.push((event.process, name(&locals, &end, event.process)));
        }
    }
    Lanes::new(named)
}
