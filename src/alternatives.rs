//! Alternatives: how to leave the part of a configuration's future that is explored.
//!
//! When everything that contains C and its disabled events D is explored, what remains contains C
//! but no event of D. An *alternative* to D after C is a J ⊆ U with C ∪ J a configuration, J ∩ D =
//! ∅, and every d ∈ D in conflict with some event of J (FORTE 2019, section 4.1). Only the d ∈ D ∩
//! en(C) matter: all others are in conflict with C already. And since `[d)` ⊆ C for these, the
//! conflict must be immediate.
//!
//! | file | idea |
//! |---|---|
//! | `comb` | for each d the candidates, its *spike*; a combination takes one of each |
//! | `k_partial` | combinations over k spikes only |
//! | `optimal` | over all of them: a cheap search first, then SAT |
//! | `cnf` | the question as clauses |
//! | `sat` | the solver behind a trait |
//!
//! Without the feature `sat` the last three are not there, and `k_partial` searches over all spikes
//! for as long as it takes.

#[cfg(feature = "sat")]
mod cnf;
mod comb;
mod k_partial;
#[cfg(feature = "sat")]
mod optimal;
#[cfg(feature = "sat")]
mod sat;

pub use comb::{Comb, Combs};
pub use k_partial::KPartial;
#[cfg(feature = "sat")]
pub use optimal::Optimal;
#[cfg(feature = "sat")]
pub use sat::{Literal, SatSolver, Varisat};

use crate::unfolding::{Configuration, EventId, EventStructure};

/// Full alternatives, by the quickest means that are there.
#[cfg(feature = "sat")]
pub(crate) fn full() -> impl Alternatives {
    Optimal::<Varisat>::new()
}

/// Full alternatives, by the quickest means that are there.
#[cfg(not(feature = "sat"))]
pub(crate) fn full() -> impl Alternatives {
    KPartial::full()
}

/// A way to find alternatives.
///
/// # Contract
/// - If an alternative to `disabled` after C exists in U, one is found, or (k-partial) a J that is
///   in conflict with at least min(k, |disabled|) events of `disabled`, the last one among them,
///   and disjoint from all.
/// - `j` is then J ∖ C, causes first: adding the events of `j` to C in this order is an execution.
/// - If none is found, `j` is empty.
/// - Calls of `descend` and `ascend` match; between them C and D contain all that they contained
///   when `descend` was called, and perhaps more.
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

    /// Notes that U has become U ∩ Q(C, D). The ids of forgotten events may come back with another
    /// meaning.
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
