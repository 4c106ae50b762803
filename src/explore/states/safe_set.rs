//! Safe sets: a process whose operation no other process can ever interfere with goes first, alone.
//!
//! Cirisci, Enea, Farzan, Mutluergil (VMCAI 2023), algorithm 1:
//!
//! ```text
//! safeSet(s) = {t}         for some t ∈ enabled(s) whose operation is invisible
//!            = enabled(s)  if there is none
//! ```
//!
//! The paper's visible operations are those on shared objects. Here an operation is invisible if no
//! other process that exists may ever touch, now or later, what it watches ([`Touch::rivals`]).
//! Either it watches nothing (a local step, a wait that is over), or what is ahead of the other
//! processes does not touch that object in a way that races ([`Locals::may_still_touch`]: a cell of
//! one process's own, or one that the others are done with; an unlock of a mutex that is never
//! tested). Such a process alone is a persistent set: what others do before it is independent of
//! it, and they cannot change its operation.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::processes::Processes;
use super::settings::{Stateful, Switch};
use crate::model::{LocalId, Locals, ProcessId, State, System, Touch};

/// Computes safe sets, and remembers what may be touched from which local states on.
pub struct SafeSets {
    known: FxHashMap<(LocalId, Touch), bool>,
    /// Does it matter where the other processes are?
    by_point: bool,
    rivals: SmallVec<[Touch; 8]>,
}

impl SafeSets {
    /// With these settings.
    pub fn new(settings: Stateful) -> SafeSets {
        SafeSets {
            known: FxHashMap::default(),
            by_point: settings.has(Switch::ProgramPoints) && !settings.as_printed,
            rivals: SmallVec::new(),
        }
    }

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

    /// May a process that is in this local state ever touch what a rival touches?
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
