//! The races of actions that are beyond a bound on the height of events.
//!
//! An action that is too high at the end of an execution E is not an event, so it has no races of
//! its own. But it could have come earlier, without the events that make it too high: the *tops*,
//! which are the events of E with the greatest height allowed. Let F be E without its tops. Every
//! event of E, top or not, has all its causes in F. So F is an execution, and x is the action of
//! the process after F, if it has one. The events of E in conflict with x are the tops on which it
//! depends. Like x they are enabled after F, so the dependence can be computed there.
//!
//! One x per process is not enough. Histories smaller than F give other events (a write before some
//! more reads, a receive before another receive), and such an event may be compatible with a top
//! that is in conflict with x. In an execution with x they would be found as races of x. But that
//! execution may be blocked by a sleeping top. So they are searched here: the races of x in F·x,
//! with no tops in v. If a top before the event i of such a race is in conflict with the reversal,
//! that top has to be removed as well: then the race begins with the top, and i is one of the
//! `conflicting`.
//!
//! A test that succeeded is not too high, but a top may have completed another request of the test.
//! If the test had returned that one, it would have been too high, and the races above would show
//! that the test can fail before the top. So this case is handled here, too.

use smallvec::SmallVec;

use super::{OpenChoices, Positions, Race, completers, is_poll, with_earlier};
use crate::model::{Action, Choice, Effect, ProcessId, System, dependent};
use crate::trace::Execution;
use crate::trace::initials::dependent_here;

/// Appends the races of actions that are too high at the end of the execution, and of tests whose
/// requests were completed by tops. For messages see [`super::with_pending`].
pub(crate) fn with_cut<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    if !execution.has_tops() {
        return;
    }
    let Some(first_top) = (0..execution.len()).find(|&at| execution.is_top(at)) else { return };
    with_tests(execution, races);
    let mut processes: SmallVec<[ProcessId; 8]> = SmallVec::new();
    for action in execution.cut() {
        if !processes.contains(&action.process) && can_be_low(execution, action.process) {
            processes.push(action.process);
        }
    }
    if !processes.is_empty() {
        let (tops, found) = below_the_tops(execution, first_top, &processes);
        let possible: SmallVec<[Action; 8]> = found.iter().map(|&(x, _)| x).collect();
        races.extend(found.into_iter().filter_map(|(x, effect)| {
            let conflicting: Positions = excluding(&tops, x.process, &effect).collect();
            race(execution, x, effect, &conflicting)
        }));
        let found = races.len();
        races_below(execution, &tops, &possible, races);
        for race in races[found..].iter_mut().filter(|race| execution.is_top(race.first)) {
            race.is_initial = is_initial(execution, race);
        }
    }
}

/// Is the process, which is enabled, not an actor, and is its last action not a top?
fn can_be_low<S: System>(execution: &Execution<'_, S>, process: ProcessId) -> bool {
    let last = execution.order().of_process(process).last().map(|&last| last as usize);
    !execution.is_actor(process)
        && last.or(execution.state().born(process)).is_none_or(|at| !execution.is_top(at))
}

/// A top: its position, its process, and its effect after F.
type Top = (usize, ProcessId, Effect);

/// The positions of the tops that depend on an action of this process with the effect `touched`.
fn excluding<'t>(
    tops: &'t [Top],
    process: ProcessId,
    touched: &'t Effect,
) -> impl Iterator<Item = usize> + 't {
    let excludes = move |(_, other, top): &&Top| dependent_here((process, touched), (*other, top));
    tops.iter().filter(excludes).map(|&(at, ..)| at)
}

/// The tops, and the actions that these processes can execute after F, with their effects.
fn below_the_tops<S: System>(
    execution: &mut Execution<'_, S>,
    first_top: usize,
    processes: &[ProcessId],
) -> (Vec<Top>, Vec<(Action, Effect)>) {
    let behind = first_top..execution.len();
    let (tops, low): (Vec<usize>, Vec<usize>) = behind.partition(|&at| execution.is_top(at));
    let action = |&at: &usize| (at, execution.action(at));
    let tops: Vec<_> = tops.iter().map(action).collect();
    let low: Vec<_> = low.iter().map(action).collect();
    execution.looking_back(first_top, |locals, state| {
        low.iter().for_each(|&(_, action)| state.step(locals, action));
        let mut enabled = Vec::new();
        state.enabled(locals, &mut enabled);
        enabled.retain(|action| processes.contains(&action.process));
        let mut peek = |action| state.peek(locals, action);
        let tops = tops.into_iter().map(|(at, action)| (at, action.process, peek(action)));
        let tops = tops.collect();
        (tops, enabled.into_iter().map(|x| (x, peek(x))).collect())
    })
}

/// Appends the races of each x in F·x, as races of E.
fn races_below<S: System>(
    execution: &mut Execution<'_, S>,
    tops: &[Top],
    possible: &[Action],
    races: &mut Vec<Race>,
) {
    let first_top = tops[0].0;
    let behind: Vec<_> = (first_top..execution.len()).map(|at| execution.action(at)).collect();
    let low: Vec<usize> =
        (first_top..execution.len()).filter(|&at| !execution.is_top(at)).collect();
    behind.iter().for_each(|_| drop(execution.pop()));
    low.iter().for_each(|&at| execution.push(behind[at - first_top]));
    let in_e = |position: usize| position.checked_sub(first_top).map_or(position, |at| low[at]);
    let open = OpenChoices::of(execution);
    let mut found = Vec::new();
    for &x in possible {
        execution.push(x);
        with_earlier(execution, &open, &mut found);
        // For an open choice that x completes, x would be in v, but x is not an event of E.
        races.extend(found.drain(..).filter(|race| race.later.is_some()).map(|race| {
            let changed = in_e(race.first);
            let own = race.conflicting(execution).into_iter().map(in_e);
            let top = excluding(tops, race.action.process, &race.effect).next();
            let first = top.map_or(changed, |top| top.min(changed));
            let conflicting = tops.iter().map(|&(at, ..)| at).chain(own).chain([changed]);
            let conflicting = conflicting.filter(|&at| at > first).collect();
            Race { first, later: None, conflicting, ..race }
        }));
        execution.pop();
    }
    low.iter().for_each(|_| drop(execution.pop()));
    behind.iter().for_each(|&action| execution.push(action));
}

fn race<S: System>(
    execution: &Execution<'_, S>,
    action: Action,
    effect: Effect,
    conflicting: &[usize],
) -> Option<Race> {
    let (&first, others) = conflicting.split_first()?;
    let mut race =
        Race { first, action, effect, is_initial: false, later: None, conflicting: others.into() };
    race.is_initial = is_initial(execution, &race);
    Some(race)
}

/// Has x no cause in v, so that it is an initial of v?
fn is_initial<S: System>(execution: &Execution<'_, S>, race: &Race) -> bool {
    let order = execution.order();
    let is_cause = |at: usize| {
        race.keeps(execution, &race.conflicting, at)
            && dependent((order.process(at), order.effect(at)), (race.action.process, &race.effect))
    };
    !(race.first + 1..execution.len()).any(is_cause)
}

/// Appends the races of tests that succeeded but might have failed: with the first event that
/// completed one of their requests, if that event is a top.
fn with_tests<S: System>(execution: &Execution<'_, S>, races: &mut Vec<Race>) {
    for later in 0..execution.len() {
        let Action { process, choice } = execution.action(later);
        let op = execution.op(later);
        if choice == Choice::NOTHING || !op.is_test() || is_poll(execution, later) {
            continue;
        }
        let completers: SmallVec<[Option<usize>; 4]> = completers(execution, later).collect();
        let own = execution.order().of_process(process);
        let own = own.iter().rev().map(|&at| at as usize).find(|&at| at < later);
        let own = own.or(execution.state().born(process));
        let is_known =
            |at: usize| own.is_some_and(|own| at == own || execution.order().before(at, own));
        let Some(Some(first)) = completers.iter().copied().min() else { continue };
        if execution.is_top(first) && !completers.iter().flatten().any(|&at| is_known(at)) {
            races.push(Race {
                first,
                action: Action { process, choice: Choice::NOTHING },
                effect: execution.state().not_yet(op, process),
                is_initial: own.is_none_or(|own| own < first),
                later: Some(later),
                conflicting: Box::default(),
            });
        }
    }
}
