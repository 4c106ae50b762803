//! The existence of an alternative as clauses for a SAT solver, which is kept from query to query.
//!
//! A variable per event: is it in C ∪ J? These clauses hold for all queries:
//!
//! - e → c, for each direct cause c of e (a configuration is causally closed);
//! - ¬e ∨ ¬f, for e #i f (and free of conflict; #i generates #).
//!
//! For each query it is assumed that every event of C is in and every d ∈ D is out. And for each d
//! there is a clause over its spike, guarded by a selector, which is assumed for this query and
//! negated for good afterwards.
//!
//! Only events that a query needs get a variable: the events of spikes, and their histories.

use rustc_hash::FxHashMap;

use super::{Comb, Literal, SatSolver};
use crate::unfolding::{Configuration, EventId, EventStructure};

/// After this number of dropped selectors the solver is replaced by a new one, because dropped
/// clauses still cost time.
const MAX_DROPPED: usize = 20_000;

/// The solver, and the variables of the events encoded so far.
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
    /// The number of queries so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Replaces the solver by a new one, for example because ids of events have changed their
    /// meaning.
    pub(super) fn forget(&mut self) {
        self.solver = T::default();
        self.literals.clear();
        self.dropped = 0;
    }

    /// Looks for one event per spike such that, with their histories and C, they are free of
    /// conflict and avoid `disabled`. Writes them to `chosen`, and returns whether there are any.
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

    /// The variable of an event. Adds it, its causes and their clauses to the solver, if they are
    /// new.
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

    /// Adds a variable and clauses for an event whose causes have variables.
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
