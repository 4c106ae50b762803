//! Steps found by their names, to follow an execution of another version of a program.
//!
//! Numbers of processes and choices change with the text of a program. Their names change less: so
//! a step that is not possible any more, or is another one now, is looked for by the name of its
//! process and the text of its operation.

use serde::Deserialize;

use super::Replay;
use crate::model::{Action, ProcessId, System};

/// A step as a report has recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Recorded {
    /// The process that moved.
    pub process: String,
    /// The operation, as in the source.
    pub action: String,
    /// Its result, in words.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Line of the operation, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

impl<S: System> Replay<'_, S> {
    /// Is this action, which is enabled, the operation of the process that was recorded?
    pub(crate) fn is_recorded(&self, action: Action, recorded: &Recorded) -> bool {
        let words = |text: &str| text.split_whitespace().collect::<String>();
        self.name(action.process) == recorded.process
            && words(&self.site_of(action.process, Some(action.choice)).text)
                == words(&recorded.action)
    }

    /// The enabled actions with the names of the recorded one.
    pub(crate) fn enabled_as(&self, recorded: &Recorded) -> Vec<Action> {
        let mut enabled = self.enabled();
        enabled.retain(|&action| self.is_recorded(action, recorded));
        enabled
    }

    /// The process with this name, if it exists. Of those of the network that have its name, none.
    pub(crate) fn process_named(&self, name: &str) -> Option<ProcessId> {
        let mut all = self.state.program_processes();
        all.find(|&process| self.name(process) == name)
    }

    /// Where the process with this name is now, in words; `None` if there is no such process.
    pub(crate) fn whereabouts(&self, name: &str) -> Option<String> {
        let process = self.process_named(name)?;
        Some(match self.pending(process) {
            None => format!("{name} has ended"),
            Some(_) => {
                let site = self.site_of(process, None);
                let line = if site.line > 0 { format!(" (line {})", site.line) } else { "".into() };
                format!("{name} is at `{}`{line}", site.text)
            }
        })
    }
}
