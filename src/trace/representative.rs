//! The representative of a Mazurkiewicz class: one execution of the class, in portable names, that
//! depends only on the class.
//!
//! ```text
//! while not all events of the class are taken:
//!   among the processes whose next event has all its causes, choose the one born first
//!   take its next event
//! ```
//!
//! Processes are numbered by birth in the execution under construction, so the result depends on
//! the class alone, and not on the numbers that a search gives to processes and messages. So
//! independent searches can compare the classes that they have completed.

use super::Execution;
use crate::model::{Action, ProcessId, Schedule, System};

/// The representative of the class of this execution. O(n·p) for n actions of p processes, plus the
/// number of direct causes.
pub(crate) fn representative<S: System>(execution: &mut Execution<'_, S>) -> Schedule {
    let actions: Vec<Action> =
        linearised(execution).into_iter().map(|position| execution.action(position)).collect();
    Schedule::of_actions(&mut execution.locals, actions)
}

/// The positions of the actions, in the order of the representative.
fn linearised<S: System>(execution: &Execution<'_, S>) -> Vec<usize> {
    let (order, state) = (execution.order(), execution.state());
    let mut unborn = state.by_birth();
    let mut born: Vec<(ProcessId, usize)> = Vec::new();
    let mut bear = |born: &mut Vec<_>, by: Option<usize>| {
        let children = unborn.extract_if(.., |process| state.born(*process) == by);
        born.extend(children.map(|process| (process, 0)));
    };
    bear(&mut born, None);
    let mut is_taken = vec![false; order.len()];
    let mut taken = Vec::with_capacity(order.len());
    while taken.len() < order.len() {
        let next = born.iter_mut().find_map(|(process, done)| {
            let position = *order.of_process(*process).get(*done)? as usize;
            let causes = order.direct_predecessors(position);
            let is_ready = causes.iter().all(|&cause| is_taken[cause as usize]);
            is_ready.then(|| {
                *done += 1;
                position
            })
        });
        let position = next.expect("causes come first in the execution");
        is_taken[position] = true;
        taken.push(position);
        bear(&mut born, Some(position));
    }
    taken
}
