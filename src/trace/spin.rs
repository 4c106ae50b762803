//! Loops that wait: spin iterations are left out of executions.
//!
//! `while x == 0 {}`, `while !test(c) {}` and `while !cas(lock, 0, 1) {}` wait for an action of
//! another process. Executed literally they make executions endless. As in Nidhugg and GenMC
//! (Jonsson, Lång, Sagonas, *Awaiting for Godot*, TACAS 2022; Kokologiannakis, Ren, Vafeiadis,
//! *Dynamic partial order reductions for spinloops*, FMCAD 2021) a process waits instead of
//! executing an iteration that changes nothing. Here that is defined by events, so it is the same
//! for every explorer, and no loop has to be recognised in the program text:
//!
//! An event e of process p ends a *spin iteration* if
//! - after e, p is in a local state r in which it was before, and all its actions since then, e
//!   included, left every object unchanged: reads, failed `cas`, tests, waits that are over,
//!   choices, local steps; nor did p learn by one of them that a communication of the network is
//!   complete, since no poll of p misses it after that; and
//! - after the history of e each of these operations would have the same result again.
//!
//! Then p alone could loop for ever. Such events, and all events after them in the causal order,
//! are left out of the unfolding. The remaining events are closed under causes. So they form an
//! event structure again, and the theory of event structures applies.
//!
//! **Nothing is lost.** Remove the actions of a spin iteration of p from an execution: no other
//! process is affected, and p is still in r. So the shortest execution to a state has no such
//! iteration, and every state, failure and deadlock is reached without one.
//!
//! **Where all executions end, nothing changes**: after a spin iteration p could go on for ever,
//! so such programs have no spin iterations and keep their classes. (Without the second condition
//! this would not be so: a loop that reads a pointer and tries to swing it by `cas` comes back to
//! its beginning when the `cas` fails. But then the pointer has changed.)
//!
//! **At the end of an execution.** If only such events are enabled, some process waits in a loop.
//! If no such process can ever leave its loop, that is a *livelock*. If one could leave its loop
//! now, it has checked its condition too early: the condition holds by now. Then the execution is
//! given up, because an execution without that iteration is explored as well.
//!
//! **Races.** So an access to a cell, or a `try_lock`, may be possible at one version of the cell,
//! or of the queue, and not at the next. For the race of an access with the change before it, DPOR
//! has to find the nearest earlier version at which the access is possible; also for accesses that
//! wait at the end of an execution. A test may fail before what completes its request, and not be
//! possible afterwards: see `race::held`. This holds for no other operation.

use smallvec::SmallVec;

use super::HappensBefore;
use super::race::completer;
use crate::model::{
    Action, Choice, Effect, Handle, Lane, LocalId, Locals, Needs, Op, Probing, ProcessId, Response,
    State, Status, System, dependent,
};

/// Positions of actions.
type Positions = SmallVec<[usize; 4]>;

/// Removes from `actions`, from index `from` on, the enabled actions that would end a spin
/// iteration. Returns whether there were any.
pub(crate) fn hold_back<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    order: &HappensBefore,
    actions: &mut Vec<Action>,
    from: usize,
) -> bool {
    if !locals.some_may_return() {
        return false;
    }
    let mut kept = from;
    for index in from..actions.len() {
        if !ends_spin_iteration(locals, state, order, actions[index]) {
            actions[kept] = actions[index];
            kept += 1;
        }
    }
    let any = kept < actions.len();
    actions.truncate(kept);
    any
}

/// Would this enabled action end a spin iteration?
pub(crate) fn ends_spin_iteration<S: System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    order: &HappensBefore,
    action: Action,
) -> bool {
    let process = action.process;
    let before = state.local(process);
    if !locals.may_return(before) || !locals.op(before).is_some_and(Op::may_observe) {
        return false;
    }
    let status = locals.shared_status(before);
    let Status::At(op) = &*status else { unreachable!("a process that moves") };
    let (after, effect) = if let Some(register) = state.register(op) {
        let version = order.changes(register).len();
        let observed = state.observed(op, &mut locals.values, process, version);
        let Some(response) = observed else { return false };
        (locals.resume(before, response), Effect::access(register, false))
    } else {
        state.step(locals, action);
        let found = (state.local(process), state.effect(locals));
        state.undo(locals);
        found
    };
    let nth = order.of_process(process).len();
    effect.is_observation()
        && !state.tells(process, (op, action.choice), order.len())
        && iteration(locals, state, order, (process, nth), before, after).is_some_and(|iteration| {
            let causes = causes(state, order, process, &effect);
            is_stable(locals, state, order, iteration, &|at| is_known(order, &causes, at))
        })
}

/// The iteration that ends when the process, after its first `nth` actions, goes from local state
/// `before` to `after` by an observation: the positions of its actions, without that observation.
/// `None` if no iteration ends there.
fn iteration<'o, S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    order: &'o HappensBefore,
    (process, nth): (ProcessId, usize),
    before: LocalId,
    after: LocalId,
) -> Option<&'o [u32]> {
    let own = &order.of_process(process)[..nth];
    if after == before {
        return Some(&[]);
    }
    for start in (0..nth).rev() {
        let position = own[start] as usize;
        let local = state.before(position);
        if !locals.may_return(local) || !order.effect(position).is_observation() {
            return None;
        }
        let op = locals.op(local).expect("a process that moved");
        if state.tells(process, (op, state.action(position).choice), position) {
            return None;
        }
        if local == after {
            return Some(&own[start..]);
        }
    }
    None
}

/// Would each of these observations have the same result again, after a history of the events for
/// which `is_known`?
fn is_stable<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    order: &HappensBefore,
    iteration: &[u32],
    is_known: &dyn Fn(usize) -> bool,
) -> bool {
    iteration.iter().all(|&position| {
        let position = position as usize;
        let status = locals.shared_status(state.before(position));
        let Status::At(op) = &*status else { unreachable!("a process that moved") };
        if let Some(register) = state.register(op) {
            let version = |until: &dyn Fn(usize) -> bool| {
                changes(order, register).filter(|&at| until(at)).count()
            };
            let (then, now) = (version(&|at| at < position), version(is_known));
            let process = order.process(position);
            let mut told = |version| state.observed(op, &mut locals.values, process, version);
            return then == now || told(then) == told(now);
        }
        // A poll of the network may always fail again. Another test fails again, unless one of its
        // ways is possible now.
        let process = order.process(position);
        let is_possible = |index| {
            let completer = completer(locals, state, order, (op, process), index);
            completer.flatten().is_some_and(is_known)
        };
        !(order.effect(position).is_failed_test() && (0..state.ways(op, process)).any(is_possible))
    })
}

/// The positions of the changes of a register.
fn changes(order: &HappensBefore, lane: Lane) -> impl Iterator<Item = usize> {
    order.changes(lane).iter().map(|&at| at as usize)
}

/// Is the event at `position` one of the `causes`, or before one of them?
fn is_known(order: &HappensBefore, causes: &[usize], position: usize) -> bool {
    causes.iter().any(|&cause| cause == position || order.before(position, cause))
}

/// The event that the process's action number `nth` follows: its previous action, or the action
/// that started the process.
pub(super) fn previous(
    state: &State,
    order: &HappensBefore,
    process: ProcessId,
    nth: usize,
) -> Option<usize> {
    match nth.checked_sub(1) {
        Some(last) => Some(order.of_process(process)[last] as usize),
        None => state.born(process),
    }
}

/// The events on which the next action of the process depends, if it has this effect.
fn causes(state: &State, order: &HappensBefore, process: ProcessId, effect: &Effect) -> Positions {
    let touched = (process, effect);
    let depends = |&at: &usize| {
        order.process(at) != process && dependent(touched, (order.process(at), order.effect(at)))
    };
    let nth = order.of_process(process).len();
    let own = previous(state, order, process, nth);
    own.into_iter().chain((0..order.len()).filter(depends)).collect()
}

/// An earlier version of a register at which an access could have come.
pub(crate) struct Earlier {
    /// The change that ended this version.
    pub(crate) overwritten_by: usize,
    /// The event that the access follows: the previous action of its process, or the action that
    /// started the process.
    pub(crate) after: Option<usize>,
    /// The effect of the access there.
    pub(crate) effect: Effect,
}

/// The versions of the register before number `latest` at which the process, after its first `nth`
/// actions in local state `before`, could make its access without ending a spin iteration; newest
/// first, each with its number.
pub(crate) fn earlier_accesses<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    order: &HappensBefore,
    (process, nth): (ProcessId, usize),
    before: LocalId,
    latest: usize,
) -> impl Iterator<Item = (usize, Earlier)> {
    let register = locals.op(before).and_then(|op| state.register(op));
    let changes: Vec<usize> =
        register.map_or_else(Vec::new, |register| changes(order, register).collect());
    let after = previous(state, order, process, nth);
    let known = |at: usize| after.is_some_and(|after| is_known(order, &[after], at));
    let first = changes.iter().take_while(|&&at| known(at)).count();
    (first..latest).rev().filter_map(move |version| {
        let mut causes: Positions = after.into_iter().collect();
        causes.extend(version.checked_sub(1).map(|last| changes[last]));
        let effect = access_at(locals, state, order, (process, nth), before, version, &causes)?;
        Some((version, Earlier { overwritten_by: changes[version], after, effect }))
    })
}

/// The effect of the access at this version; `None` if it would end a spin iteration.
fn access_at<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    order: &HappensBefore,
    who: (ProcessId, usize),
    before: LocalId,
    version: usize,
    causes: &[usize],
) -> Option<Effect> {
    let status = locals.shared_status(before);
    let Status::At(op) = &*status else { unreachable!("a process that accesses a register") };
    let register = state.register(op).expect("an access");
    let observed = state.observed(op, &mut locals.values, who.0, version);
    let effect = Effect::access(register, observed.is_none());
    let Some(response) = observed else { return Some(effect) };
    let after = locals.resume(before, response);
    let ends_spin_iteration =
        iteration(locals, state, order, who, before, after).is_some_and(|iteration| {
            is_stable(locals, state, order, iteration, &|at| is_known(order, causes, at))
        });
    (!ends_spin_iteration).then_some(effect)
}

/// The number of changes of the register before `position`, which is the number of its version
/// there.
pub(crate) fn version_at(order: &HappensBefore, lane: Lane, position: usize) -> usize {
    order.changes(lane).partition_point(|&at| (at as usize) < position)
}

/// If the process, after its first `nth` actions in local state `before`, had this choice with the
/// effect `touched`, would that end a spin iteration?
pub(crate) fn would_end_spin_iteration<S: System>(
    locals: &mut Locals<'_, S>,
    state: &State,
    order: &HappensBefore,
    (process, nth, before): (ProcessId, usize, LocalId),
    choice: Choice,
    touched: &Effect,
) -> bool {
    if !locals.may_return(before) {
        return false;
    }
    let op = locals.op(before).expect("a process that moved");
    let at = order.of_process(process).get(nth).map_or(order.len(), |&at| at as usize);
    if !op.may_observe() || state.tells(process, (op, choice), at) {
        return false;
    }
    let response = match *op {
        Op::Probe { form: Probing::Take | Probing::Reserve, .. } => return false,
        Op::Probe { form, .. } => {
            Response::Value(state.probed(form, Handle(0), choice, &mut locals.values))
        }
        _ if choice == Choice::NOTHING => Response::Incomplete,
        _ => {
            let way = state.way(locals, (op, process), choice.0 as u32, &mut Needs::new());
            way.expect("a way that is possible")
        }
    };
    let after = locals.resume(before, response);
    let mut causes: Positions = previous(state, order, process, nth).into_iter().collect();
    // For a failed test, the events that complete its requests come later, so they are not causes.
    if !touched.is_failed_test() {
        causes.extend((0..order.len()).filter(|&at| {
            let other = (order.process(at), order.effect(at));
            other.0 != process && dependent((process, touched), other)
        }));
    }
    iteration(locals, state, order, (process, nth), before, after).is_some_and(|iteration| {
        is_stable(locals, state, order, iteration, &|at| is_known(order, &causes, at))
    })
}
