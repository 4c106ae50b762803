//! What processes that really run have printed.

#[cfg(feature = "json")]
use serde::Serialize;

use super::Replay;
use crate::model::{LocalId, ProcessId, System};

/// What a process has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Printed {
    /// The process.
    pub(crate) process: String,
    /// All that it has printed.
    pub(crate) text: String,
}

impl<S: System> Replay<'_, S> {
    /// What processes have printed in this execution, without those that have printed nothing.
    pub(crate) fn printed(&self) -> Vec<Printed> {
        let processes = self.state.program_processes();
        let printed = processes.map(|process| Printed {
            process: self.name(process).into(),
            text: self.locals_of(process).filter_map(|local| self.printed_before(local)).collect(),
        });
        printed.filter(|printed| !printed.text.is_empty()).collect()
    }

    /// What the process of the last step has printed after that step.
    #[cfg(feature = "cli")]
    pub(crate) fn just_printed(&self) -> Option<Printed> {
        let process = self.state.schedule().next_back()?.process;
        let text = self.printed_before(self.state.local(process))?;
        Some(Printed { process: self.name(process).into(), text })
    }

    /// The local states that a process was in, in order.
    fn locals_of(&self, process: ProcessId) -> impl Iterator<Item = LocalId> {
        let state = &self.state;
        let own = (0..state.depth()).filter(move |&at| state.action(at).process == process);
        own.map(|at| state.before(at)).chain([state.local(process)])
    }

    fn printed_before(&self, local: LocalId) -> Option<String> {
        let is_program = local != LocalId::ABSENT && local != LocalId::CARRIER;
        let system = self.locals.system();
        is_program.then(|| system.describe().printed(self.locals.get(local)))?
    }
}
