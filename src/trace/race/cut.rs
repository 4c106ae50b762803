//! The races of actions that a bound on the height of events cuts off.
//!
//! An action that is too high at the end of an execution E is no event, so it has no races to look
//! at. But it could have come earlier, without what makes it too high: the *tops*, which are the
//! events of E as high as allowed. Let F be E without its tops. Every event of E, top or not, has
//! all its causes in F. So F is an execution, and x is what the process does after F, if it can do
//! anything. The events of E that exclude x are the tops on which it depends. Like x they are
//! enabled after F, so the dependence can be asked there.
//!
//! One x per process is not enough. Histories smaller than F give other events (a write before some
//! more reads, a receive before another receive), and a top may leave these possible although it
//! excludes x. In an execution with x they would be found as races of an event. But what follows in
//! such an execution may be asleep because of the top. So they are looked for here: the races of x
//! in F·x, with no tops in v. If a top before the event i of such a race excludes the reversal,
//! that top has to go as well: then it is the first, and i a rival.
//!
//! A test that succeeded is not too high, but a top may have completed something else that it
//! tests. If the test had returned that, it would have been too high, and then it would show that
//! the test could fail before the top came. So this case is looked at here.

use smallvec::SmallVec;

use super::{OpenChoices, Positions, Race, completer, failure, is_poll, requests, with_earlier};
use crate::model::{Action, Choice, Effect, Op, ProcessId, System, dependent};
use crate::trace::Execution;
use crate::trace::initials::dependent_here;

/// The races of actions that are too high at the end of the execution, and of tests of things that
/// came too late for them. For messages see [`super::with_pending`].
pub fn with_cut<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
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
            let rivals: Positions = excluding(&tops, x.process, &effect).collect();
            race(execution, x, effect, &rivals)
        }));
        let found = races.len();
        races_below(execution, &tops, &possible, races);
        for race in races[found..].iter_mut().filter(|race| execution.is_top(race.first)) {
            race.is_initial = is_initial(execution, race);
        }
    }
}

/// Is the process, which is enabled, no actor, and low enough for one more action?
fn can_be_low<S: System>(execution: &Execution<'_, S>, process: ProcessId) -> bool {
    let last = execution.order().of_process(process).last().map(|&last| last as usize);
    !execution.is_actor(process)
        && last.or(execution.state().born(process)).is_none_or(|at| !execution.is_top(at))
}

/// A top: its position, whose it is, and what it touches after F.
type Top = (usize, ProcessId, Effect);

/// The positions of the tops that exclude an action of this process that touches this.
fn excluding<'t>(
    tops: &'t [Top],
    process: ProcessId,
    touched: &'t Effect,
) -> impl Iterator<Item = usize> + 't {
    let excludes = move |(_, other, top): &&Top| dependent_here((process, touched), (*other, top));
    tops.iter().filter(excludes).map(|&(at, ..)| at)
}

/// The tops, and what these processes can do after F, with what they touch.
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

/// The races of each x in F·x, as races of E.
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
        // What x completes as an open choice has x in v, which is no event of E.
        races.extend(found.drain(..).filter(|race| race.later.is_some()).map(|race| {
            let changed = in_e(race.first);
            let spoilers = race.spoilers(execution).into_iter().map(in_e);
            let top = excluding(tops, race.action.process, &race.effect).next();
            let first = top.map_or(changed, |top| top.min(changed));
            let rivals = tops.iter().map(|&(at, ..)| at).chain(spoilers).chain([changed]);
            let rivals = rivals.filter(|&at| at > first).collect();
            Race { first, later: None, rivals, ..race }
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
    rivals: &[usize],
) -> Option<Race> {
    let (&first, others) = rivals.split_first()?;
    let mut race =
        Race { first, action, effect, is_initial: false, later: None, rivals: others.into() };
    race.is_initial = is_initial(execution, &race);
    Some(race)
}

/// Does nothing in v happen before x?
fn is_initial<S: System>(execution: &Execution<'_, S>, race: &Race) -> bool {
    let order = execution.order();
    let is_cause = |at: usize| {
        race.keeps(execution, &race.rivals, at)
            && dependent((order.process(at), order.effect(at)), (race.action.process, &race.effect))
    };
    !(race.first + 1..execution.len()).any(is_cause)
}

/// The races of tests that succeeded but might have failed, with what completed any of the things
/// they test, if the first event that did so is a top.
fn with_tests<S: System>(execution: &Execution<'_, S>, races: &mut Vec<Race>) {
    for later in 0..execution.len() {
        let Action { process, choice } = execution.action(later);
        let op = execution.op(later);
        if is_poll(execution, later) {
            continue;
        }
        if choice == Choice::NOTHING || !matches!(op, Op::TestAny(_) | Op::MutexTestAny(_)) {
            continue;
        }
        let (state, order) = (execution.state(), execution.order());
        let completers =
            (0..requests(op)).filter_map(|index| completer(state, order, later, op, index));
        let completers: SmallVec<[Option<usize>; 4]> = completers.collect();
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
                effect: failure(execution, process, op),
                is_initial: own.is_none_or(|own| own < first),
                later: Some(later),
                rivals: Box::default(),
            });
        }
    }
}
