//! Combs: for each disabled event the events that could take its place.
//!
//! ```text
//!   d1   d2   d3        D ∩ en(C)
//!   │    │    │
//!   u1   u2   u2        the spike of d: {u ∈ U : u #i d, u not in conflict with C, [u] ∩ D = ∅}
//!   u4   u3
//!        u5             a combination: one of each spike, pairwise not in conflict: {u1, u2}
//! ```
//!
//! Nguyen, Rodríguez, Sousa, Coti, Petrucci: Quasi-optimal partial order reduction (CAV 2018), section 5.

use crate::unfolding::{Configuration, EventId, EventStructure, Stamps};

/// The spikes of some disabled events. Reused from one question to the next.
#[derive(Default)]
pub struct Comb {
    /// All spikes, one after the other.
    events: Vec<EventId>,
    /// Where each ends.
    ends: Vec<u32>,
    /// The spikes that a combination is to be drawn from, smallest first.
    order: Vec<u32>,
    chosen: Vec<EventId>,
    marks: Stamps,
    /// Per event one that it is in conflict with, and that was in C when that was last asked.
    witnesses: Vec<EventId>,
}

impl Comb {
    /// Collects the spikes; false if one of them is empty, for then there is no alternative.
    pub fn build(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
    ) -> bool {
        self.events.clear();
        self.ends.clear();
        let known = structure.capacity().max(self.witnesses.len());
        self.witnesses.resize(known, EventId::NONE);
        // The newest first: it is the likeliest to have an empty spike.
        for &d in disabled.iter().rev() {
            let start = self.events.len();
            let witnesses = &mut self.witnesses;
            let candidates = structure.immediate_conflicts(d).filter(|&u| {
                !structure.in_conflict_with(u, c, &mut witnesses[u.index()])
                    && !disabled.iter().any(|&d| structure.is_at_or_before(d, u))
            });
            self.events.extend(candidates);
            if self.events.len() == start {
                return false;
            }
            self.ends.push(self.events.len() as u32);
        }
        true
    }

    /// Ids of events have changed their meaning.
    pub fn forget(&mut self) {
        self.witnesses.clear();
    }

    /// How many spikes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A spike, that of the newest disabled event first.
    pub fn spike(&self, index: usize) -> &[EventId] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.events[start..self.ends[index] as usize]
    }

    /// Looks for a combination over the newest spike and the `width - 1` smallest others, giving up after
    /// `effort` tries; `None` if it gave up.
    pub fn combine(
        &mut self,
        structure: &EventStructure,
        width: usize,
        mut effort: usize,
    ) -> Option<bool> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(1..self.len() as u32);
        order.sort_by_key(|&index| self.spike(index as usize).len());
        order.insert(0, 0);
        order.truncate(width);
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        let found = self.extend_combination(structure, &order, &mut chosen, &mut effort);
        (self.order, self.chosen) = (order, chosen);
        found
    }

    fn extend_combination(
        &self,
        structure: &EventStructure,
        spikes: &[u32],
        chosen: &mut Vec<EventId>,
        effort: &mut usize,
    ) -> Option<bool> {
        let Some((&first, others)) = spikes.split_first() else { return Some(true) };
        let spike = self.spike(first as usize);
        if spike.iter().any(|u| chosen.contains(u)) {
            return self.extend_combination(structure, others, chosen, effort);
        }
        for &u in spike {
            *effort = effort.checked_sub(1)?;
            if chosen.iter().any(|&other| structure.in_conflict(u, other)) {
                continue;
            }
            chosen.push(u);
            if self.extend_combination(structure, others, chosen, effort)? {
                return Some(true);
            }
            chosen.pop();
        }
        Some(false)
    }

    /// J ∖ C for the combination found, or for `chosen` events from elsewhere, causes first.
    pub fn alternative(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        chosen: Option<&[EventId]>,
        j: &mut Vec<EventId>,
    ) {
        self.marks.clear();
        let mut pending = std::mem::take(&mut self.chosen);
        if let Some(chosen) = chosen {
            pending.clear();
            pending.extend_from_slice(chosen);
        }
        while let Some(event) = pending.pop() {
            if !c.contains(event) && self.marks.insert(event) {
                j.push(event);
                pending.extend_from_slice(&structure.event(event).causes);
            }
        }
        self.chosen = pending;
        j.sort_unstable_by_key(|&event| (structure.event(event).height, event));
    }
}
