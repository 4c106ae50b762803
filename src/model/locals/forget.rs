//! Local states and values that nobody needs any more are forgotten.
//!
//! Where a process remembers what it has received, there are as many local states as classes; and
//! as many values, where it tells that to others. So a search that says which of them it may still
//! ask about ([`Needed`]) lets the others go when there are many. If an execution comes to one of
//! these again, the program runs again, and the local state or value may get another id.
//!
//! A value is needed if a state, which the search tells, or anything that is kept here has its id:
//! what a kept local state is about to do or returns, and the known steps and reactions between
//! kept local states. Nothing else has ids of values: events and effects have choices, which name
//! messages by their senders. Where the local states of a system hold ids themselves
//! ([`Foresight::holds_values`](crate::model::Foresight::holds_values)), no value is forgotten.
//!
//! Forgetting takes O(n) for n local states and values, and happens when their number has doubled
//! since the last time.

use fixedbitset::FixedBitSet;

use super::{LocalId, Locals, Status};
use crate::model::{Op, Response, Stimulus, System, ValueId};

/// The local states and values that a search may still ask about.
pub(crate) struct Needed {
    locals: FixedBitSet,
    values: FixedBitSet,
}

impl Needed {
    /// This local state is needed, if it is one.
    pub(crate) fn keep(&mut self, id: LocalId) {
        if id != LocalId::ABSENT {
            self.locals.insert(id.0 as usize);
        }
    }

    /// This value is needed.
    pub(crate) fn keep_value(&mut self, id: ValueId) {
        self.values.grow_and_insert(id.0 as usize);
    }

    fn has(&self, id: LocalId) -> bool {
        self.locals.contains(id.0 as usize)
    }

    fn has_content(&self, stimulus: Stimulus) -> bool {
        match stimulus {
            Stimulus::Message(content) => self.values.contains(content.0 as usize),
            Stimulus::Internal(_) => true,
        }
    }
}

impl<S: System> Locals<'_, S> {
    /// Lets a search forget when there are more local states and values than this; with 0, as often
    /// as it can.
    pub(crate) fn keep_few(&mut self, few: usize) {
        (self.few, self.enough) = (few, few);
    }

    /// Are there so many local states and values that the search is to [forget](Locals::forget)
    /// some?
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.ids.len() + self.values.len() > self.enough
    }

    /// Forgets all local states but those that `tell` says are needed, and the initial ones; and
    /// all values that nothing has any more.
    #[cold]
    pub(crate) fn forget(&mut self, tell: impl FnOnce(&mut Needed)) {
        let mut needed = Needed {
            locals: FixedBitSet::with_capacity(self.status.len()),
            values: FixedBitSet::new(),
        };
        needed.keep(LocalId::CARRIER);
        self.initial.iter().for_each(|&id| needed.keep(id));
        tell(&mut needed);
        self.keep_children(&mut needed);
        let ids = 1..self.status.len() as u32;
        for id in ids.map(LocalId).filter(|&id| !needed.has(id)) {
            if let Some(local) = self.arena[id.0 as usize - 1].take() {
                self.system.release(&local);
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
            let is_kept =
                |of: &mut super::Canonical| needed.locals.contains(id) && needed.has(of.local);
            canonical.take_if(|of| !is_kept(of));
        }
        self.audit.forget(|id| needed.has(id));
        self.latest = None;
        if !self.system.foresight().holds_values() {
            self.keep_values(&mut needed);
            self.guards.get_mut().retain(|&(.., stimulus), _| needed.has_content(stimulus));
            self.values.forget(needed.values);
        }
        let kept = self.ids.len() + self.values.len();
        self.enough = if self.few == 0 { 0 } else { self.few.max(2 * kept) };
    }

    /// The values are needed that anything kept here has, but for the answers of guards.
    fn keep_values(&self, needed: &mut Needed) {
        for status in self.status.iter().flatten() {
            if let Status::At(op) = &**status {
                op.for_each_value(|value| needed.keep_value(value));
            }
        }
        for &(_, response) in self.steps.keys() {
            if let Response::Completed { value, .. } | Response::Value(value) = response {
                needed.keep_value(value);
            }
        }
        self.returned.values().for_each(|&value| needed.keep_value(value));
        for (&((.., stimulus), _), reaction) in &self.reactions {
            if let Stimulus::Message(content) = stimulus {
                needed.keep_value(content);
            }
            reaction.sent.iter().for_each(|&(_, content)| needed.keep_value(content));
        }
        self.objects.values().for_each(|value| needed.keep_value(value));
    }

    /// The local states in which processes start that are about to be spawned are needed, too.
    fn keep_children(&self, needed: &mut Needed) {
        let mut pending: Vec<usize> = needed.locals.ones().collect();
        while let Some(id) = pending.pop() {
            if let Some(Status::At(Op::Spawn(child))) = self.status[id].as_deref()
                && !needed.locals.put(child.0 as usize)
            {
                pending.push(child.0 as usize);
            }
        }
    }
}
