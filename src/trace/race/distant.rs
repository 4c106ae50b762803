//! Distant races: races without an event e of the execution that directly follows i and is x
//! without i.
//!
//! In most races (i, x) the process of x has an event e in the execution with i as a direct
//! predecessor, and would have done x without i. Such a race is found from e and its direct
//! predecessors. Here are the other races. Either i and x are of one strand (open choices). Or the
//! process of x is not enabled right after i, because it waits, or a guard refuses, or it would be
//! too high; it may be enabled later, or never.

use super::{Race, stimulus, with_cut};
use crate::model::{Action, Choice, Effect, Op, ProcessId, System};
use crate::trace::Execution;

/// Appends the distant races of an execution that has ended, each once. O(n) for n actions for each
/// access that may wait, and for each message to an actor.
pub(crate) fn with_distant<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    let found = races.len();
    with_accesses(execution, races);
    with_handlings(execution, races);
    with_cut(execution, races);
    let key = |race: &Race| (race.first, race.action);
    races[found..].sort_by_key(key);
    let mut index = 0;
    let mut last = None;
    races.retain(|race| {
        index += 1;
        index <= found || last.replace(key(race)) != Some(key(race))
    });
}

/// Appends the races of accesses with the versions after which they would have to wait.
fn with_accesses<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    if !execution.waits() {
        return;
    }
    let held = execution.held_accesses().into_iter().map(|process| (process, None));
    let awaited = (0..execution.len()).filter(|&at| execution.awaited(at).is_some());
    let awaited: Vec<_> = awaited.map(|at| (execution.order().process(at), Some(at))).collect();
    for (process, later) in held.chain(awaited) {
        let mut newer = later.map(|later| execution.version_before(later));
        for (version, earlier) in execution.earlier_accesses(process, later) {
            let first = earlier.overwritten_by;
            let follows = newer.replace(version) == Some(version + 1);
            if !follows {
                races.push(Race {
                    first,
                    action: Action { process, choice: Choice::ONLY },
                    is_initial: earlier.after.is_none_or(|after| after < first),
                    effect: earlier.effect,
                    later: None,
                    conflicting: Box::default(),
                });
            }
        }
    }
}

/// Appends the races of messages and internal handlers with places after which the actor would
/// refuse them.
fn with_handlings<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    let state = execution.state();
    for actor in state.processes() {
        let chain = execution.order().of_process(actor);
        let Some(&last) = chain.last() else { continue };
        let Op::Handle { internals } = *execution.op(last as usize) else { continue };
        for (nth, &at) in chain.iter().enumerate() {
            handlings(execution, actor, execution.action(at as usize).choice, nth, races);
        }
        let inboxes = state.inboxes();
        let messages =
            inboxes.pending(actor).map(|at| Choice::message(inboxes.log()[at as usize].id));
        for choice in messages.chain((0..internals).map(Choice::internal)) {
            handlings(execution, actor, choice, chain.len(), races);
        }
    }
}

/// Appends the races of one message or internal handler, which is or could be the `nth` action of
/// its actor, with places after which the actor would refuse it.
fn handlings<S: System>(
    execution: &Execution<'_, S>,
    actor: ProcessId,
    choice: Choice,
    nth: usize,
    races: &mut Vec<Race>,
) {
    let (state, order) = (execution.state(), execution.order());
    let (creator, stimulus) = stimulus(state, choice);
    if creator.is_some_and(|creator| execution.is_top(creator)) {
        return;
    }
    let chain = order.of_process(actor);
    let known = creator.and_then(|creator| order.clock(creator).get(actor.index()).copied());
    let action = Action { process: actor, choice };
    // Would it be refused at the next place of the chain?
    let mut is_refused = nth == chain.len();
    for place in (known.unwrap_or(0) as usize..nth).rev() {
        let first = chain[place] as usize;
        if execution.action(first) == action {
            return;
        }
        let accepts = execution.locals.accepts(actor, state.before(first), stimulus);
        if accepts && is_refused {
            races.push(Race {
                first,
                action,
                effect: Effect::handler(actor),
                is_initial: creator.is_none_or(|creator| creator < first),
                later: None,
                conflicting: Box::default(),
            });
        }
        is_refused = !accepts;
    }
}
