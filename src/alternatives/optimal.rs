//! Full alternatives: in conflict with every disabled event, so that no exploration is ever
//! blocked.
//!
//! Finding one is NP-complete (CAV 2018, theorem 2). But most queries are easy: a short search
//! through combinations decides them, and only the rest goes to the SAT solver.

use super::cnf::Encoder;
use super::{Alternatives, Comb, Combs, SatSolver};
use crate::unfolding::{Configuration, EventId, EventStructure};

/// The number of candidates that the short search tries before the solver is called.
const EFFORT: usize = 4096;

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

    fn descend(&mut self) {
        self.comb.descend();
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
