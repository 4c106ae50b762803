//! The part of an execution that its last action needs: what a counterexample has to show.

use rustc_hash::FxHashMap;

use super::HappensBefore;
use crate::model::{
    Action, Choice, Footprint, Locals, MessageId, PaperRelation, ProcessId, State, System,
};

/// The actions of `schedule` that happen before its last one, and that one, as an execution of its own.
///
/// Like `schedule`, it is one from the initial state on fresh [`Locals`]; processes that are spawned in
/// it and messages that are sent are numbered anew, because fewer may be. O(n²) for n actions.
pub fn causal_past<S: System>(system: &S, schedule: &[Action]) -> Vec<Action> {
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    let mut order = HappensBefore::new(PaperRelation);
    for &action in schedule {
        state.step(&mut locals, action);
        order.push(action.process, state.footprint(&locals));
    }
    let Some(last) = schedule.len().checked_sub(1) else { return Vec::new() };
    let needed = (0..=last).filter(|&position| position == last || order.before(position, last));
    replay(system, needed.map(|position| (schedule[position], order.footprint(position))))
}

/// These actions, with the processes that they spawn and the messages that they send renumbered in order: a part of an
/// execution, or all of it in another order, with what each action touched there.
pub(super) fn replay<'f, S: System>(
    system: &S,
    actions: impl Iterator<Item = (Action, &'f Footprint)>,
) -> Vec<Action> {
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    let mut processes: FxHashMap<ProcessId, ProcessId> = FxHashMap::default();
    // By their numbers in the order of sending, which are their names on fresh locals.
    let initial = state.inboxes().log().len() as u32;
    let mut messages: FxHashMap<u32, u32> = (0..initial).map(|n| (n, n)).collect();
    let mut replayed = Vec::new();
    for (action, footprint) in actions {
        let process = processes.get(&action.process).copied().unwrap_or(action.process);
        let choice = match footprint {
            Footprint::Handler { taken: Some(taken), .. } => {
                Choice::message(MessageId(messages[taken]))
            }
            _ => action.choice,
        };
        let action = Action { process, choice };
        state.step(&mut locals, action);
        match (footprint, state.footprint(&locals)) {
            (Footprint::Spawn(old), Footprint::Spawn(new)) => {
                processes.insert(*old, new);
            }
            (
                Footprint::Handler { sent: old, started: former, .. },
                Footprint::Handler { sent: new, started, .. },
            ) => {
                processes.extend(former.iter().copied().zip(started));
                messages.extend((old.0..old.0 + old.1).zip(new.0..));
            }
            _ => {}
        }
        replayed.push(action);
    }
    replayed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Next, Objects, Op, Outcome, Values};

    /// Process 0 spawns two children, each of which has one local action.
    struct TwoChildren(Objects);

    impl System for TwoChildren {
        type Local = (bool, u32);

        fn objects(&self) -> &Objects {
            &self.0
        }

        fn initial(&self, _: &mut Values) -> Vec<Self::Local> {
            vec![(false, 0), (false, 0)]
        }

        fn next(&self, &(is_child, step): &Self::Local, _: &mut Values) -> Next<Self::Local> {
            match (is_child, step) {
                (false, 0) => Next::Spawn((true, 0)),
                (true, 0) => Next::Op(Op::Local),
                _ => Next::Done,
            }
        }

        fn resume(&self, &(is_child, step): &Self::Local, _: Outcome, _: &Values) -> Self::Local {
            (is_child, step + 1)
        }

        fn process_name(&self, _: &Self::Local) -> String {
            String::new()
        }
    }

    #[test]
    fn drops_what_is_concurrent_and_renumbers_children() {
        let action = |process| Action { process: ProcessId(process), choice: Choice::ONLY };
        let system = TwoChildren(Objects::default());
        // Process 0 spawns 2, process 1 spawns 3; then both children move.
        let schedule = [0, 1, 2, 3].map(action);
        assert_eq!(causal_past(&system, &schedule), [1, 2].map(action));
        assert_eq!(causal_past(&system, &schedule[..3]), [0, 2].map(action));
        assert_eq!(causal_past(&system, &[]), []);
    }
}
