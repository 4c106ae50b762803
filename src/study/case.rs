//! What a study consists of: programs, and searches of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Limits;
use crate::lang::{self, Choices, Granularity, Program};
use crate::model::{Faults, Semantics};

/// A program that can be compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name: the path of the spec.
    pub name: String,
    /// The source text.
    pub source: String,
    /// The constants to set, with their values.
    pub defines: Vec<(String, String)>,
    /// Whether each statement is an action, even if it only computes.
    pub by_statement: bool,
    /// Which of the declared faults may happen.
    #[serde(default)]
    pub faults: Faults,
    /// Whether messages to actors may stay pending at the end.
    pub allow_pending: bool,
    /// The processes that may wait for ever, besides those that the program declares as daemons.
    #[serde(default)]
    pub daemons: Vec<String>,
    /// Whether also executions count that are unfair to all processes.
    #[serde(default)]
    pub unfair: bool,
    /// What the MPI standard leaves open.
    #[serde(default)]
    pub semantics: Semantics,
}

impl Case {
    /// Compiles the program.
    pub fn compile(&self) -> Result<Program, lang::Diagnostics> {
        let granularity = match self.by_statement {
            true => Granularity::Statement,
            false => Granularity::Operation,
        };
        let choices = Choices { granularity, faults: self.faults };
        let mut program = lang::compile_with(&self.name, &self.source, &self.defines, choices)?;
        program.set_semantics(self.semantics);
        if self.unfair {
            program.make_unfair();
        }
        match program.allow_daemons(&self.daemons) {
            Ok(()) => Ok(program),
            Err(mistake) => Err(lang::Diagnostics::of(&self.name, &self.source, mistake)),
        }
    }

    /// The same program with another value of a constant.
    pub(crate) fn with(&self, constant: &str, value: i64) -> Case {
        let mut case = self.clone();
        case.defines.retain(|(other, _)| other != constant);
        case.defines.push((constant.into(), value.to_string()));
        case
    }

    /// The constants that were set: `N=3, M=2`; empty if there are none.
    pub fn constants(&self) -> String {
        let constants = self.defines.iter().map(|(name, value)| format!("{name}={value}"));
        constants.collect::<Vec<_>>().join(", ")
    }
}

/// One search to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub case: Case,
    /// The explorer: the text of a [`Setting`](crate::explore::Setting).
    pub setting: String,
    /// The limits of the search.
    pub limits: Limits,
    /// Whether the search continues after a violation.
    pub all: bool,
    /// Repeat the search for this long and report the shortest times. A single very short search
    /// measures only noise.
    #[serde(default)]
    pub repeat_for: Duration,
}
