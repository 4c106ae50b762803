//! E: the strands that a race can be reversed with.

use crate::explore::walk::Walk;
use crate::model::System;
use crate::trace::{BacktrackSets, Strand};

/// The strands that DPOR looks for in the backtrack set of the state before a race. It lives as
/// long as the search, so that nothing is allocated for a race.
#[derive(Default)]
pub struct Reversers(Vec<Strand>);

impl Reversers {
    /// E := ∅
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// E = ∅?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// E := E ∪ {strand}
    pub fn push(&mut self, strand: Strand) {
        self.0.push(strand);
    }

    /// Puts the strand of the action at `j` into E, for a race with the one at `i`.
    pub fn put<S: System>(&mut self, walk: &Walk<'_, '_, '_, S>, i: usize, j: usize) {
        let order = walk.execution.order();
        let is_minimal = || order.direct_predecessors(j).last().is_none_or(|&k| k as usize <= i);
        if !walk.has_sleepers() || is_minimal() {
            self.0.push(walk.execution.strand_at(j));
        }
    }

    /// Adds to the backtrack set of pre(S, i) what E asks for. Is it an element of E?
    pub fn reverse(&mut self, backtrack: &mut BacktrackSets, i: usize) -> bool {
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
