//! Races of tests whose success would end a spin iteration.
//!
//! `while test(c) {}` waits once c is complete. A test there that finds c complete ends a spin
//! iteration ([`crate::trace::spin`]), so no execution has it, and no event of an execution shows
//! that the test could have come before what completes c, and have failed then. So these races are
//! looked for where the process is at its test, as those of accesses that wait. Only ordinary
//! requests need that: a poll of the network may fail whatever is there.

use super::{Positions, Race, completer};
use crate::model::{Action, Choice, Effect, Needs, Op, ProcessId, Status, System};
use crate::trace::Execution;

/// The race of a failed test (of the process, instead of its event at `later`, or as its next
/// action) with the first event that completes one of its requests, if to find that one complete
/// would end a spin iteration.
pub(crate) fn held_test<S: System>(
    execution: &mut Execution<'_, S>,
    process: ProcessId,
    later: Option<usize>,
) -> Option<Race> {
    let before = match later {
        Some(later) => execution.state().before(later),
        None => execution.state().local(process),
    };
    if !execution.waits()
        || !execution.locals.may_return(before)
        || !execution.locals.op(before).is_some_and(Op::is_test)
    {
        return None;
    }
    let status = execution.locals.shared_status(before);
    let Status::At(op) = &*status else { unreachable!("it is at a test") };
    if execution.state().is_poll(process, op) {
        return None;
    }
    let own = execution.order().of_process(process);
    let nth = later.map_or(own.len(), |later| own.partition_point(|&at| (at as usize) < later));
    let after = execution.previous(process, nth);
    let is_known =
        |at: usize| after.is_some_and(|after| at == after || execution.order().before(at, after));
    let mut completers = Positions::new();
    let mut first: Option<(usize, u32)> = None;
    for way in 0..execution.state().ways(op, process) {
        let completer =
            completer(&execution.locals, execution.state(), execution.order(), (op, process), way);
        let Some(completer) = completer else { continue };
        // If the process knows that a request is complete, the test never fails.
        let at = completer.filter(|&at| !is_known(at))?;
        completers.push(at);
        if first.is_none_or(|(first, _)| at < first) {
            first = Some((at, way));
        }
    }
    let (first, way) = first?;
    let mut needs = Needs::new();
    execution.state().way(&execution.locals, (op, process), way, &mut needs)?;
    let found = Effect::needing(&needs);
    let place = (process, nth, before);
    if !execution.would_end_spin_iteration(place, Choice(way as i32), &found) {
        return None;
    }
    let effect = execution.state().not_yet(op, process);
    if execution.would_end_spin_iteration(place, Choice::NOTHING, &effect) {
        return None;
    }
    completers.retain(|at| *at != first);
    Some(Race {
        first,
        action: Action { process, choice: Choice::NOTHING },
        effect,
        is_initial: after.is_none_or(|after| after < first),
        later: None,
        conflicting: completers.into_vec().into(),
    })
}
