//! Advice after a search that a limit has ended: about how many classes there are, and another
//! explorer that has completed the search.
//!
//! If many classes of executions lead to few states, explorers that store states are much faster;
//! if there are few classes and many states, explorers of classes are. The numbers are not known
//! before the search ends. So an explorer of the other kind is tried for a tenth of the time limit,
//! at most [`LONGEST`]. It is advised only if it ends within that time.

use std::time::Duration;

use super::growth::states_in_all;
use super::spec::{Spec, refusal};
use crate::explore::estimate::estimate;
use crate::explore::{
    Budget, Explorer, Guarantee, Listed, NoObserver, Options, Outcome, Setting, StopReason, explore,
};
use crate::model::System;
use crate::report::{Faster, Size, StatesInAll};
use crate::study::{Case, Limits};

/// The longest time of a trial, or of an estimate.
const LONGEST: Duration = Duration::from_secs(1);
/// The same for the number of states, for which smaller programs are searched.
const LONGEST_FOR_STATES: Duration = Duration::from_secs(5);
/// The largest number of samples of an estimate.
const SAMPLES: u32 = 100;

/// What is said after a search that a limit has ended.
#[derive(Default)]
pub(super) struct Advice {
    pub(super) faster: Option<Faster>,
    pub(super) estimate: Option<Size>,
    pub(super) states_in_all: Option<StatesInAll>,
}

/// What is to be said after this search. Takes a part of its time, and none if no limit has ended
/// it.
pub(super) fn advice(
    (case, spec): (&Case, &Spec),
    setting: Setting,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Advice {
    let estimate = size(&spec.program, limits, budget, outcome);
    let states_in_all = outcome.stats.states.and_then(|known| {
        let time = time_for_states(limits, outcome)?;
        let found = states_in_all(case, &spec.program, setting, (budget, time))?;
        (known <= found.number).then_some(found)
    });
    Advice { faster: faster(spec, &setting, limits, budget, outcome), estimate, states_in_all }
}

/// An explorer that completes, in a small part of the time, the search that ran out of time. `None`
/// with a limit on the depth, because a depth has another meaning for other explorers, and after
/// `auto`, which tries them itself.
fn faster(
    spec: &Spec,
    setting: &Setting,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Option<Faster> {
    let chooses = setting.profile().chooses;
    let given = time_to_limit(limits, outcome).filter(|_| !chooses)?;
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

/// About how many classes the system has, after a search that a limit has ended. `None` if that
/// cannot be estimated in a small part of the time.
pub(super) fn size<S: System>(
    system: &S,
    limits: &Limits,
    budget: &Budget,
    outcome: &Outcome,
) -> Option<Size> {
    let given = time_to_limit(limits, outcome)?;
    let timeout = Some(LONGEST.min(given / 10));
    let budget = Budget { timeout, max_traces: None, ..budget.clone() };
    estimate(system, &budget, (SAMPLES, 0)).ok().map(Size::from)
}

/// The time to estimate the number of states, after a search that a limit has ended.
fn time_for_states(limits: &Limits, outcome: &Outcome) -> Option<Duration> {
    Some(LONGEST_FOR_STATES.min(time_to_limit(limits, outcome)? / 10))
}

/// The time until a limit has ended the search, if one has and nothing was found: the time that was
/// given, or what the search took until its memory or its number of executions was used up. `None`
/// with a limit on the depth.
fn time_to_limit(limits: &Limits, outcome: &Outcome) -> Option<Duration> {
    let time = match outcome.stopped_by? {
        StopReason::Timeout => limits.timeout?,
        StopReason::MaxTraces | StopReason::MaxMemory => {
            Some(outcome.elapsed).filter(|&elapsed| elapsed >= LONGEST)?
        }
        _ => return None,
    };
    (limits.depth.is_none() && outcome.violations.is_empty()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_time_for_an_estimate() {
        let second = Duration::from_secs(1);
        let timeout = Some(9 * second);
        let time = |stopped_by, elapsed, depth| {
            let outcome = Outcome {
                stats: Default::default(),
                violations: Vec::new(),
                leaks: Vec::new(),
                stopped_by,
                cut_poll: None,
                elapsed,
                classes: None,
                answered_by: None,
            };
            time_to_limit(&Limits { timeout, depth, ..Limits::default() }, &outcome)
        };
        assert_eq!(time(Some(StopReason::Timeout), 2 * second, None), timeout);
        assert_eq!(time(Some(StopReason::MaxTraces), 2 * second, None), Some(2 * second));
        assert_eq!(time(Some(StopReason::MaxMemory), second / 2, None), None);
        assert_eq!(time(Some(StopReason::Timeout), second, Some(5)), None);
        assert_eq!(time(Some(StopReason::Interrupted), 2 * second, None), None);
        assert_eq!(time(None, 2 * second, None), None);
    }
}
