//! Safe sets: a process whose operation no other process can ever interfere with goes first, alone.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 1:
//!
//! ```text
//! safeSet(s) = {t}         for some t ∈ enabled(s) whose operation is invisible
//!            = enabled(s)  if there is none
//! ```
//!
//! The paper's visible operations are those on shared objects. Here an operation is invisible if no other process
//! that exists may ever touch, now or later, what it watches ([`Touch::rivals`]). Either it watches nothing (a
//! local step, a wait that is over), or the text of the other processes does not touch that object in a way that
//! races ([`Foresight::may_touch`](crate::model::Foresight::may_touch): a cell of one process's own, an unlock
//! of a mutex that is never tested). Such a process alone is a persistent set: what others do before it is
//! independent of it, and they cannot change its operation.

use rustc_hash::FxHashMap;

use super::processes::Processes;
use crate::model::{Locals, ProcessId, State, System, Touch};

/// Computes safe sets, and remembers which process may touch what.
#[derive(Default)]
pub struct SafeSets {
    known: FxHashMap<(ProcessId, Touch), bool>,
}

impl SafeSets {
    /// The first of the enabled processes whose operation is invisible.
    pub fn invisible<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        enabled: &Processes,
    ) -> Option<ProcessId> {
        enabled.iter().find(|&process| self.is_invisible(locals, state, process))
    }

    fn is_invisible<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        process: ProcessId,
    ) -> bool {
        let mut rivals = super::labels::Touches::new();
        state.watches(locals, process, |touch| rivals.extend(touch.rivals()));
        if rivals.is_empty() {
            return true;
        }
        let acts =
            |&other: &ProcessId| other != process && !locals.status(state.local(other)).has_ended();
        !state
            .processes()
            .filter(acts)
            .any(|other| rivals.iter().any(|&touch| self.may_touch(locals, state, other, touch)))
    }

    fn may_touch<S: System>(
        &mut self,
        locals: &Locals<'_, S>,
        state: &State,
        process: ProcessId,
        touch: Touch,
    ) -> bool {
        *self
            .known
            .entry((process, touch))
            .or_insert_with(|| locals.may_touch(state.local(process), touch))
    }
}
