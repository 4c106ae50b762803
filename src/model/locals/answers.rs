//! What is known of a local state.

use super::{LocalId, Locals};
use crate::model::{Finale, ProcessId, System, ValueId};

impl<S: System> Locals<'_, S> {
    /// The value that the process returns that has ended in local state `id`, if it returns one.
    pub(crate) fn returned(&self, id: LocalId) -> Option<ValueId> {
        self.returned.get(&id).copied()
    }

    /// Is the process in local state `id` a daemon? See [`System::is_daemon`].
    pub fn is_daemon(&self, id: LocalId) -> bool {
        id != LocalId::CARRIER && self.system.is_daemon(self.get(id))
    }

    /// Does a process in local state `id` excuse others? See [`System::excuses`].
    pub fn excuses(&self, id: LocalId) -> bool {
        id != LocalId::CARRIER && self.system.excuses(self.get(id))
    }

    /// Can a `final` block or an invariant distinguish these local states of a process?
    pub fn shows(&self, process: ProcessId, [one, other]: [LocalId; 2]) -> bool {
        let [before, after] = [one, other].map(|id| self.get(id));
        let tells = |finale: &dyn Finale<S::Local>| finale.tells(process, before, after);
        self.system.finale().is_some_and(tells)
            || self.system.invariants().is_some_and(|all| {
                (0..all.count()).any(|number| all.tells(number, process, before, after))
            })
    }

    /// Is an execution explored elsewhere in which a process waits for ever in local state `id`?
    /// See [`System::is_in_vain`].
    pub(crate) fn is_in_vain(&self, id: LocalId) -> bool {
        id != LocalId::CARRIER && self.system.is_in_vain(self.get(id))
    }

    /// May a process come back here and change nothing? See
    /// [`Foresight::may_return`](crate::model::Foresight::may_return).
    pub(crate) fn may_return(&self, id: LocalId) -> bool {
        self.returns[id.0 as usize]
    }

    /// Is the operation of any local state found so far a probe?
    pub(crate) fn some_probes(&self) -> bool {
        self.some_probes
    }

    /// May a process come back to any local state found so far?
    pub(crate) fn some_may_return(&self) -> bool {
        self.some_return
    }
}
