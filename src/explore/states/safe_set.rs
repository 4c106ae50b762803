//! Safe sets: if no other process can ever interfere with the operation of a process, that process
//! goes first, alone.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 1:
//!
//! ```text
//! safeSet(s) = {t}         for some t ∈ enabled(s) whose operation is invisible
//!            = enabled(s)  if there is none
//! ```
//!
//! The paper's visible operations are those on shared objects. Here an operation is invisible if no
//! other existing process can race with it, now or later ([`Touch::rivals`]). Either the operation
//! watches no object (a local step, a wait that is over), or the remaining code of the other
//! processes has no racing access to its objects ([`Locals::may_still_touch`]): for example a cell
//! that only one process uses, or that the others no longer use, or an unlock of a mutex that is
//! never tested. Such a process alone is a persistent set: all actions of others before it are
//! independent of it, and cannot change its operation.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::processes::Processes;
use super::settings::{Stateful, Switch};
use crate::model::{LocalId, Locals, ProcessId, State, System, Touch};

/// Computes safe sets, and caches which objects may be accessed from which local states.
pub(crate) struct SafeSets {
    known: FxHashMap<(LocalId, Touch), bool>,
    /// Is only the remaining code of the other processes considered, not their whole code?
    by_point: bool,
    rivals: SmallVec<[Touch; 8]>,
}

impl SafeSets {
    /// Safe sets of a search with these settings.
    pub(crate) fn new(settings: Stateful) -> SafeSets {
        SafeSets {
            known: FxHashMap::default(),
            by_point: settings.has(Switch::ProgramPoints) && !settings.as_printed,
            rivals: SmallVec::new(),
        }
    }

    /// The first of the enabled processes whose operation is invisible.
    pub(crate) fn invisible<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        enabled: &Processes,
    ) -> Option<ProcessId> {
        enabled.iter().find(|&process| self.is_invisible(locals, state, process))
    }

    /// Is the operation of this enabled process invisible?
    pub(crate) fn is_invisible<S: System>(
        &mut self,
        locals: &mut Locals<'_, S>,
        state: &State,
        process: ProcessId,
    ) -> bool {
        self.rivals.clear();
        state.watches(locals, process, |touch| self.rivals.extend(touch.rivals()));
        self.rivals.is_empty()
            || state.processes().all(|other| {
                let local = state.local(other);
                other == process
                    || locals.status(local).has_ended()
                    || !self.may_interfere(locals, local)
            })
    }

    /// May a process in this local state ever make one of the racing accesses in `rivals`?
    fn may_interfere<S: System>(&mut self, locals: &mut Locals<'_, S>, local: LocalId) -> bool {
        let SafeSets { known, by_point, rivals } = self;
        rivals.iter().any(|&touch| {
            *known.entry((local, touch)).or_insert_with(|| match by_point {
                true => locals.may_still_touch(local, touch),
                false => locals.may_touch(local, touch),
            })
        })
    }
}
