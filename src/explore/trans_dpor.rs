//! TransDPOR

pub mod tool;

use super::dpor::{last_race, makers, newly_racing};
use super::walk::{self, Rule, Walk};
use super::{Driver, Guarantee, Info, Scheduling};
use crate::model::{Action, System};
use crate::trace::Strand;

/// What it is.
pub const INFO: Info = Info {
    name: "transdpor",
    summary: "DPOR for actors that exploits that their races are transitive",
    source: "Tasharofi et al. (FORTE 2012)",
    guarantee: Guarantee::EveryClass,
    requires: Some("actors only"),
};

/// Visits every class.
pub fn explore<S: System>(system: &S, scheduling: Scheduling, driver: &mut Driver<'_>) {
    walk::explore(system, scheduling, &mut TransDpor::default(), driver);
}

#[derive(Default)]
struct TransDpor {
    waiting: Vec<Action>,
}

impl<S: System> Rule<S> for TransDpor {
    fn races(&mut self, walk: &mut Walk<'_, S>) {
        let Some(last) = walk.execution.len().checked_sub(1) else { return };
        newly_racing(&walk.execution, last, &mut self.waiting);
        walk.sorter.sort(&walk.execution, &mut self.waiting);
        for &message in &self.waiting {
            let Some(i) = last_race(&walk.execution, message) else { continue };
            if walk.points.is_frozen(i) {
                continue;
            }
            let first = makers(&walk.execution, i, message).next();
            let first = first.map_or(Strand::of_actor(message), |j| walk.execution.strand_at(j));
            if let Some(candidate) = walk.points.find(i, first)
                && !candidate.is_chosen
                && !candidate.is_asleep
            {
                walk.points.add(i, first);
                walk.points.freeze(i);
            }
        }
    }
}
