//! Distant races: races without an event e of the execution that directly follows i and is x
//! without i.
//!
//! In most races (i, x) the process of x has an event e in the execution with i as a direct
//! predecessor, and would have done x without i. Such a race is found from e and its direct
//! predecessors. Here are the other races. Either i and x are of one strand (open choices). Or the
//! process of x is not enabled right after i, because it waits, or a guard refuses, or it would be
//! too high; it may be enabled later, or never.

use super::{Race, held_test, stimulus, with_cut, with_held_tests};
use crate::model::{Action, Choice, Effect, Op, ProcessId, System};
use crate::trace::Execution;

/// Appends the distant races of the last event of the execution. They are races of all longer
/// executions, too, because they depend only on what came before. O(n) for n actions.
pub(crate) fn with_distant_of_last<S: System>(
    execution: &mut Execution<'_, S>,
    races: &mut Vec<Race>,
) {
    let last = execution.len() - 1;
    let Action { process, choice } = execution.action(last);
    if execution.awaited(last).is_some() {
        accesses(execution, process, Some(last), races);
    } else if execution.op(last).is_test() {
        races.extend(held_test(execution, process, Some(last)));
    } else if matches!(execution.op(last), Op::Handle { .. }) {
        let nth = execution.order().of_process(process).len() - 1;
        handlings(execution, process, choice, nth, races);
    }
}

/// Appends the distant races of actions that are not possible at the end of the execution. O(n) for
/// n actions for each access that waits, each test, and each message that is not handled.
pub(crate) fn with_distant<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    for process in execution.held_accesses() {
        accesses(execution, process, None, races);
    }
    with_held_tests(execution, races);
    let state = execution.state();
    for actor in state.processes() {
        let chain = execution.order().of_process(actor);
        let Some(&last) = chain.last() else { continue };
        let Op::Handle { internals } = *execution.op(last as usize) else { continue };
        let inboxes = state.inboxes();
        let messages =
            inboxes.pending(actor).map(|at| Choice::message(inboxes.log()[at as usize].id));
        for choice in messages.chain((0..internals).map(Choice::internal)) {
            handlings(execution, actor, choice, chain.len(), races);
        }
    }
    with_cut(execution, races);
}

/// Appends the races of an access (of the event at `later`, or of an access that waits at the end)
/// with the versions after which it would have to wait.
fn accesses<S: System>(
    execution: &mut Execution<'_, S>,
    process: ProcessId,
    later: Option<usize>,
    races: &mut Vec<Race>,
) {
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
