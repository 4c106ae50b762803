//! The unfolding as a picture.
//!
//! UDPOR runs with all events kept ([`crate::explore::unfold`]). An event is described by replaying
//! its local configuration `[e]` on the model alone. The last step is e, in the program's own
//! terms, with the result that its causes determine. What depends on more than the causes is left
//! out: whether a receive finds a message waiting, for example, is not a property of the event.
//!
//! An event is marked if every maximal configuration that contains it ends badly: from there on
//! nothing helps. This is known only after a complete search.

use super::depths::depths;
use super::lanes::Lanes;
use super::{Configuration, Event, Fate, PartialOrder, Subject};
use crate::explore::{Outcome, Recording, StopReason, Verdict, ViolationKind};
use crate::model::{LocalId, Op, ProcessId, System};
use crate::property::{Replay, Step};
use crate::report::{ViolationReport, plural};
use crate::unfolding::{EventId, EventSet, EventStructure, Unfolding, direct_causes};

impl PartialOrder {
    /// The first `max_events` events that a search visited.
    pub fn of_unfolding<S: System>(
        subject: Subject,
        system: &S,
        prefix: &mut Recording<'_, S>,
        outcome: &Outcome,
        max_events: usize,
    ) -> Self {
        let visited = prefix.unfolding.structure.len();
        let shown = visited.min(max_events);
        let ids: Vec<EventId> = (0..shown as u32).map(EventId).collect();
        let lanes = lanes(&prefix.unfolding, &ids);
        let causes = direct_causes(&causes(&prefix.unfolding.structure, &ids));
        let depths = depths(&causes);
        let steps: Vec<_> = ids.iter().map(|&id| described(system, prefix, id)).collect();
        let maximal = prefix.maximal.clone();
        let configurations: Vec<_> = maximal
            .iter()
            .enumerate()
            .map(|(index, events)| {
                configuration(&subject, system, prefix, index + 1, events, shown)
            })
            .collect();
        let left_out = left_out(prefix, outcome, visited - shown, configurations.len());
        let fates = match !prefix.is_full && outcome.is_complete() {
            true => fates(shown, &maximal, &configurations),
            false => vec![Fate::Open; shown],
        };
        let structure = &prefix.unfolding.structure;
        let process = |id: EventId| structure.event(id).process;
        let events = steps.into_iter().zip(causes).zip(ids.iter());
        let events = events.map(|((step, causes), &id)| Event {
            id: id.index(),
            lane: lanes.of(process(id)),
            depth: depths[id.index()],
            label: step.action,
            outcome: step.outcome,
            file: step.file,
            line: step.line,
            causes,
            cutoff_of: None,
            fate: fates[id.index()],
        });
        PartialOrder {
            what: "unfolding",
            events: events.collect(),
            conflicts: conflicts(structure, &ids),
            configurations,
            complete: left_out.is_empty(),
            left_out,
            lanes: lanes.names,
            subject,
        }
    }
}

/// A lane for each process that acts, and for each initial process.
fn lanes<S: System>(unfolding: &Unfolding<'_, S>, ids: &[EventId]) -> Lanes {
    let locals = &unfolding.locals;
    let from_start = (0..).map(ProcessId).zip(locals.initial().iter().copied());
    let name = |local| locals.system().describe().process_name(locals.get(local));
    let from_start = from_start.map(|(process, local)| (process, name(local)));
    let mut first: Vec<(ProcessId, String)> = from_start.collect();
    for event in ids.iter().map(|&id| unfolding.structure.event(id)) {
        if first.iter().all(|&(process, _)| process != event.process) {
            let name = match event.before {
                LocalId::CARRIER => {
                    let posted = unfolding.structure.event(event.after_event());
                    format!("{} (network)", name(posted.before))
                }
                local => name(local),
            };
            first.push((event.process, name));
        }
    }
    Lanes::new(first)
}

fn causes(structure: &EventStructure, ids: &[EventId]) -> Vec<Vec<usize>> {
    let of_one = |&id: &EventId| structure.event(id).causes.iter().map(|c| c.index()).collect();
    ids.iter().map(of_one).collect()
}

/// The pairs of these events in immediate conflict (e #i f).
fn conflicts(structure: &EventStructure, ids: &[EventId]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for &e in ids {
        let rivals = structure.immediate_conflicts(e).filter(|&f| e < f && f.index() < ids.len());
        pairs.extend(rivals.map(|f| (e.index(), f.index())));
    }
    pairs.sort_unstable();
    pairs
}

/// A replay of these events, which form an execution, and its steps.
fn replay<'s, S: System>(
    system: &'s S,
    prefix: &mut Recording<'_, S>,
    events: &[EventId],
) -> (Replay<'s, S>, Vec<Step>) {
    let mut replay = Replay::new(system);
    let steps = replay.follow(&prefix.schedule(events));
    (replay, steps.expect("a configuration is an execution"))
}

/// An event in the program's own terms.
fn described<S: System>(system: &S, prefix: &mut Recording<'_, S>, id: EventId) -> Step {
    // Causes have smaller numbers.
    let history: Vec<_> = EventSet::history(&prefix.unfolding.structure, id).iter().collect();
    let (_, mut steps) = replay(system, prefix, &history);
    let step = steps.pop().expect("[e] contains e");
    match prefix.unfolding.op(id) {
        // Whether other processes have arrived does not depend on the causes.
        Op::Irecv { .. } | Op::Arrive { .. } | Op::Enter { .. } => Step { outcome: None, ..step },
        _ => step,
    }
}

fn configuration<S: System>(
    subject: &Subject,
    system: &S,
    prefix: &mut Recording<'_, S>,
    number: usize,
    events: &[EventId],
    shown: usize,
) -> Configuration {
    let (mut replay, _) = replay(system, prefix, events);
    replay.allow_pending(subject.allow_pending);
    let wrong = ViolationReport::of(&replay, &subject.spec, &replay.standing(), &[]);
    let mut last: EventSet = events.iter().copied().filter(|e| e.index() < shown).collect();
    for event in events.iter().map(|&id| prefix.unfolding.structure.event(id)) {
        event.causes.iter().for_each(|&cause| last.remove(cause));
    }
    Configuration {
        number,
        verdict: wrong.as_ref().map_or(Verdict::Ok, |wrong| wrong.kind.into()),
        message: wrong.map(|wrong| wrong.message),
        last: last.iter().map(EventId::index).collect(),
    }
}

/// For each event: how all maximal configurations with this event end.
fn fates(shown: usize, maximal: &[Vec<EventId>], ends: &[Configuration]) -> Vec<Fate> {
    let [mut open, mut deadlocked, mut failed] = [(); 3].map(|()| EventSet::default());
    for (events, end) in maximal.iter().zip(ends) {
        let set = match end.verdict {
            Verdict::Ok | Verdict::Incomplete => &mut open,
            Verdict::Deadlock | Verdict::Livelock => &mut deadlocked,
            Verdict::Assertion | Verdict::Error | Verdict::Liveness => &mut failed,
        };
        set.extend(events.iter().copied());
    }
    let fate = |e| match (open.contains(e), failed.contains(e), deadlocked.contains(e)) {
        (false, true, _) => Fate::Failure,
        (false, false, true) => Fate::Deadlock,
        (true, ..) | (false, false, false) => Fate::Open,
    };
    (0..shown as u32).map(|e| fate(EventId(e))).collect()
}

fn left_out<S: System>(
    prefix: &Recording<'_, S>,
    outcome: &Outcome,
    unseen: usize,
    maximal: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if prefix.is_full {
        let more = plural(unseen, "more event");
        let were = if unseen == 1 { "was" } else { "were" };
        notes.push(format!(
            "the search was stopped here: {more} {were} visited, others follow (--max-events)"
        ));
    } else if unseen > 0 {
        notes.push(format!("{} (--max-events)", plural(unseen, "more event")));
    }
    let crowded = outcome.violations.iter().any(|v| v.kind == ViolationKind::Error);
    match outcome.stopped_by {
        Some(StopReason::MaxTraces) => {
            let maximal = plural(maximal, "maximal configuration");
            notes.push(format!("the search was stopped after {maximal}"));
        }
        Some(StopReason::Depth) => notes.push("executions were cut at a causal depth".into()),
        Some(StopReason::Oversubscribed) if crowded => {
            notes
                .push("nothing is drawn beyond a barrier that too many processes arrive at".into());
        }
        Some(reason) => notes.push(format!("the search was stopped: {}", reason.word())),
        None => {}
    }
    notes
}
