//! Advice after a search that ran out of time: about how many classes there are, and another
//! explorer that has completed the search.
//!
//! If many classes of executions lead to few states, explorers that store states are much faster;
//! if there are few classes and many states, explorers of classes are. The numbers are not known
//! before the search ends. So an explorer of the other kind is tried for a tenth of the time limit,
//! at most [`LONGEST`]. It is advised only if it ends within that time.

use std::time::Duration;

use super::spec::{Spec, refusal};
use crate::explore::estimate::estimate;
use crate::explore::{
    Budget, Explorer, Guarantee, Listed, NoObserver, Options, Outcome, Setting, StopReason, explore,
};
use crate::report::{Faster, Size};
use crate::study::Limits;

/// The longest time of a trial, or of an estimate.
const LONGEST: Duration = Duration::from_secs(1);
/// The same for the number of states, for which smaller programs are searched.
const LONGEST_FOR_STATES: Duration = Duration::from_secs(5);
/// The largest number of samples of an estimate.
const SAMPLES: u32 = 100;

/// An explorer that completes, in a small part of the time, the search that ran out of time. `None`
/// with a limit on the depth, because a depth has another meaning for other explorers, and after
/// `auto`, which tries them itself.
pub(super) fn faster(
    spec: &Spec,
    setting: &Setting,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Option<Faster> {
    let chooses = setting.profile().chooses;
    let given = ran_out_of_time(limits, outcome).filter(|_| !chooses)?;
    let name = match setting.explorer().profile().guarantee {
        Guarantee::EveryEnd => "udpor",
        _ => "stateful",
    };
    let listed = Listed::named(name).expect("an explorer of the table");
    let other = Setting::with_what_fits(listed, Options::default());
    if refusal(&other, &spec.program, limits).is_some() {
        return None;
    }
    let timeout = Some(LONGEST.min(given / 10));
    let budget = Budget { timeout, max_traces: None, ..budget.clone() };
    let outcome = explore(&spec.program, other, budget, &mut NoObserver);
    let finds_violation = !outcome.violations.is_empty();
    let wall_seconds = outcome.elapsed.as_secs_f64();
    let has_ended = outcome.is_complete() || finds_violation;
    has_ended.then_some(Faster { explorer: name, finds_violation, wall_seconds })
}

/// About how many classes the program has, after a search that ran out of time. `None` if that
/// cannot be estimated in a small part of the time.
pub(super) fn size(
    spec: &Spec,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Option<Size> {
    let given = ran_out_of_time(limits, outcome)?;
    let timeout = Some(LONGEST.min(given / 10));
    let budget = Budget { timeout, max_traces: None, ..budget.clone() };
    estimate(&spec.program, &budget, (SAMPLES, 0)).ok().map(Size::from)
}

/// The time to estimate the number of states, after a search that ran out of time.
pub(super) fn time_for_states(limits: &Limits, outcome: &Outcome) -> Option<Duration> {
    Some(LONGEST_FOR_STATES.min(ran_out_of_time(limits, outcome)? / 10))
}

/// The time that was given, if the search ran out of it and found nothing. `None` with a limit on
/// the depth.
fn ran_out_of_time(limits: &Limits, outcome: &Outcome) -> Option<Duration> {
    let is_over = outcome.stopped_by == Some(StopReason::Timeout) && outcome.violations.is_empty();
    limits.timeout.filter(|_| limits.depth.is_none() && is_over)
}
