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
//! Spikes shrink as C grows: an event in conflict with C stays in conflict. And if u is after some
//! d ∈ D, then once d is in conflict with C, u is, too. So the spike of d at a node is computed
//! from its spike at the nearest node above at which it was computed, and from the conflicts of d
//! that were found since. Of D only what was disabled since then matters to the events of that
//! spike. An event that is in many spikes of a comb is looked at once.
//!
//! Invariant: `drafts` has the spikes that were computed at the nodes from the root to the current
//! one, newest last; `latest[d]` is the newest draft for d. [`Comb::ascend`] removes the drafts of
//! the node that it leaves.

use serde::{Deserialize, Serialize};

use crate::unfolding::{Configuration, EventId, EventStructure, Stamps};

/// A spike as computed at some node.
#[derive(Clone, Copy)]
struct Draft {
    d: EventId,
    /// Its events are `pool[start..end]`.
    start: u32,
    end: u32,
    /// The number of immediate conflicts that d had then.
    degree: u32,
    /// The number of the comb that it was drawn for, and that of the first draft for d.
    comb: u64,
    first: u64,
    /// The draft for d before this one.
    former: u32,
}

const NO_DRAFT: u32 = u32::MAX;

/// What is known of an event that may be in spikes.
#[derive(Clone, Copy)]
struct Candidate {
    /// An event of C with which it was in conflict when last tested.
    witness: EventId,
    /// The comb for which it was last tested, and whether it is in spikes of that comb.
    comb: u64,
    fits: bool,
}

const UNTESTED: Candidate = Candidate { witness: EventId::NONE, comb: 0, fits: false };

/// The number of combs searched, and their greatest sizes. A comb with an empty spike does not
/// count, because there is nothing to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combs {
    /// The number of combs.
    pub asked: u64,
    /// The greatest number of spikes of a comb.
    pub most_spikes: u32,
    /// The greatest number of events of a spike.
    pub longest_spike: u32,
    /// The most candidates that one search for a combination has looked at.
    #[serde(default)]
    pub most_tries: u64,
}

/// The spikes of some disabled events.
#[derive(Default)]
pub(crate) struct Comb {
    pool: Vec<EventId>,
    drafts: Vec<Draft>,
    /// For each event d, its newest draft, as an index of `drafts`.
    latest: Vec<u32>,
    /// For each node from the root on, the number of drafts above it.
    levels: Vec<u32>,
    /// The spikes of the current comb, as indices of `drafts`, that of the newest disabled event
    /// first.
    spikes: Vec<u32>,
    /// Scratch space: the spikes for a combination, smallest first.
    order: Vec<u32>,
    chosen: Vec<EventId>,
    marks: Stamps,
    candidates: Vec<Candidate>,
    /// The number of combs so far. The first is 1.
    combs: u64,
    sizes: Combs,
}

impl Comb {
    /// Called when the search goes on below the current node.
    pub(crate) fn descend(&mut self) {
        self.levels.push(self.drafts.len() as u32);
    }

    /// Called when the search leaves the current node.
    pub(crate) fn ascend(&mut self) {
        let kept = self.levels.pop().expect("a node to leave") as usize;
        for draft in self.drafts.drain(kept..).rev() {
            self.latest[draft.d.index()] = draft.former;
            self.pool.truncate(draft.start as usize);
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
        self.combs += 1;
        self.candidates.resize(structure.capacity(), UNTESTED);
        self.latest.resize(structure.capacity(), NO_DRAFT);
        self.spikes.clear();
        let mut longest = 0;
        // The newest first: its spike is the most likely to be empty.
        for &d in disabled.iter().rev() {
            let draft = self.draw(structure, c, disabled, d);
            if draft.start == draft.end || structure.is_stopped() {
                return false;
            }
            longest = longest.max(draft.end - draft.start);
            self.spikes.push(self.latest[d.index()]);
        }
        self.sizes.asked += 1;
        self.sizes.most_spikes = self.sizes.most_spikes.max(self.spikes.len() as u32);
        self.sizes.longest_spike = self.sizes.longest_spike.max(longest);
        true
    }

    /// The figures of the combs built so far.
    pub(crate) fn sizes(&self) -> Combs {
        self.sizes
    }

    /// Computes the spike of d from its latest draft and from the conflicts found since.
    fn draw(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        d: EventId,
    ) -> Draft {
        let former = self.latest[d.index()];
        let none = Draft { d, start: 0, end: 0, degree: 0, comb: 0, first: self.combs, former };
        let known = self.drafts.get(former as usize).copied().unwrap_or(none);
        let start = self.pool.len() as u32;
        // The degree counts discarded conflicts, too. So some events may be considered twice, but
        // none is missed.
        let found = structure.event(d).degree() - known.degree;
        for u in structure.immediate_conflicts(d).take(found as usize) {
            self.offer(structure, c, disabled, u);
        }
        let is_new = |d: &EventId| {
            let latest = self.drafts.get(self.latest[d.index()] as usize);
            latest.is_none_or(|latest| latest.first > known.comb)
        };
        let older = disabled.iter().rposition(|d| !is_new(d)).map_or(0, |last| last + 1);
        for index in known.start..known.end {
            self.offer(structure, c, &disabled[older..], self.pool[index as usize]);
        }
        let (end, degree) = (self.pool.len() as u32, structure.event(d).degree());
        let draft = Draft { start, end, degree, comb: self.combs, former, ..known };
        self.latest[d.index()] = self.drafts.len() as u32;
        self.drafts.push(draft);
        draft
    }

    /// Adds u to the pool if it is not barred, not in conflict with C, and \[u\] ∩ D = ∅.
    /// `disabled` is D without what was tested at a node above.
    fn offer(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        u: EventId,
    ) {
        if structure.is_stopped() {
            return;
        }
        let candidate = &mut self.candidates[u.index()];
        if candidate.comb != self.combs {
            candidate.comb = self.combs;
            candidate.fits = !structure.is_barred(u)
                && !c.is_in_conflict_with(structure, u, &mut candidate.witness)
                && !disabled.iter().any(|&d| structure.is_at_or_before(d, u));
        }
        if candidate.fits {
            self.pool.push(u);
        }
    }

    /// Called when events were discarded from U. None of them is in a draft: the events of a draft
    /// are compatible with the C of all nodes above, and not after an event that was disabled
    /// there.
    pub(crate) fn forget(&mut self) {
        self.candidates.clear();
    }

    /// The number of spikes.
    pub(crate) fn len(&self) -> usize {
        self.spikes.len()
    }

    /// A spike, that of the newest disabled event first.
    pub(crate) fn spike(&self, index: usize) -> &[EventId] {
        let Draft { start, end, .. } = self.drafts[self.spikes[index] as usize];
        &self.pool[start as usize..end as usize]
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
        for &u in spike {
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
