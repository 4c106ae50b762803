//! What each process has gone through: the local states that it has been in, in order.
//!
//! With histories in place of local states, states are equal only if every process has seen and
//! done the same. The published figures of some state graphs are of this kind. Each history is kept
//! once, as the history before it and the local state that it led to.

use rustc_hash::FxHashMap;

use crate::model::{LocalId, ProcessId, State};

/// The histories of the processes of the present state.
#[derive(Debug, Default)]
pub struct Histories {
    ids: FxHashMap<(u32, LocalId), u32>,
    /// Per process.
    now: Vec<u32>,
    /// The processes whose histories were extended, and their histories before.
    trail: Vec<(ProcessId, u32)>,
}

impl Histories {
    /// Notes that `process` has acted, which led to `state`.
    pub fn extend(&mut self, process: ProcessId, state: &State) {
        if self.now.len() <= process.index() {
            self.now.resize(process.index() + 1, 0);
        }
        let before = self.now[process.index()];
        let next = self.ids.len() as u32 + 1;
        let after = *self.ids.entry((before, state.local(process))).or_insert(next);
        self.now[process.index()] = after;
        self.trail.push((process, before));
    }

    /// Notes that the last action is undone.
    pub fn undo(&mut self) {
        let (process, before) = self.trail.pop().expect("an action to undo");
        self.now[process.index()] = before;
    }

    /// Appends the histories to a portrait.
    pub fn add_to(&self, portrait: &mut Vec<u32>) {
        let processes = self.now.iter().rposition(|&history| history != 0);
        portrait.extend_from_slice(&self.now[..processes.map_or(0, |last| last + 1)]);
    }
}
