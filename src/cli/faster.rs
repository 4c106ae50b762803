//! What to advise if a search runs out of time: an explorer that is known to do better.
//!
//! Where very many classes of executions meet in few states, explorers that store states are done
//! in no time; where there are few classes and very many states, it is the other way round. How
//! many there are nobody knows before the end. So the other kind is tried, for a tenth of the time
//! that was not enough, and for a second at most. It is advised only if it has come to an end
//! within that.

use std::time::Duration;

use super::spec::{Spec, refusal};
use crate::explore::{
    Budget, Guarantee, Listed, NoObserver, Options, Outcome, Setting, StopReason, explore,
};
use crate::report::Faster;
use crate::study::Limits;

/// The longest trial.
const LONGEST: Duration = Duration::from_secs(1);

/// An explorer that comes to an end where this search did not, in a small part of the time. Without
/// limits other than time, as a depth means something else to other explorers.
pub(super) fn faster(
    spec: &Spec,
    setting: &Setting,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Option<Faster> {
    let given = limits.timeout.filter(|_| limits.depth.is_none())?;
    if outcome.stopped_by != Some(StopReason::Timeout) || !outcome.violations.is_empty() {
        return None;
    }
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
