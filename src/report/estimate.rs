//! How large a search would be: the result of `estimate`, as plain data and as text.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::text::{duration, thousands};
use super::{Size, StatesInAll, Subject};
use crate::explore::StopReason;

/// The result of `estimate`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EstimateReport {
    /// The program.
    #[serde(flatten)]
    pub(crate) subject: Subject,
    /// The number of classes; `None` if it cannot be estimated.
    pub(crate) classes: Option<Size>,
    /// Why it cannot be estimated.
    pub(crate) not_estimated: Option<StopReason>,
    /// How far explorers came in a short time.
    pub(crate) tried: Vec<Tried>,
    /// The sizes with one constant smaller by 1.
    pub(crate) smaller: Vec<Smaller>,
}

/// A search that was given a short time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tried {
    /// The explorer.
    pub(crate) explorer: &'static str,
    /// What it counts: `classes`, `states` or `events`.
    pub(crate) unit: &'static str,
    /// How many it has found.
    pub(crate) count: u64,
    /// The time that it took.
    pub(crate) seconds: f64,
    /// Whether it has explored everything.
    pub(crate) complete: bool,
    /// Whether it has found a violation.
    pub(crate) violated: bool,
    /// About how many there are in all, if they are states and that is known.
    pub(crate) in_all: Option<StatesInAll>,
    /// About how long it would take in all, if that is known.
    pub(crate) seconds_in_all: Option<f64>,
}

/// The size with a smaller constant.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Smaller {
    /// The name of the constant.
    pub(crate) constant: String,
    /// Its smaller value.
    pub(crate) value: i64,
    /// The number of classes.
    pub(crate) classes: Size,
}

/// The report as text.
pub(crate) struct Text<'r>(pub(crate) &'r EstimateReport);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let report = self.0;
        write!(f, "{}: ", report.subject.title())?;
        match (&report.classes, report.not_estimated) {
            (Some(classes), _) => writeln!(f, "{classes}")?,
            (None, reason) => {
                let why = reason.map_or("", StopReason::word);
                writeln!(f, "the number of classes cannot be estimated ({why})")?;
            }
        }
        writeln!(f)?;
        for tried in &report.tried {
            writeln!(f, "{tried}")?;
        }
        if !report.smaller.is_empty() {
            writeln!(f)?;
        }
        for Smaller { constant, value, classes } in &report.smaller {
            writeln!(f, "with {constant}={value}: {classes}")?;
        }
        if let Some(advice) = report.advice() {
            writeln!(f, "\n{advice}")?;
        }
        Ok(())
    }
}

impl Display for Tried {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Tried { explorer, unit, count, seconds, complete, violated, in_all, seconds_in_all } =
            self;
        write!(f, "{explorer:<12} ")?;
        let (count, took) = (thousands(*count), duration(*seconds));
        match (violated, complete, seconds_in_all) {
            (true, ..) => write!(f, "finds a violation in {took}"),
            (_, true, _) => write!(f, "complete in {took}: {count} {unit}"),
            (.., Some(time)) if let Some(all) = in_all => {
                write!(f, "{count} {unit} in {took}; {all}, {} in all", duration(*time))
            }
            (.., Some(all)) => {
                write!(f, "{count} {unit} in {took}; about {} in all", duration(*all))
            }
            _ => write!(f, "{count} {unit} in {took}, and not done"),
        }
    }
}

impl EstimateReport {
    /// What to do next, in a sentence.
    fn advice(&self) -> Option<String> {
        let command = if self.subject.command.is_some() { "mpirun" } else { "check" };
        let quickest = |of: &dyn Fn(&Tried) -> Option<f64>| {
            let all = self.tried.iter().filter_map(|tried| Some((of(tried)?, tried.explorer)));
            all.min_by(|one, other| one.0.total_cmp(&other.0))
        };
        let found = quickest(&|tried| tried.violated.then_some(tried.seconds));
        if let Some((_, explorer)) = found {
            return Some(format!(
                "Something is wrong: `{command} --explorer {explorer}` shows it."
            ));
        }
        if let Some((_, explorer)) = quickest(&|tried| tried.complete.then_some(tried.seconds)) {
            return Some(format!("`{command} --explorer {explorer}` verifies it at once."));
        }
        let known = quickest(&|tried| tried.seconds_in_all);
        let smallest = self.smaller.iter().min_by_key(|smaller| smaller.classes.number);
        let advice = match known {
            Some((seconds, explorer)) => {
                format!("`{command} --explorer {explorer}` takes about {}.", duration(seconds))
            }
            None => "How long a search takes is not known.".into(),
        };
        Some(match smallest {
            Some(Smaller { constant, value, .. }) => {
                format!("{advice} To make it shorter, begin with {constant}={value}.")
            }
            None => advice,
        })
    }
}
