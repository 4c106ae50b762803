//! Demands on endless executions, in a state and on a lasso.
//!
//! A *lasso* is an infinite execution in finite form: a *stem*, and a *loop* after it that leads
//! back to the state where it began, to be repeated for ever. If the loop is empty, the execution
//! ends: it stays in its last state. If a demand is violated in a finite system, a lasso violates
//! it. [`judge_lasso`] decides by the definitions whether a lasso is fair and violates a demand. It
//! uses the model alone, so it is evidence that does not depend on the search that found the lasso.
//!
//! Two states are equal if their portraits are ([`State::portrait`]): then they have the same
//! future. Messages and requests are other ones after each round, but play the same part.

use smallvec::SmallVec;

use super::invariants::with_view;
use crate::model::{
    Action, Demand, Failure, Fairness, Handled, Liveness, LocalId, Locals, MailboxId, May, Object,
    Op, Part, Parts, Posted, ProcessId, Schedule, State, Stimulus, System, Temporal, Touch, Value,
};

/// An action that is strongly fair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StrongAction {
    /// Any step of this process.
    Process(ProcessId),
    /// A step of this process that changes this object, by its number in the declarations.
    Change(ProcessId, Object),
    /// The match of a message that this process has sent to this mailbox.
    Match(MailboxId, ProcessId),
    /// This handler of this actor.
    Handler(ProcessId, u32),
}

/// Strongly fair actions that one step takes.
pub(crate) type StrongActions = SmallVec<[StrongAction; 2]>;

fn liveness<'l, S: System>(locals: &Locals<'l, S>) -> &'l dyn Liveness<S::Local> {
    locals.system().liveness().expect("a system with demands")
}

/// Does each proposition hold in `state`? Writes the answers to `bits`, 64 of them in a word.
///
/// # Errors
/// The first run-time error in one of them.
pub(crate) fn propositions<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    bits: &mut [u64],
) -> Result<(), Failure> {
    let liveness = liveness(locals);
    bits.fill(0);
    with_view(locals, state, |view| {
        (0..liveness.propositions()).try_for_each(|number| {
            let holds = liveness.holds(number, view)?;
            bits[number / 64] |= u64::from(holds) << (number % 64);
            Ok(())
        })
    })
}

/// The run-time error in a proposition of the system in `state`, if there is one.
pub(crate) fn failed_proposition<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
) -> Option<Failure> {
    let count = locals.system().liveness()?.propositions();
    propositions(locals, state, &mut vec![0; count.div_ceil(64)]).err()
}

/// What the goal of a demand has read in a state in which it does not hold: names and values.
pub(crate) fn goal_readings<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    demand: &Demand,
) -> Vec<(String, Value)> {
    with_view(locals, state, |view| liveness(locals).readings(demand.goal, view))
}

/// How fair executions are to a process that exists.
pub(crate) fn fairness<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    process: ProcessId,
) -> Fairness {
    let local = state.local(process);
    let local = (local != LocalId::CARRIER).then(|| locals.get(local));
    liveness(locals).fairness(local)
}

/// The strongly fair actions that the last step of `state` has taken.
///
/// # Panics
/// In an initial state.
pub(crate) fn strong_actions<S: System>(locals: &Locals<'_, S>, state: &State) -> StrongActions {
    let mut all = StrongActions::new();
    let last = state.depth() - 1;
    let Action { process, choice } = state.action(last);
    if fairness(locals, state, process) == Fairness::Strong {
        all.push(StrongAction::Process(process));
    }
    let liveness = liveness(locals);
    if !liveness.has_strong_actions() {
        return all;
    }
    let before = state.before(last);
    if before == LocalId::CARRIER {
        all.extend(matched(locals, state, last).filter(|one| is_strong(liveness, one)));
        return all;
    }
    if let Some(Op::Handle { .. }) = locals.op(before) {
        let stimulus = match choice.handled() {
            Handled::Internal(number) => Stimulus::Internal(number),
            Handled::Message(_) => {
                let taken = state.taken(last).expect("a message that was taken");
                Stimulus::Message(state.inboxes().log()[taken as usize].content)
            }
        };
        let local = locals.get(before);
        let handler = liveness.strong_handler(process, local, stimulus, &locals.values);
        all.extend(handler.map(|handler| StrongAction::Handler(process, handler)));
        return all;
    }
    state.touches(locals, |touch| {
        let changed = changed(locals.declared(touch)).map(|o| StrongAction::Change(process, o));
        if let Some(action) = changed
            && is_strong(liveness, &action)
            && !all.contains(&action)
        {
            all.push(action);
        }
    });
    all
}

/// The match that the step of a carrier at this position made, if it made one.
fn matched<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    position: usize,
) -> Option<StrongAction> {
    let Posted::Receive(_) = state.carried_at(position) else { return None };
    let sent = &state.network().sends()[state.taken(position)? as usize];
    let declared = locals.objects().mailboxes.declared(sent.mailbox.0);
    Some(StrongAction::Match(MailboxId(declared), sent.process))
}

/// The mutex or cell that this touch, in declared numbers, changes.
fn changed(touch: Touch) -> Option<Object> {
    let object = match touch.lane.part() {
        Part::Contents => Object::Cell(crate::model::CellId(touch.lane.object())),
        Part::Requests | Part::Queue => Object::Mutex(crate::model::MutexId(touch.lane.object())),
        _ => return None,
    };
    matches!(touch.may, May::Change | May::Turn).then_some(object)
}

fn is_strong<L>(liveness: &dyn Liveness<L>, action: &StrongAction) -> bool {
    match *action {
        StrongAction::Change(_, object) => liveness.is_strong(object),
        StrongAction::Match(mailbox, _) => liveness.is_strong(Object::Mailbox(mailbox)),
        StrongAction::Process(_) | StrongAction::Handler(..) => true,
    }
}

/// What a state of a loop has to do with fairness.
#[derive(Default)]
struct Seen {
    /// The processes that have to move.
    can_move: Vec<(ProcessId, Fairness)>,
    /// The strongly fair actions that are possible.
    possible: Vec<StrongAction>,
}

fn seen<S: System>(locals: &mut Locals<'_, S>, state: &mut State) -> Seen {
    let mut seen = Seen::default();
    let mut enabled = Vec::new();
    state.enabled(locals, &mut enabled);
    for action in enabled {
        if state.is_optional(locals, action) {
            continue;
        }
        let fair = (action.process, fairness(locals, state, action.process));
        if !seen.can_move.contains(&fair) {
            seen.can_move.push(fair);
        }
        state.step(locals, action);
        seen.possible.extend(strong_actions(locals, state));
        state.undo(locals);
    }
    seen
}

/// Is the schedule a lasso that is fair, and that violates the demand?
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn judge_lasso<S: System>(
    system: &S,
    schedule: &Schedule,
    demand: &Demand,
) -> Result<(), String> {
    let from = schedule.loop_from().ok_or("the schedule has no loop")?;
    let mut locals = Locals::new(system);
    let words = liveness(&locals).propositions().div_ceil(64);
    let mut bits = vec![0; words];
    let mut goals = Vec::new();
    let mut triggers = Vec::new();
    let mut note = |locals: &Locals<'_, S>, state: &State| {
        propositions(locals, state, &mut bits).map_err(|failure| failure.message)?;
        let holds = |number: usize| bits[number / 64] >> (number % 64) & 1 == 1;
        goals.push(holds(demand.goal));
        triggers.push(demand.trigger.is_some_and(holds));
        Ok::<_, String>(())
    };
    let mut state = State::initial(&mut locals);
    note(&locals, &state)?;
    let (mut around, mut taken) = (Vec::new(), Vec::new());
    let (mut parts, mut start, mut end) = (Parts::default(), Vec::new(), Vec::new());
    for (at, &action) in schedule.iter().enumerate() {
        if at == from {
            state.portrait(&mut locals, &mut parts, &mut start);
        }
        let refusal = || format!("step {} is not enabled", at + 1);
        let action = state.action_named(&locals, action).ok_or_else(refusal)?;
        if at >= from {
            around.push(seen(&mut locals, &mut state));
        }
        state.step(&mut locals, action);
        note(&locals, &state)?;
        if at >= from {
            taken.push((action.process, strong_actions(&locals, &state)));
        }
    }
    if from == schedule.len() {
        around.push(seen(&mut locals, &mut state));
        if around[0].can_move.iter().any(|&(_, fairness)| fairness != Fairness::MayStop) {
            return Err("the execution does not end there".into());
        }
    } else {
        state.portrait(&mut locals, &mut parts, &mut end);
        if start != end {
            return Err("its loop does not lead back to where it began".into());
        }
    }
    unfair(&around, &taken).map_or(Ok(()), Err)?;
    let is_violated = match demand.pattern {
        Temporal::Eventually => !goals.contains(&true),
        Temporal::AlwaysEventually => !goals[from..].contains(&true),
        Temporal::LeadsTo => {
            // A trigger on the loop comes again after each goal.
            let last_goal = goals.iter().rposition(|&holds| holds).map_or(0, |at| at + 1);
            last_goal <= from && triggers[last_goal..].contains(&true)
        }
    };
    if is_violated { Ok(()) } else { Err("the demand is fulfilled".into()) }
}

/// To whom a loop is unfair, in words. `around` are its states, `taken` its steps.
fn unfair(around: &[Seen], taken: &[(ProcessId, StrongActions)]) -> Option<String> {
    for &(process, fairness) in &around[0].can_move {
        let always = around.iter().all(|state| state.can_move.contains(&(process, fairness)));
        let moves = taken.iter().any(|&(moved, _)| moved == process);
        if always && !moves && fairness >= Fairness::Weak {
            return Some(format!("the loop is unfair to process {}", process.0));
        }
    }
    let mut possible = around.iter().flat_map(|state| &state.possible);
    let is_taken = |action| taken.iter().any(|(_, taken)| taken.contains(action));
    let neglected = possible.find(|&action| !is_taken(action))?;
    Some(format!("the loop is unfair to {neglected:?}"))
}
