//! One execution as a partial order: the configuration of the class that it belongs to.
//!
//! The order is the happens-before relation of [`crate::trace`], computed along the execution,
//! independently of the event structure. The results of steps are those of this execution.

use roaring::RoaringBitmap;

use super::depths::depths;
use super::lanes::Lanes;
use super::{Configuration, Event, Fate, PartialOrder, Subject};
use crate::explore::Verdict;
use crate::model::{Refusal, Schedule, System};
use crate::property::Replay;
use crate::report::{ViolationReport, plural};
use crate::trace::Execution;
use crate::unfolding::direct_causes;

impl PartialOrder {
    /// The first `max_events` actions of an execution, and the happens-before relation between
    /// them.
    pub fn of_execution<S: System>(
        subject: Subject,
        system: &S,
        schedule: &Schedule,
        max_events: usize,
    ) -> Result<Self, Refusal> {
        let mut replay = Replay::new(system);
        replay.allow_pending(subject.allow_pending);
        let steps = replay.follow(schedule)?;
        let mut execution = Execution::new(system);
        schedule.iter().for_each(|&action| execution.push(action));
        let shown = schedule.len().min(max_events);
        let causes = |at| {
            let direct = execution.order().direct_predecessors(at).iter();
            direct.map(|&cause| cause as usize).collect::<Vec<_>>()
        };
        let causes = direct_causes(&(0..shown).map(causes).collect::<Vec<_>>());
        let depths = depths(&causes);
        let lanes = Lanes::of_state(replay.state(), |process| replay.name(process).into());
        let wrong = ViolationReport::of(&replay, &subject.spec, &replay.standing(), &[]);
        let verdict = match &wrong {
            Some(wrong) => wrong.kind.into(),
            None if replay.enabled().is_empty() => Verdict::Ok,
            None => Verdict::Incomplete,
        };
        let earlier: RoaringBitmap = causes.iter().flatten().map(|&cause| cause as u32).collect();
        let configuration = Configuration {
            number: 1,
            verdict,
            message: wrong.map(|wrong| wrong.message),
            last: (0..shown).filter(|&event| !earlier.contains(event as u32)).collect(),
        };
        let event = |(id, step): (usize, crate::property::Step)| Event {
            id,
            lane: lanes.of(schedule[id].process),
            depth: depths[id],
            label: step.action,
            outcome: step.outcome,
            file: step.file,
            line: step.line,
            causes: causes[id].clone(),
            cutoff_of: None,
            fate: Fate::Open,
        };
        let left_out = match schedule.len() - shown {
            0 => Vec::new(),
            rest => vec![format!("{} (--max-events)", plural(rest, "later event"))],
        };
        Ok(PartialOrder {
            what: "configuration",
            events: steps.into_iter().take(shown).enumerate().map(event).collect(),
            conflicts: Vec::new(),
            configurations: vec![configuration],
            complete: left_out.is_empty(),
            left_out,
            lanes: lanes.names.clone(),
            subject,
        })
    }
}
