//! Alternatives: how to leave the part of a configuration's future that is explored.
//!
//! When everything that contains C and its disabled events D is explored, what remains contains C but no
//! event of D. An *alternative* to D after C is a J ⊆ U with C ∪ J a configuration, J ∩ D = ∅, and every d
//! ∈ D in conflict with some event of J (FORTE 2019, section 4.1). Only the d ∈ D ∩ en(C) matter: all others
//! are in conflict with C already. And since `[d)` ⊆ C for these, the conflict must be immediate.
//!
//! | file | idea |
//! |---|---|
//! | `comb` | for each d the candidates, its *spike*; a combination takes one of each |
//! | `k_partial` | combinations over k spikes only |
//! | `optimal` | over all of them: a cheap search first, then SAT |
//! | `cnf` | the question as clauses |
//! | `sat` | the solver behind a trait |

mod cnf;
mod comb;
mod k_partial;
mod optimal;
mod sat;

pub use comb::{Comb, Combs};
pub use k_partial::KPartial;
pub use optimal::Optimal;
pub use sat::{Literal, SatSolver, Varisat};

use crate::unfolding::{Configuration, EventId, EventStructure};

/// A way to find alternatives.
///
/// # Contract
/// - If an alternative to `disabled` after C exists in U, one is found, or (k-partial) a J that is in
///   conflict with at least min(k, |disabled|) events of `disabled`, the last one among them, and disjoint
///   from all.
/// - `j` is then J ∖ C, causes first: adding the events of `j` to C in this order is an execution.
/// - If none is found, `j` is empty.
/// - Calls of `descend` and `ascend` match; between them C and D contain all that they contained when
///   `descend` was called, and perhaps more.
pub trait Alternatives {
    /// Looks for a J for `disabled` = D ∩ en(C), newest last and not empty, after C.
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool;

    /// Notes that the search goes on to a larger C and D.
    fn descend(&mut self);

    /// Notes that the search goes back to the C and D of the matching `descend`.
    fn ascend(&mut self);

    /// Notes that U has become U ∩ Q(C, D). The ids of forgotten events may come back with another meaning.
    fn forget(&mut self);

    /// Is every J that is found in conflict with all of D? Then no exploration is ever blocked.
    fn are_full(&self) -> bool {
        false
    }

    /// Queries to a SAT solver so far.
    fn sat_calls(&self) -> u64 {
        0
    }

    /// The combs searched so far.
    fn combs(&self) -> Combs {
        Combs::default()
    }
}
