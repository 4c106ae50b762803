//! Full alternatives: in conflict with every disabled event, so that no exploration is ever
//! blocked.
//!
//! Finding one is NP-complete (CAV 2018, theorem 2). So no search through combinations is quick on
//! all questions, and one that gives up after [`EFFORT`] candidates goes to a SAT solver.
//!
//! The questions that a search asks are easy, however. Measured on 25 November 2026 by
//! [`Combs::most_tries`], with searches that never give up: the 381 specs ask 10,916 questions
//! without an empty spike, and none of these looks at more than 8 candidates, although spikes have
//! up to 39 events. Of random programs made to have wide combs (actors, cells; up to 124,184
//! classes, 6 spikes, 591 events in one) none looks at more than 262. There are two reasons:
//!
//! - If no spike is empty, there is an alternative, with very few exceptions: one in the searches
//!   of 1,681 random programs of actors. A search that finds something rarely backtracks.
//! - Two changes that come next after the same change of a lane are in conflict, and so are two
//!   events that come next in a process. So the events of a spike are in conflict with one another,
//!   unless a change is disabled before which several processes look at the last change
//!   ([`crate::model::Mode::Look`], `Mark`). Without such spikes no configuration contains two
//!   combinations of the same spikes: there are no more combinations than configurations. With them
//!   there can be exponentially many in one configuration. But many events are in D at once only if
//!   each came into it as part of an alternative to those before it, and no program was found in
//!   which these were such changes.
//!
//! If the solver is asked each time, the whole search takes 2 to 9 times as long. Such a C and D
//! can be made by hand (`tests/combs.rs`), and there the solver is better without bounds:
//!
//! | candidates | the search | the solver |
//! |---|---|---|
//! | 38 | 7 µs | 9 µs |
//! | 78 | 18 µs | 11 µs |
//! | 318 | 120 µs | 15 µs |
//! | 1,620 | 0.33 ms | 22 µs |
//! | 25,940 | 41 ms | 0.1 ms |
//!
//! In a real search a question costs the solver more, 0.1 to 0.25 ms, because the spikes that it is
//! given are longer. That is the cost of some hundred candidates. With a threshold there, a
//! question costs at most about twice as much as the better of the two ways.

use super::cnf::Encoder;
use super::{Alternatives, Comb, Combs, SatSolver};
use crate::unfolding::{Configuration, EventId, EventStructure};

/// Candidates looked at before the solver is asked.
const EFFORT: usize = 512;

/// Finds full alternatives: combinations over all spikes.
pub struct Optimal<T> {
    comb: Comb,
    encoder: Encoder<T>,
    chosen: Vec<EventId>,
    effort: usize,
}

impl<T: SatSolver> Optimal<T> {
    /// Calls the solver `T` if the short search does not decide.
    pub fn new() -> Self {
        Optimal::with_effort(EFFORT)
    }

    /// Tries `effort` candidates before it calls the solver; with 0, always calls the solver.
    pub fn with_effort(effort: usize) -> Self {
        Optimal { comb: Comb::default(), encoder: Encoder::default(), chosen: Vec::new(), effort }
    }
}

impl<T: SatSolver> Default for Optimal<T> {
    fn default() -> Self {
        Optimal::new()
    }
}

impl<T: SatSolver> Alternatives for Optimal<T> {
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool {
        j.clear();
        if !self.comb.build(structure, c, disabled) {
            return false;
        }
        match self.comb.combine(structure, usize::MAX, self.effort) {
            Some(true) => self.comb.alternative(structure, c, None, j),
            Some(false) => return false,
            None => {
                let comb = &self.comb;
                if !self.encoder.solve(structure, c, comb, disabled, &mut self.chosen) {
                    return false;
                }
                self.comb.alternative(structure, c, Some(&self.chosen), j);
            }
        }
        true
    }

    fn descend(&mut self, c: &Configuration) {
        self.comb.descend(c);
    }

    fn ascend(&mut self) {
        self.comb.ascend();
    }

    fn forget(&mut self) {
        self.comb.forget();
        self.encoder.forget();
    }

    fn are_full(&self) -> bool {
        true
    }

    fn sat_calls(&self) -> u64 {
        self.encoder.calls()
    }

    fn combs(&self) -> Combs {
        self.comb.sizes()
    }
}
