//! One execution as a chart: who did what when, and what went from one process to another.
//!
//! The execution is replayed on the model alone. What went from step to step, and who held what,
//! the replay tells ([`Replay::arrows`], [`Replay::hold`]).

use std::collections::BTreeMap;

use super::lanes::Lanes;
use super::{End, Hold, Lane, Moment, Pending, SpaceTime, Subject};
use crate::explore::Verdict;
use crate::model::{self, Action, Object, Op, ProcessId, Refusal, Schedule, State, System};
use crate::property::{self, Replay, Standing, Step};
use crate::report::{ViolationReport, lasso, plural};

impl SpaceTime {
    /// The chart of an execution; only its last `max_steps` steps if it is longer.
    pub fn of_execution<S: System>(
        subject: Subject,
        system: &S,
        actions: &Schedule,
        max_steps: usize,
    ) -> Result<Self, Refusal> {
        let mut replay = Replay::new(system);
        replay.allow_pending(subject.allow_pending);
        let mut holds = Holds::default();
        let mut steps = Vec::new();
        for (at, &action) in actions.iter().enumerate() {
            steps.push(replay.step(action)?);
            holds.note(replay.hold(), action.process, at);
        }
        let lanes = Lanes::of_state(replay.state(), |process| replay.name(process).into());
        replay.look_for_livelock();
        let standing = replay.standing();
        let is_lasso = actions.loop_from().is_some();
        let violated = is_lasso.then(|| lasso::violated(&replay, &subject.spec, actions, &[]));
        let violated = violated.and_then(Result::ok);
        let wrong =
            violated.or_else(|| ViolationReport::of(&replay, &subject.spec, &standing, &[]));
        let verdict = match &wrong {
            Some(wrong) => wrong.kind.into(),
            None if replay.enabled().is_empty() => Verdict::Ok,
            None => Verdict::Incomplete,
        };
        let cycle = wrong.as_ref().and_then(|wrong| wrong.cycle.as_ref());
        let cycle = cycle.into_iter().flatten().filter_map(|link| lanes.named(&link.process));
        let whole = SpaceTime {
            what: "space-time",
            verdict,
            cycle: cycle.collect(),
            file: wrong
                .as_ref()
                .filter(|wrong| wrong.has_files)
                .map(|wrong| wrong.file.as_str().into()),
            line: wrong.as_ref().and_then(|wrong| wrong.line),
            message: wrong.as_ref().map(|wrong| wrong.message.clone()),
            variables: wrong.map_or(Vec::new(), |wrong| wrong.variables),
            lanes: ends(&replay, &standing, &lanes),
            steps: moments(steps, actions, &lanes),
            pending: left_pending(replay.state(), &lanes),
            holds: holds.told(&replay, &lanes),
            loop_from: actions.loop_from().filter(|&from| from < actions.len()),
            arrows: replay.arrows(),
            replay: actions.to_string(),
            left_out: Vec::new(),
            subject,
        };
        Ok(whole.cut(actions.len().saturating_sub(max_steps)))
    }

    /// Removes the first steps.
    fn cut(mut self, first: usize) -> Self {
        if first == 0 {
            return self;
        }
        self.steps.drain(..first);
        self.steps.iter_mut().enumerate().for_each(|(id, step)| step.id = id);
        self.loop_from = self.loop_from.map(|from| from.saturating_sub(first));
        self.arrows.retain(|arrow| arrow.from >= first);
        for arrow in &mut self.arrows {
            (arrow.from, arrow.to) = (arrow.from - first, arrow.to - first);
        }
        for message in &mut self.pending {
            message.from = message.from.and_then(|step| step.checked_sub(first));
        }
        self.holds.retain(|hold| hold.to.is_none_or(|to| to >= first));
        for hold in &mut self.holds {
            hold.from = hold.from.saturating_sub(first);
            hold.to = hold.to.map(|to| to - first);
        }
        for lane in &mut self.lanes {
            lane.started_by = lane.started_by.and_then(|step| step.checked_sub(first));
        }
        let steps = if first == 1 { "step".into() } else { plural(first, "step") };
        self.left_out.push(format!("the first {steps} (--max-events)"));
        self
    }
}

fn moments(steps: Vec<Step>, actions: &[Action], lanes: &Lanes) -> Vec<Moment> {
    let moment = |(id, step): (usize, Step)| Moment {
        id,
        lane: lanes.of(actions[id].process),
        label: step.action,
        outcome: step.outcome,
        file: step.file,
        line: step.line,
    };
    steps.into_iter().enumerate().map(moment).collect()
}

/// The messages that nobody has taken, oldest first.
fn left_pending(state: &State, lanes: &Lanes) -> Vec<Pending> {
    let messages = state.inboxes().log().iter().filter(|message| message.is_pending());
    messages.map(|m| Pending { from: m.creator(), lane: lanes.of(m.to) }).collect()
}

/// Every process with its state at the end.
fn ends<S: System>(replay: &Replay<'_, S>, standing: &Standing, lanes: &Lanes) -> Vec<Lane> {
    let deadlock = match standing {
        Standing::Deadlock(deadlock) => Some(deadlock),
        _ => None,
    };
    let end = |process: ProcessId| {
        let name = replay.name(process);
        let blocked = deadlock.and_then(|d| d.blocked.iter().find(|b| b.process == name));
        if let Some(blocked) = blocked {
            return End::Blocked {
                action: blocked.action.clone(),
                waits_for: blocked.waits_for.clone(),
                helpers: blocked.helpers.iter().filter_map(|name| lanes.named(name)).collect(),
                file: blocked.file.clone(),
                line: blocked.line,
            };
        }
        match replay.locals().status(replay.state().local(process)) {
            model::Status::Done => End::Ended,
            model::Status::Failed(_) => End::Failed,
            model::Status::At(Op::Handle { .. })
                if !replay.state().inboxes().has_pending(process) =>
            {
                End::Idle
            }
            model::Status::At(_) => End::Open,
        }
    };
    let lane = |process: ProcessId| Lane {
        name: replay.name(process).into(),
        started_by: replay.state().born(process),
        end: end(process),
    };
    replay.state().program_processes().map(lane).collect()
}

/// Whose request holds the mutex or lock since when, and until when.
#[derive(Default)]
struct Holds(BTreeMap<(ProcessId, Object, u32), (usize, Option<usize>)>);

impl Holds {
    /// Notes what `process` has begun or ended to hold in its step.
    fn note(&mut self, hold: Option<property::Hold>, process: ProcessId, step: usize) {
        match hold {
            None => {}
            Some(property::Hold::Begins(object, request)) => {
                self.0.entry((process, object, request)).or_insert((step, None));
            }
            Some(property::Hold::Ends(object, request)) => {
                // A request may be taken back before it is granted.
                if let Some(held) = self.0.get_mut(&(process, object, request)) {
                    held.1 = Some(step);
                }
            }
        }
    }

    fn told<S: System>(&self, replay: &Replay<'_, S>, lanes: &Lanes) -> Vec<Hold> {
        let told = |(&(process, mutex, _), &(from, to)): (&(ProcessId, Object, u32), &_)| Hold {
            lane: lanes.of(process),
            mutex: replay.locals().name_of(mutex),
            from,
            to,
        };
        self.0.iter().map(told).collect()
    }
}
