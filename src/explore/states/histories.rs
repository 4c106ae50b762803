//! Histories of processes: the sequence of local states in which a process has been.
//!
//! With histories as part of states, two states are equal only if every process has gone through
//! the same local states. The published figures of some state graphs count such states. Each
//! history is stored once, as a pair of the history before and the last local state.

use rustc_hash::FxHashMap;

use crate::model::{LocalId, ProcessId, State};

/// The histories of the processes in the current state.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    ids: FxHashMap<(u32, LocalId), u32>,
    /// Per process.
    now: Vec<u32>,
    /// The processes whose histories were extended, and their histories before.
    trail: Vec<(ProcessId, u32)>,
}

impl Histories {
    /// Extends the history of `process`, which has acted and reached `state`.
    pub(crate) fn extend(&mut self, process: ProcessId, state: &State) {
        if self.now.len() <= process.index() {
            self.now.resize(process.index() + 1, 0);
        }
        let before = self.now[process.index()];
        let next = self.ids.len() as u32 + 1;
        let after = *self.ids.entry((before, state.local(process))).or_insert(next);
        self.now[process.index()] = after;
        self.trail.push((process, before));
    }

    /// Undoes the last extension.
    pub(crate) fn undo(&mut self) {
        let (process, before) = self.trail.pop().expect("an action to undo");
        self.now[process.index()] = before;
    }

    /// Appends the histories to a portrait.
    pub(crate) fn add_to(&self, portrait: &mut Vec<u32>) {
        let processes = self.now.iter().rposition(|&history| history != 0);
        portrait.extend_from_slice(&self.now[..processes.map_or(0, |last| last + 1)]);
    }
}
