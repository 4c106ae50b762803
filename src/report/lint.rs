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
//!
//! A leak is a property of one execution: every search reports the leaks of the executions that it
//! visits, each with a schedule that replays. A search that stops at its first violation reports no
//! leaks, since it has hardly begun to look. That code is never reached is a property of all
//! executions: it is reported only after a complete search that visits every class.
//!
//! The level of a lint is allow, warn or deny. A warning of a denied lint makes the command exit as
//! after a violation; the verdict is not changed.

use std::fmt;
use std::str::FromStr;

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
}

/// The group of the lints about all executions.
const UNREACHED: &str = "unreached";

/// The names of each lint: its own, its group, and the name of all.
const NAMES: [(Lint, [&str; 3]); 8] = [
    (Lint::Messages, ["messages", "leaks", "all"]),
    (Lint::Requests, ["requests", "leaks", "all"]),
    (Lint::Locks, ["locks", "leaks", "all"]),
    (Lint::Handles, ["handles", "leaks", "all"]),
    (Lint::Lines, ["lines", UNREACHED, "all"]),
    (Lint::Branches, ["branches", UNREACHED, "all"]),
    (Lint::Assertions, ["assertions", UNREACHED, "all"]),
    (Lint::Calls, ["calls", "calls", "all"]),
];

impl Lint {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Whether the lint is about all executions.
    pub(crate) fn is_about_all(self) -> bool {
        self.names()[1] == UNREACHED
    }

    fn names(self) -> [&'static str; 3] {
        NAMES[self as usize].1
    }
}

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
        }
    }
}

/// The lints that share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named(&'static str);

impl Named {
    /// How specific the name is for this lint, 0 being the most specific; `None` if it is not one
    /// of its names.
    fn rank(self, lint: Lint) -> Option<usize> {
        lint.names().iter().position(|&name| name == self.0)
    }
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = known_names();
        let found = names.iter().find(|&&name| name == text);
        found.map(|&name| Named(name)).ok_or_else(|| format!("the lints are {}", names.join(", ")))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// All names, the most specific ones first.
fn known_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for rank in 0..3 {
        for (_, of_one) in NAMES {
            if !names.contains(&of_one[rank]) {
                names.push(of_one[rank]);
            }
        }
    }
    names
}

/// What is done with the warnings of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// They are dropped.
    Allow,
    /// They are reported.
    Warn,
    /// They are reported, and the command exits as after a violation.
    Deny,
}

/// The level of each lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Levels([Level; NAMES.len()]);

impl Default for Levels {
    fn default() -> Self {
        Levels(NAMES.map(|(lint, _)| match lint.is_about_all() {
            true => Level::Allow,
            false => Level::Warn,
        }))
    }
}

impl Levels {
    /// The levels that result from these lists of names. For each lint its most specific name
    /// counts.
    ///
    /// # Errors
    /// If a name is in two of the lists.
    pub(crate) fn new(allow: &[Named], warn: &[Named], deny: &[Named]) -> Result<Levels, String> {
        let asked = [(Level::Allow, allow), (Level::Warn, warn), (Level::Deny, deny)];
        let asked =
            || asked.iter().flat_map(|&(level, names)| names.iter().map(move |&n| (n, level)));
        for (name, level) in asked() {
            if let Some((_, other)) = asked().find(|&(same, other)| same == name && other != level)
            {
                let option = |level: Level| format!("{level:?}").to_lowercase();
                return Err(format!(
                    "`{name}` is in the list of --{} and in that of --{}",
                    option(level),
                    option(other)
                ));
            }
        }
        let mut levels = Levels::default();
        for (lint, _) in NAMES {
            let named = asked().filter_map(|(name, level)| Some((name.rank(lint)?, level)));
            if let Some((_, level)) = named.min_by_key(|&(rank, _)| rank) {
                levels.0[lint as usize] = level;
            }
        }
        Ok(levels)
    }

    /// The level of this lint.
    pub(crate) fn of(&self, lint: Lint) -> Level {
        self.0[lint as usize]
    }

    /// Whether a lint about all executions is not allowed: then the search must record what it
    /// reaches.
    pub(crate) fn ask_about_all(&self) -> bool {
        NAMES.iter().any(|&(lint, _)| lint.is_about_all() && self.of(lint) != Level::Allow)
    }

    /// Drops the warnings of allowed lints, and sets the levels of the others.
    pub(crate) fn applied(&self, warnings: Vec<Warning>) -> Vec<Warning> {
        let reported = warnings.into_iter().filter(|warning| self.of(warning.lint) != Level::Allow);
        reported.map(|warning| Warning { level: self.of(warning.lint), ..warning }).collect()
    }
}

/// A warning.
#[derive(Clone, Debug, Serialize)]
pub struct Warning {
    /// The lint that it belongs to.
    pub(crate) lint: Lint,
    /// The level of the lint.
    pub(crate) level: Level,
    /// What looks like a mistake, in a sentence without a full stop.
    pub(crate) message: String,
    /// The file: the spec, unless the program has several files.
    pub(crate) file: String,
    /// Whether the program has several files.
    #[serde(skip)]
    pub(crate) has_files: bool,
    /// The line, from 1.
    pub(crate) line: Option<u32>,
    /// The column, from 1.
    pub(crate) column: Option<u32>,
    /// The process, if the warning is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<String>,
    /// The object, if the warning is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<String>,
    /// An execution that shows it, as an argument of `--schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay: Option<String>,
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

/// The warning for an MPI program that calls no function of MPI: nothing was verified.
pub(crate) fn of_no_calls(subject: &Subject) -> Warning {
    Warning {
        lint: Lint::Calls,
        level: Level::Warn,
        message: "no rank calls MPI_Init, so there is nothing to verify".into(),
        file: subject.spec.clone(),
        has_files: false,
        line: None,
        column: None,
        process: None,
        object: None,
        replay: None,
    }
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

    fn named(names: &[&str]) -> Vec<Named> {
        names.iter().map(|name| name.parse().expect("a lint")).collect()
    }

    #[test]
    fn each_lint_stands_in_the_table_at_its_place() {
        for (place, (lint, _)) in NAMES.into_iter().enumerate() {
            assert_eq!(lint as usize, place);
        }
    }

    #[test]
    fn the_most_particular_name_counts() {
        let levels = Levels::new(&named(&["messages"]), &[], &named(&["all"])).unwrap();
        assert_eq!(levels.of(Lint::Messages), Level::Allow);
        assert_eq!(levels.of(Lint::Locks), Level::Deny);
        let levels = Levels::new(&named(&["leaks"]), &named(&["locks"]), &named(&["all"])).unwrap();
        assert_eq!(levels.of(Lint::Requests), Level::Allow);
        assert_eq!(levels.of(Lint::Locks), Level::Warn);
    }

    #[test]
    fn one_name_cannot_be_asked_two_things_of() {
        let refused = Levels::new(&named(&["leaks"]), &[], &named(&["leaks"])).unwrap_err();
        assert_eq!(refused, "`leaks` is in the list of --allow and in that of --deny");
        assert!("leak".parse::<Named>().unwrap_err().starts_with("the lints are messages, "));
    }
}
