//! TransDPOR by its tool

use crate::explore::dpor::{creator, known_of, makers};
use crate::explore::walk::{self, Rule, Walk};
use crate::explore::{Driver, Guarantee, Info, Scheduling};
use crate::model::{Action, Choice, Footprint, ProcessId, System};
use crate::trace::Strand;

/// What it is.
pub const INFO: Info = Info {
    name: "transdpor-tool",
    summary: "TransDPOR as the tool of its paper has it, for its numbers",
    source: "Tasharofi et al. (FORTE 2012), table 1",
    guarantee: Guarantee::EveryClass,
    requires: Some("actors only, without guards"),
};

/// Visits
pub fn explore<S: System>(system: &S, scheduling: Scheduling, driver: &mut Driver<'_>) {
    walk::explore(system, scheduling, &mut Tool, driver);
}

struct Tool;

impl<S: System> Rule<S> for Tool {
    fn races(&mut self, walk: &mut Walk<'_, S>) {
        let Some(e) = walk.execution.len().checked_sub(1) else { return };
        let Footprint::Handler { sent: (first, count), .. } = *walk.execution.order().footprint(e)
        else {
            return;
        };
        for position in first..first + count {
            let message = &walk.execution.state().inboxes().log()[position as usize];
            let x = Action { process: message.to, choice: Choice::message(message.id) };
            self.propose_for(walk, x, e, false);
        }
        let m = walk.execution.state().action(e);
        self.propose_for(walk, m, e, true);
    }
}

impl Tool {
    /// For each action before `e` at the receiver of `m` that is not in hist(m), the first action after it in
    /// hist(m), or else `m`.
    fn propose_for<S: System>(
        &mut self,
        walk: &mut Walk<'_, S>,
        m: Action,
        e: usize,
        is_executed: bool,
    ) {
        let known = known_of(&walk.execution, m.process, creator(&walk.execution, m));
        for index in known..walk.execution.order().of_process(m.process).len() {
            let i = walk.execution.order().of_process(m.process)[index] as usize;
            if i >= e {
                break;
            }
            let j = makers(&walk.execution, i, m).next();
            let (c, receiver) = match j {
                Some(j) => {
                    let receiver = if is_executed {
                        m.process
                    } else {
                        walk.execution.state().action(j).process
                    };
                    (walk.execution.strand_at(j), receiver)
                }
                None => (Strand::of_actor(m), m.process),
            };
            self.propose(walk, i, c, receiver);
        }
    }

    fn propose<S: System>(
        &self,
        walk: &mut Walk<'_, S>,
        i: usize,
        c: Strand,
        receiver: ProcessId,
    ) {
        let points = &mut walk.points;
        if points.is_frozen(i) && walk.execution.state().action(i).process == receiver {
            return;
        }
        let Some(candidate) = points.find(i, c) else { return };
        if candidate.is_chosen || candidate.is_asleep {
            return;
        }
        if points.is_frozen(i) {
            points.drop_last(i);
        }
        points.add(i, c);
        points.freeze(i);
    }
}
