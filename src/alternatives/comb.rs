//! Combs: for each disabled event, the events that could replace it.
//!
//! ```text
//!   d1   d2   d3        D ∩ en(C)
//!   │    │    │
//!   u1   u2   u2        the spike of d: {u ∈ U : u #i d, u not in conflict with C, [u] ∩ D = ∅}
//!   u4   u3
//!        u5             a combination: one of each spike, pairwise not in conflict: {u1, u2}
//! ```
//!
//! Nguyen, Rodríguez, Sousa, Coti, Petrucci: Quasi-optimal partial order reduction (CAV 2018),
//! section 5.
//!
//! An event is in no spike as long as something *excludes* it: an event of C that it is in conflict
//! with, or an event of D in its history. Both last until the search leaves the node at which that
//! event came into C or D. So an excluded event is *parked* there, and comes back into its spikes
//! when the search leaves the node. Meanwhile nobody looks at it. An event that fits need only be
//! tested again for what came into C and D since.
//!
//! What is parked at the oldest node possible comes back most rarely. With n readers of a cell,
//! each read is in conflict with 2^(n-1) writes, and so is each of the other reads that C or D
//! takes. Half of what is left is parked at each node, so a search of 2^n classes tests each write
//! O(n) times.
//!
//! Invariant: an event that was found to be in immediate conflict with d is either in the spike of
//! d or parked for d, once.

#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

use crate::unfolding::{Configuration, EventId, EventStructure, Stamps};

/// The spike of an event d, with events that were not tested at the current node.
#[derive(Default)]
struct Spike {
    events: Vec<EventId>,
    /// The number of immediate conflicts of d that are in the spike or parked.
    degree: u32,
    /// When d came into D, and at which node.
    disabled: u64,
    node: u32,
}

/// A node of the search, from the root to the current one.
struct Node {
    /// When the search came to it.
    entered: u64,
    /// |C|
    size: u32,
}

/// What is known of an event that may be in spikes.
#[derive(Clone, Copy)]
struct Candidate {
    /// When it was last tested; 0 if never.
    tested: u64,
    /// The node until whose end something excludes it, [`NOTHING`] if nothing did.
    excluded: u32,
    /// An event that it is in conflict with, and one in its history, that excluded it once.
    rival: EventId,
    cause: EventId,
}

const NOTHING: u32 = u32::MAX;

const UNTESTED: Candidate =
    Candidate { tested: 0, excluded: NOTHING, rival: EventId::NONE, cause: EventId::NONE };

/// The number of combs searched, and their greatest sizes. A comb with an empty spike does not
/// count, because there is nothing to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
pub struct Combs {
    /// The number of combs.
    pub asked: u64,
    /// The greatest number of spikes of a comb.
    pub most_spikes: u32,
    /// The greatest number of events of a spike.
    pub longest_spike: u32,
    /// The most candidates that one search for a combination has looked at.
    #[cfg_attr(feature = "json", serde(default))]
    pub most_tries: u64,
}

/// The spikes of some disabled events.
#[derive(Default)]
pub(crate) struct Comb {
    /// For each event its spike.
    spikes: Vec<Spike>,
    nodes: Vec<Node>,
    /// For each node, the events that are parked there: d, and an event that belongs in its spike.
    /// May have more lists than there are nodes; those are empty.
    parked: Vec<Vec<(EventId, EventId)>>,
    /// The disabled events of the current comb, newest first.
    disabled: Vec<EventId>,
    /// Scratch space: the spikes for a combination, smallest first.
    order: Vec<u32>,
    chosen: Vec<EventId>,
    marks: Stamps,
    candidates: Vec<Candidate>,
    /// Ticks at each node and at each comb. The first tick is 1.
    now: u64,
    sizes: Combs,
}

impl Comb {
    /// Called when the search has come to a node with this C.
    pub(crate) fn descend(&mut self, c: &Configuration) {
        self.now += 1;
        self.nodes.push(Node { entered: self.now, size: c.events().len() as u32 });
        if self.parked.len() < self.nodes.len() {
            self.parked.push(Vec::new());
        }
    }

    /// Called when the search leaves the current node.
    pub(crate) fn ascend(&mut self) {
        self.nodes.pop().expect("a node to leave");
        for (d, u) in self.parked[self.nodes.len()].drain(..) {
            self.spikes[d.index()].events.push(u);
        }
    }

    /// Computes the spikes. Returns false if one of them is empty, because then there is no
    /// alternative.
    pub(crate) fn build(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
    ) -> bool {
        self.now += 1;
        self.candidates.resize(structure.capacity(), UNTESTED);
        self.spikes.resize_with(structure.capacity(), Spike::default);
        for &d in disabled {
            self.note_disabled(d);
        }
        self.disabled.clear();
        self.disabled.extend(disabled.iter().rev());
        let mut longest = 0;
        // The newest first: its spike is the most likely to be empty.
        for index in 0..disabled.len() {
            self.draw(structure, c, self.disabled[index]);
            let size = self.spike(index).len();
            if size == 0 || structure.is_stopped() {
                return false;
            }
            longest = longest.max(size);
        }
        self.sizes.asked += 1;
        self.sizes.most_spikes = self.sizes.most_spikes.max(self.disabled.len() as u32);
        self.sizes.longest_spike = self.sizes.longest_spike.max(longest as u32);
        true
    }

    /// Notes when d came into D, if it was not there before.
    fn note_disabled(&mut self, d: EventId) {
        if self.disabled_at(d).is_none() {
            let spike = &mut self.spikes[d.index()];
            (spike.disabled, spike.node) = (self.now, self.nodes.len() as u32 - 1);
        }
    }

    /// The figures of the combs built so far.
    pub(crate) fn sizes(&self) -> Combs {
        self.sizes
    }

    /// Brings the spike of d up to date: adds the conflicts found since, and parks what is
    /// excluded.
    fn draw(&mut self, structure: &EventStructure, c: &Configuration, d: EventId) {
        let mut spike = std::mem::take(&mut self.spikes[d.index()]);
        let degree = structure.event(d).degree();
        let found = degree - spike.degree;
        let known = spike.events.len();
        spike.events.extend(structure.immediate_conflicts(d).take(found as usize));
        spike.events[known..].reverse();
        spike.degree = degree;
        spike.events.retain(|&u| match self.excluded(structure, c, u) {
            NOTHING => true,
            node => {
                self.parked[node as usize].push((d, u));
                false
            }
        });
        self.spikes[d.index()] = spike;
    }

    /// A node until whose end u is excluded, because it is barred, in conflict with C or after an
    /// event of D.
    fn excluded(&mut self, structure: &EventStructure, c: &Configuration, u: EventId) -> u32 {
        let Candidate { tested, excluded, rival, cause } = self.candidates[u.index()];
        let is_there =
            |node: u32| self.nodes.get(node as usize).is_some_and(|node| node.entered <= tested);
        if tested == self.now || is_there(excluded) {
            return excluded;
        }
        let excluded = if let Some(node) = self.node_of(c, rival) {
            node
        } else if let Some(node) = self.disabled_at(cause) {
            node
        } else if structure.is_barred(u) {
            0
        } else {
            // What was in C and D when it fitted last does not exclude it.
            let fitted = if excluded == NOTHING { tested } else { 0 };
            self.test(structure, c, u, fitted)
        };
        let candidate = &mut self.candidates[u.index()];
        (candidate.tested, candidate.excluded) = (self.now, excluded);
        excluded
    }

    /// Looks for an event that excludes u and came into C or D after u had `fitted`.
    fn test(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        u: EventId,
        fitted: u64,
    ) -> u32 {
        for &d in &self.disabled {
            let Spike { disabled, node, .. } = self.spikes[d.index()];
            if disabled > fitted && structure.is_at_or_before(d, u) {
                self.candidates[u.index()].cause = d;
                return node;
            }
        }
        let last = self.nodes.len() - 1;
        let rival = &mut self.candidates[u.index()].rival;
        if self.nodes[last].entered <= fitted || !c.is_in_conflict_with(structure, u, rival) {
            return NOTHING;
        }
        let rival = *rival;
        self.node_of(c, rival).unwrap_or(last as u32)
    }

    /// The node at which this event came into C.
    fn node_of(&self, c: &Configuration, event: EventId) -> Option<u32> {
        let size = c.position(event)? + 1;
        Some(size.saturating_sub(self.nodes[0].size))
    }

    /// The node at which this event came into D.
    fn disabled_at(&self, event: EventId) -> Option<u32> {
        let spike = self.spikes.get(event.index())?;
        let node = self.nodes.get(spike.node as usize)?;
        (node.entered <= spike.disabled).then_some(spike.node)
    }

    /// Called when events were discarded from U.
    pub(crate) fn forget(&mut self) {
        self.candidates.clear();
        self.parked.iter_mut().for_each(Vec::clear);
        for spike in &mut self.spikes {
            spike.events.clear();
            spike.degree = 0;
        }
    }

    /// The number of spikes.
    pub(crate) fn len(&self) -> usize {
        self.disabled.len()
    }

    /// A spike, that of the newest disabled event first.
    pub(crate) fn spike(&self, index: usize) -> &[EventId] {
        &self.spikes[self.disabled[index].index()].events
    }

    /// Looks for a combination over the newest spike and the `width - 1` smallest others. `None` if
    /// it gave up after `effort` candidates.
    pub(crate) fn combine(
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
        let most = effort;
        let found = self.extend_combination(structure, &order, &mut chosen, &mut effort);
        self.sizes.most_tries = self.sizes.most_tries.max((most - effort) as u64);
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
        // The newest first.
        for &u in spike.iter().rev() {
            if structure.is_stopped() {
                return Some(false);
            }
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

    /// Writes J ∖ C, causes first, for the combination found, or for the events `chosen` by the SAT
    /// solver.
    pub(crate) fn alternative(
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
