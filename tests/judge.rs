//! Judges explorers: an observer that tells the class of every trace by itself, and the replay of
//! counterexamples on the bare model.

use std::collections::BTreeMap;

use mazurka::explore::{Observer, Violation, ViolationKind};
use mazurka::model::{
    Action, FailureKind, LocalId, Locals, Op, PaperRelation, ProcessId, State, Status, System,
};
use mazurka::trace::{Classes, NormalForm};

/// Replays every trace it is told of and counts how often each class came.
///
/// One recorder may watch several explorers one after the other ([`Recorder::take`]): equal normal forms are
/// equal classes, whoever reported them.
pub struct Recorder<'s, S: System> {
    locals: Locals<'s, S>,
    classes: Classes<PaperRelation>,
    counts: BTreeMap<NormalForm, u64>,
}

/// Per class how often it came.
pub type Counts = BTreeMap<NormalForm, u64>;

impl<'s, S: System> Recorder<'s, S> {
    /// For explorers of `system`.
    pub fn new(system: &'s S) -> Self {
        Recorder {
            locals: Locals::new(system),
            classes: Classes::new(PaperRelation),
            counts: BTreeMap::new(),
        }
    }

    /// What came since the last call.
    pub fn take(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }
}

impl<S: System> Observer for Recorder<'_, S> {
    fn trace(&mut self, state: &State) {
        let schedule = state.portable_schedule();
        let classes = &mut self.classes;
        let end = replay(&mut self.locals, &schedule, |locals, state, action| {
            classes.push(action, state.footprint(locals));
        });
        let end = end.unwrap_or_else(|how| panic!("a trace that is no execution: {how}"));
        assert!(end.is_terminal(&self.locals), "{schedule:?} is reported as complete");
        *self.counts.entry(self.classes.normal_form()).or_default() += 1;
        while !self.classes.path().is_empty() {
            self.classes.pop();
        }
    }
}

/// Runs a portable schedule on the bare model; `each` is told of every action with the state after it, by
/// the numbers that processes have in `locals`.
pub fn replay<'s, S: System>(
    locals: &mut Locals<'s, S>,
    schedule: &[Action],
    mut each: impl FnMut(&Locals<'s, S>, &State, Action),
) -> Result<State, String> {
    let mut state = State::initial(locals);
    // What `locals` calls the processes; those that exist from the start come first everywhere.
    let mut names: Vec<ProcessId> = state.processes().collect();
    for (index, &portable) in schedule.iter().enumerate() {
        let Some(&process) = names.get(portable.process.index()) else {
            return Err(format!("step {index}: {:?} was never spawned", portable.process));
        };
        let action = Action { process, ..portable };
        let mut enabled = Vec::new();
        state.enabled(locals, &mut enabled);
        if !enabled.contains(&action) {
            return Err(format!("step {index}: {action:?} is not among {enabled:?}"));
        }
        let spawns = matches!(locals.op(state.local(process)), Some(Op::Spawn(_)));
        state.step(locals, action);
        if spawns {
            let nth = state.spawned_count(process) - 1;
            names.push(locals.known_child(process, nth).expect("a spawned process"));
        }
        each(locals, &state, action);
    }
    Ok(state)
}

/// Does the schedule of `violation` end in what it is reported to end in?
pub fn check_counterexample<S: System>(system: &S, violation: &Violation) -> Result<(), String> {
    let mut locals = Locals::new(system);
    let state = replay(&mut locals, &violation.schedule, |_, _, _| {})?;
    let kind_of = |process: ProcessId| match locals.status(state.local(process)) {
        Status::Failed(failure) if Some(failure) == violation.failure.as_ref() => {
            Some(failure.kind)
        }
        _ => None,
    };
    let holds = match (violation.kind, violation.process) {
        (ViolationKind::Deadlock, None) => {
            state.is_terminal(&locals) && state.unfinished(&locals).next().is_some()
        }
        (ViolationKind::Assertion, Some(process)) => {
            kind_of(process) == Some(FailureKind::Assertion)
        }
        (ViolationKind::Assertion, None) => {
            violates_final(&locals, &state) && state.unfinished(&locals).next().is_none()
        }
        (ViolationKind::Error, Some(process)) => {
            kind_of(process) == Some(FailureKind::Error) || state.oversubscribed().is_some()
        }
        (ViolationKind::Deadlock, Some(_)) | (ViolationKind::Error, None) => false,
    };
    holds.then_some(()).ok_or_else(|| format!("the schedule does not end in {violation:?}"))
}

/// Does this terminal state violate `final`?
pub fn violates_final<S: System>(locals: &Locals<'_, S>, state: &State) -> bool {
    let cells: Vec<_> = (0..locals.system().objects().cells.len() as u32)
        .map(|cell| state.content(mazurka::model::CellId(cell)))
        .collect();
    let of = |local| (local != LocalId::ABSENT).then(|| locals.get(local));
    let ends: Vec<_> =
        (0..locals.process_count() as u32).map(|p| of(state.local(ProcessId(p)))).collect();
    locals.system().judge_final(&ends, &cells, &locals.values).is_some()
}
