//! Warnings: what looks like a mistake in a program in which nothing is wrong.
//!
//! | lint | group | reports | by default |
//! |---|---|---|---|
//! | `messages` | `leaks` | messages that are never received | warn |
//! | `requests` | `leaks` | receives that no message comes for, units of semaphores that are never granted | warn |
//! | `locks` | `leaks` | mutexes that ended processes own or queue for | warn |
//! | `handles` | `leaks` | communicators, datatypes and other objects of MPI that a rank never frees | warn |
//! | `lines` | `unreached` | statements and handlers that no execution runs | allow |
//! | `branches` | `unreached` | conditions that are always decided in one way, arms of `match` that are never taken | allow |
//! | `assertions` | `unreached` | assertions that no execution evaluates | allow |
//! | `calls` | `calls` | MPI programs that do not call MPI | warn |
//! | `status` | `status` | ranks of MPI programs that end with an exit code other than 0 | warn |
//! | `threads` | `threads` | ranks with several threads, which have asked for `MPI_THREAD_SINGLE` | warn |
//!
//! A leak is a property of one execution: every search reports the leaks of the executions that it
//! visits, each with a schedule that replays. A search that stops at its first violation reports no
//! leaks, since it has hardly begun to look. That code is never reached is a property of all
//! executions: it is reported only after a complete search that visits every class.
//!
//! The level of a lint is allow, warn or deny. A warning of a denied lint makes the command exit as
//! after a violation; the verdict is not changed.

#[cfg(feature = "cli")]
mod levels;

#[cfg(all(unix, feature = "cli"))]
pub(crate) use levels::of_no_calls;
#[cfg(feature = "cli")]
pub(crate) use levels::{Levels, Named};

#[cfg(feature = "json")]
use serde::{Serialize, Serializer};

use super::Subject;
use crate::explore::{Outcome, StopReason};
use crate::model::{RemarkKind, System};
use crate::property::{Leak, LeakKind, Leaks, Replay, Standing};

/// A kind of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lint {
    /// Messages that are never received.
    Messages,
    /// Requests that are never answered, except requests for mutexes.
    Requests,
    /// Mutexes that ended processes own or queue for.
    Locks,
    /// Objects of MPI that a rank never frees.
    Handles,
    /// Statements and handlers that no execution runs.
    Lines,
    /// Conditions that are always decided in one way, and arms that are never taken.
    Branches,
    /// Assertions that no execution evaluates.
    Assertions,
    /// MPI programs that do not call MPI.
    Calls,
    /// Ranks that end with an exit code other than 0.
    Status,
    /// Ranks with several threads that have asked for one.
    Threads,
}

/// The group of the lints about all executions.
const UNREACHED: &str = "unreached";

/// The names of each lint: its own, its group, and the name of all.
const NAMES: [(Lint, [&str; 3]); 10] = [
    (Lint::Messages, ["messages", "leaks", "all"]),
    (Lint::Requests, ["requests", "leaks", "all"]),
    (Lint::Locks, ["locks", "leaks", "all"]),
    (Lint::Handles, ["handles", "leaks", "all"]),
    (Lint::Lines, ["lines", UNREACHED, "all"]),
    (Lint::Branches, ["branches", UNREACHED, "all"]),
    (Lint::Assertions, ["assertions", UNREACHED, "all"]),
    (Lint::Calls, ["calls", "calls", "all"]),
    (Lint::Status, ["status", "status", "all"]),
    (Lint::Threads, ["threads", "threads", "all"]),
];

impl Lint {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.names()[0]
    }

    fn names(self) -> [&'static str; 3] {
        NAMES[self as usize].1
    }
}

#[cfg(feature = "json")]
impl Serialize for Lint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl From<LeakKind> for Lint {
    fn from(kind: LeakKind) -> Self {
        match kind {
            LeakKind::Message => Lint::Messages,
            LeakKind::Receive | LeakKind::Acquire | LeakKind::Collective => Lint::Requests,
            LeakKind::Held | LeakKind::Queued => Lint::Locks,
            LeakKind::Remarked(RemarkKind::Unfreed) => Lint::Handles,
            LeakKind::Remarked(RemarkKind::Status) => Lint::Status,
            LeakKind::Remarked(RemarkKind::Threads) => Lint::Threads,
        }
    }
}

/// What is done with the warnings of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "lowercase"))]
pub(crate) enum Level {
    /// They are dropped.
    #[cfg(feature = "cli")]
    Allow,
    /// They are reported.
    Warn,
    /// They are reported, and the command exits as after a violation.
    Deny,
}

/// A warning.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[non_exhaustive]
pub struct Warning {
    /// The lint that it belongs to.
    pub(crate) lint: Lint,
    /// The level of the lint.
    pub(crate) level: Level,
    /// What looks like a mistake, in a sentence without a full stop.
    pub message: String,
    /// The file: the spec, unless the program has several files.
    pub file: String,
    /// Whether the program has several files.
    #[cfg_attr(feature = "json", serde(skip))]
    pub has_files: bool,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The process, if the warning is about one.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub process: Option<String>,
    /// The object, if the warning is about one.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub object: Option<String>,
    /// An execution that shows it, as an argument of `--schedule`.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub replay: Option<String>,
}

/// The leaks that a search has found, by place.
pub(crate) fn of_search(subject: &Subject, outcome: &Outcome) -> Vec<Warning> {
    if outcome.stopped_by == Some(StopReason::Violation) {
        return Vec::new();
    }
    let warn = |leak: &Leak| {
        let warning = of_leak(subject, leak);
        let message = format!("in some execution {}", warning.message);
        Warning { message, replay: Some(leak.schedule.to_string()), ..warning }
    };
    sorted(&outcome.leaks).into_iter().map(warn).collect()
}

/// The leaks of this execution, if it has ended and nothing is wrong.
pub(crate) fn of_execution<S: System>(subject: &Subject, replay: &Replay<'_, S>) -> Vec<Warning> {
    let mut leaks = Leaks::default();
    if replay.standing() == Standing::Ended {
        leaks.look(replay.locals(), replay.state());
    }
    sorted(&leaks.found()).into_iter().map(|leak| of_leak(subject, leak)).collect()
}

fn sorted(leaks: &[Leak]) -> Vec<&Leak> {
    let mut leaks: Vec<&Leak> = leaks.iter().collect();
    leaks.sort_by_key(|leak| {
        let place = leak.site.as_ref().map(|site| (&site.file, site.line, site.column));
        (Lint::from(leak.kind), place, leak.kind)
    });
    leaks
}

fn of_leak(subject: &Subject, leak: &Leak) -> Warning {
    let Leak { process, object, .. } = leak;
    let message = match leak.kind {
        LeakKind::Message => {
            format!("the message that {process} sends to {object} is never received")
        }
        LeakKind::Receive => format!("no message comes for the receive of {process} at {object}"),
        LeakKind::Acquire => {
            format!("{process} is never granted the unit of {object} that it asks for")
        }
        LeakKind::Collective => format!("{object} never ends for {process}, which has entered it"),
        LeakKind::Held => format!("{process} ends without giving {object} back"),
        LeakKind::Queued => format!("{process} ends in the queue of {object}"),
        LeakKind::Remarked(RemarkKind::Unfreed) => {
            format!("{process} never frees the {object} that it makes here")
        }
        LeakKind::Remarked(RemarkKind::Status) => format!("{process} ends with {object}"),
        LeakKind::Remarked(RemarkKind::Threads) => {
            format!("{process} has several threads here, but has asked for {object}")
        }
    };
    let file = leak.site.as_ref().and_then(|site| site.file.as_ref());
    Warning {
        lint: leak.kind.into(),
        level: Level::Warn,
        message,
        file: file.map_or_else(|| subject.spec.clone(), |file| file.to_string()),
        has_files: file.is_some(),
        line: leak.site.as_ref().map(|site| site.line),
        column: leak.site.as_ref().map(|site| site.column),
        process: Some(process.clone()),
        object: Some(object.clone()),
        replay: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lint_stands_in_the_table_at_its_place() {
        for (place, (lint, _)) in NAMES.into_iter().enumerate() {
            assert_eq!(lint as usize, place);
        }
    }
}
