//! Races: pairs of events of an execution that could have occurred in the other order.
//!
//! Abdulla, Aronis, Jonsson, Sagonas (J. ACM 64(4), 2017), section 3: e races with an earlier i if
//! i happens immediately before e, they are of different processes, and i does not enable e. The
//! *reversal* is an event x: the action of e's process without i, after all other causes of e. (For
//! some races x is an event of another process.) The continuation v = notdep(i, E)·x of pre(i), the
//! execution before i, leads to x: it has all events of E after i that do not happen after i, and
//! then x. A [`Race`] is the pair of i and x.
//!
//! In terms of event structures, x is in immediate conflict with i. Take an execution of the
//! search, and an event x in conflict with it whose causes are in it. If the search also tries x
//! before the first event in conflict with x, for each such x, it misses no class. In the textbook
//! all conflicts are between two orders of dependent actions. Here there are four kinds:
//!
//! - *Orders*: e depends on i. This is not a race if e waits for i (a wait, a join), or if i
//!   started e's process. A test that succeeded because of i can come before i, and fails then: x
//!   is the failed test.
//! - *Choices*: i is a `choose`, or a `waitany` that returned 1 although 2 was also complete. x is
//!   the same action with another choice.
//! - *Open choices*: i is a `waitany` that returned 1, and e, independent of it, later completes
//!   its element 2. x is the `waitany` that returns 2, after e. There is no dependence between i
//!   and e. Matches and probes at p2p and bag mailboxes are open choices, too (`network`), and so
//!   are tests there that found nothing.
//! - *Messages*: an actor takes its messages in any order, so a message may be handled at every
//!   position of the actor's chain after the message was sent, if the guard holds there. i is the
//!   handler at the nearest such position before the position where the message was handled (or
//!   before the end, if it was not). Earlier positions are found from the executions in which it is
//!   handled at this one. An internal handler is treated as a message that its own last run sent.
//!
//! If x is a failed test of several requests, an event of E that does not depend on i may complete
//! another of them. Such an event is in conflict with x, so it is not part of v
//! (`Race::conflicting`).

use smallvec::SmallVec;

mod cut;
mod distant;
mod held;
mod network;
mod open;

pub(crate) use cut::with_cut;
pub(crate) use distant::{with_distant, with_distant_of_last};
pub(crate) use held::held_test;
pub use open::OpenChoices;

use self::network::{Detour, detours, detours_through, is_poll, might_find_nothing};
use super::{Execution, HappensBefore, Strand, spin};
use crate::model::{
    Action, Choice, Effect, Handled, Lane, Locals, Needs, Op, ProcessId, State, Stimulus, System,
};

/// An event i of an execution E, and an event x in immediate conflict with i. E has all causes of
/// x.
#[derive(Clone, Debug)]
pub struct Race {
    /// The position of i.
    pub first: usize,
    /// The action of x.
    pub action: Action,
    /// The effect of x. For a handler it says only that it is a handler; for a post or an unlock,
    /// not which process benefits.
    pub(crate) effect: Effect,
    /// Are all causes of x before i, so that x is an initial of v?
    pub(crate) is_initial: bool,
    /// The position of the event of E that is x after i, if there is one.
    later: Option<usize>,
    /// Where a bound cuts the execution: the events after i that are in conflict with x.
    conflicting: Box<[usize]>,
}

/// A few positions in an execution.
pub(crate) type Positions = SmallVec<[usize; 4]>;

impl Race {
    /// The events after i that are in conflict with x although they do not happen after i.
    pub(crate) fn conflicting<S: System>(&self, execution: &Execution<'_, S>) -> Positions {
        match self.later {
            Some(later) if self.action.choice == Choice::NOTHING => {
                let completers = completers(execution, later).flatten();
                completers.filter(|&position| position != self.first).collect()
            }
            _ => Positions::from_slice(&self.conflicting),
        }
    }

    /// Is x another choice of the same action, in the same state?
    pub(crate) fn is_sibling<S: System>(&self, execution: &Execution<'_, S>) -> bool {
        let is_own = execution.strand_at(self.first) == self.strand();
        self.later.is_none() && self.is_initial && is_own
    }

    /// The event of E that is x after i, if i is one of its direct predecessors.
    pub(crate) fn later<S: System>(&self, execution: &Execution<'_, S>) -> Option<usize> {
        let needs = |&later: &usize| {
            execution.order().direct_predecessors(later).contains(&(self.first as u32))
        };
        self.later.filter(needs)
    }

    /// The strand of x.
    pub(crate) fn strand(&self) -> Strand {
        Strand::of(self.action, self.effect.is_handler())
    }

    /// Is the event at `position`, after i, part of v? `conflicting` are the events in conflict
    /// with x.
    pub(crate) fn keeps<S: System>(
        &self,
        execution: &Execution<'_, S>,
        conflicting: &[usize],
        position: usize,
    ) -> bool {
        let order = execution.order();
        let is_excluded = |&other: &usize| other == position || order.before(other, position);
        !order.before(self.first, position) && !conflicting.iter().any(is_excluded)
    }
}

/// Appends the races between the last event of the execution and earlier ones.
pub fn with_earlier<S: System>(
    execution: &mut Execution<'_, S>,
    open: &OpenChoices,
    races: &mut Vec<Race>,
) {
    let last = execution.len() - 1;
    match execution.op(last) {
        Op::Handle { .. } => {
            let Action { process, choice } = execution.action(last);
            let nth = execution.order().of_process(process).len() - 1;
            races.extend(earlier_handling(execution, process, choice, nth, Some(last)));
            return;
        }
        op if execution.state().is_contended(op) && !is_poll(execution, last) => {
            with_predecessors(execution, last, races);
            races.extend(held_test(execution, execution.action(last).process, Some(last)));
        }
        // The other operations depend only on events for which they wait.
        _ => {}
    }
    with_opened(execution, open, races);
}

/// Appends the races of the open choices for which the last event of the execution has made another
/// result possible. These are races of all longer executions, too: all causes of the result are
/// there, and nothing that comes later can be one.
pub(crate) fn with_opened<S: System>(
    execution: &mut Execution<'_, S>,
    open: &OpenChoices,
    races: &mut Vec<Race>,
) {
    let last = execution.len() - 1;
    if open.iter().next().is_some() && (cfg!(debug_assertions) || says_so(execution, last)) {
        for (first, ()) in open.iter() {
            opened_by(execution, first, last, races);
        }
    }
}

/// Appends the races of the open choice at `first` for which the event at `last` has made another
/// result possible.
fn opened_by<S: System>(
    execution: &mut Execution<'_, S>,
    first: usize,
    last: usize,
    races: &mut Vec<Race>,
) {
    let found = races.len();
    let is_possible = first != last && !execution.is_top(last);
    if is_possible && !execution.order().before(first, last) {
        let process = execution.order().process(first);
        for (choice, effect) in completed_by(execution, first, last) {
            debug_assert!(
                says_so(execution, last),
                "{:?} does not say that it may open",
                execution.op(last)
            );
            let action = Action { process, choice };
            races.push(Race {
                first,
                action,
                effect,
                is_initial: false,
                later: None,
                conflicting: Box::default(),
            });
        }
    }
    drop_spinning(execution, races, found);
}

/// Does the operation at `position` say that it may make another result of an earlier choice
/// possible? Classic DPOR relies on that ([`crate::explore::Dpor`]).
fn says_so<S: System>(execution: &Execution<'_, S>, position: usize) -> bool {
    let op = execution.op(position);
    op.may_open() || execution.state().is_contended(op)
}

/// Drops from `races`, from index `found` on, the races whose x would end a spin iteration. They
/// must be races about one choice.
#[inline]
fn drop_spinning<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>, found: usize) {
    let may_return = |execution: &Execution<'_, S>| {
        let before = execution.state().before(races[found].first);
        execution.waits() && execution.locals.may_return(before)
    };
    if races.len() > found && may_return(execution) {
        drop_spinning_ones(execution, races, found);
    }
}

#[cold]
fn drop_spinning_ones<S: System>(
    execution: &mut Execution<'_, S>,
    races: &mut Vec<Race>,
    found: usize,
) {
    let is_possible = |race: &Race| {
        !execution.ends_spin_iteration_instead(race.first, race.action.choice, &race.effect)
    };
    let kept: Vec<Race> = races.drain(found..).filter(is_possible).collect();
    races.extend(kept);
}

/// Could the process have reached the event at `later` without its direct predecessor at `first`?
pub(crate) fn is_reversible<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
    later: usize,
) -> bool {
    let process = execution.order().process(later);
    execution.order().process(first) != process && execution.state().born(process) != Some(first)
}

fn with_predecessors<S: System>(
    execution: &mut Execution<'_, S>,
    last: usize,
    races: &mut Vec<Race>,
) {
    let action = execution.action(last);
    let count = execution.order().direct_predecessors(last).len();
    for index in 0..count {
        let causes = execution.order().direct_predecessors(last);
        let first = causes[index] as usize;
        if !is_reversible(execution, first, last) {
            continue;
        }
        if let Some(register) = execution.awaited(last)
            && execution.order().effect(first).changes(register)
        {
            races.extend(earlier_access(execution, action.process, Some(last)));
            continue;
        }
        let is_initial = causes.iter().all(|&cause| cause as usize <= first);
        if let Some((choice, effect)) = without(execution, first, last) {
            let action = Action { choice, ..action };
            races.push(Race {
                first,
                action,
                effect,
                is_initial,
                later: Some(last),
                conflicting: Box::default(),
            });
        }
    }
}

/// The race of an access (of the event at `later`, or of an access that waits at the end) with the
/// change that ends the nearest earlier version at which the access is possible: see
/// [`super::spin`].
fn earlier_access<S: System>(
    execution: &mut Execution<'_, S>,
    process: ProcessId,
    later: Option<usize>,
) -> Option<Race> {
    let earlier = execution.earlier_access(process, later)?;
    let first = earlier.overwritten_by;
    Some(Race {
        first,
        action: Action { process, choice: Choice::ONLY },
        effect: earlier.effect,
        is_initial: earlier.after.is_none_or(|after| after < first),
        later,
        conflicting: Box::default(),
    })
}

/// What the process of the last event does without the event at `first`, on which the last event
/// depends; `None` if this is not a race.
fn without<S: System>(
    execution: &mut Execution<'_, S>,
    first: usize,
    last: usize,
) -> Option<(Choice, Effect)> {
    let Action { process, choice } = execution.action(last);
    let (op, order) = (execution.op(last), execution.order());
    if !op.is_test() || choice == Choice::NOTHING {
        let register = execution.state().register(op);
        let effect = match register.filter(|&register| order.effect(first).changes(register)) {
            Some(register) => touched_without(execution, first, last, register),
            None => order.effect(last).clone(),
        };
        return Some((choice, effect));
    }
    let effect = execution.state().not_yet(op, process);
    let is_possible = fails_without(execution, first, last)
        && !execution.ends_spin_iteration_instead(last, Choice::NOTHING, &effect);
    is_possible.then_some((Choice::NOTHING, effect))
}

/// Does the test that is the last event find nothing complete without `first`?
fn fails_without<S: System>(execution: &Execution<'_, S>, first: usize, last: usize) -> bool {
    let has_come = |other: usize| other < first || execution.order().before(other, last);
    completers(execution, last).all(|completer| match completer {
        None => false,
        Some(other) => other == first || !has_come(other),
    })
}

/// The effect of the last event, an access, if it came before the change at `first`.
fn touched_without<S: System>(
    execution: &mut Execution<'_, S>,
    first: usize,
    last: usize,
    lane: Lane,
) -> Effect {
    let version = spin::version_at(execution.order(), lane, first);
    let observed = execution.observed(last, version);
    Effect::access(lane, observed.is_none())
}

/// Appends the races of the last event of the execution, if it is a choice, with the other choices
/// in the same state.
pub fn with_siblings<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    let found = races.len();
    siblings(execution, races);
    drop_spinning(execution, races, found);
}

fn siblings<S: System>(execution: &Execution<'_, S>, races: &mut Vec<Race>) {
    let first = execution.len() - 1;
    let Action { process, choice } = execution.action(first);
    let is_poll = is_poll(execution, first);
    if choice == Choice::NOTHING && !is_poll {
        return;
    }
    let mut add = |other: Choice, effect| {
        let action = Action { process, choice: other };
        if action.choice != choice {
            races.push(Race {
                first,
                action,
                effect,
                is_initial: true,
                later: None,
                conflicting: Box::default(),
            });
        }
    };
    match *execution.op(first) {
        Op::Deliver | Op::Probe { .. } => {
            let is_earlier = |cause: &u32| (*cause as usize) < first;
            for detour in detours(execution, first) {
                if detour.causes.iter().all(is_earlier) {
                    add(detour.choice, detour.effect);
                }
            }
        }
        ref op => {
            let mut needs = Needs::new();
            for index in 0..execution.state().ways(op, process) {
                let other = Choice(index as i32);
                if other != choice
                    && possible(execution, (op, process), index, &mut needs)
                    && !needs_top(execution, &needs)
                {
                    add(other, effect_instead(execution, first, &needs));
                }
            }
        }
    }
    if is_poll && might_find_nothing(execution, first) {
        add(Choice::NOTHING, Effect::nothing());
    }
}

/// Is the last event that is needed so high that an event after it would be too high?
fn needs_top<S: System>(execution: &Execution<'_, S>, needs: &Needs) -> bool {
    let last = || execution.order().last_needed(needs);
    execution.has_tops() && last().is_some_and(|last| execution.is_top(last))
}

/// Appends the races of actions that are not possible at the end of the execution with its events:
/// messages that are not accepted or too high there, internal handlers that cannot run, accesses
/// that wait, and tests that would have failed.
pub fn with_pending<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    for process in execution.held_accesses() {
        races.extend(earlier_access(execution, process, None));
    }
    with_held_tests(execution, races);
    let execution = &*execution;
    let state = execution.state();
    for process in state.processes() {
        let chain = execution.order().of_process(process);
        let Some(&last) = chain.last() else { continue };
        let Op::Handle { internals } = *execution.op(last as usize) else { continue };
        let (inboxes, local) = (state.inboxes(), state.local(process));
        let messages =
            inboxes.pending(process).map(|at| Choice::message(inboxes.log()[at as usize].id));
        for choice in messages.chain((0..internals).map(Choice::internal)) {
            let has_failed = execution.locals.op(local).is_none();
            let is_cut = || execution.cut().contains(&Action { process, choice });
            let accepts = || execution.locals.accepts(process, local, state.stimulus(choice));
            if has_failed || !accepts() || is_cut() {
                races.extend(earlier_handling(execution, process, choice, chain.len(), None));
            }
        }
    }
}

/// Appends the [races](held_test) of the tests at which processes are at the end.
fn with_held_tests<S: System>(execution: &mut Execution<'_, S>, races: &mut Vec<Race>) {
    if execution.waits() {
        let processes: SmallVec<[ProcessId; 8]> = execution.state().processes().collect();
        let held = processes.into_iter().filter_map(|process| held_test(execution, process, None));
        races.extend(held);
    }
}

/// The race of a message or internal handler, which is (or could become) the `nth` action of its
/// actor, with the event at the nearest earlier position at which it is accepted.
fn earlier_handling<S: System>(
    execution: &Execution<'_, S>,
    actor: ProcessId,
    choice: Choice,
    nth: usize,
    later: Option<usize>,
) -> Option<Race> {
    let (state, order) = (execution.state(), execution.order());
    let (creator, stimulus) = stimulus(state, choice);
    if creator.is_some_and(|creator| execution.is_top(creator)) {
        return None;
    }
    let known = creator.and_then(|creator| order.clock(creator).get(actor.index()).copied());
    let action = Action { process: actor, choice };
    let chain = &order.of_process(actor)[known.unwrap_or(0) as usize..nth];
    let since_last = chain.iter().rev().map(|&position| position as usize);
    let mut since_last = since_last.take_while(|&position| execution.action(position) != action);
    let first = since_last
        .find(|&position| execution.locals.accepts(actor, state.before(position), stimulus))?;
    let is_initial = creator.is_none_or(|creator| creator < first);
    Some(Race {
        first,
        action,
        effect: Effect::handler(actor),
        is_initial,
        later,
        conflicting: Box::default(),
    })
}

/// The position of the action that sent this message, if there is one, and the stimulus for its
/// receiver. An internal handler has no sender.
fn stimulus(state: &State, choice: Choice) -> (Option<usize>, Stimulus) {
    match choice.handled() {
        Handled::Message(id) => {
            let message = state.message(id);
            (message.creator(), Stimulus::Message(message.content))
        }
        Handled::Internal(handler) => (None, Stimulus::Internal(handler)),
    }
}

/// Is this way of the operation of a process possible? `needs` becomes what it needs.
fn possible<S: System>(
    execution: &Execution<'_, S>,
    asker: (&Op, ProcessId),
    index: u32,
    needs: &mut Needs,
) -> bool {
    needs.clear();
    execution.state().way(&execution.locals, asker, index, needs).is_some()
}

/// The effect of the choice at `position` if it were another one, which has these needs.
fn effect_instead<S: System>(
    execution: &Execution<'_, S>,
    position: usize,
    needs: &Needs,
) -> Effect {
    let acts = execution.order().effect(position).acts.clone();
    Effect { acts, ..Effect::needing(needs) }
}

/// The other results of the open choice at `chosen` that the event at `position` has made possible:
/// ways that it completed, or messages that became possible. Each with its effect.
pub fn completed_by<S: System>(
    execution: &Execution<'_, S>,
    chosen: usize,
    position: usize,
) -> SmallVec<[(Choice, Effect); 1]> {
    let Action { process, choice } = execution.action(chosen);
    let (op, effect) = (execution.op(chosen), execution.order().effect(position));
    if effect.is_observation() {
        return SmallVec::new();
    }
    if let Op::Deliver | Op::Probe { .. } = op {
        if effect.at == Effect::NOWHERE {
            return SmallVec::new();
        }
        let opened = detours_through(execution, chosen, position);
        debug_assert!({
            let mut all = detours(execution, chosen);
            all.retain(|detour| detour.causes.contains(&(position as u32)));
            let choices = |all: &[Detour]| all.iter().map(|one| one.choice).collect::<Vec<_>>();
            choices(&all) == choices(&opened)
        });
        return opened.into_iter().map(|detour| (detour.choice, detour.effect)).collect();
    }
    let mut needs = Needs::new();
    let mut completed = SmallVec::new();
    for index in 0..execution.state().ways(op, process) {
        let other = Choice(index as i32);
        if other != choice
            && possible(execution, (op, process), index, &mut needs)
            && execution.order().last_needed(&needs) == Some(position)
        {
            completed.push((other, effect_instead(execution, chosen, &needs)));
        }
    }
    completed
}

/// The [`completer`] of each way of the test at `position` that is possible in the execution.
fn completers<S: System>(
    execution: &Execution<'_, S>,
    position: usize,
) -> impl Iterator<Item = Option<usize>> {
    let Execution { locals, .. } = execution;
    let (state, order) = (execution.state(), execution.order());
    let asker = (execution.op(position), order.process(position));
    let ways = 0..state.ways(asker.0, asker.1);
    ways.filter_map(move |index| completer(locals, state, order, asker, index))
}

/// `None` if this way of the operation of a process is never possible in the execution. Otherwise
/// the position of the event that made it possible; `Some(None)` if it was possible from the start.
pub(super) fn completer<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    order: &HappensBefore,
    asker: (&Op, ProcessId),
    index: u32,
) -> Option<Option<usize>> {
    let mut needs = Needs::new();
    state.way(locals, asker, index, &mut needs)?;
    Some(order.last_needed(&needs))
}
