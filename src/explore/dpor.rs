//! DPOR

use super::walk::{self, Rule, Walk};
use super::{Driver, Guarantee, Info, Scheduling};
use crate::model::{Action, Choice, Footprint, Handled, Op, ProcessId, System};
use crate::trace::{Execution, Strand};

/// What it is.
pub const INFO: Info = Info {
    name: "dpor",
    summary: "dynamic partial order reduction with backtrack sets",
    source: "Flanagan, Godefroid (POPL 2005); Tasharofi et al. (FORTE 2012)",
    guarantee: Guarantee::EveryClass,
    requires: None,
};

/// Visits every class.
pub fn explore<S: System>(system: &S, scheduling: Scheduling, driver: &mut Driver<'_>) {
    walk::explore(system, scheduling, &mut Dpor::default(), driver);
}

#[derive(Default)]
struct Dpor {
    waiting: Vec<Action>,
    e: Vec<Strand>,
}

impl<S: System> Rule<S> for Dpor {
    fn races(&mut self, walk: &mut Walk<'_, S>) {
        let Some(last) = walk.execution.len().checked_sub(1) else { return };
        if let Footprint::Handler { .. } = walk.execution.order().footprint(last) {
            self.races_of_messages(walk, last);
        }
    }
}

impl Dpor {
    fn races_of_messages<S: System>(&mut self, walk: &mut Walk<'_, S>, last: usize) {
        newly_racing(&walk.execution, last, &mut self.waiting);
        walk.sorter.sort(&walk.execution, &mut self.waiting);
        for &message in &self.waiting {
            let Some(i) = last_race(&walk.execution, message) else { continue };
            self.e.clear();
            self.e.extend(makers(&walk.execution, i, message).map(|j| walk.execution.strand_at(j)));
            self.e.push(Strand::of_actor(message));
            self.e.retain(|&strand| walk.points.find(i, strand).is_some());
            match self.e.first() {
                None => walk.points.add_all(i),
                Some(&first) => {
                    let is_chosen = |&strand: &Strand| {
                        walk.points.find(i, strand).is_some_and(|candidate| candidate.is_chosen)
                    };
                    if !self.e.iter().any(is_chosen) {
                        walk.points.add(i, first);
                    }
                }
            }
        }
    }
}

/// The messages, enabled or not, and internal handlers whose last race may be another one than before the
/// action at `last`, a handler's: those of its actor, and the messages that it sent.
pub fn newly_racing<S: System>(
    execution: &Execution<'_, S>,
    last: usize,
    waiting: &mut Vec<Action>,
) {
    let Action { process, choice } = execution.state().action(last);
    let Footprint::Handler { sent: (first, count), .. } = *execution.order().footprint(last) else {
        panic!("the action at {last} is no handler's");
    };
    waiting.clear();
    let inboxes = execution.state().inboxes();
    let message = |at: u32| {
        let message = &inboxes.log()[at as usize];
        Action { process: message.to, choice: Choice::message(message.id) }
    };
    waiting.extend(inboxes.pending(process).take_while(|&at| at < first).map(message));
    waiting.extend((first..first + count).map(message));
    let op = execution.locals.op(execution.state().local_before(last));
    if let Some(Op::Handle { internals }) = op {
        let internals = (0..*internals).map(Choice::internal).filter(|&other| other != choice);
        waiting.extend(internals.map(|choice| Action { process, choice }));
    }
}

/// The last action at the receiver that is not before the message in the sense of creation (definition 5).
pub fn last_race<S: System>(execution: &Execution<'_, S>, message: Action) -> Option<usize> {
    let order = execution.order();
    let of_actor = order.of_process(message.process);
    let known = known_of(execution, message.process, creator(execution, message));
    of_actor.get(known..)?.last().map(|&i| i as usize)
}

/// How many actions of `process` are at or before the one at `creator`.
pub fn known_of<S: System>(
    execution: &Execution<'_, S>,
    process: ProcessId,
    creator: Option<usize>,
) -> usize {
    let count = |creator| execution.order().clock(creator).get(process.index()).copied();
    creator.and_then(count).unwrap_or(0) as usize
}

/// What sent the message.
pub fn creator<S: System>(execution: &Execution<'_, S>, message: Action) -> Option<usize> {
    match message.choice.handled() {
        Handled::Internal(_) => None,
        Handled::Message(id) => execution.state().message(id).creator(),
    }
}

/// The actions after `i` that are before the message in the sense of creation, in order.
pub fn makers<S: System>(
    execution: &Execution<'_, S>,
    i: usize,
    message: Action,
) -> impl Iterator<Item = usize> {
    let creator = creator(execution, message);
    let made = move |j: &usize| creator.is_some_and(|c| *j == c || execution.order().before(*j, c));
    (i + 1..creator.map_or(0, |c| c + 1)).filter(made)
}
