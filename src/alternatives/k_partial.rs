//! k-partial alternatives: in conflict with at least k of the disabled events.
//!
//! With k = 1 these are the source sets of source-DPOR; with a larger k fewer explorations are
//! blocked, at the price of a search through more combinations (CAV 2018, section 4; FORTE 2019,
//! section 4.1).

use super::{Alternatives, Comb, Combs};
use crate::unfolding::{Configuration, EventId, EventStructure};

/// Finds k-partial alternatives: combinations over the spike of the newest disabled event and the
/// k - 1 smallest others.
pub struct KPartial {
    k: usize,
    comb: Comb,
}

impl KPartial {
    /// Alternatives with this k, which is at least 1.
    pub fn new(k: u32) -> Self {
        KPartial { k: k.max(1) as usize, comb: Comb::default() }
    }

    /// Full alternatives without a solver: combinations over all spikes.
    pub fn full() -> Self {
        KPartial { k: usize::MAX, comb: Comb::default() }
    }
}

impl Alternatives for KPartial {
    fn find(
        &mut self,
        structure: &EventStructure,
        c: &Configuration,
        disabled: &[EventId],
        j: &mut Vec<EventId>,
    ) -> bool {
        j.clear();
        let found = self.comb.build(structure, c, disabled)
            && self.comb.combine(structure, self.k, usize::MAX).expect("unlimited effort");
        if found {
            self.comb.alternative(structure, c, None, j);
        }
        found
    }

    fn descend(&mut self, c: &Configuration) {
        self.comb.descend(c);
    }

    fn ascend(&mut self) {
        self.comb.ascend();
    }

    fn forget(&mut self) {
        self.comb.forget();
    }

    fn are_full(&self) -> bool {
        self.k == usize::MAX
    }

    fn combs(&self) -> Combs {
        self.comb.sizes()
    }
}
