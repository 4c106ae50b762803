//! The results of a study, row by row.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Figures;
use crate::explore::{
    Budget, Explorer, Guarantee, NoObserver, Outcome, Profile, Setting, StopReason, Verdict,
    ViolationKind, explore,
};
use crate::model::System;

/// The result of a search, without its counterexamples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the search ended early; `None` if it is complete.
    pub stopped_by: Option<StopReason>,
    /// The kinds of violation that were found, in a fixed order.
    pub found: Vec<ViolationKind>,
    /// The processor time of the search, of all its threads, if it was measured.
    #[serde(default)]
    pub processor_seconds: Option<f64>,
    /// The statistics of the search.
    pub stats: Figures,
}

impl Measured {
    /// The result of a search with this outcome.
    pub fn new(outcome: &Outcome, peak_memory_bytes: Option<u64>) -> Self {
        let mut found: Vec<_> = outcome.violations.iter().map(|v| v.kind).collect();
        found.sort_unstable();
        found.dedup();
        let stats = Figures::new(outcome, peak_memory_bytes);
        Measured {
            verdict: outcome.verdict(),
            stopped_by: outcome.stopped_by,
            found,
            processor_seconds: None,
            stats,
        }
    }

    /// Whether the search is complete: it has visited everything.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_none()
    }

    /// Whether the search ran to its end, even if it may have missed something. Then its figures
    /// are those of the whole search.
    pub fn has_ended(&self) -> bool {
        self.stopped_by.is_none_or(|reason| reason.is_doubt() || reason == StopReason::Sampled)
    }
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // Nearly all are measured: a box would save nothing.
pub enum Ran {
    /// It was run.
    Measured(Measured),
    /// The explorer is unsound for the program; the reason, in a sentence.
    Refused(String),
    /// It ended without a result; the way in which it ended, in a few words.
    Failed(String),
}

/// An explorer with its options, whether it is in the table of explorers or not.
#[derive(Clone, Debug)]
pub struct Searcher {
    /// Its name.
    pub name: String,
    /// Its name without the k.
    pub family: String,
    /// The k, if it has one.
    pub k: Option<String>,
    /// What a complete search guarantees.
    pub guarantee: Guarantee,
    /// Whether states include histories of processes, so that many executions may end alike.
    pub with_histories: bool,
}

impl Searcher {
    /// The description of an explorer, which need not be in the table.
    pub fn new(explorer: &impl Explorer) -> Searcher {
        let Profile { name, guarantee, .. } = explorer.profile();
        Searcher {
            family: name.into(),
            name: name.into(),
            k: None,
            guarantee,
            with_histories: false,
        }
    }
}

impl From<Setting> for Searcher {
    fn from(setting: Setting) -> Searcher {
        Searcher {
            name: setting.to_string(),
            family: setting.without_k().to_string(),
            k: setting.k().map(|k| k.to_string()),
            guarantee: setting.profile().guarantee,
            with_histories: setting.options().histories,
        }
    }
}

impl FromStr for Searcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Searcher, String> {
        text.parse().map(|setting: Setting| setting.into())
    }
}

impl Display for Searcher {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The result of one explorer on one case.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the case.
    pub spec: String,
    /// All constants of the program, with their values.
    pub constants: BTreeMap<String, serde_json::Value>,
    /// The constants that were set, as text.
    pub defines: String,
    /// The explorer.
    pub searcher: Searcher,
    /// The result.
    pub ran: Ran,
}

impl Row {
    /// Runs an explorer, which need not be in the table, in this process.
    pub fn of<S: System>(spec: &str, system: &S, explorer: impl Explorer, budget: Budget) -> Row {
        let ran = match explorer.refusal(system, &budget) {
            Some(why) => Ran::Refused(why),
            None => {
                let outcome = explore(system, explorer, budget, &mut NoObserver);
                Ran::Measured(Measured::new(&outcome, None))
            }
        };
        let searcher = Searcher::new(&explorer);
        let (constants, defines) = (BTreeMap::new(), String::new());
        Row { spec: spec.into(), constants, defines, searcher, ran }
    }

    /// The measurements, if there are any.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.ran {
            Ran::Measured(measured) => Some(measured),
            Ran::Refused(_) | Ran::Failed(_) => None,
        }
    }
}
