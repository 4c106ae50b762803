//! Whether a program is correct, whatever MPI leaves open: several searches, and one answer.

use std::cell::OnceCell;
use std::fmt;
use std::time::Instant;

use super::diagnosis::{Diagnosis, diagnose, remarked};
use super::races::{Matching, RightOnes};
use super::ranks::{Launch, Ranks};
use super::slip::Slip;
use crate::explore::{
    Budget, Explorer, NoObserver, Setting, StopReason, Verdict, Violation, explore,
};
use crate::model::{AnySystem, Buffering, Schedule, Semantics};
use crate::property::{Position, Replay};
use crate::systems::history::History;

/// The answer to whether a program is correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is correct.
    Right,
    /// No violation was found, but this should be mended.
    Odd(Diagnosis),
    /// It has this mistake.
    Wrong(Diagnosis),
    /// It is unknown.
    Unsure(Doubt),
}

/// Why it is unknown whether a program is correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The program does what cannot be explored; a sentence.
    Unsupported(String),
    /// A search ended early, and no mistake was found.
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

/// Searches the program with each of these semantics, until a mistake is found.
///
/// # Errors
/// If the program cannot be run.
pub fn verify(
    launch: &Launch,
    variants: &[Semantics],
    setting: Setting,
    budget: &Budget,
) -> Result<Answer, String> {
    let mut answer = Answer::Right;
    for &semantics in variants {
        let system = History::new(Ranks::new(Launch { semantics, ..launch.clone() })?);
        let any = AnySystem::of(&system);
        let outcome = explore(&any, setting, budget.clone(), &mut NoObserver);
        let outcome = system.runner().judged(outcome);
        match outcome.violations.first() {
            Some(first) => {
                let others = Others::new(&system, setting, budget);
                return Ok(Answer::Wrong(others.finding(first)));
            }
            None => match (outcome.stopped_by, outcome.leaks.iter().find_map(remarked)) {
                (Some(reason), _) => {
                    let unsupported = system.runner().reservation().map(Doubt::Unsupported);
                    answer = Answer::Unsure(unsupported.unwrap_or(Doubt::Stopped(reason)));
                }
                (None, Some(odd)) if answer == Answer::Right => answer = Answer::Odd(odd),
                (None, _) => {}
            },
        }
    }
    Ok(answer)
}

/// The other executions of a system, which distinguish some kinds of mistakes. They are searched
/// when they are first needed.
pub(crate) struct Others<'s> {
    system: &'s History<Ranks>,
    setting: Setting,
    budget: Budget,
    begin: Instant,
    /// Whether there is a violation-free execution, and the matchings of some of them.
    right_ones: OnceCell<(bool, Vec<Matching>)>,
    if_buffered: OnceCell<Verdict>,
}

impl<'s> Others<'s> {
    /// The other executions of this system, to be searched within these limits.
    pub(crate) fn new(system: &'s History<Ranks>, setting: Setting, budget: &Budget) -> Others<'s> {
        let budget = Budget { shortest: false, ..budget.clone() };
        let (right_ones, if_buffered) = Default::default();
        let begin = Instant::now();
        Others { system, setting, budget, begin, right_ones, if_buffered }
    }

    /// The mistake behind a violation. If receives from any source got something else than in right
    /// executions, it is a race; if it depends on buffering, a hazard.
    pub(crate) fn finding(&self, violation: &Violation) -> Diagnosis {
        let diagnosis = diagnose(self.system, violation);
        // This is a mistake whatever the messages are.
        if diagnosis.slip == Slip::Nondeterminism {
            return diagnosis;
        }
        let is_stuck = violation.failure.is_none();
        let semantics = self.system.runner().launch().semantics;
        let is_buffered = semantics.buffering == Buffering::Infinite;
        if is_stuck && !is_buffered && self.if_buffered() == Verdict::Ok {
            let message =
                format!("it is right only if standard sends are buffered: {}", diagnosis.message);
            return Diagnosis { slip: Slip::BufferingHazard, message, ..diagnosis };
        }
        let matching = matching(self.system, &violation.schedule);
        if !matching.is_empty()
            && let (true, right_ones) = self.right_ones()
            && let Some(culprit) = matching.culprit(right_ones)
        {
            let (slip, message) = (diagnosis.slip, diagnosis.message);
            let message = format!("{culprit}; it may come to this: {slip}: {message}");
            let places = diagnosis.places.into_iter().chain(matching.places()).collect();
            return Diagnosis { slip: Slip::MessageRace, message, places };
        }
        diagnosis
    }

    fn right_ones(&self) -> &(bool, Vec<Matching>) {
        self.right_ones.get_or_init(|| {
            let budget = Budget { all: true, ..self.budget.after(self.begin.elapsed()) };
            let mut found = RightOnes::default();
            let any = AnySystem::of(self.system);
            let outcome = explore(&any, self.setting, budget, &mut found);
            (outcome.stats.violating_traces < outcome.stats.traces, found.0)
        })
    }

    /// The verdict if standard sends complete at once. Executions by chance have none.
    fn if_buffered(&self) -> Verdict {
        if self.setting.profile().samples {
            return Verdict::Incomplete;
        }
        *self.if_buffered.get_or_init(|| {
            let launch = self.system.runner().launch();
            let semantics = Semantics { buffering: Buffering::Infinite, ..launch.semantics };
            let Ok(ranks) = Ranks::new(Launch { semantics, ..launch.clone() }) else {
                return Verdict::Incomplete;
            };
            let budget = Budget { all: false, ..self.budget.after(self.begin.elapsed()) };
            let system = History::new(ranks);
            let any = AnySystem::of(&system);
            let outcome = explore(&any, self.setting, budget, &mut NoObserver);
            system.runner().judged(outcome).verdict()
        })
    }
}

/// The messages that receives and probes from any source got in an execution.
fn matching(system: &History<Ranks>, schedule: &Schedule) -> Matching {
    let any = AnySystem::of(system);
    let mut replay = Replay::new(&any);
    replay.follow(schedule).expect("the schedule of a violation");
    Matching::of(Position::new(replay.locals(), replay.state()))
}
