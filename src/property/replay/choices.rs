//! What a process chooses, and which faults happen.

use super::Replay;
use crate::model::{Choice, Incident, LocalId, Op, ProcessId, System};

impl<S: System> Replay<'_, S> {
    /// What happens where a fault is possible.
    pub(super) fn incident(&self, process: ProcessId, op: &Op, choice: Choice) -> Option<Incident> {
        let local = self.state.local(process);
        if matches!(local, LocalId::ABSENT | LocalId::CARRIER) {
            return None;
        }
        let describe = self.locals.system().describe();
        let local = self.locals.get(local);
        match op {
            Op::Handle { .. } => {
                let stimulus = self.state.stimulus(choice);
                describe.handler_incident(local, stimulus, &self.locals.values)
            }
            _ => describe.incident(local, choice),
        }
    }

    /// What a process at a choice chooses, if that is more than a number.
    pub(super) fn chosen(&self, process: ProcessId, op: &Op, choice: Choice) -> Option<String> {
        let &Op::Choose { lo, .. } = op else { return None };
        let describe = self.locals.system().describe();
        let local = self.locals.get(self.state.local(process));
        let number = lo + i64::from(choice.0);
        let value = describe.chosen(local, number)?;
        Some(format!("chooses {}", describe.show_value(&value, &|known| self.known_name(known))))
    }
}
