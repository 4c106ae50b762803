//! What is wrong with a program, whatever MPI leaves open: several searches, and one answer.

use std::cell::OnceCell;
use std::fmt;
use std::time::Instant;

use super::diagnosis::{Diagnosis, diagnose, unfreed};
use super::ranks::{Launch, Ranks};
use super::slip::Slip;
use crate::explore::{Budget, NoObserver, Setting, StopReason, Violation, explore};
use crate::model::{Buffering, Schedule, Semantics};
use crate::property::Replay;
use crate::systems::history::History;

/// The answer to whether a program is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is wrong with it.
    Right,
    /// Nothing wrong was found, but this should be mended.
    Odd(Diagnosis),
    /// This is wrong with it.
    Wrong(Diagnosis),
    /// That cannot be said.
    Unsure(Doubt),
}

/// Why it cannot be said whether a program is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It does what cannot be explored, as this sentence says.
    Unsupported(String),
    /// A search ended too early, and nothing wrong was found.
    Stopped(StopReason),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Unsupported(why) => f.write_str(why),
            Doubt::Stopped(reason) => f.write_str(reason.word()),
        }
    }
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
        let outcome = system.runner().judged(outcome);
        match outcome.violations.first() {
            Some(first) => {
                let others = Others::new(&system, setting, budget);
                return Ok(Answer::Wrong(others.finding(first)));
            }
            None if matches!(answer, Answer::Odd(_)) => {}
            None => match (outcome.leaks.iter().find_map(unfreed), outcome.stopped_by) {
                (Some(odd), _) => answer = Answer::Odd(odd),
                (None, Some(reason)) => {
                    let unsupported = system.runner().reservation().map(Doubt::Unsupported);
                    answer = Answer::Unsure(unsupported.unwrap_or(Doubt::Stopped(reason)));
                }
                (None, None) => {}
            },
        }
    }
    Ok(answer)
}

/// What happens in other executions: that tells some kinds of mistakes. It is searched for when it is first asked for.
pub struct Others<'s> {
    system: &'s History<Ranks>,
    setting: Setting,
    budget: Budget,
    begin: Instant,
    is_avoided: OnceCell<bool>,
    is_right_if_buffered: OnceCell<bool>,
}

impl<'s> Others<'s> {
    /// The other executions of this system, searched within these limits, from now on.
    pub fn new(system: &'s History<Ranks>, setting: Setting, budget: &Budget) -> Others<'s> {
        let budget = Budget { shortest: false, ..budget.clone() };
        let (is_avoided, is_right_if_buffered) = Default::default();
        let begin = Instant::now();
        Others { system, setting, budget, begin, is_avoided, is_right_if_buffered }
    }

    /// What a violation is: what happens in one execution only is a race, and what depends on buffers is a hazard.
    pub fn finding(&self, violation: &Violation) -> Diagnosis {
        let diagnosis = diagnose(self.system, violation);
        // That is wrong whatever the messages are.
        if diagnosis.slip == Slip::Nondeterminism {
            return diagnosis;
        }
        let is_stuck = violation.failure.is_none();
        let semantics = self.system.runner().launch().semantics;
        let is_buffered = semantics.buffering == Buffering::Infinite;
        if is_stuck && !is_buffered && self.is_right_if_buffered() {
            let message =
                format!("it is right only if standard sends are buffered: {}", diagnosis.message);
            return Diagnosis { slip: Slip::BufferingHazard, message, ..diagnosis };
        }
        let races = races(self.system, &violation.schedule);
        if !races.is_empty() && self.is_avoided() {
            let message = format!(
                "which message a receive from any source gets decides what happens; it may come to this: {}: {}",
                diagnosis.slip, diagnosis.message
            );
            let places = diagnosis.places.into_iter().chain(races).collect();
            return Diagnosis { slip: Slip::MessageRace, message, places };
        }
        diagnosis
    }

    /// Is there an execution in which nothing is wrong?
    fn is_avoided(&self) -> bool {
        *self.is_avoided.get_or_init(|| {
            let budget = Budget { all: true, ..self.budget.after(self.begin.elapsed()) };
            let outcome = explore(self.system, self.setting, budget, &mut NoObserver);
            outcome.stats.violating_traces < outcome.stats.traces
        })
    }

    /// Is nothing wrong if standard sends are complete at once?
    fn is_right_if_buffered(&self) -> bool {
        *self.is_right_if_buffered.get_or_init(|| {
            let launch = self.system.runner().launch();
            let semantics = Semantics { buffering: Buffering::Infinite, ..launch.semantics };
            let Ok(ranks) = Ranks::new(Launch { semantics, ..launch.clone() }) else {
                return false;
            };
            let budget = Budget { all: false, ..self.budget.after(self.begin.elapsed()) };
            let outcome = explore(&History::new(ranks), self.setting, budget, &mut NoObserver);
            outcome.violations.is_empty()
        })
    }
}

/// The places of the receives from any source in an execution that were matched.
fn races(system: &History<Ranks>, schedule: &Schedule) -> Vec<String> {
    let mut replay = Replay::new(system);
    replay.follow(schedule).expect("the schedule of a violation");
    super::diagnosis::wildcards(system, &replay)
}
