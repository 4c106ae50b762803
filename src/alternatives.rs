//! Alternatives: extensions of a configuration that avoid the explored part of its future.
//!
//! When all maximal configurations that contain C and an event of D are explored, the remaining
//! ones contain C but no event of D. An *alternative* to D after C is a J ⊆ U with C ∪ J a
//! configuration, J ∩ D = ∅, and every d ∈ D in conflict with some event of J (FORTE 2019, section
//! 4.1). Only the events d ∈ D ∩ en(C) matter: all others are in conflict with C already. Since
//! `[d)` ⊆ C for them, the conflict must be immediate.
//!
//! | file | idea |
//! |---|---|
//! | `comb` | for each d the candidates, its *spike*; a combination takes one event of each spike |
//! | `k_partial` | combinations over k spikes only |
//! | `optimal` | combinations over all spikes: a cheap search first, then SAT |
//! | `cnf` | the existence of an alternative as clauses |
//! | `sat` | the solver behind a trait |
//!
//! Without the feature `sat` the last three files are not compiled, and `k_partial` searches over
//! all spikes without a limit.

#[cfg(feature = "sat")]
mod cnf;
mod comb;
mod k_partial;
#[cfg(feature = "sat")]
mod optimal;
#[cfg(feature = "sat")]
mod sat;

pub use comb::Combs;
pub use k_partial::KPartial;
#[cfg(feature = "sat")]
pub use optimal::Optimal;
#[cfg(feature = "sat")]
pub use sat::{Literal, SatSolver, Varisat};

pub(crate) use comb::Comb;

use crate::unfolding::{Configuration, EventId, EventStructure};

/// Full alternatives, by the fastest method that is compiled in.
#[cfg(feature = "sat")]
pub(crate) fn full() -> impl Alternatives {
    Optimal::<Varisat>::new()
}

/// Full alternatives, by the fastest method that is compiled in.
#[cfg(not(feature = "sat"))]
pub(crate) fn full() -> impl Alternatives {
    KPartial::full()
}

/// A procedure to find alternatives.
///
/// # Contract
/// - If an alternative to `disabled` after C exists in U, `find` returns true, and finds either an
///   alternative or (k-partial) a J that contains no event of `disabled` and is in conflict with at
///   least min(k, |disabled|) of them, the last one included.
/// - `j` is then J ∖ C, causes first: the events of `j` can be added to C in this order.
/// - If `find` returns false, `j` is empty.
/// - `find` is asked at the C of the newest `descend` without its `ascend`. D only grows there.
pub trait Alternatives {
    /// Looks for a J after C, for `disabled` = D ∩ en(C), which is not empty and has the newest
    /// event last.
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool;

    /// Called when the search has come to this C: that of the node above and one more event.
    fn descend(&mut self, c: &Configuration);

    /// Called when the search leaves the C of the matching `descend`. D is what it was there at
    /// first.
    fn ascend(&mut self);

    /// Called when U has become U ∩ Q(C, D). The ids of discarded events may be reused for other
    /// events.
    fn forget(&mut self);

    /// Is every J that is found in conflict with all of D, so that no exploration is ever blocked?
    fn are_full(&self) -> bool {
        false
    }

    /// The number of queries to a SAT solver so far.
    fn sat_calls(&self) -> u64 {
        0
    }

    /// The figures of the combs searched so far.
    fn combs(&self) -> Combs {
        Combs::default()
    }
}
