//! TransDPOR

pub mod tool;

use super::creation::{makers, newly_racing, not_before};
use super::walk::{self, Rule, Walk};
use super::{Driver, Guarantee, Info, Scheduling};
use crate::model::{Action, Locals, Op, Status, System};
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

/// Why it is not for this system.
pub fn refusal<S: System>(system: &S) -> Option<String> {
    (!has_only_actors(system)).then(|| {
        "`transdpor` is for programs of actors only: it takes it that races are transitive, and those at \
         mailboxes, mutexes and cells are not (`dpor` is for all programs)"
            .into()
    })
}

/// Is everything that exists from the start an actor?
pub fn has_only_actors<S: System>(system: &S) -> bool {
    let locals = Locals::new(system);
    let is_actor = |&id| matches!(locals.status(id), Status::At(Op::Handle { .. }));
    locals.initial().iter().all(|id| is_actor(id) || locals.status(*id).has_ended())
}

#[derive(Default)]
struct TransDpor {
    waiting: Vec<Action>,
}

impl<S: System> Rule<S> for TransDpor {
    fn races(&mut self, walk: &mut Walk<'_, S>) {
        let last = walk.execution.len() - 1;
        self.waiting.clear();
        newly_racing(&walk.execution, last, &mut self.waiting);
        walk.sorter.sort(&walk.execution, &mut self.waiting);
        for &message in &self.waiting {
            let Some(&i) = not_before(&walk.execution, message).last() else { continue };
            let i = i as usize;
            if walk.points.is_frozen(i) {
                continue;
            }
            let first = makers(&walk.execution, i, message).next();
            let first = first.map_or(Strand::of(message, true), |j| walk.execution.strand_at(j));
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
