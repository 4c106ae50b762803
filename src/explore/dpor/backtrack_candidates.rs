//! E: the strands by which a race can be reversed.

use crate::explore::walk::Walk;
use crate::model::System;
use crate::trace::{BacktrackSets, Strand};

/// The set E of DPOR: strands one of which must be in the backtrack set of the state before a race.
/// It lives as long as the search, so that nothing is allocated for a race.
#[derive(Default)]
pub(crate) struct BacktrackCandidates(Vec<Strand>);

impl BacktrackCandidates {
    /// E := ∅
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// E = ∅?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// E := E ∪ {strand}
    pub(crate) fn push(&mut self, strand: Strand) {
        self.0.push(strand);
    }

    /// Adds the strand of the action at `j` to E, for a race with the action at `i`. With sleep
    /// sets, only if the action is minimal: none between `i` and `j` is before it.
    pub(crate) fn put<S: System>(&mut self, walk: &Walk<'_, '_, '_, S>, i: usize, j: usize) {
        let order = walk.execution.order();
        let is_minimal = || order.direct_predecessors(j).last().is_none_or(|&k| k as usize <= i);
        if !walk.has_sleepers() || is_minimal() {
            self.0.push(walk.execution.strand_at(j));
        }
    }

    /// Adds an element of E to the backtrack set of pre(S, i), unless one is in it or asleep there.
    /// If no element of E is enabled there, adds all enabled strands. Returns whether an element of
    /// E was added.
    pub(crate) fn reverse(&mut self, backtrack: &mut BacktrackSets, i: usize) -> bool {
        self.0.retain(|&strand| backtrack.find(i, strand).is_some());
        let Some(&first) = self.0.first() else {
            backtrack.add_all(i);
            return false;
        };
        let is_there = |&strand: &Strand| {
            backtrack.find(i, strand).is_some_and(|m| m.is_chosen || m.is_asleep)
        };
        if self.0.iter().any(is_there) {
            return false;
        }
        backtrack.add(i, first);
        true
    }
}
