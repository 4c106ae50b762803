//! A demand that an endless execution violates, in the program's own terms.
//!
//! The lasso is judged by the definitions before it is shown ([`judge_lasso`]): its loop leads back
//! to where it began, it is fair, and the demand is not fulfilled on it. That uses only the model.

use super::{Variable, ViolationReport};
use crate::explore::{Violation, ViolationKind};
use crate::model::{Demand, Schedule, System, Temporal};
use crate::property::{Replay, Step, goal_readings, judge_lasso};

/// The report of a violation of the demand with this number, after a replay of its schedule.
///
/// # Errors
/// If the schedule is no fair lasso that violates the demand.
pub(super) fn replayed<S: System>(
    replay: &Replay<'_, S>,
    file: &str,
    violation: &Violation,
    number: u32,
    steps: &[Step],
) -> Result<ViolationReport, String> {
    let system = replay.locals().system();
    let liveness = system.liveness().filter(|all| (number as usize) < all.count());
    let demand = liveness.ok_or("there is no such demand")?.demand(number as usize);
    judge_lasso(system, &violation.schedule, &demand)?;
    Ok(report(replay, file, &violation.schedule, &demand, steps))
}

/// The first demand that the execution violates, as it goes round its loop for ever.
///
/// # Errors
/// If there is none. Says why.
pub(crate) fn violated<S: System>(
    replay: &Replay<'_, S>,
    file: &str,
    schedule: &Schedule,
    steps: &[Step],
) -> Result<ViolationReport, String> {
    let system = replay.locals().system();
    let liveness = system.liveness().ok_or("the program demands nothing of endless executions")?;
    let mut why = String::new();
    for number in 0..liveness.count() {
        let demand = liveness.demand(number);
        match judge_lasso(system, schedule, &demand) {
            Ok(()) => return Ok(report(replay, file, schedule, &demand, steps)),
            Err(reason) if why.is_empty() => why = reason,
            Err(_) => {}
        }
    }
    Err(why)
}

fn report<S: System>(
    replay: &Replay<'_, S>,
    file: &str,
    schedule: &Schedule,
    demand: &Demand,
    steps: &[Step],
) -> ViolationReport {
    let readings = goal_readings(replay.locals(), replay.state(), demand);
    let variables = replay.shown(&readings).into_iter().map(Variable::from).collect();
    let site = demand.site.as_ref();
    ViolationReport {
        kind: ViolationKind::Liveness,
        message: format!("{} {}", demand.text, what_happens(demand, schedule)),
        loop_from: schedule.loop_from(),
        line: site.map(|site| site.line),
        column: site.map(|site| site.column),
        text: site.map_or(String::new(), |site| site.text.clone()),
        variables,
        replay: schedule.to_string(),
        ..ViolationReport::empty(replay, file, steps)
    }
}

/// How the execution violates the demand.
fn what_happens(demand: &Demand, schedule: &Schedule) -> &'static str {
    let ends = schedule.loop_from() == Some(schedule.len());
    match (demand.pattern, ends) {
        (Temporal::Eventually, true) => "never holds in an execution that ends",
        (Temporal::Eventually, false) => "never holds in an execution that goes on for ever",
        (Temporal::AlwaysEventually, true) => "does not hold where an execution ends",
        (Temporal::AlwaysEventually, false) => {
            "holds no more in an execution that goes on for ever"
        }
        (Temporal::LeadsTo, true) => "waits in vain in an execution that ends",
        (Temporal::LeadsTo, false) => "waits in vain in an execution that goes on for ever",
    }
}
