//! The complete finite prefix as a picture.

use super::depths::depths;
use super::lanes::Lanes;
use super::{CutoffOf, Event, Fate, PartialOrder, Subject};
use crate::explore::ShownPrefix;

impl PartialOrder {
    /// The events of a prefix.
    pub fn of_prefix(subject: Subject, prefix: &ShownPrefix) -> Self {
        let lanes = Lanes::new(prefix.processes.clone());
        let causes: Vec<Vec<usize>> = prefix.events.iter().map(|one| one.causes.clone()).collect();
        let depths = depths(&causes);
        let events =
            prefix.events.iter().zip(causes).enumerate().map(|(id, (event, causes))| Event {
                id,
                lane: lanes.of(event.process),
                depth: depths[id],
                label: event.step.action.clone(),
                outcome: outcome(event.step.outcome.clone(), event.cutoff_of),
                file: event.step.file.clone(),
                line: event.step.line,
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
