//! Splits a search into parts for many machines.
//!
//! The size of a branch is unknown before it is explored. It is estimated as in D. E. Knuth,
//! *Estimating the efficiency of backtrack programs* (Mathematics of Computation 29, 1975): where n
//! actions are to be tried, each leads to 1/n of the work. So along an execution from a branch of
//! weight 1, the branches given away have the weights
//!
//! ```text
//!   ∅ ── e1 ──────── e2 ──────── …       n1 actions are enabled, then n2
//!   │                │
//!   (n1 - 1) / n1    (n2 - 1) / (n1·n2)
//! ```
//!
//! The heaviest piece is explored next: one execution of it, with everything else along it given
//! away. This ends when no piece is heavy any more, or no piece is left. Then the pieces are dealt
//! to the parts, the heaviest first, each to the lightest part. A part gets many pieces from all
//! over the search, so estimation errors even out.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use super::part::{Part, Stray};
use super::place::Place;
use super::start::EmptinessProbe;
use crate::explore::budget::Budget;
use crate::explore::explorer::Explorer;
use crate::explore::observer::Observer;
use crate::explore::tree::{Branch, Splitter};
use crate::model::System;

/// Pieces are split until none weighs more than 1/`PIECES_PER_PART` of a part.
const PIECES_PER_PART: usize = 16;

/// The estimated size of a piece, relative to the pieces that the splitting began with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight(f64);

impl Eq for Weight {}

impl Ord for Weight {
    fn cmp(&self, other: &Weight) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Weight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Open pieces, the heaviest on top; of equally heavy ones the first in the order of the search.
type Heap = BinaryHeap<(Weight, Reverse<Place>)>;

impl Part {
    /// Splits the open work into at most `hands` non-empty parts of similar estimated size. `self`
    /// keeps all pieces, and the results of those that were explored on the way. `None` if the
    /// budget ended it.
    ///
    /// # Errors
    /// If a branch is not one of this search.
    ///
    /// # Panics
    /// If the explorer cannot be split.
    pub fn cut<S: System, E: Explorer>(
        &mut self,
        search: (&S, E),
        hands: NonZeroU32,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<Part>>, Stray> {
        self.refusal(search.0).map_or(Ok(()), Err)?;
        let first = |place: &Place| (Weight(1.0), Reverse(place.clone()));
        let mut heap: Heap = self.left().map(|(place, _)| first(place)).collect();
        let mut all = heap.len() as f64;
        let most = hands.get() as usize * PIECES_PER_PART;
        for _ in 0..most {
            let Some((Weight(weight), Reverse(place))) = heap.pop() else { break };
            if weight * (most as f64) < all {
                heap.push((Weight(weight), Reverse(place)));
                break;
            }
            let branch = self.open[&place].clone();
            let mut shares = WeightedSplitter::new(search.0, &place, &branch, weight);
            let unfinished =
                self.explore(search, (&place, &branch), budget, &mut shares, observer)?;
            if unfinished.is_some() {
                return Ok(None);
            }
            all -= shares.rest;
            let mut given = Vec::new();
            for (place, branch, weight) in shares.given {
                heap.push((Weight(weight), Reverse(place.clone())));
                given.push((place, branch));
            }
            self.give(&place, given);
            // The pieces after one that ends the search are not needed.
            if self.done[&place].ends_all() {
                heap.retain(|(_, Reverse(other))| *other < place);
            }
        }
        Ok(Some(self.dealt(heap.into_sorted_vec(), hands.get() as usize)))
    }

    /// Distributes these pieces, the heaviest last, over at most `hands` parts.
    fn dealt(&self, pieces: Vec<(Weight, Reverse<Place>)>, hands: usize) -> Vec<Part> {
        let mut loads: BinaryHeap<_> =
            (0..hands).map(|hand| Reverse((Weight(0.0), hand))).collect();
        let mut dealt = vec![Part::default(); hands];
        for (Weight(weight), Reverse(place)) in pieces.into_iter().rev() {
            let Reverse((Weight(load), hand)) = loads.pop().expect("at least one hand");
            let branch = self.open[&place].clone();
            dealt[hand].open.insert(place, branch);
            loads.push(Reverse((Weight(load + weight), hand)));
        }
        dealt.retain(|part| !part.open.is_empty());
        dealt
    }
}

/// Takes all branches along one execution of a piece, and estimates their weights.
struct WeightedSplitter<'s, S: System> {
    place: &'s Place,
    /// At the state of the latest branch.
    probe: EmptinessProbe<'s, S>,
    depth: usize,
    /// The weight of everything that begins with the execution so far.
    rest: f64,
    given: Vec<(Place, Branch, f64)>,
}

impl<'s, S: System> WeightedSplitter<'s, S> {
    fn new(system: &'s S, place: &'s Place, branch: &Branch, rest: f64) -> Self {
        let (probe, depth) = (EmptinessProbe::at(system, &branch.prefix), branch.prefix.len());
        WeightedSplitter { place, probe, depth, rest, given: Vec::new() }
    }
}

impl<S: System> Splitter for WeightedSplitter<'_, S> {
    fn wants_branch(&mut self) -> bool {
        true
    }

    fn take(&mut self, branch: Branch) {
        let others = match branch.wanted.len() {
            0 => {
                branch.prefix[self.depth..].iter().for_each(|&action| self.probe.go_on(action));
                self.depth = branch.prefix.len();
                self.probe.left(&branch.elsewhere)
            }
            wanted => wanted,
        } as f64;
        self.rest /= others + 1.0;
        let place = self.place.given(self.given.len() as u32);
        self.given.push((place, branch, self.rest * others));
    }
}
