//! The question whether there is an alternative, as clauses for a SAT solver that is kept from
//! question to question.
//!
//! A variable per event: is it in C ∪ J? These clauses hold for all questions:
//!
//! - e → c, for each direct cause c of e (a configuration is causally closed);
//! - ¬e ∨ ¬f, for e #i f (and free of conflict; #i generates #).
//!
//! For each question it is assumed that every event of C is in and every d ∈ D is out. And for each
//! d there is a clause over its spike, guarded by a selector, which is assumed for this question
//! and dropped for good afterwards.
//!
//! Only events that a question needs get a variable: those of a spike, and their histories.

use rustc_hash::FxHashMap;

use super::{Comb, Literal, SatSolver};
use crate::unfolding::{Configuration, EventId, EventStructure};

/// After this many selectors the solver starts afresh, because even dropped clauses cost something.
const MAX_DROPPED: usize = 20_000;

/// The solver and what it knows of U.
pub(super) struct Encoder<T> {
    solver: T,
    literals: FxHashMap<EventId, Literal>,
    dropped: usize,
    calls: u64,
}

impl<T: SatSolver> Default for Encoder<T> {
    fn default() -> Self {
        Encoder { solver: T::default(), literals: FxHashMap::default(), dropped: 0, calls: 0 }
    }
}

impl<T: SatSolver> Encoder<T> {
    /// Questions asked so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Starts afresh, because ids of events have changed their meaning.
    pub(super) fn forget(&mut self) {
        self.solver = T::default();
        self.literals.clear();
        self.dropped = 0;
    }

    /// One event per spike such that they and C are free of conflict and avoid `disabled`.
    pub(super) fn solve(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        comb: &Comb,
        disabled: &[EventId],
        chosen: &mut Vec<EventId>,
    ) -> bool {
        self.calls += 1;
        if self.dropped > MAX_DROPPED {
            self.forget();
        }
        let selectors: Vec<Literal> = (0..comb.len()).map(|_| self.solver.literal()).collect();
        for (index, &selector) in selectors.iter().enumerate() {
            if structure.is_stopped() {
                return false;
            }
            let mut clause = vec![selector.negated()];
            for &u in comb.spike(index) {
                clause.push(self.literal(structure, u));
            }
            self.solver.clause(&clause);
        }
        let mut assumptions = selectors.clone();
        assumptions
            .extend(disabled.iter().filter_map(|d| self.literals.get(d)).map(|l| l.negated()));
        assumptions.extend(c.events().iter().filter_map(|e| self.literals.get(e)));
        let model = self.solver.solve(&assumptions);
        if let Some(model) = &model {
            let is_in = |u: &&EventId| model.contains(&self.literals[*u]);
            chosen.clear();
            chosen.extend((0..comb.len()).map(|index| {
                comb.spike(index)
                    .iter()
                    .find(is_in)
                    .copied()
                    .expect("the clause of the spike holds")
            }));
        }
        for selector in selectors {
            self.solver.clause(&[selector.negated()]);
            self.dropped += 1;
        }
        model.is_some()
    }

    /// The variable of an event, with its clauses.
    fn literal(&mut self, structure: &EventStructure, event: EventId) -> Literal {
        let mut pending = vec![event];
        while let Some(&event) = pending.last() {
            if self.literals.contains_key(&event) {
                pending.pop();
                continue;
            }
            let causes = &structure.event(event).causes;
            let known = pending.len();
            pending.extend(causes.iter().filter(|cause| !self.literals.contains_key(cause)));
            if pending.len() == known {
                pending.pop();
                self.encode(structure, event);
            }
        }
        self.literals[&event]
    }

    /// Gives a variable to an event whose causes have theirs.
    fn encode(&mut self, structure: &EventStructure, event: EventId) {
        let literal = self.solver.literal();
        for cause in &structure.event(event).causes {
            self.solver.clause(&[literal.negated(), self.literals[cause]]);
        }
        for rival in structure.immediate_conflicts(event) {
            if let Some(rival) = self.literals.get(&rival) {
                self.solver.clause(&[literal.negated(), rival.negated()]);
            }
        }
        self.literals.insert(event, literal);
    }
}
