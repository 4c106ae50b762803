//! Shows a violation by another execution of its class, with fewer switches between processes.

use super::result::Violation;
use crate::model::{Locals, ProcessId, StopSignal, System};
use crate::property;
use crate::trace::{Linearisation, few_switches, switches};

/// The number of steps of a violation, and its number of switches between processes.
pub(super) fn length(violation: &Violation) -> (usize, usize) {
    (violation.schedule.len(), switches(&violation.schedule))
}

/// The same violation, shown by an execution of its class with fewer switches.
pub(super) fn with_few_switches<S: System>(system: &S, violation: Violation) -> Violation {
    StopSignal::disregarded(|| reordered(system, violation))
}

fn reordered<S: System>(system: &S, violation: Violation) -> Violation {
    let is_crowded = violation.process.is_none()
        && violation.failure.as_ref().is_some_and(|failure| failure.site.is_none());
    // Actions after a barrier is overcrowded have no meaning, so the order has to stay.
    if is_crowded {
        return Violation { has_fewest_switches: Some(false), ..violation };
    }
    let last = violation.schedule.last().map(|action| action.process);
    let Linearisation { schedule, is_fewest, .. } = few_switches(system, &violation.schedule);
    let mut violation = Violation { schedule, has_fewest_switches: Some(is_fewest), ..violation };
    // Processes that are spawned may have other numbers now.
    if violation.process.is_some() && last.is_some() {
        let moved_last = violation.process == last;
        violation.process = Some(who_failed(system, &violation, moved_last));
    }
    violation
}

/// The process that fails at the end of the schedule of a violation, as a replay numbers it. With
/// `moved_last` it is the process that moved last, else a process that this one has spawned.
/// (Others may have failed in the same way before.)
pub(super) fn who_failed<S: System>(
    system: &S,
    violation: &Violation,
    moved_last: bool,
) -> ProcessId {
    let mut locals = Locals::new(system);
    let state = violation.schedule.replay(&mut locals).expect("the execution that failed");
    let last = violation.schedule.last().expect("the failure followed an action").process;
    let fails = |process: &ProcessId| {
        property::process_failure(&locals, &state, *process) == violation.failure.as_ref()
    };
    let who = match moved_last {
        true => Some(last).filter(fails),
        false => state.just_spawned(&locals).find(fails),
    };
    who.unwrap_or_else(|| panic!("{violation:?} is not what a replay ends in"))
}
