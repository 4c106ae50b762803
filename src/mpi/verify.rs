//! What is wrong with a program, whatever MPI leaves open: several searches, and one answer.

use super::diagnosis::{Diagnosis, diagnose};
use super::ranks::{Launch, Ranks};
use super::slip::Slip;
use crate::explore::{Budget, NoObserver, Outcome, Setting, explore};
use crate::model::{Buffering, Schedule, Semantics};
use crate::property::Replay;
use crate::systems::history::History;

/// The answer to whether a program is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is wrong with it.
    Right,
    /// This is.
    Wrong(Diagnosis),
    /// A limit was met before anything wrong was found.
    Unsure,
}

/// Searches the program with each of these semantics, until something is wrong.
///
/// # Errors
/// If it cannot be run.
pub fn verify(
    launch: &Launch,
    variants: &[Semantics],
    setting: Setting,
    budget: &Budget,
) -> Result<Answer, String> {
    let mut answer = Answer::Right;
    for &semantics in variants {
        let system = History::new(Ranks::new(Launch { semantics, ..launch.clone() })?);
        let outcome = explore(&system, setting, budget.clone(), &mut NoObserver);
        match finding(&system, semantics, &outcome, setting, budget) {
            Some(diagnosis) => return Ok(Answer::Wrong(diagnosis)),
            None if !outcome.is_complete() => answer = Answer::Unsure,
            None => {}
        }
    }
    Ok(answer)
}

/// What the first violation of a search is.
pub fn finding(
    system: &History<Ranks>,
    semantics: Semantics,
    outcome: &Outcome,
    setting: Setting,
    budget: &Budget,
) -> Option<Diagnosis> {
    let violation = outcome.violations.first()?;
    let diagnosis = diagnose(system, violation);
    let races = races(system, &violation.schedule);
    if !races.is_empty() && is_avoided(system, setting, budget) {
        let message = format!(
            "what happens depends on which message a receive from any source gets; it may come to this: {}: {}",
            diagnosis.slip, diagnosis.message
        );
        let places = diagnosis.places.into_iter().chain(races).collect();
        return Some(Diagnosis { slip: Slip::MessageRace, message, places });
    }
    let is_stuck = violation.failure.is_none();
    if is_stuck
        && semantics.buffering == Buffering::Zero
        && is_right_if_buffered(system, setting, budget)
    {
        let message =
            format!("it is right only if standard sends are buffered: {}", diagnosis.message);
        return Some(Diagnosis { slip: Slip::BufferingHazard, message, ..diagnosis });
    }
    Some(diagnosis)
}

/// The places of the receives from any source in an execution that were matched.
fn races(system: &History<Ranks>, schedule: &Schedule) -> Vec<String> {
    let mut replay = Replay::new(system);
    replay.follow(schedule).expect("the schedule of a violation");
    super::diagnosis::wildcards(system, &replay)
}

/// Is there an execution in which nothing is wrong?
fn is_avoided(system: &History<Ranks>, setting: Setting, budget: &Budget) -> bool {
    let budget = Budget { all: true, shortest: false, ..budget.clone() };
    let outcome = explore(system, setting, budget, &mut NoObserver);
    outcome.stats.violating_traces < outcome.stats.traces
}

/// Is nothing wrong if standard sends are complete at once?
fn is_right_if_buffered(system: &History<Ranks>, setting: Setting, budget: &Budget) -> bool {
    let launch = system.runner().launch();
    let semantics = Semantics { buffering: Buffering::Infinite, ..launch.semantics };
    let Ok(ranks) = Ranks::new(Launch { semantics, ..launch.clone() }) else { return false };
    let system = History::new(ranks);
    let budget = Budget { all: false, shortest: false, ..budget.clone() };
    let outcome = explore(&system, setting, budget, &mut NoObserver);
    outcome.violations.is_empty()
}
