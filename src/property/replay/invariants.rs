//! Invariants along an execution: the first failure is stored with what the invariant has read,
//! because the execution may go on.

use super::Replay;
use crate::model::{Failure, System};
use crate::property::{broken_invariants, invariant_readings};

impl<S: System> Replay<'_, S> {
    /// Stores the first failure of an invariant.
    pub(super) fn judge_invariants(&mut self) {
        if self.broken.is_none()
            && let Some(failure) = self.broken_invariant()
        {
            let seen = self.seen_by_invariant(&failure).unwrap_or_default();
            self.broken = Some((failure, seen));
        }
    }

    /// The first invariant that fails here.
    pub(crate) fn broken_invariant(&self) -> Option<Failure> {
        broken_invariants(&self.locals, &self.state).into_iter().next().map(|(_, failure)| failure)
    }

    /// What the invariant with this failure has read, in this state or at the first failure; `None`
    /// if no invariant failed in this way.
    pub(crate) fn seen_by_invariant(&self, failure: &Failure) -> Option<Vec<(String, String)>> {
        let here = invariant_readings(&self.locals, &self.state, failure);
        let earlier = || self.broken.as_ref().filter(|(first, _)| first == failure);
        here.map(|readings| self.shown(&readings)).or_else(|| Some(earlier()?.1.clone()))
    }
}
