//! What those wait for who go round a loop in vain.

use super::{Wait, any};
use crate::model::{CellId, May, Op, ProcessId, System, Touch};
use crate::property::Replay;
use crate::property::livelock::Spin;

impl<S: System> Replay<'_, S> {
    /// What a process that goes round a loop waits for: anything that would take it out of the loop.
    pub(super) fn wait_in_loop(&self, spin: &Spin) -> Wait {
        let mut waits: Vec<Wait> = Vec::new();
        for op in spin.circle.iter().filter_map(|&local| self.locals.op(local)) {
            let wait = match op {
                Op::TestAny(comms) => any(comms
                    .iter()
                    .filter(|&&comm| !self.state.is_complete(spin.process, comm))
                    .map(|&comm| self.wait_for_post(spin.process, comm))
                    .collect()),
                Op::MutexTestAny(requests) => any(requests
                    .iter()
                    .filter(|&&request| !self.state.owns(spin.process, request))
                    .map(|&request| self.wait_for_mutex(spin.process, request.mutex))
                    .collect()),
                Op::TryLock(mutex) => self.wait_for_mutex(spin.process, *mutex),
                Op::Access(cell, _) => self.wait_for_change(spin.process, *cell),
                &Op::Probe { mailbox, pattern, .. } => {
                    self.wait_for_message(spin.process, mailbox, pattern)
                }
                _ => continue,
            };
            if waits.iter().all(|known| known.words != wait.words) {
                waits.push(wait);
            }
        }
        if waits.is_empty() {
            let hopeless = Some("it goes round for ever".into());
            return Wait { words: "nothing that could come".into(), helpers: vec![], hopeless };
        }
        any(waits)
    }

    fn wait_for_change(&self, process: ProcessId, cell: CellId) -> Wait {
        let (name, value) = self.cell_now(cell);
        let touch = Touch::new(cell.lane(), May::Change);
        let helpers: Vec<_> = self.others(process).filter(|&p| self.may_still(p, touch)).collect();
        let hopeless =
            helpers.is_empty().then(|| format!("no other process that is left changes {name}"));
        Wait { words: format!("{name} to change from {value}"), helpers, hopeless }
    }
}
