//! U := U ∩ Q(C, D): forgetting events that can no longer help.
//!
//! Pham, Jéron, Quinson (FORTE 2019), algorithm 1, line 14. When both calls at a node return, only
//! these events of U can still be part of an alternative for a node further up (CONCUR 2015,
//! section 4):
//!
//! ```text
//! Q(C, D)  =  C ∪ D ∪ ⋃ { [u] : u ∈ U, u #i e for some e ∈ C ∪ D }
//! ```
//!
//! That is more than can be of use. An e ∈ D was disabled at some node above, and an e ∈ C becomes
//! disabled at the node from which it was added. An alternative at that node contains no u that is
//! in conflict with the C of the node, or that comes after an event that was disabled there before.
//! Below the node, C and the set of disabled events only grow. So of the u #i e only the others are
//! kept.
//!
//! ex(C) ⊆ C ∪ cex(C) ∪ en(C), where cex(C) is in immediate conflict with C; what is enabled along
//! C and in A is kept too, because the search continues with it instead of computing it again.
//!
//! The ids of forgotten events are used again. Forgetting costs O(|U|), so it is done only when U
//! has grown in proportion since the last time.

use fixedbitset::FixedBitSet;

use super::cut::{Cut, CutBuffer};
use super::event::{EventId, EventKind};
use super::structure::{Edge, EventStructure, NO_EDGE};
use super::{Configuration, Unfolding};
use crate::model::{Needed, System};

impl<S: System> Unfolding<'_, S> {
    /// U := U ∩ Q(C, D), keeping also the guides A and the events that are or were enabled along C.
    /// Ids of other events become meaningless. `disabled_before` has, for each event of C, the
    /// number of events of D that were disabled when it was added.
    pub(crate) fn forget(
        &mut self,
        c: &Configuration,
        d: &[EventId],
        a: &[EventId],
        disabled_before: &[usize],
    ) {
        self.crowd = Default::default();
        self.combined.forget();
        let structure = &mut self.structure;
        let mut q = FixedBitSet::with_capacity(structure.capacity());
        let mut tested = FixedBitSet::with_capacity(structure.capacity());
        let mut before = CutBuffer::default();
        // For each prefix of C: what was disabled there, and the event with which C goes on.
        let mut earlier = 0;
        for position in 0..=c.events().len() {
            let later = disabled_before.get(position).copied().unwrap_or(d.len());
            for index in earlier..later {
                let q = (&mut q, &mut tested);
                structure.keep_with_rivals(q, d[index], before.cut(), &d[..index]);
            }
            if let Some(&e) = c.events().get(position) {
                let q = (&mut q, &mut tested);
                structure.keep_with_rivals(q, e, before.cut(), &d[..later]);
                structure.extend_cut(&mut before, e);
            }
            earlier = later;
        }
        for &e in c.remembered().iter().chain(a) {
            structure.keep(&mut q, e);
        }
        q.extend(structure.barred.iter().map(|e| e.index()));
        structure.retain(&q);
    }

    /// Forgets the local states that are neither before nor after an event of U, but for those that
    /// `tell` says are needed.
    pub(crate) fn forget_locals(&mut self, c: &Configuration, tell: impl FnOnce(&mut Needed)) {
        let structure = &self.structure;
        self.locals.forget(|needed| {
            c.state.tell_needed(needed);
            for event in structure.events.iter().filter(|event| event.live) {
                needed.keep(event.before);
                needed.keep(event.after);
            }
            tell(needed);
        });
    }
}

impl EventStructure {
    /// `q := q ∪ [e]`, and `[u]` for each u #i e that can come after the configuration with this
    /// cut and has none of the disabled events in its history. What was `tested` with a smaller
    /// configuration is in q already, or cannot come after this one either.
    fn keep_with_rivals(
        &self,
        (q, tested): (&mut FixedBitSet, &mut FixedBitSet),
        e: EventId,
        cut: Cut<'_>,
        disabled: &[EventId],
    ) {
        self.keep(q, e);
        for u in self.immediate_conflicts(e) {
            if !tested.put(u.index()) && self.may_follow(u, cut, disabled) {
                self.keep(q, u);
            }
        }
    }

    /// Can u come after the configuration with this cut, with none of the disabled events in its
    /// history?
    fn may_follow(&self, u: EventId, cut: Cut<'_>, disabled: &[EventId]) -> bool {
        self.compatible(cut, self.cut(u)) && !disabled.iter().any(|&d| self.is_at_or_before(d, u))
    }

    /// Adds an enabled event to the configuration with this cut.
    fn extend_cut(&self, cut: &mut CutBuffer, e: EventId) {
        let event = self.event(e);
        cut.set(self.lanes.process(event.process), e);
        if event.kind == EventKind::Change {
            cut.set(event.chain, e);
        }
    }

    /// `q := q ∪ [e]`
    fn keep(&self, q: &mut FixedBitSet, e: EventId) {
        let mut pending = vec![e];
        while let Some(e) = pending.pop() {
            if !q.put(e.index()) {
                pending.extend_from_slice(&self.event(e).causes);
            }
        }
    }

    /// U := U ∩ q, for a q closed under causes.
    fn retain(&mut self, q: &FixedBitSet) {
        self.ids.retain(|id| q.contains(id.index()));
        self.watches.retain(|id, _| q.contains(id.index()));
        self.envelopes.retain(|id, _| q.contains(id.index()));
        for id in (0..self.events.len() as u32).map(EventId) {
            let event = &mut self.events[id.index()];
            if event.live && !q.contains(id.index()) {
                event.live = false;
                self.census.forget(event.print);
                self.free.push(id);
            }
        }
        self.cuts.forget();
        self.rebuild_edges(q);
        self.rebuild_families(q);
    }

    fn rebuild_edges(&mut self, q: &FixedBitSet) {
        let former = std::mem::take(&mut self.edges);
        let mut kept = Vec::new();
        for id in q.ones().map(|index| EventId(index as u32)) {
            kept.clear();
            let event = &mut self.events[id.index()];
            let degree = event.degree;
            let mut edge = std::mem::replace(&mut event.conflicts, NO_EDGE);
            while let Some(&Edge { to, next }) = former.get(edge as usize) {
                kept.extend(q.contains(to.index()).then_some(to));
                edge = next;
            }
            for &to in kept.iter().rev() {
                self.add_edge(id, to);
            }
            // The degree counts forgotten conflicts, too.
            self.events[id.index()].degree = degree;
        }
    }

    fn rebuild_families(&mut self, q: &FixedBitSet) {
        self.roots.fill(EventId::NONE);
        for watchers in &mut self.watchers {
            watchers.clear();
        }
        for id in q.ones().map(|index| EventId(index as u32)) {
            let event = &mut self.events[id.index()];
            (event.first_child, event.next_sibling) = (EventId::NONE, EventId::NONE);
            (event.first_link, event.next_link) = (EventId::NONE, EventId::NONE);
            event.next_group = EventId::NONE;
        }
        for id in q.ones().map(|index| EventId(index as u32)) {
            self.enlist(id);
        }
    }
}
