//! A search that is done in parts, by processes that know nothing of one another: the data that
//! each of them needs.

use serde::{Deserialize, Serialize};

use super::{Case, Limits, MpiProgram};
use crate::explore::{Budget, Depth, Explorer, Setting};
use crate::model::System;

/// A search that can be done in parts. Two parts belong together if their tasks are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The version of this crate: another version may split a search in another way.
    pub(crate) mazurka: String,
    /// The program.
    #[serde(flatten)]
    pub(crate) program: Searchable,
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

/// What is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Searchable {
    /// A spec.
    #[serde(rename = "case")]
    Spec(Case),
    /// An MPI program.
    #[serde(rename = "mpi")]
    Mpi {
        /// The program.
        run: MpiProgram,
        /// The hash of its file; of the script, if it is an interpreter of Python.
        hash: String,
    },
    /// What a program in Rust checks at some place.
    #[serde(rename = "test")]
    Test {
        /// The file and the line.
        place: String,
        /// The hash of the program that checks.
        hash: String,
    },
}

impl Searchable {
    /// The first difference, in words; `None` if they are equal.
    fn difference(&self, other: &Searchable) -> Option<&'static str> {
        let parts = match (self, other) {
            (Searchable::Spec(own), Searchable::Spec(other)) => [
                ("other programs", own.source == other.source),
                ("other constants", own.defines == other.defines),
            ],
            (Searchable::Mpi { run: own, hash }, Searchable::Mpi { run: other, hash: others }) => [
                ("the program has changed", hash == others || own.command != other.command),
                ("other programs, arguments or ranks", {
                    (&own.command, own.ranks) == (&other.command, other.ranks)
                }),
            ],
            (
                Searchable::Test { place: own, hash },
                Searchable::Test { place: other, hash: others },
            ) => [
                ("it is checked at another place", own == other),
                ("the program has changed", hash == others),
            ],
            _ => return Some("other programs"),
        };
        parts.into_iter().find(|(_, is_same)| !is_same).map(|(what, _)| what)
    }
}

impl Task {
    /// The program, if it is a spec.
    pub(crate) fn case(&self) -> Option<&Case> {
        match &self.program {
            Searchable::Spec(case) => Some(case),
            Searchable::Mpi { .. } | Searchable::Test { .. } => None,
        }
    }

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
        let difference = self.program.difference(&other.program);
        let parts = [
            ("other explorers", self.setting == other.setting),
            (
                "another depth",
                (self.depth, self.depth_measure) == (other.depth, other.depth_measure),
            ),
            ("other options", self == other),
        ];
        let others = || parts.into_iter().find(|(_, is_same)| !is_same).map(|(what, _)| what);
        difference.or_else(others)
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
         `udpor`, `stateful`, `fused`, `s-por`, `fair` or `prefix` can"
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
