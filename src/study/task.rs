//! A search that is done in parts, by processes that know nothing of one another: the data that
//! each of them needs.

use serde::{Deserialize, Serialize};

use super::{Case, Limits};
use crate::explore::{Budget, Depth, Explorer, Setting};
use crate::model::System;

/// A search that can be done in parts. Two parts belong together if their tasks are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The version of this crate: another version may split a search in another way.
    pub(crate) mazurka: String,
    /// The program.
    pub(crate) case: Case,
    /// The file that it was read from.
    pub(crate) path: String,
    /// The explorer: the text of a [`Setting`].
    pub(crate) setting: String,
    /// The depth bound.
    pub(crate) depth: Option<u32>,
    /// What the depth bound measures, if it was given.
    pub(crate) depth_measure: Option<Depth>,
    /// Whether the search continues after a violation.
    pub(crate) all: bool,
    /// Whether the shortest one of similar violations is kept.
    pub(crate) shortest: bool,
    /// The number of events that are always kept, if it was given.
    pub(crate) keep_events: Option<usize>,
}

impl Task {
    /// The limits of the search.
    pub(crate) fn limits(&self) -> Limits {
        Limits { depth: self.depth, depth_measure: self.depth_measure, ..Limits::default() }
    }

    /// The budget with these limits.
    pub(crate) fn budget(&self) -> Budget {
        let budget = self.limits().budget(|| 0);
        let keep_events = self.keep_events.unwrap_or(budget.keep_events);
        Budget { all: self.all || self.shortest, shortest: self.shortest, keep_events, ..budget }
    }

    /// The first difference between this task and another one, in words; `None` if they are equal.
    pub(crate) fn difference(&self, other: &Task) -> Option<&'static str> {
        let (own, case) = (&self.case, &other.case);
        let parts = [
            ("other programs", own.source == case.source),
            ("other constants", own.defines == case.defines),
            ("other explorers", self.setting == other.setting),
            (
                "another depth",
                (self.depth, self.depth_measure) == (other.depth, other.depth_measure),
            ),
            ("other options", self == other),
        ];
        parts.into_iter().find(|(_, is_same)| !is_same).map(|(what, _)| what)
    }
}

/// Why a search cannot be saved, in a sentence; `None` if it can.
pub(crate) fn refusal_to_save<S: System>(
    setting: &Setting,
    system: &S,
    budget: &Budget,
) -> Option<String> {
    let profile = setting.profile();
    if profile.can_be_saved || profile.can_split(budget.depth) {
        return setting.refusal(system, budget);
    }
    let name = profile.name;
    let why = match budget.depth {
        Some(_) if profile.can_split(None) => " with a depth",
        _ => "",
    };
    Some(format!(
        "a search by `{name}`{why} cannot be saved: one by `exhaustive`, `sleep`, `parsimonious`, `source`, `optimal`, \
         `udpor` or `stateful` can"
    ))
}

/// Why a search cannot be done in parts, in a sentence; `None` if it can.
pub(crate) fn refusal<S: System>(setting: &Setting, system: &S, budget: &Budget) -> Option<String> {
    if setting.profile().can_split(budget.depth) {
        return setting.refusal(system, budget);
    }
    let name = setting.explorer().profile().name;
    let why = match budget.depth {
        Some(_) if setting.profile().can_split(None) => " up to a depth",
        _ => "",
    };
    Some(format!(
        "`{name}` cannot search a single branch{why}: `exhaustive`, `sleep`, `source`, `optimal`, `parsimonious` and `udpor` can"
    ))
}
