//! Local states that nobody needs any more are forgotten.
//!
//! Where a process remembers what it has received, there are as many local states as classes. So a
//! search that says which of them it may still ask about ([`Needed`]) lets the others go when there
//! are many. If an execution comes to one of these again, the program runs again, and the local
//! state may get another id.
//!
//! Forgetting takes O(n) for n local states, and happens when their number has doubled since the
//! last time.

use fixedbitset::FixedBitSet;

use super::{LocalId, Locals, Status};
use crate::model::{Op, System};

/// The local states that a search may still ask about.
pub(crate) struct Needed(FixedBitSet);

impl Needed {
    /// This local state is needed, if it is one.
    pub(crate) fn keep(&mut self, id: LocalId) {
        if id != LocalId::ABSENT {
            self.0.insert(id.0 as usize);
        }
    }

    fn has(&self, id: LocalId) -> bool {
        self.0.contains(id.0 as usize)
    }
}

impl<S: System> Locals<'_, S> {
    /// Lets a search forget local states when there are more than this; with 0, as often as it can.
    pub(crate) fn keep_few(&mut self, few: usize) {
        (self.few, self.enough) = (few, few);
    }

    /// Are there so many local states that the search is to [forget](Locals::forget) some?
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.ids.len() > self.enough
    }

    /// Forgets all local states but those that `tell` says are needed, and the initial ones.
    #[cold]
    pub(crate) fn forget(&mut self, tell: impl FnOnce(&mut Needed)) {
        let mut needed = Needed(FixedBitSet::with_capacity(self.status.len()));
        needed.keep(LocalId::CARRIER);
        self.initial.iter().for_each(|&id| needed.keep(id));
        tell(&mut needed);
        self.keep_children(&mut needed);
        let ids = 1..self.status.len() as u32;
        for id in ids.map(LocalId).filter(|&id| !needed.has(id)) {
            if self.arena[id.0 as usize - 1].take().is_some() {
                self.status[id.0 as usize] = None;
                self.free.push(id);
            }
        }
        self.ids.retain(|&mut id| needed.has(id));
        self.steps.retain(|&(before, _), after| needed.has(before) && needed.has(*after));
        self.returned.retain(|&id, _| needed.has(id));
        self.guards.get_mut().retain(|&(_, id, _), _| needed.has(id));
        self.reactions.retain(|&((_, before, _), _), reaction| {
            let all = [before, reaction.after];
            all.iter().chain(&reaction.started).all(|&id| needed.has(id))
        });
        for (id, canonical) in self.canonical.iter_mut().enumerate() {
            let is_kept = |of: &mut super::Canonical| needed.0.contains(id) && needed.has(of.local);
            canonical.take_if(|of| !is_kept(of));
        }
        self.audit.forget(|id| needed.has(id));
        self.enough = if self.few == 0 { 0 } else { self.few.max(2 * self.ids.len()) };
    }

    /// The local states in which processes start that are about to be spawned are needed, too.
    fn keep_children(&self, needed: &mut Needed) {
        let mut pending: Vec<usize> = needed.0.ones().collect();
        while let Some(id) = pending.pop() {
            if let Some(Status::At(Op::Spawn(child))) = self.status[id].as_deref()
                && !needed.0.put(child.0 as usize)
            {
                pending.push(child.0 as usize);
            }
        }
    }
}
