//! The violations that a search finds: what they are, and which are kept.

use super::driver::Driver;
use super::few_switches::{length, who_failed, with_few_switches};
use super::result::{StopReason, Violation, ViolationKind};
use super::symptom::Symptom;
use super::unvisited::Broken;
use crate::model::{Locals, ProcessId, Schedule, State, StopSignal, System};
use crate::property::{self, Objection, Position};
use crate::trace::causal_past;

/// The most violations that are kept. Further ones still count in the figures
/// ([`Stats::violating_traces`](super::result::Stats::violating_traces)).
pub(super) const MAX_VIOLATIONS: usize = 100;

impl Driver<'_> {
    /// Records that these invariants fail, in `state` or in another state of its class.
    pub(super) fn note_broken<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        all: Vec<Broken>,
    ) {
        for broken in all {
            if self.is_stopped() {
                return;
            }
            let failure = broken.failure.clone();
            let symptom = Symptom::of_failure(locals, None, &failure);
            self.note(locals.system(), symptom, 0, || {
                let (kind, schedule) = (failure.kind.into(), broken.way(locals, state));
                let failure = Some(failure);
                Violation { failure, ..Violation::new(kind, symptom, schedule) }
            });
        }
    }

    /// Records that a lasso violates the demand with this number.
    pub(super) fn violates<S: System>(&mut self, system: &S, number: u32, schedule: Schedule) {
        let symptom = Symptom::of_demand(number);
        self.note(system, symptom, 0, || Violation {
            demand: Some(number),
            ..Violation::new(ViolationKind::Liveness, symptom, schedule)
        });
    }

    /// Records an objection of a property.
    pub(super) fn object<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        at: Position<'_>,
        objection: Objection,
    ) {
        let (system, state) = (locals.system(), at.state());
        let (kind, symptom, failure) = match objection {
            Objection::Failed(process) => return self.failed(locals, state, process),
            Objection::Deadlock => {
                (ViolationKind::Deadlock, Symptom::of_deadlock(locals, state, at.spins()), None)
            }
            Objection::Livelock => {
                (ViolationKind::Livelock, Symptom::of_livelock(locals, state, at.spins()), None)
            }
            Objection::Wrong(failure) => {
                let symptom = Symptom::of_failure(locals, None, &failure);
                (failure.kind.into(), symptom, Some(failure))
            }
        };
        self.note(system, symptom, state.depth(), || {
            let schedule = Schedule::of(state);
            Violation { failure, ..Violation::new(kind, symptom, schedule) }
        });
    }

    /// Records that `process` has failed in its last step, or when the last step started it.
    ///
    /// # Panics
    /// If it has not.
    fn failed<S: System>(&mut self, locals: &Locals<'_, S>, state: &State, process: ProcessId) {
        let system = locals.system();
        let failure = property::process_failure(locals, state, process);
        let failure = failure.unwrap_or_else(|| panic!("{process:?} has not failed"));
        let symptom = Symptom::of_failure(locals, Some(process), failure);
        self.note(system, symptom, 0, || {
            let schedule = causal_past(system, &Schedule::of(state));
            let mut violation = Violation {
                process: Some(process),
                failure: Some(failure.clone()),
                ..Violation::new(failure.kind.into(), symptom, schedule)
            };
            let moved = state.schedule().last().map(|action| action.process);
            if let Some(moved) = moved {
                violation.process = Some(who_failed(system, &violation, moved == process));
            }
            violation
        });
    }

    /// Records a violation whose schedule has at least `steps` steps, unless one with the same
    /// symptom is known. With [`Budget::shortest`](super::budget::Budget::shortest), a shorter one
    /// replaces the known one.
    fn note<S: System>(
        &mut self,
        system: &S,
        symptom: Symptom,
        steps: usize,
        violation: impl FnOnce() -> Violation,
    ) {
        // Once the signal is raised, a process may have failed only because it was stopped.
        let is_told_to_stop = self.signal().is_raised();
        if !self.budget.all && !is_told_to_stop {
            self.stop(StopReason::Violation);
        }
        let known = self.known.get(&symptom).copied();
        let is_idle = match known {
            Some(at) => !self.budget.shortest || steps > self.violations[at].schedule.len(),
            None => self.violations.len() >= MAX_VIOLATIONS,
        };
        if is_idle || is_told_to_stop {
            return;
        }
        let mut violation = StopSignal::disregarded(violation);
        let Some(at) = known else {
            if self.budget.shortest && violation.demand.is_none() {
                violation = with_few_switches(system, violation);
            }
            self.known.insert(symptom, self.violations.len());
            self.violations.push(violation);
            return;
        };
        if violation.demand.is_some() {
            return;
        }
        if violation.schedule.len() <= self.violations[at].schedule.len() {
            let violation = with_few_switches(system, violation);
            if length(&violation) < length(&self.violations[at]) {
                self.violations[at] = violation;
            }
        }
    }
}
