//! What a report is about: a spec with its constants and options, or a system in Rust.

#[cfg(feature = "json")]
use std::collections::BTreeMap;
use std::path::PathBuf;

#[cfg(feature = "json")]
use serde::Serialize;

use super::VERSION;
use crate::model::{Faults, Semantics};

/// The program that a report is about.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Subject {
    /// This crate's version.
    pub mazurka: &'static str,
    /// The path of the spec, `-` for standard input.
    pub spec: String,
    /// The path as the operating system gives it. It may not be UTF-8.
    #[cfg_attr(feature = "json", serde(skip))]
    pub path: PathBuf,
    /// The constants of the spec with the values that they had.
    #[cfg(feature = "json")]
    pub constants: BTreeMap<String, serde_json::Value>,
    /// What counts as one action: `statement`, or `None` for the default, an operation.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub granularity: Option<&'static str>,
    /// Whether messages to actors may stay pending at the end.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub allow_pending: bool,
    /// The processes that may wait for ever, besides those that the program declares as daemons.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Vec::is_empty"))]
    pub daemons: Vec<String>,
    /// Whether also executions count that are unfair to all processes.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub unfair: bool,
    /// What the MPI standard leaves open, if it matters to the program.
    #[cfg_attr(feature = "json", serde(flatten, skip_serializing_if = "Option::is_none"))]
    pub semantics: Option<Semantics>,
    /// Which of the declared faults may happen.
    #[cfg_attr(feature = "json", serde(flatten, skip_serializing_if = "Faults::are_all"))]
    pub faults: Faults,
    /// The command of a replay, before and after the schedule; a spec's is made from the fields.
    #[cfg_attr(feature = "json", serde(skip))]
    pub command: Option<[String; 2]>,
    /// The source text, with characters replaced that a terminal may act on.
    #[cfg_attr(feature = "json", serde(skip))]
    pub source: String,
    /// The constants that were set on the command line, in the form in which they were given.
    #[cfg_attr(feature = "json", serde(skip))]
    pub defines: Vec<String>,
}

impl Subject {
    /// A system that is built in Rust, without a file.
    pub fn in_rust(allow_pending: bool) -> Subject {
        Subject {
            mazurka: VERSION,
            spec: "the system".into(),
            path: PathBuf::new(),
            #[cfg(feature = "json")]
            constants: BTreeMap::new(),
            granularity: None,
            allow_pending,
            daemons: Vec::new(),
            unfair: false,
            semantics: None,
            faults: Faults::default(),
            command: None,
            source: String::new(),
            defines: Vec::new(),
        }
    }

    /// Whether the system has a file: only then is there a command that replays an execution.
    pub fn has_file(&self) -> bool {
        !self.path.as_os_str().is_empty()
    }
}
